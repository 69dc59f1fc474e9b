/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"

/*
 * Maximum size of the heaps of arenas other than the main arena. Heaps are aligned to
 * this size.
 */
#define HEAP_MAX_BYTES (UINT64_C(64) << 20)
/*
 * Maximum size of a heap, in huge pages, if malloc uses huge pages (glibc 2.35 to 2.42).
 */
#define HUGE_PAGES_PER_HEAP 4

/* Upper bound on sizeof(heap_info), which is 0x20 or 0x30, depending on the version. */
#define HEAP_INFO_BYTES_MAX 0x100

struct region *glibc_add_region(struct glibc *g, enum region_kind kind, size_t arena)
{
	struct region *region;

	g->regions = xgrow(g->regions, &g->region_capacity, g->region_count + 1,
			   sizeof(*g->regions));
	region = &g->regions[g->region_count++];
	*region = (struct region){ .kind = kind, .arena = arena };
	return region;
}

static int compare_regions(const void *a, const void *b)
{
	const struct region *left = a, *right = b;

	return (left->start_addr > right->start_addr) -
	       (left->start_addr < right->start_addr);
}

void glibc_sort_regions(struct glibc *g)
{
	if (g->region_count > 0)
		qsort(g->regions, g->region_count, sizeof(*g->regions), compare_regions);
	g->sorted_count = g->region_count;
}

/* Return the index of the first region that ends after addr. */
static size_t find_region(const struct glibc *g, uint64_t addr)
{
	return SEARCH_FIRST(g->sorted_count, i, g->regions[i].end_addr > addr);
}

const struct region *glibc_region_at(const struct glibc *g, uint64_t addr)
{
	size_t index = find_region(g, addr);

	return index < g->sorted_count && g->regions[index].start_addr <= addr
		       ? &g->regions[index]
		       : NULL;
}

uint64_t glibc_contiguous_end(const struct glibc *g, uint64_t addr)
{
	const struct mapping_list *list = g->input->mappings;
	const struct mapping *m = mapping_list_find(g->input->mappings, addr);

	if (!m || !glibc_is_heap_memory(m))
		return addr;
	while (m + 1 < list->items + list->count && m[1].start_addr == m->end_addr &&
	       glibc_is_heap_memory(m + 1))
		m++;
	return m->end_addr;
}

void glibc_for_each_gap(struct glibc *g,
			void (*fn)(void *context, uint64_t start_addr, uint64_t end_addr),
			void *context)
{
	const struct mapping_list *list = g->input->mappings;
	uint64_t done_addr = 0;

	for (size_t i = 0; i < list->count; i++) {
		uint64_t addr = list->items[i].start_addr;
		uint64_t end = glibc_contiguous_end(g, addr);

		if (addr < done_addr)
			continue;
		while (addr < end) {
			size_t index = find_region(g, addr);
			uint64_t gap_end = end;

			if (index < g->sorted_count && g->regions[index].start_addr < end)
				gap_end = g->regions[index].start_addr;
			if (addr < gap_end)
				fn(context, addr, gap_end);
			if (gap_end == end)
				break;
			/*
			 * the callback fn may have added regions, which
			 * can move g->regions
			 */
			addr = g->regions[index].end_addr;
		}
		done_addr = end;
	}
}

/*
 * Read an arena, and the address of the next arena in the circular list. Return false if
 * the arena is not completely resident.
 */
static bool read_arena(struct glibc *g, uint64_t addr, struct heap_arena *ret,
		       uint64_t *ret_next)
{
	uint64_t tail = addr + g->layout.bins_offset + ARENA_TAIL_OFFSET;

	if (!image_at(g->image, addr,
		      g->layout.bins_offset + ARENA_TAIL_OFFSET + ARENA_TAIL_BYTES))
		return false;
	ret->addr = addr;
	ret->trimmable_bytes = BYTES_UNKNOWN;
	return image_read(g->image, glibc_initial_top(g, addr), &ret->top_addr) &&
	       image_read(g->image, tail, ret_next) &&
	       image_read(g->image, tail + 16, &ret->attached_threads) &&
	       image_read(g->image, tail + 24, &ret->system_bytes);
}

const char *glibc_find_arenas(struct glibc *g)
{
	uint64_t addr = g->main_arena_addr;
	size_t capacity = 0;

	do {
		struct heap *heap = g->heap;

		heap->arenas = xgrow(heap->arenas, &capacity, heap->arena_count + 1,
				     sizeof(*heap->arenas));
		heap->arenas[heap->arena_count] = (struct heap_arena){ 0 };
		if (heap->arena_count == GLIBC_ARENAS_MAX ||
		    !read_arena(g, addr, &heap->arenas[heap->arena_count], &addr))
			return "the list of arenas is broken";
		heap->arena_count++;
	} while (addr != g->main_arena_addr);
	return NULL;
}

