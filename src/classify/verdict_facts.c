/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/verdict_facts.h"

#define LEAST_PER_MILLE 50

/* Live memory that is the same but for when it was read, and how sizes are rounded up. */
#define SAME_PER_MILLE 250
/* It grows if this much of it came in the second half of the work. */
#define GROWTH_PER_MILLE 100

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure)
{
	return &f->compared->variants[variant].figures[figure];
}

/* What owners have is of the program and its allocator, and hardly of chance: one run tells. */
static bool is_of_owners(enum figure figure)
{
	return figure == FIGURE_LATE_LIVE || figure == FIGURE_LIVE_GROWTH ||
	       (figure >= FIGURE_MOMENT_ &&
		(figure - FIGURE_MOMENT_) % AMOUNT_COUNT_ >= AMOUNT_POOL);
}

bool facts_know(const struct facts *f, size_t variant, enum figure figure)
{
	return facts_spread(f, variant, figure)->run_count >=
	       (is_of_owners(figure) ? 1 : LEAST_RUNS);
}

/*
 * Two runs are often nearer to each other than a third would be: counted three times, their spread
 * takes equal variants for different as seldom as that of three does (noise that is normal: 1 in 60
 * and 1 in 75; of five runs 1 in 7500).
 */
static uint64_t noise_of(const struct spread *s)
{
	uint64_t noise = s->most - s->least;

	return s->run_count == 2 ? bytes_add(noise, bytes_add(noise, noise)) : noise;
}

bool spreads_are_apart(const struct spread *low, const struct spread *high,
		       uint64_t least)
{
	uint64_t apart = bytes_sub(high->median, low->median);
	uint64_t noise;

	if (low->run_count < LEAST_RUNS || high->run_count < LEAST_RUNS)
		return false;
	noise = bytes_add(noise_of(low), noise_of(high));
	return apart > noise && apart >= least &&
	       units_per_mille(apart, high->median) >= LEAST_PER_MILLE;
}

size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest)
{
	size_t found = NOBODY;

	for (size_t i = 0; i < f->usable_count; i++) {
		const struct spread *s = facts_spread(f, f->usable[i], figure);
		uint64_t best = found == NOBODY ? 0
						: facts_spread(f, found, figure)->median;

		if (facts_know(f, f->usable[i], figure) &&
		    (found == NOBODY ||
		     (is_highest ? s->median > best : s->median < best)))
			found = f->usable[i];
	}
	return found;
}

/* The one with the lowest median of those that are apart from `high`. */
static size_t find_lower(const struct facts *f, enum figure figure, size_t high,
			 uint64_t least)
{
	const struct spread *top = facts_spread(f, high, figure);
	size_t found = NOBODY;

	for (size_t i = 0; i < f->usable_count; i++) {
		const struct spread *s = facts_spread(f, f->usable[i], figure);

		if (spreads_are_apart(s, top, least) &&
		    (found == NOBODY ||
		     s->median < facts_spread(f, found, figure)->median))
			found = f->usable[i];
	}
	return found;
}

/* Against the variant named first, for that is what a person knows; else the highest. */
static struct difference find_difference(const struct facts *f, enum figure figure,
					 uint64_t least)
{
	size_t high = f->usable[0];
	size_t low = find_lower(f, figure, high, least);

	if (low == NOBODY) {
		high = facts_find_extreme(f, figure, true);
		low = high == NOBODY ? NOBODY : find_lower(f, figure, high, least);
	}
	return (struct difference){ figure, low, low == NOBODY ? NOBODY : high };
}

static struct difference memory_difference(const struct facts *f, unsigned int amount)
{
	return find_difference(f, FIGURE_AT(f->moment, amount), LEAST_BYTES);
}

/* So much of live's end came in the second half. */
static bool has_grown(const struct spread *growth, const struct spread *end)
{
	return growth->median >= LEAST_BYTES &&
	       units_per_mille(growth->median, end->median) >= GROWTH_PER_MILLE;
}

/* Of the usable variants where it is known, all; *ret_count says how many these are. */
static bool all_grow(const struct facts *f, enum figure growth, enum figure end,
		     size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < f->usable_count; i++) {
		size_t v = f->usable[i];

		if (!facts_know(f, v, growth) || !facts_know(f, v, end))
			continue;
		if (!has_grown(facts_spread(f, v, growth), facts_spread(f, v, end)))
			return false;
		count++;
	}
	*ret_count = count;
	return count > 0;
}

/*
 * Nothing that an allocator does makes it less: of the highest Rss at least half is live, and it is
 * the same under all.
 */
static bool is_live_same(const struct facts *f)
{
	enum figure live = FIGURE_LATE_LIVE;
	enum figure rss = FIGURE_AT(f->moment, AMOUNT_RSS);
	size_t low = facts_find_extreme(f, live, false);
	size_t high = facts_find_extreme(f, live, true);
	size_t largest = facts_find_extreme(f, rss, true);
	uint64_t low_bytes, high_bytes;

	if (low == NOBODY || largest == NOBODY)
		return false;
	low_bytes = facts_spread(f, low, live)->median;
	high_bytes = facts_spread(f, high, live)->median;
	return units_per_mille(high_bytes - low_bytes, high_bytes) <= SAME_PER_MILLE &&
	       low_bytes >= facts_spread(f, largest, rss)->median / 2;
}

static bool knows_rss_at(const struct facts *f, enum run_moment moment)
{
	for (size_t i = 0; i < f->usable_count; i++)
		if (!facts_know(f, f->usable[i], FIGURE_AT(moment, AMOUNT_RSS)))
			return false;
	return true;
}

void facts_find(struct facts *f)
{
	size_t known_count = 0;

	f->moment = knows_rss_at(f, MOMENT_SETTLED) ? MOMENT_SETTLED : MOMENT_END;
	f->rss = memory_difference(f, AMOUNT_RSS);
	f->firm = memory_difference(f, AMOUNT_FIRM);
	f->peak = find_difference(f, FIGURE_PEAK_RSS, LEAST_BYTES);
	f->cpu = find_difference(f, FIGURE_CPU, LEAST_NS);
	f->live_grows = all_grow(f, FIGURE_LIVE_GROWTH, FIGURE_LATE_LIVE, &known_count) &&
			known_count >= 2;
	f->rss_grows = all_grow(f, FIGURE_RSS_GROWTH, FIGURE_AT(MOMENT_END, AMOUNT_RSS),
				&known_count) &&
		       known_count == f->usable_count;
	f->is_live_same = is_live_same(f);
}
