/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/verdict_facts.h"

#define SHARE_MIN_PER_MILLE 50

/*
 * Rss values count as equal if they differ by at most this many thousandths, because
 * allocators round sizes differently.
 */
#define SAME_PER_MILLE 250
/*
 * Rss counts as growing if the second half of the workload added at least this many
 * thousandths to it.
 */
#define GROWTH_PER_MILLE 100

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure)
{
	return &f->compared->variants[variant].figures[figure];
}

/*
 * Return true if the figure is the memory of one owner. A single run suffices for such
 * a figure, because it depends mostly on the program and its allocator and varies
 * little between runs.
 */
static bool is_of_owners(enum figure figure)
{
	return figure == FIGURE_LATE_LIVE || figure == FIGURE_LATE_POOL ||
	       (figure >= FIGURE_MOMENT_ &&
		(figure - FIGURE_MOMENT_) % AMOUNT_COUNT_ >= AMOUNT_POOL);
}

bool facts_are_known(const struct facts *f, size_t variant, enum figure figure)
{
	return facts_spread(f, variant, figure)->run_count >=
	       (is_of_owners(figure) ? 1 : RUNS_MIN);
}

/*
 * Return the noise of a figure with the given spread. With only two runs, the noise is
 * three times their spread, because a third run would often be outside their range. False
 * differences between equal variants are then about as rare with two runs as with three:
 * 1 in 60 and 1 in 75 for normally distributed noise, against 1 in 7500 with five runs.
 */
static uint64_t noise_of(const struct spread *s)
{
	uint64_t noise = s->max - s->min;

	return s->run_count == 2 ? bytes_add(noise, bytes_add(noise, noise)) : noise;
}

bool spreads_are_apart(const struct spread *low, const struct spread *high, uint64_t min)
{
	uint64_t apart = bytes_sub(high->median, low->median);
	uint64_t noise;

	if (low->run_count < RUNS_MIN || high->run_count < RUNS_MIN)
		return false;
	noise = bytes_add(noise_of(low), noise_of(high));
	return apart > noise && apart >= min &&
	       units_per_mille(apart, high->median) >= SHARE_MIN_PER_MILLE;
}

size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest)
{
	size_t found = NOBODY;

	for (size_t i = 0; i < f->usable_count; i++) {
		const struct spread *s = facts_spread(f, f->usable[i], figure);
		uint64_t best = found == NOBODY ? 0
						: facts_spread(f, found, figure)->median;

		if (facts_are_known(f, f->usable[i], figure) &&
		    (found == NOBODY ||
		     (is_highest ? s->median > best : s->median < best)))
			found = f->usable[i];
	}
	return found;
}

/*
 * Return the variant with the lowest median among those that differ from variant `high`
 * by more than noise, or NOBODY if no variant differs.
 */
static size_t find_lower(const struct facts *f, enum figure figure, size_t high,
			 uint64_t min)
{
	const struct spread *top = facts_spread(f, high, figure);
	size_t found = NOBODY;

	for (size_t i = 0; i < f->usable_count; i++) {
		const struct spread *s = facts_spread(f, f->usable[i], figure);

		if (spreads_are_apart(s, top, min) &&
		    (found == NOBODY ||
		     s->median < facts_spread(f, found, figure)->median))
			found = f->usable[i];
	}
	return found;
}

/*
 * Find two variants that differ. Prefer a variant with a lower value than the first
 * variant, which is the user's reference. Otherwise find a variant with a lower value
 * than the highest one.
 */
static struct difference find_difference(const struct facts *f, enum figure figure,
					 uint64_t min)
{
	size_t high = f->usable[0];
	size_t low = find_lower(f, figure, high, min);

	if (low == NOBODY) {
		high = facts_find_extreme(f, figure, true);
		low = high == NOBODY ? NOBODY : find_lower(f, figure, high, min);
	}
	return (struct difference){ figure, low, low == NOBODY ? NOBODY : high };
}

