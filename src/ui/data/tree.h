/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree - arrange processes as a tree, with children below their parents. */
#ifndef MS_UI_DATA_TREE_H
#define MS_UI_DATA_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "render/table/column.h"
#include "ui/data/process_set.h"

/* Maximum indentation depth of a process, even if its level in the tree is deeper. */
#define TREE_DEPTH_MAX 32

struct tree_place {
	/* depth of the process; 0 if its parent is not in the list */
	unsigned int depth;
	/* bit d is set if the process or its ancestor at depth d has a later sibling */
	uint32_t more_below;
	size_t hidden; /* number of descendants that are folded away */
};

/*
 * Sort rows of process_columns into tree order. Siblings keep their current order. Each
 * row appears exactly once, even if the parent pids form a cycle.
 */
void tree_order(const void **rows, size_t count, struct tree_place *ret_places);

/*
 * Move the rows below folded processes to the end. The rows must be in tree order. Return
 * the number of remaining rows.
 */
size_t tree_fold(const void **rows, size_t count, struct tree_place *places,
		 const struct process_set *folded);

/*
 * Append the branch lines before the name of a process in the tree, and the number of its
 * descendants that are folded away.
 */
void tree_add_prefix(struct strbuf *out, const struct tree_place *place, bool ascii);

#endif
