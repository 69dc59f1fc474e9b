/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include <stdlib.h>

/*
 * All searches together may take at most this many steps per word of the copied memory.
 */
#define BUDGET_PER_WORD 4
#define BUDGET_MIN UINT64_C(1000000)

/*
 * Return a description of the problem if some of jemalloc's own data may be swapped out,
 * because every result depends on this data. Otherwise return NULL.
 */
static const char *check_swap(const struct jemalloc *j)
{
	for (size_t i = 0; i < j->base_count; i++)
		if (walk_is_part_swapped(j->input, j->bases[i].start_addr,
					 j->bases[i].end_addr))
			return "some of jemalloc's own data may be swapped out";
	return NULL;
}

void walk_jemalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks)
{
	struct jemalloc j = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	j.budget = j.image->length_bytes / 8 * BUDGET_PER_WORD + BUDGET_MIN;
	ret->problem = jemalloc_find_bases(&j);
	if (!ret->problem)
		ret->problem = jemalloc_find_root(&j);
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_JEMALLOC;
		ret->problem = jemalloc_find_layout(&j);
	}
	if (!ret->problem)
		ret->problem = check_swap(&j);
	if (!ret->problem)
		ret->problem = jemalloc_read_extents(&j);
	if (!ret->problem) {
		if (!input->is_running)
			jemalloc_read_caches(&j);
		jemalloc_account(&j);
	}
	free(j.bases);
	free(j.extents);
}
