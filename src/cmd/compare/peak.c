/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/compare/peak.h"

#include "base/units.h"

/*
 * A sample with better heap figures replaces the peak in the report if its Rss is at
 * least this percentage of the peak's Rss.
 */
#define NEAR_PEAK_PERCENT 95

size_t compare_find_peak(const struct run *run)
{
	size_t peak = SIZE_MAX, best;

	for (size_t i = 0; i < run->sample_count; i++)
		if (peak == SIZE_MAX ||
		    run->samples[i].rss_bytes > run->samples[peak].rss_bytes)
			peak = i;
	best = peak;
	for (size_t i = 0; i < run->sample_count; i++) {
		const struct run_sample *s = &run->samples[i];

		if (s->rss_bytes / NEAR_PEAK_PERCENT >=
			    run->samples[peak].rss_bytes / 100 &&
		    s->heap_quality > QUALITY_UNKNOWN &&
		    s->heap_quality >= run->samples[best].heap_quality)
			best = i;
	}
	return best;
}

uint64_t compare_find_above_ns(const struct run *run, uint64_t limit_bytes,
			       uint64_t end_ns)
{
	uint64_t sum_ns = 0;

	if (!bytes_known(limit_bytes))
		return BYTES_UNKNOWN;
	for (size_t i = 0; i < run->sample_count; i++) {
		uint64_t next_ns = i + 1 < run->sample_count
					   ? run->samples[i + 1].elapsed_ns
					   : end_ns;

		if (run->samples[i].rss_bytes > limit_bytes &&
		    next_ns > run->samples[i].elapsed_ns)
			sum_ns += next_ns - run->samples[i].elapsed_ns;
	}
	return sum_ns;
}
