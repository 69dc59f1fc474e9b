/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/count_conclusion.h"

#include <inttypes.h>

#include "base/units.h"

static void add_allocations(struct conclusion *c, const struct count_sums *sums)
{
	const char *plural = sums->allocation_calls == 1 ? "" : "s";
	char bytes[UNITS_TEXT_SIZE];

	if (!bytes_known(sums->allocation_calls))
		return;
	if (bytes_known(sums->requested_bytes))
		conclusion_add(c, "%" PRIu64 " allocation%s requested %s.",
			       sums->allocation_calls, plural,
			       units_format_bytes(sums->requested_bytes, bytes));
	else
		conclusion_add(c, "%" PRIu64 " allocation%s.", sums->allocation_calls,
			       plural);
}

static void add_live(struct conclusion *c, const struct count_sums *sums, bool has_ended)
{
	char bytes[UNITS_TEXT_SIZE];

	if (!bytes_known(sums->live_blocks) || !bytes_known(sums->live_bytes))
		return;
	if (sums->live_blocks == 0)
		conclusion_add(c, "All blocks were freed.");
	else
		conclusion_add(c, "%s in %" PRIu64 " block%s %s.",
			       units_format_bytes(sums->live_bytes, bytes),
			       sums->live_blocks, sums->live_blocks == 1 ? "" : "s",
			       has_ended ? "was not freed" : "is not freed so far");
}

/*
 * Return the command-line option for recording the call stacks of a running process. At
 * the default of one sample per 512K, a process that allocates little would yield few
 * stacks. Recording every stack costs about 0.1 µs per allocation, which such a process
 * can afford.
 */
static const char *stacks_option(const struct count_sums *sums)
{
	return sums->allocation_calls < 100000 ? "--sample 1B" : "--stacks";
}

void count_conclude(struct conclusion *c, const struct count_sums *sums,
		    const struct count_origin *origin)
{
	bool has_live = bytes_known(sums->live_blocks) && sums->live_blocks > 0;

	add_allocations(c, sums);
	add_live(c, sums, origin->has_ended);
	/* the report on the call stacks follows this report */
	if (origin->has_stacks || !bytes_known(sums->allocation_calls) ||
	    sums->allocation_calls == 0)
		return;
	if (origin->command)
		conclusion_set_next(c, "memstate count %s%s",
				    has_live ? "--live" : "--stacks", origin->command);
	else if (origin->pid > 0 && !origin->has_ended)
		conclusion_set_next(c, "memstate count -p %d %s -i 10s -n 1", origin->pid,
				    stacks_option(sums));
}
