/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - processes with their children below them.
 */
#ifndef MS_UI_TREE_H
#define MS_UI_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "render/column.h"

#define TREE_DEPTH_MAX 32 /* deeper ones are drawn as deep as this */

struct tree_place {
	unsigned int depth;	/* 0: no parent among the rows */
	uint32_t more_below;	/* bit d: at depth d, more siblings follow */
};

/*
 * Put the rows, of process_columns, into the order of the tree; siblings stay in the
 * order they are in. Every row comes once, whatever the parents say.
 */
void tree_order(const void **rows, size_t count, struct tree_place *ret_places);

/* The lines before the name. */
void tree_add_prefix(struct strbuf *out, const struct tree_place *place, bool ascii);

#endif
