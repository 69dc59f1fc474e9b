/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

/*
 * Maximum size of the fenceposts at the end of a heap that malloc no longer extends: a
 * chunk of 16 bytes, and the head of a chunk with size 0.
 */
#define FENCES_BYTES_MAX 48

/*
 * Minimum number of adjacent valid chunks that count as a heap. A sequence of this length
 * cannot be a coincidence. Used for a copy of a running target, in which the heap may be
 * inconsistent.
 */
#define CHUNKS_CONVINCING 6

/*
 * Maximum number of regions to create when inconsistent regions are split. The memory
 * after the last region is skipped.
 */
#define PIECES_MAX (UINT64_C(1) << 18)

/*
 * Maximum distance by which the program break can move while the memory of a running
 * target is copied.
 */
#define TOP_GROWTH_BYTES (UINT64_C(64) << 20)

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

static const char *end_at_top(struct glibc *g, const struct region *region, uint64_t addr,
			      uint64_t size)
{
	struct heap_arena *arena = &g->heap->arenas[region->arena];

	if (size != region->end_addr - addr)
		return "its last chunk (top) does not end where its memory ends";
	arena->top_bytes = size;
	return NULL;
}

/*
 * Record a chunk that is free according to the chunk after it. Such a chunk must be in
 * one of the bins.
 */
static const char *record_unused(struct glibc *g, const struct region *region,
				 uint64_t next_addr, uint64_t size)
{
	uint64_t previous_size;

	bit_set(g->blocks->not_live, glibc_bit(g, next_addr - size));
	if (glibc_is_running(g)) {
		chunk_sum_add(&g->heap->arenas[region->arena].bin, size);
		return NULL;
	}
	if (!image_read(g->image, next_addr, &previous_size) || previous_size != size)
		return "a free chunk has two sizes";
	chunk_sum_add(&g->unused[region->arena], size);
	return NULL;
}

static bool is_possible(const struct region *region, uint64_t addr, uint64_t head)
{
	uint64_t size = head & ~CHUNK_FLAGS;
	uint64_t rest = region->end_addr - addr;

	return size >= CHUNK_MIN_BYTES && size % CHUNK_ALIGN == 0 &&
	       !(head & CHUNK_MMAPPED) && rest >= CHUNK_HEAD && size <= rest - CHUNK_HEAD;
}

/*
 * Walk the adjacent chunks from *addr to the end of the region. Return NULL if all chunks
 * are valid. Otherwise, set *addr to the address of the invalid chunk, and return a
 * description of the problem.
 */
static const char *walk_chain(struct glibc *g, const struct region *region,
			      uint64_t *addr)
{
	uint64_t top_addr = g->heap->arenas[region->arena].top_addr;
	uint64_t head, next_head;

	while (*addr < region->end_addr && glibc_read_head(g, *addr, &head)) {
		uint64_t size = head & ~CHUNK_FLAGS;
		const char *problem = NULL;

		if (*addr == top_addr && !glibc_is_running(g))
			return end_at_top(g, region, *addr, size);
		if (size <= CHUNK_HEAD && region->end_addr - *addr <= FENCES_BYTES_MAX)
			return NULL;
		if (!is_possible(region, *addr, head))
			return "a chunk has an impossible size";
		if (!glibc_read_head(g, *addr + size, &next_head))
			break;
		bit_set(g->blocks->starts, glibc_bit(g, *addr));
		if (!(next_head & CHUNK_PREV_INUSE))
			problem = record_unused(g, region, *addr + size, size);
		if (problem)
			return problem;
		*addr += size;
	}
	return "a chunk's head is not resident";
}

/*
 * Return true if the chunk at addr may be the top chunk in a copy of a running target.
 * The top chunk ends on a page boundary, which may have been the end of the heap when the
 * chunk was copied.
 */
static bool is_running_top(struct glibc *g, const struct region *region, uint64_t addr)
{
	uint64_t rest = region->end_addr - addr;
	uint64_t head, next_head, size;

	if (!glibc_read_head(g, addr, &head) || (head & CHUNK_FLAGS) != CHUNK_PREV_INUSE)
		return false;
	size = head & ~CHUNK_FLAGS;
	if (size < CHUNK_MIN_BYTES || (addr + size) % IMAGE_PAGE_BYTES)
		return false;
	return size < rest ? !glibc_read_head(g, addr + size, &next_head)
			   : size - rest <= TOP_GROWTH_BYTES;
}

