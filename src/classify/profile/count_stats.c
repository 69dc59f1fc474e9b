/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/count_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "base/xalloc.h"

/*
 * A limit is loose if it exceeds every run by more than this fraction (1/20) of
 * the limit.
 */
#define LOOSE_PART 20

/*
 * Return the amount per iteration in thousandths, rounded up. Return BYTES_UNKNOWN if the
 * amount is unknown or the result overflows.
 */
static uint64_t share_of(uint64_t amount, uint64_t iterations, bool *is_rounded)
{
	uint64_t whole, rest;

	if (!bytes_known(amount))
		return BYTES_UNKNOWN;
	whole = amount / iterations;
	/* no overflow: the number of iterations is far below 2^64 / 1000 */
	rest = amount % iterations * 1000;
	if (whole >= BYTES_UNKNOWN / 1000)
		return BYTES_UNKNOWN;
	if (rest % iterations != 0)
		*is_rounded = true;
	return whole * 1000 + rest / iterations + (rest % iterations != 0);
}

static void add_figure(struct count_stats *stats, const struct count_runs *runs,
		       enum counted_figure figure, uint64_t *values)
{
	uint64_t iterations = counted_figures[figure].is_level ? 1 : runs->iterations;
	struct spread *spread = &stats->figures[figure];
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++) {
		uint64_t amount = count_run_figure(&runs->items[i], figure);
		uint64_t value = share_of(amount, iterations, &stats->is_rounded);

		if (bytes_known(value))
			values[count++] = value;
		stats->differs[figure] |= amount !=
					  count_run_figure(&runs->items[0], figure);
	}
	spread_set(spread, values, count < runs->count ? 0 : count);
}

void count_stats_init(struct count_stats *stats, const struct count_runs *runs)
{
	uint64_t *values = xcalloc(runs->count + 1, sizeof(*values));

	*stats = (struct count_stats){ .is_deterministic = runs->count > 1 };
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++) {
		add_figure(stats, runs, f, values);
		if (f != COUNTED_PEAK_RSS && stats->differs[f])
			stats->is_deterministic = false;
	}
	free(values);
}

static uint64_t tolerance_of(const struct count_limit *limit)
{
	double part;

	if (!limit->is_percent)
		return limit->tolerance_thousandths;
	part = (double)limit->value_thousandths * (double)limit->tolerance_thousandths /
	       100000;
	return part < 0x1p63 ? (uint64_t)part : UINT64_MAX;
}

enum limit_outcome count_limit_check(const struct count_limit *limit,
				     const struct count_stats *stats)
{
	const struct spread *spread = &stats->figures[limit->figure];
	uint64_t tolerance = tolerance_of(limit), value = limit->value_thousandths;

	if (!bytes_known(spread->median))
		return LIMIT_UNKNOWN;
	if (spread->median > value && spread->median - value > tolerance)
		return LIMIT_ABOVE;
	if (limit->kind == LIMIT_EQUAL)
		return value > spread->median && value - spread->median > tolerance
			       ? LIMIT_BELOW
			       : LIMIT_KEPT;
	return value > spread->max && value - spread->max > value / LOOSE_PART
		       ? LIMIT_LOOSE
		       : LIMIT_KEPT;
}

int count_limit_update(struct count_limit *limit, const struct count_stats *stats)
{
	const struct spread *spread = &stats->figures[limit->figure];

	if (!bytes_known(spread->median))
		return -ENODATA;
	limit->value_thousandths = limit->kind == LIMIT_EQUAL ? spread->median
							      : spread->max;
	return 0;
}
