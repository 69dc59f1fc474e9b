/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_rows - the rows for the heaps and mappings of a process in a comparison of two
 * moments. Internal to moment_diff.
 */
#ifndef MS_CLASSIFY_COMPARE_MOMENT_ROWS_H
#define MS_CLASSIFY_COMPARE_MOMENT_ROWS_H

#include "classify/compare/moment_diff.h"

/*
 * A process at one of two compared moments. All members are NULL if the process did not
 * exist then.
 */
struct moment_process {
	const struct usage *usage;
	const struct moment_mappings *mappings;
};

static inline bool moment_mappings_are_read(const struct moment_mappings *m)
{
	return m && m->read_unix_ms > 0;
}

/*
 * Append an empty row without a process or an owner, and return it. The pointer is valid
 * until the next call.
 */
struct moment_change *moment_row_add(struct moment_diff *diff, enum moment_part part,
				     const char *name);

/* Append a row with the name of a process that exists at one or both of the moments. */
struct moment_change *moment_row_add_process(struct moment_diff *diff,
					     enum moment_part part,
					     const struct usage *before,
					     const struct usage *after);

/*
 * Append a row for each owner in each heap of the process. Append nothing if the process
 * existed at both moments but its heaps were read at only one of them.
 */
void moment_rows_add_heaps(struct moment_diff *diff, const struct moment_process *before,
			   const struct moment_process *after);

/*
 * Append a row for each group of matching mappings whose Rss changed. Append nothing if
 * the process existed at both moments but its mappings were read at only one of them.
 */
void moment_rows_add_mappings(struct moment_diff *diff,
			      const struct moment_process *before,
			      const struct moment_process *after);

#endif
