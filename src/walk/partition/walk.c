/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/partition/walk.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "model/allocator_signs.h"

static bool has_pools(const struct mapping_list *mappings)
{
	struct allocator_signs signs = ALLOCATOR_SIGNS_INIT;

	for (size_t i = 0; i < mappings->count; i++)
		allocator_signs_add(&signs, &mappings->items[i]);
	return signs.pools.is_found;
}

void walk_partition(const struct walk_input *input, struct heap *ret,
		    struct blocks *ret_blocks)
{
	struct partition *p;
	bool is_likely = has_pools(input->mappings);

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	/*
	 * do not search a sparse image unless the mappings show PartitionAlloc's pools:
	 * the search would copy many pages of an unrelated process
	 */
	if (input->image->is_sparse && !is_likely)
		return;
	p = xcalloc(1, sizeof(*p));
	p->input = input;
	p->image = input->image;
	p->heap = ret;
	p->blocks = ret_blocks;
	ret->problem = partition_find(p);
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_PARTITION;
		partition_read_spans(p);
		blocks_init(ret_blocks, p->image, p->bit_count);
		partition_read_lists(p);
		partition_read_caches(p);
		partition_account(p);
	} else if (is_likely || p->root_count > 0) {
		ret->allocator = ALLOCATOR_PARTITION;
	}
	free(p->areas);
	free(p->spans);
	free(p);
}
