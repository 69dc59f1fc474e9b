/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree - processes as a tree, with children below their parents. */
#ifndef MS_UI_DATA_TREE_H
#define MS_UI_DATA_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "render/table/column.h"
#include "ui/data/process_set.h"

#define TREE_DEPTH_MAX 32 /* deeper levels are drawn at this depth */

struct tree_place {
	unsigned int depth; /* depth of the process; 0: its parent is not in the list */
	/* bit d is set if more siblings at depth d follow further down */
	uint32_t more_below;
	size_t hidden; /* number of processes below this one that are folded away */
};

/*
 * Sort rows of process_columns into tree order. Siblings keep their current order. Each
 * row appears exactly once, even if the parent pids form a cycle.
 */
void tree_order(const void **rows, size_t count, struct tree_place *ret_places);

/*
 * Move the rows below the folded processes to the end of
 * rows in tree order. Returns the number of other rows.
 */
size_t tree_fold(const void **rows, size_t count, struct tree_place *places,
		 const struct process_set *folded);

/*
 * Append the branch lines that are drawn before the name of a process, and the
 * number of processes that are folded away.
 */
void tree_add_prefix(struct strbuf *out, const struct tree_place *place, bool ascii);

#endif