static struct difference memory_difference(const struct facts *f, unsigned int amount)
{
	return find_difference(f, FIGURE_AT(f->moment, amount), DIFFERENCE_MIN_BYTES);
}

static uint64_t median_of(const struct facts *f, size_t variant, enum figure figure)
{
	return facts_spread(f, variant, figure)->median;
}

/*
 * Return true if Rss grew significantly in the second half of the workload, compared with
 * its final value.
 */
static bool rss_grows(const struct facts *f, size_t variant)
{
	uint64_t growth_bytes = median_of(f, variant, FIGURE_RSS_GROWTH);
	enum figure end = FIGURE_AT(MOMENT_END, AMOUNT_RSS);

	return facts_are_known(f, variant, FIGURE_RSS_GROWTH) &&
	       growth_bytes >= DIFFERENCE_MIN_BYTES &&
	       units_per_mille(growth_bytes, median_of(f, variant, end)) >=
		       GROWTH_PER_MILLE;
}

/*
 * Return true if Rss grows and the growth must be live memory, because at least half of
 * Rss is live and the free pool is too small to explain the growth. The growth of live
 * memory cannot be measured directly, because the heap is read too rarely.
 */
static bool live_grows(const struct facts *f, size_t variant)
{
	enum figure end = FIGURE_AT(MOMENT_END, AMOUNT_RSS);

	return rss_grows(f, variant) &&
	       median_of(f, variant, FIGURE_LATE_LIVE) >=
		       median_of(f, variant, end) / 2 &&
	       median_of(f, variant, FIGURE_LATE_POOL) <=
		       median_of(f, variant, FIGURE_RSS_GROWTH) / 2;
}

static void find_growth(struct facts *f)
{
	size_t known_count = 0;

	f->rss_grows = f->live_grows = true;
	for (size_t i = 0; i < f->usable_count; i++) {
		size_t v = f->usable[i];

		f->rss_grows &= rss_grows(f, v);
		if (!facts_are_known(f, v, FIGURE_LATE_LIVE) ||
		    !facts_are_known(f, v, FIGURE_LATE_POOL))
			continue;
		f->live_grows &= live_grows(f, v);
		known_count++;
	}
	f->live_grows &= known_count >= 2;
}

/*
 * Return true if a different allocator cannot reduce memory use: under every variant, at
 * least half of the highest Rss is live, and the lowest Rss is close to the highest.
 */
static bool is_live_same(const struct facts *f)
{
	enum figure rss = FIGURE_AT(f->moment, AMOUNT_RSS);
	size_t min_live = facts_find_extreme(f, FIGURE_LATE_LIVE, false);
	size_t low = facts_find_extreme(f, rss, false);
	size_t high = facts_find_extreme(f, rss, true);
	uint64_t high_bytes;

	if (min_live == NOBODY || high == NOBODY)
		return false;
	high_bytes = median_of(f, high, rss);
	return median_of(f, min_live, FIGURE_LATE_LIVE) >= high_bytes / 2 &&
	       units_per_mille(high_bytes - median_of(f, low, rss), high_bytes) <=
		       SAME_PER_MILLE;
}

static bool is_rss_known_at(const struct facts *f, enum run_moment moment)
{
	for (size_t i = 0; i < f->usable_count; i++)
		if (!facts_are_known(f, f->usable[i], FIGURE_AT(moment, AMOUNT_RSS)))
			return false;
	return true;
}

void facts_find(struct facts *f)
{
	f->moment = is_rss_known_at(f, MOMENT_SETTLED) ? MOMENT_SETTLED : MOMENT_END;
	f->rss = memory_difference(f, AMOUNT_RSS);
	f->firm = memory_difference(f, AMOUNT_FIRM);
	f->peak = find_difference(f, FIGURE_PEAK_RSS, DIFFERENCE_MIN_BYTES);
	f->cpu = find_difference(f, FIGURE_CPU, DIFFERENCE_MIN_NS);
	find_growth(f);
	f->is_live_same = is_live_same(f);
}
