/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/compare.h"

#include <stdlib.h>

#include "base/units.h"
#include "base/xalloc.h"

bool run_is_good(const struct run *run)
{
	return !run->is_warm_up && !run->is_counting && !run->problem;
}

static const struct run_sample *sample_at(const struct run *run, enum run_moment moment)
{
	size_t index = run->moments[moment];

	return index < run->sample_count ? &run->samples[index] : NULL;
}

static uint64_t sample_amount(const struct run_sample *sample, unsigned int amount)
{
	if (!sample)
		return BYTES_UNKNOWN;
	switch (amount) {
	case AMOUNT_RSS: return sample->rss_bytes;
	case AMOUNT_FIRM: return bytes_sub(sample->rss_bytes, sample->lazyfree_bytes);
	case AMOUNT_LAZYFREE: return sample->lazyfree_bytes;
	case AMOUNT_UNBACKED: return sample->unbacked_bytes;
	case AMOUNT_SWAP: return sample->swap_bytes;
	case AMOUNT_POOL:
		return bytes_add(sample->owner_bytes[OWNER_POOL_PAGES],
				 sample->owner_bytes[OWNER_POOL_FRAGMENTS]);
	default: return sample->owner_bytes[amount - AMOUNT_OWNER];
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Return the sample nearest to near_ns in which the amount is known. Return NULL if that
 * sample is more than within_ns away from near_ns.
 */
static const struct run_sample *find_sample(const struct run *run, unsigned int amount,
					    uint64_t near_ns, uint64_t within_ns)
{
	const struct run_sample *found = NULL;

	for (size_t i = 0; i < run->sample_count; i++) {
		const struct run_sample *sample = &run->samples[i];
		uint64_t away_ns = distance(sample->elapsed_ns, near_ns);

		if (away_ns <= within_ns && bytes_known(sample_amount(sample, amount)) &&
		    (!found || away_ns < distance(found->elapsed_ns, near_ns)))
			found = sample;
	}
	return found;
}

static uint64_t final_amount(const struct run *run, unsigned int amount)
{
	const struct run_sample *end = sample_at(run, MOMENT_END);

	if (!end)
		return BYTES_UNKNOWN;
	return sample_amount(
		find_sample(run, amount, end->elapsed_ns, end->elapsed_ns / 3), amount);
}

static uint64_t rss_growth(const struct run *run)
{
	const struct run_sample *end = sample_at(run, MOMENT_END);
	const struct run_sample *middle;

	if (!end)
		return BYTES_UNKNOWN;
	middle = find_sample(run, AMOUNT_RSS, end->elapsed_ns / 2, end->elapsed_ns / 4);
	return bytes_sub(end->rss_bytes, sample_amount(middle, AMOUNT_RSS));
}

uint64_t compare_run_figure(const struct comparison *comparison, const struct run *run,
			    enum figure figure)
{
	unsigned int at = (unsigned int)figure - FIGURE_MOMENT_;

	switch (figure) {
	case FIGURE_WALL: return run->wall_ns;
	case FIGURE_CPU: return bytes_add(run->user_ns, run->system_ns);
	case FIGURE_USER: return run->user_ns;
	case FIGURE_SYSTEM: return run->system_ns;
	case FIGURE_MINOR_FAULTS: return run->minor_faults;
	case FIGURE_MAJOR_FAULTS: return run->major_faults;
	case FIGURE_RELEASE_CALLS: return run->release_call_count;
	case FIGURE_ABOVE:
		return bytes_known(comparison->above_bytes) ? run->above_ns
							    : BYTES_UNKNOWN;
	case FIGURE_PEAK_RSS: return run->peak_rss_bytes;
	case FIGURE_LATE_LIVE: return final_amount(run, AMOUNT_OWNER + OWNER_LIVE);
	case FIGURE_LATE_POOL: return final_amount(run, AMOUNT_POOL);
	case FIGURE_RSS_GROWTH: return rss_growth(run);
	case FIGURE_ALLOCATIONS:
	case FIGURE_REQUESTED:
	case FIGURE_TEMPORARY:
	case FIGURE_ALLOCATION_RATE: return BYTES_UNKNOWN;
	default:
		return sample_amount(sample_at(run, at / AMOUNT_COUNT_),
				     at % AMOUNT_COUNT_);
	}
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void spread_set(struct spread *spread, uint64_t *values, size_t count)
{
	size_t middle = count / 2;

	*spread = (struct spread){ BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN, count };
	if (count == 0)
		return;
	qsort(values, count, sizeof(*values), compare_numbers);
	spread->min = values[0];
	spread->max = values[count - 1];
	spread->median = values[middle];
	if (count % 2 == 0)
		spread->median =
			values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

static bool is_heap_known(const struct run *run, enum run_moment moment)
{
	const struct run_sample *sample = sample_at(run, moment);

	return sample && sample->heap_quality != QUALITY_UNKNOWN;
}

/* The good runs of one variant of the program, as defined by run_is_good(). */
struct good_runs {
	const struct run **runs;
	size_t count;
	uint64_t *values; /* scratch space for one value per run */
};

static void find_heap_quality(const struct good_runs *good,
			      struct compared_variant *variant)
{
	for (enum run_moment m = 0; m < MOMENT_COUNT_; m++) {
		enum quality worst = QUALITY_UNKNOWN;
		const char *problem = NULL;

		for (size_t i = 0; i < good->count; i++) {
			const struct run_sample *sample = sample_at(good->runs[i], m);
			enum quality quality = sample ? sample->heap_quality
						      : QUALITY_UNKNOWN;

			if (quality == QUALITY_UNKNOWN) {
				if (sample && !problem)
					problem = sample->heap_problem;
				continue;
			}
			if (worst == QUALITY_UNKNOWN || quality < worst)
				worst = quality;
		}
		variant->heap_quality[m] = worst;
		if (worst == QUALITY_UNKNOWN)
			variant->heap_problem[m] = problem;
	}
}

static bool wants_heap(const struct compared_variant *variant, enum figure figure)
{
	unsigned int at = (unsigned int)figure - FIGURE_MOMENT_;

	return figure >= FIGURE_MOMENT_ && at % AMOUNT_COUNT_ >= AMOUNT_POOL &&
	       variant->heap_quality[at / AMOUNT_COUNT_] != QUALITY_UNKNOWN;
}

static void add_figure(const struct comparison *comparison, const struct good_runs *good,
		       enum figure figure, struct compared_variant *variant)
{
	enum run_moment moment = ((unsigned int)figure - FIGURE_MOMENT_) / AMOUNT_COUNT_;
	bool is_of_heap = wants_heap(variant, figure);
	size_t count = 0;

	for (size_t i = 0; i < good->count; i++) {
		uint64_t value = compare_run_figure(comparison, good->runs[i], figure);

		if (bytes_known(value) &&
		    (!is_of_heap || is_heap_known(good->runs[i], moment)))
			good->values[count++] = value;
	}
	spread_set(&variant->figures[figure], good->values, count);
}

static uint64_t rate_of(uint64_t count, uint64_t ns)
{
	if (!bytes_known(count) || !bytes_known(ns) || ns == 0)
		return BYTES_UNKNOWN;
	return (uint64_t)((double)count * (double)NS_PER_S / (double)ns);
}

static void set_counted(const struct comparison *comparison, size_t index,
			struct compared_variant *variant)
{
	const struct count_sums *sums = comparison->counts ? &comparison->counts[index]
							   : NULL;
	const struct {
		enum figure figure;
		uint64_t value;
	} counted[] = {
		{ FIGURE_ALLOCATIONS, sums ? sums->allocation_calls : BYTES_UNKNOWN },
		{ FIGURE_REQUESTED, sums ? sums->requested_bytes : BYTES_UNKNOWN },
		{ FIGURE_TEMPORARY, sums ? sums->temporary_blocks : BYTES_UNKNOWN },
		{ FIGURE_ALLOCATION_RATE,
		  rate_of(sums ? sums->allocation_calls : BYTES_UNKNOWN,
			  variant->figures[FIGURE_WALL].median) },
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		uint64_t value = counted[i].value;

		spread_set(&variant->figures[counted[i].figure], &value,
			   bytes_known(value));
	}
}

/*
 * Figures that determine the typical run of a variant, in order of importance. The
 * typical run is the run nearest to the medians of these figures.
 */
static const enum figure typical_figures[] = {
	FIGURE_AT(MOMENT_SETTLED, AMOUNT_RSS),
	FIGURE_AT(MOMENT_END, AMOUNT_RSS),
	FIGURE_PEAK_RSS,
	FIGURE_WALL,
};

/*
 * Return true if the heap was read after the run's memory use had settled. If memory use
 * never settled, return true if the heap was read at the end of the run.
 */
static bool has_final_heap(const struct run *run)
{
	bool has_settled = run->moments[MOMENT_SETTLED] < run->sample_count;

	return is_heap_known(run, has_settled ? MOMENT_SETTLED : MOMENT_END);
}

/*
 * Return the good run whose figures are nearest to the medians. Prefer runs in which the
 * heap was read.
 */
static const struct run *find_typical(const struct comparison *comparison,
				      const struct good_runs *good,
				      const struct compared_variant *variant)
{
	const struct run *typical = good->runs[0];
	uint64_t nearest = UINT64_MAX;
	size_t f = 0;

	while (f + 1 < sizeof(typical_figures) / sizeof(typical_figures[0]) &&
	       variant->figures[typical_figures[f]].run_count == 0)
		f++;
	for (size_t i = 0; i < good->count; i++) {
		const struct run *run = good->runs[i];
		uint64_t value = compare_run_figure(comparison, run, typical_figures[f]);
		uint64_t away =
			distance(value, variant->figures[typical_figures[f]].median);
		bool is_better = has_final_heap(run) && !has_final_heap(typical);
		bool is_worse = has_final_heap(typical) && !has_final_heap(run);

		if (!bytes_known(value) || is_worse || (away >= nearest && !is_better))
			continue;
		nearest = away;
		typical = run;
	}
	return typical;
}

static void compare_variant(const struct comparison *comparison, size_t index,
			    struct good_runs *good, struct compared_variant *variant)
{
	good->count = 0;
	for (size_t i = 0; i < comparison->run_count; i++) {
		const struct run *run = &comparison->runs[i];

		if (run->variant != index)
			continue;
		if (run_is_good(run)) {
			good->runs[good->count++] = run;
		} else if (!run->is_warm_up && !run->is_counting) {
			variant->failed_count++;
			if (!variant->problem)
				variant->problem = run->problem;
		}
	}
	variant->good_count = good->count;
	find_heap_quality(good, variant);
	for (enum figure f = 0; f < FIGURE_COUNT_; f++)
		add_figure(comparison, good, f, variant);
	set_counted(comparison, index, variant);
	variant->typical_run = SIZE_MAX;
	if (good->count > 0)
		variant->typical_run = (size_t)(find_typical(comparison, good, variant) -
						comparison->runs);
}

void compared_init(struct compared *compared, const struct comparison *comparison)
{
	struct good_runs good = {
		.runs = xcalloc(comparison->run_count + 1, sizeof(*good.runs)),
		.values = xcalloc(comparison->run_count + 1, sizeof(*good.values)),
	};

	compared->comparison = comparison;
	compared->variants =
		xcalloc(comparison->variant_count + 1, sizeof(*compared->variants));
	for (size_t i = 0; i < comparison->variant_count; i++)
		compare_variant(comparison, i, &good, &compared->variants[i]);
	free(good.runs);
	free(good.values);
}

void compared_release(struct compared *compared)
{
	free(compared->variants);
	*compared = (struct compared){ 0 };
}