static bool is_heap_of(struct glibc *g, uint64_t heap_addr, uint64_t arena_addr)
{
	uint64_t owner_addr = 0;

	return image_read(g->image, heap_addr, &owner_addr) && owner_addr == arena_addr;
}

/*
 * Return the maximum size of this arena's heaps, which is also their alignment. Return 0
 * if neither of the two possible sizes is consistent with the arena.
 */
static uint64_t find_heap_max(struct glibc *g, const struct heap_arena *arena)
{
	const uint64_t sizes[] = { HEAP_MAX_BYTES,
				   g->par.huge_page_bytes * HUGE_PAGES_PER_HEAP };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t size = sizes[i];

		if (size >= IMAGE_PAGE_BYTES && (size & (size - 1)) == 0 &&
		    is_heap_of(g, arena->top_addr & ~(size - 1), arena->addr))
			return size;
	}
	return 0;
}

static uint64_t align_chunk(uint64_t addr)
{
	return (addr + CHUNK_ALIGN - 1) & ~(CHUNK_ALIGN - 1);
}

/*
 * Add the heap whose heap_info { ar_ptr, prev, size, … } is at heap_addr. Return the
 * heap's size, or 0 if the heap_info is invalid.
 */
static uint64_t add_heap(struct glibc *g, size_t index, uint64_t heap_addr,
			 uint64_t heap_max, uint64_t *ret_prev_addr)
{
	const struct heap_arena *arena = &g->heap->arenas[index];
	uint64_t info_bytes = arena->addr & (heap_max - 1);
	struct region *region;
	uint64_t size;

	if (!is_heap_of(g, heap_addr, arena->addr) || heap_addr & (heap_max - 1) ||
	    !image_read(g->image, heap_addr + 8, ret_prev_addr) ||
	    !image_read(g->image, heap_addr + 16, &size) || size == 0 ||
	    size > heap_max || size % IMAGE_PAGE_BYTES ||
	    info_bytes > HEAP_INFO_BYTES_MAX || heap_addr > UINT64_MAX - heap_max)
		return 0;
	region = glibc_add_region(g, REGION_HEAP, index);
	region->start_addr = heap_addr;
	region->end_addr = heap_addr + size;
	region->first_addr = heap_addr + info_bytes;
	/* the arena itself is at the start of its first heap, before the chunks */
	if (arena->addr - info_bytes == heap_addr)
		region->first_addr = arena->addr + g->layout.bins_offset +
				     ARENA_TAIL_OFFSET + ARENA_TAIL_BYTES;
	region->first_addr = align_chunk(region->first_addr);
	return size;
}

/*
 * Find all heaps of an arena, from the heap that contains the top chunk back to the
 * arena's first heap.
 */
static void find_heaps(struct glibc *g, size_t index)
{
	struct heap_arena *arena = &g->heap->arenas[index];
	uint64_t heap_max = find_heap_max(g, arena);
	uint64_t addr = heap_max ? arena->top_addr & ~(heap_max - 1) : 0;
	uint64_t sum = 0;

	if (!heap_max) {
		glibc_reject_arena(g, index, "its heap was not found");
		return;
	}
	while (addr != 0) {
		uint64_t size = sum < arena->system_bytes && glibc_spend(g, 1)
					? add_heap(g, index, addr, heap_max, &addr)
					: 0;

		if (size == 0) {
			glibc_reject_arena(g, index, "its list of heaps is broken");
			return;
		}
		sum += size;
		arena->heap_count++;
	}
	if (sum != arena->system_bytes && !glibc_is_running(g))
		glibc_reject_arena(g, index, "its heaps do not add up to its system_mem");
}

/* Remove the second of two regions that overlap, and mark both arenas as untrusted. */
static void drop_overlaps(struct glibc *g)
{
	struct region *regions = g->regions;
	size_t kept = 0;

	glibc_sort_regions(g);
	for (size_t i = 0; i < g->region_count; i++) {
		if (kept > 0 && regions[i].start_addr < regions[kept - 1].end_addr) {
			glibc_reject_arena(g, regions[kept - 1].arena,
					   "its memory is claimed twice");
			glibc_reject_arena(g, regions[i].arena,
					   "its memory is claimed twice");
			continue;
		}
		regions[kept++] = regions[i];
	}
	g->region_count = kept;
	g->sorted_count = kept;
}

void glibc_find_regions(struct glibc *g)
{
	for (size_t i = 1; i < g->heap->arena_count; i++)
		find_heaps(g, i);
	drop_overlaps(g);
	glibc_find_segments(g);
	drop_overlaps(g);
	glibc_find_mapped(g);
	glibc_sort_regions(g);
}
