/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/replay_peak.h"

#include "base/clock.h"
#include "base/units.h"
#include "sample/recording/replay.h"

#define COARSE_SAMPLES 128
#define PATIENCE_NS (400 * NS_PER_MS)

struct search {
	struct replay *replay;
	const struct targets *targets;
	struct snapshot sample;
	struct replay_peak peak;
	uint64_t end_ns; /* time at which to stop reading samples */
	bool is_late;
};

static void look_at(struct search *s, size_t index)
{
	uint64_t sum = 0;

	s->is_late = s->is_late || clock_now_ns() > s->end_ns;
	if (s->is_late || replay_read(s->replay, index, s->targets, &s->sample) < 0)
		return;
	for (size_t i = 0; i < s->sample.count; i++) {
		uint64_t bytes = s->sample.usages[i].total.bytes[SMAPS_PSS];

		if (bytes_known(bytes))
			sum = bytes_add(sum, bytes);
	}
	/*
	 * among samples with equal sums, choose the latest, which has the longest
	 * history before it
	 */
	if (sum > 0 && sum >= s->peak.pss_bytes) {
		s->peak.index = index;
		s->peak.pss_bytes = sum;
	}
}

/* Examine every step-th sample from `first` to `last`. */
static void look_between(struct search *s, size_t first, size_t last, size_t step)
{
	replay_scan(s->replay, true);
	for (size_t i = first; i <= last && !s->is_late; i += step)
		look_at(s, i);
	replay_scan(s->replay, false);
}

bool replay_peak_find(struct replay *replay, const struct targets *targets,
		      struct replay_peak *ret)
{
	size_t count = replay_count(replay);
	size_t step = (count + COARSE_SAMPLES - 1) / COARSE_SAMPLES;
	struct search s = {
		.replay = replay,
		.targets = targets,
		.end_ns = clock_now_ns() + PATIENCE_NS,
	};

	if (count == 0)
		return false;
	snapshot_init(&s.sample);
	look_between(&s, 0, count - 1, step);
	s.peak.is_exact = step == 1 && !s.is_late;
	/* in each round, read 16 samples around the sample with the largest sum so far */
	while (step > 1 && !s.is_late) {
		size_t peak = s.peak.index;
		size_t first = peak > step ? peak - step : 0;
		size_t last = peak + step < count ? peak + step : count - 1;

		step = step / 8 > 1 ? step / 8 : 1;
		look_between(&s, first, last, step);
	}
	snapshot_release(&s.sample);
	*ret = s.peak;
	return s.peak.pss_bytes > 0;
}
