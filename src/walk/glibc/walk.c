/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * All searches together may take at most this many steps per 16 bytes of the image. More
 * steps are allowed if the image is small.
 */
#define BUDGET_PER_GRANULE 8
#define BUDGET_MIN UINT64_C(1000000)

bool glibc_is_heap_memory(const struct mapping *m)
{
	return walk_wants_mapping(m) && m->inode == 0 && strcmp(m->name, "[stack]") != 0;
}

void glibc_reject_arena(struct glibc *g, size_t arena, const char *problem)
{
	if (!g->heap->arenas[arena].problem)
		g->heap->arenas[arena].problem = problem;
}

static void allocate_tables(struct glibc *g)
{
	blocks_init(g->blocks, g->image, g->image->length_bytes / CHUNK_ALIGN);
	g->blocks->head_bytes = CHUNK_HEAD;
	blocks_add_own_range(g->blocks, g->main_arena_addr,
			     g->main_arena_addr + g->layout.bins_offset +
				     ARENA_TAIL_OFFSET + ARENA_TAIL_BYTES);
	g->unused = xcalloc(g->heap->arena_count, sizeof(*g->unused));
}

void walk_glibc(const struct walk_input *input, struct heap *ret,
		struct blocks *ret_blocks)
{
	struct glibc g = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	g.budget = g.image->length_bytes / CHUNK_ALIGN * BUDGET_PER_GRANULE + BUDGET_MIN;
	ret->problem = glibc_find_main_arena(&g);
	if (ret->problem)
		return;
	ret->allocator = ALLOCATOR_GLIBC;
	ret->problem = glibc_find_par(&g);
	if (!ret->problem)
		ret->problem = glibc_find_arenas(&g);
	if (!ret->problem) {
		allocate_tables(&g);
		glibc_find_regions(&g);
		glibc_walk_chunks(&g);
		if (!input->is_running) {
			glibc_read_lists(&g);
			glibc_read_caches(&g);
		}
		glibc_account(&g);
	}
	free(g.unused);
	free(g.regions);
}
