/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/oldmalloc/walk.h"

#include <stdlib.h>
#include <string.h>

/*
 * Limit on the number of words that the walker reads: a multiple of the number of words
 * in the copy, plus a constant.
 */
#define BUDGET_FACTOR 4
#define BUDGET_MIN UINT64_C(4000000)

void walk_oldmalloc(const struct walk_input *input, struct heap *ret,
		    struct blocks *ret_blocks)
{
	struct oldmalloc m = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	m.budget = input->image->length_bytes / 8 * BUDGET_FACTOR + BUDGET_MIN;
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	if (!oldmalloc_find_bins(&m)) {
		ret->problem = "musl's old malloc was not found";
		return;
	}
	ret->allocator = ALLOCATOR_MUSL;
	strcpy(ret->version, HEAP_OLDMALLOC);
	oldmalloc_find_regions(&m);
	oldmalloc_account(&m);
	free(m.regions);
}
