/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/count_conclusion.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/*
 * Format an amount with its unit. units_format_bytes() writes small amounts without a
 * suffix, as in tables. In a sentence that also contains a count of allocations, such an
 * amount would look like a count.
 */
static const char *format_bytes(uint64_t bytes, char buf[UNITS_TEXT_SIZE])
{
	size_t length;

	units_format_bytes(bytes, buf);
	length = strlen(buf);
	if (isdigit((unsigned char)buf[length - 1]))
		snprintf(buf + length, UNITS_TEXT_SIZE - length, "%s",
			 bytes == 1 ? " byte" : " bytes");
	return buf;
}

static void add_allocations(struct conclusion *c, const struct count_sums *sums)
{
	const char *plural = sums->allocation_calls == 1 ? "" : "s";
	char bytes[UNITS_TEXT_SIZE];

	if (!bytes_known(sums->allocation_calls))
		return;
	if (bytes_known(sums->requested_bytes))
		conclusion_add(c, "%" PRIu64 " allocation%s requested %s.",
			       sums->allocation_calls, plural,
			       format_bytes(sums->requested_bytes, bytes));
	else
		conclusion_add(c, "%" PRIu64 " allocation%s.", sums->allocation_calls,
			       plural);
}

static void add_live(struct conclusion *c, const struct count_sums *sums, bool has_ended)
{
	const char *verb = has_ended ? "was not freed" : "is not freed so far";
	char bytes[UNITS_TEXT_SIZE];

	if (!bytes_known(sums->live_blocks) || !bytes_known(sums->live_bytes))
		return;
	if (sums->live_blocks == 0) {
		conclusion_add(c, "All blocks were freed.");
		return;
	}
	format_bytes(sums->live_bytes, bytes);
	if (strchr(bytes, 's'))
		verb = has_ended ? "were not freed" : "are not freed so far";
	conclusion_add(c, "%s in %" PRIu64 " block%s %s.", bytes, sums->live_blocks,
		       sums->live_blocks == 1 ? "" : "s", verb);
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
	/*
	 * suggest nothing if the report on the call stacks follows, or if no allocations
	 * are known
	 */
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
