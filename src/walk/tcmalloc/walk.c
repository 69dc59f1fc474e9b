/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <stdlib.h>

/*
 * Limit on the number of words that the walker reads: the number of words in the copy,
 * plus this constant.
 */
#define BUDGET_MIN UINT64_C(4000000)

void walk_tcmalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks)
{
	struct tcmalloc t = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	t.budget = input->image->length_bytes / 8 + BUDGET_MIN;
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	ret->problem = tcmalloc_find(&t);
	if (t.row_addr != 0)
		ret->allocator = ALLOCATOR_TCMALLOC;
	if (!ret->problem)
		ret->problem = tcmalloc_read_spans(&t);
	if (!ret->problem) {
		tcmalloc_find_own(&t);
		blocks_init(ret_blocks, t.image, t.bit_count + t.own_page_count);
		tcmalloc_read_lists(&t);
		tcmalloc_account(&t);
	}
	free(t.caches);
	free(t.leaves);
	free(t.spans);
	free(t.own_pages);
}
