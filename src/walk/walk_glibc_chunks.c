/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk_glibc.h"

/* A non-main arena's heap that was left behind ends in a chunk of 16 bytes and a head of size 0. */
#define FENCES_BYTES_MAX 48

bool glibc_read_chunk(struct glibc *g, uint64_t addr, uint64_t *ret_size,
		      bool *ret_is_unused)
{
	uint64_t head, next_head;

	if (addr % CHUNK_ALIGN || !image_run_at(g->image, addr) ||
	    !bit_is_set(g->blocks->starts, glibc_bit(g, addr)) ||
	    !glibc_read_head(g, addr, &head) ||
	    !glibc_read_head(g, addr + (head & ~CHUNK_FLAGS), &next_head))
		return false;
	*ret_size = head & ~CHUNK_FLAGS;
	*ret_is_unused = !(next_head & CHUNK_PREV_INUSE);
	return true;
}

static const char *end_on_top(struct glibc *g, const struct region *region, uint64_t addr,
			      uint64_t size)
{
	struct heap_arena *arena = &g->heap->arenas[region->arena];

	if (size != region->end_addr - addr)
		return "its last chunk (top) does not end where its memory ends";
	arena->top_bytes = size;
	return NULL;
}

/* A chunk whose neighbour says that it is free: what must be in a bin. */
static const char *note_unused(struct glibc *g, const struct region *region,
			       uint64_t next_addr, uint64_t size)
{
	uint64_t previous_size;

	if (!image_read(g->image, next_addr, &previous_size) || previous_size != size)
		return "a free chunk has two sizes";
	chunk_sum_add(&g->unused[region->arena], size);
	return NULL;
}

static const char *walk_region(struct glibc *g, const struct region *region)
{
	uint64_t top_addr = g->heap->arenas[region->arena].top_addr;
	uint64_t addr = region->first_addr;
	uint64_t head, next_head;

	if (addr < region->start_addr)
		return "its first chunk is not in its memory";
	while (addr < region->end_addr && glibc_read_head(g, addr, &head)) {
		uint64_t size = head & ~CHUNK_FLAGS;
		uint64_t rest = region->end_addr - addr;
		const char *problem = NULL;

		if (addr == top_addr)
			return end_on_top(g, region, addr, size);
		if (size <= CHUNK_HEAD && rest <= FENCES_BYTES_MAX)
			return NULL;
		if (size < CHUNK_MIN_BYTES || size % CHUNK_ALIGN ||
		    head & CHUNK_MMAPPED || rest < CHUNK_HEAD || size > rest - CHUNK_HEAD)
			return "a chunk has an impossible size";
		if (!glibc_read_head(g, addr + size, &next_head))
			break;
		bit_set(g->blocks->starts, glibc_bit(g, addr));
		if (!(next_head & CHUNK_PREV_INUSE))
			problem = note_unused(g, region, addr + size, size);
		if (problem)
			return problem;
		addr += size;
	}
	return "a chunk's head is not resident";
}

void glibc_walk_chunks(struct glibc *g)
{
	for (size_t i = 0; i < g->region_count; i++) {
		const struct region *region = &g->regions[i];
		const char *problem;

		if (region->kind == REGION_MAPPED)
			continue;
		problem = walk_region(g, region);
		if (problem)
			glibc_distrust(g, region->arena, problem);
	}
	for (size_t i = 0; i < g->heap->arena_count; i++) {
		const struct heap_arena *arena = &g->heap->arenas[i];

		if (arena->top_bytes == 0 &&
		    arena->top_addr != glibc_initial_top(g, arena->addr))
			glibc_distrust(g, i, "its last chunk (top) was not found");
	}
}
