/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mallocng/walk.h"

#include <stdlib.h>

/*
 * All checks together may look up as many mappings as the copy has words, plus this
 * constant. Without a limit, corrupt metas could describe many groups that each span
 * all mappings.
 */
#define BUDGET_MIN UINT64_C(1000000)

void walk_mallocng(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks)
{
	struct mallocng m = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	m.budget = input->image->length_bytes / 8 + BUDGET_MIN;
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	ret->problem = mallocng_find(&m);
	if (m.context.addr != 0)
		ret->allocator = ALLOCATOR_MUSL;
	if (!ret->problem)
		ret->problem = mallocng_read_groups(&m);
	if (!ret->problem)
		mallocng_account(&m);
	free(m.areas);
	free(m.groups);
}
