/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <string.h>

/*
 * The main arena's memory is a single range from brk(), unless other code has also called
 * sbrk() or brk() has failed to grow. It then consists of several segments. Every segment
 * except the last ends in fenceposts, which are two or three chunks of 16 bytes. The last
 * segment ends in the top chunk.
 */

/*
 * Offset of the flags in struct malloc_state, and the flag that malloc sets when brk()
 * has failed.
 */
#define ARENA_FLAGS_OFFSET 4
#define ARENA_NONCONTIGUOUS_BIT 2

#define FENCES_MAX 3

enum segment_end {
	SEGMENT_NONE,
	SEGMENT_TOP,
	SEGMENT_FENCE
};

struct search {
	struct glibc *g;
	uint64_t top_addr;
	bool has_top;
	uint64_t sum_bytes; /* total size of all segments */
	/* total size of the gaps, used by other code, between the segments from brk() */
	uint64_t gap_bytes;
};

/*
 * Return the end of the fenceposts that begin with the 16-byte chunk at addr, or 0 if
 * the chunk is not a fencepost.
 */
static uint64_t skip_fences(struct glibc *g, uint64_t addr, uint64_t limit)
{
	for (int i = 0; i < FENCES_MAX; i++) {
		uint64_t head;

		if (addr >= limit || !glibc_read_head(g, addr, &head) ||
		    (head & ~CHUNK_PREV_INUSE) != CHUNK_HEAD ||
		    (i > 0 && !(head & CHUNK_PREV_INUSE)))
			return i >= 2 ? addr : 0;
		addr += CHUNK_HEAD;
		if (i >= 1 && addr % IMAGE_PAGE_BYTES == 0)
			return addr;
	}
	return addr;
}

/*
 * Walk the adjacent chunks from addr. Return SEGMENT_NONE if there are no valid chunks at
 * addr or if they do not end below limit. Otherwise, return whether the segment ends in
 * the top chunk or in fenceposts, and set *ret_end to its end.
 */
static enum segment_end follow_chain(struct search *s, uint64_t addr, uint64_t limit,
				     uint64_t *ret_end)
{
	uint64_t first = addr, head;

	while (addr < limit && limit - addr >= CHUNK_HEAD && glibc_spend(s->g, 1) &&
	       glibc_read_head(s->g, addr, &head)) {
		uint64_t size = head & ~CHUNK_FLAGS;

		if (head & (CHUNK_FLAGS & ~CHUNK_PREV_INUSE) || size % CHUNK_ALIGN ||
		    size == 0 || size > limit - addr)
			return SEGMENT_NONE;
		if (addr == s->top_addr) {
			*ret_end = addr + size;
			return SEGMENT_TOP;
		}
		if (size == CHUNK_HEAD) {
			*ret_end = addr > first ? skip_fences(s->g, addr, limit) : 0;
			return *ret_end ? SEGMENT_FENCE : SEGMENT_NONE;
		}
		addr += size;
	}
	return SEGMENT_NONE;
}

static void add_segment(struct search *s, uint64_t start, uint64_t first, uint64_t end)
{
	struct region *region = glibc_add_region(s->g, REGION_MAIN, 0);

	region->start_addr = start;
	region->first_addr = first;
	region->end_addr = end;
	s->sum_bytes += end - start;
	s->g->heap->arenas[0].heap_count++;
}

/*
 * Find the segments from brk(), beginning at mp_.sbrk_base. Other code may use memory
 * between two segments, so the search tries every 16-byte boundary after a segment as the
 * start of the next.
 */
static void search_brk(struct search *s)
{
	uint64_t start = s->g->par.sbrk_base_addr;
	uint64_t limit = glibc_contiguous_end(s->g, start);
	uint64_t addr = (start + CHUNK_ALIGN - 1) & ~(CHUNK_ALIGN - 1);
	uint64_t last_end = 0;

	while (addr < limit && !s->has_top && glibc_spend(s->g, 1)) {
		uint64_t end = 0;
		enum segment_end kind = follow_chain(s, addr, limit, &end);

		/* The first segment begins at sbrk_base, so it must be valid. */
		if (kind == SEGMENT_NONE && !last_end)
			return;
		if (kind == SEGMENT_NONE) {
			addr = image_next_resident(s->g->image, addr + CHUNK_ALIGN,
						   limit);
			continue;
		}
		if (last_end)
			s->gap_bytes += addr - last_end;
		add_segment(s, last_end ? addr : start, addr, end);
		s->has_top = kind == SEGMENT_TOP;
		last_end = end;
		addr = (end + CHUNK_ALIGN - 1) & ~(CHUNK_ALIGN - 1);
	}
}

/*
 * Add the whole brk() range of a running target as one segment. walk_running()
 * splits the segment later.
 */
static void add_brk(struct search *s)
{
	uint64_t start = s->g->par.sbrk_base_addr;
	uint64_t end = glibc_contiguous_end(s->g, start);

	if (start < end)
		add_segment(s, start, (start + CHUNK_ALIGN - 1) & ~(CHUNK_ALIGN - 1),
			    end);
}

/*
 * Find segments that malloc mapped with mmap(), in a gap between known regions. These
 * segments begin and end on page boundaries, and several may be adjacent.
 */
static void search_gap(void *context, uint64_t start_addr, uint64_t end_addr)
{
	struct search *s = context;
	uint64_t addr = (start_addr + IMAGE_PAGE_BYTES - 1) & ~(IMAGE_PAGE_BYTES - 1);

	addr = image_next_resident(s->g->image, addr, end_addr);
	while (addr < end_addr && glibc_spend(s->g, 1)) {
		uint64_t end = 0;
		enum segment_end kind = follow_chain(s, addr, end_addr, &end);

		if (kind != SEGMENT_NONE && end % IMAGE_PAGE_BYTES == 0) {
			add_segment(s, addr, addr, end);
			s->has_top = s->has_top || kind == SEGMENT_TOP;
			addr = image_next_resident(s->g->image, end, end_addr);
		} else {
			addr = image_next_resident(s->g->image, addr + IMAGE_PAGE_BYTES,
						   end_addr);
		}
	}
}

static bool is_noncontiguous(const struct glibc *g)
{
	const uint8_t *bytes =
		image_at(g->image, g->main_arena_addr + ARENA_FLAGS_OFFSET, 4);
	uint32_t flags = 0;

	if (bytes)
		memcpy(&flags, bytes, sizeof(flags));
	return flags & ARENA_NONCONTIGUOUS_BIT;
}

void glibc_find_segments(struct glibc *g)
{
	const struct heap_arena *arena = &g->heap->arenas[0];
	struct search search = { .g = g, .top_addr = arena->top_addr };

	if (arena->system_bytes == 0 &&
	    arena->top_addr == glibc_initial_top(g, arena->addr))
		return;
	if (g->par.sbrk_base_addr && glibc_is_running(g))
		add_brk(&search);
	else if (g->par.sbrk_base_addr)
		search_brk(&search);
	if ((!search.has_top && !glibc_is_running(g)) || is_noncontiguous(g)) {
		glibc_sort_regions(g);
		glibc_for_each_gap(g, search_gap, &search);
	}
	if (glibc_is_running(g))
		return;
	if (!search.has_top)
		glibc_reject_arena(g, 0, "its last chunk (top) was not found");
	else if (search.sum_bytes != arena->system_bytes &&
		 search.sum_bytes + search.gap_bytes != arena->system_bytes)
		glibc_reject_arena(g, 0, "its memory does not add up to its system_mem");
}