/*
 * Return true if CHUNKS_CONVINCING adjacent valid chunks begin at addr. Fewer chunks are
 * enough if the last is the top chunk at the end of the region.
 */
static bool is_convincing(struct glibc *g, const struct region *region, uint64_t addr)
{
	for (int i = 0; i < CHUNKS_CONVINCING; i++) {
		uint64_t head, next_head, size, previous_size;

		if (!glibc_read_head(g, addr, &head))
			return false;
		size = head & ~CHUNK_FLAGS;
		if (i > 0 && size == region->end_addr - addr &&
		    is_running_top(g, region, addr))
			return true;
		if (!is_possible(region, addr, head))
			return false;
		if (!glibc_read_head(g, addr + size, &next_head) ||
		    (!(next_head & CHUNK_PREV_INUSE) &&
		     (!image_read(g->image, addr + size, &previous_size) ||
		      previous_size != size)))
			return false;
		addr += size;
	}
	return true;
}

static void store_running_top(struct glibc *g, struct region *region, uint64_t addr)
{
	struct heap_arena *arena = &g->heap->arenas[region->arena];
	uint64_t head = 0;

	glibc_read_head(g, addr, &head);
	head &= ~CHUNK_FLAGS;
	if (head < region->end_addr - addr)
		region->end_addr = addr + head;
	arena->top_addr = addr;
	arena->top_bytes = region->end_addr - addr;
}

/*
 * Return the next address after addr at which is_convincing() returns true, or the end of
 * the region.
 */
static uint64_t find_chain(struct glibc *g, const struct region *region, uint64_t addr)
{
	if (g->region_count >= PIECES_MAX)
		return region->end_addr;
	do
		addr = image_next_resident(g->image, addr + CHUNK_ALIGN,
					   region->end_addr);
	while (addr < region->end_addr && !is_convincing(g, region, addr));
	return addr;
}

/*
 * Split a region that has an inconsistent chunk at addr. The region then ends at addr,
 * and a new region begins at the next address with valid chunks. The memory between the
 * two regions is skipped.
 */
static void split_region(struct glibc *g, struct region *region, uint64_t addr)
{
	struct region rest = *region;
	uint64_t start = find_chain(g, region, addr);

	g->heap->skipped_bytes += image_resident_bytes(g->image, addr, start);
	region->end_addr = addr;
	if (start >= rest.end_addr)
		return;
	rest.start_addr = start;
	rest.first_addr = start;
	region = glibc_add_region(g, rest.kind, rest.arena);
	*region = rest;
}

/*
 * Walk a region of a target that ran during the copy. The last chunk counts as the top
 * chunk, because the arena's pointer to the top chunk may be out of date.
 */
static void walk_running(struct glibc *g, size_t index)
{
	struct region *region = &g->regions[index];
	uint64_t addr = region->first_addr;

	if (!walk_chain(g, region, &addr))
		return;
	if (is_running_top(g, region, addr))
		store_running_top(g, region, addr);
	else
		split_region(g, region, addr);
}

static void check_tops(struct glibc *g)
{
	for (size_t i = 0; i < g->heap->arena_count; i++) {
		const struct heap_arena *arena = &g->heap->arenas[i];

		if (arena->top_bytes == 0 &&
		    arena->top_addr != glibc_initial_top(g, arena->addr))
			glibc_reject_arena(g, i, "its last chunk (top) was not found");
	}
}

void glibc_walk_chunks(struct glibc *g)
{
	for (size_t i = 0; glibc_is_running(g) && i < g->heap->arena_count; i++)
		g->heap->arenas[i].top_addr = 0;
	/* walk_running() may append regions during this loop. */
	for (size_t i = 0; i < g->region_count; i++) {
		const struct region *region = &g->regions[i];
		uint64_t addr = region->first_addr;
		const char *problem = NULL;

		if (region->kind == REGION_MAPPED)
			continue;
		if (addr < region->start_addr || addr >= region->end_addr)
			problem = "its first chunk is not in its memory";
		else if (glibc_is_running(g))
			walk_running(g, i);
		else
			problem = walk_chain(g, region, &addr);
		if (problem)
			glibc_reject_arena(g, region->arena, problem);
	}
	if (!glibc_is_running(g))
		check_tops(g);
}
