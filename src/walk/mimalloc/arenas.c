/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Offset of the owner's address in struct mi_arena_s, directly after struct mi_memid_s.
 */
#define ARENA_OWNER 24
#define ARENA_READ_BYTES 128

/*
 * The owner of an arena is a struct mi_subproc_s. Its list of all arenas is in the first
 * OWNER_BYTES bytes of the struct.
 */
#define OWNER_BYTES UINT64_C(16384)

/* Each chunk of a bitmap has this many bits. */
#define CHUNK_BITS UINT64_C(512)

#define ARENA_SLICES_MAX (UINT64_C(1) << 26)
#define ARENAS_MAX (1U << 10)

/* Offsets in struct mi_arena_s and struct mi_bbitmap_s, which differ between versions. */
struct arena_layout {
	uint16_t slice_count, info_count, free_map, chunks;
};

static const struct arena_layout layouts[] = {
	{ 32, 40, 80, 384 },  /* 3.0 and 3.1 */
	{ 32, 40, 64, 640 },  /* 3.0.12 */
	{ 40, 48, 88, 448 },  /* 3.2 */
	{ 40, 48, 104, 448 }, /* 3.3 and 3.4 */
};

#define LAYOUT_COUNT (sizeof(layouts) / sizeof(layouts[0]))

struct arena {
	uint64_t addr, end_addr, owner_addr;
	uint64_t slice_count, info_count;
	/* address of a bitmap with one bit per slice; set bits mark free slices */
	uint64_t bits_addr;
};

/* Read the arena at addr. Return false if it does not have this layout. */
static bool read_arena(struct mimalloc *m, const struct arena_layout *layout,
		       uint64_t addr, struct arena *ret)
{
	const uint8_t *at = addr % MIMALLOC_SLICE_BYTES == 0
				    ? image_at(m->image, addr, ARENA_READ_BYTES)
				    : NULL;
	uint64_t map, chunks;

	if (!at)
		return false;
	ret->addr = addr;
	memcpy(&ret->owner_addr, at + ARENA_OWNER, sizeof(ret->owner_addr));
	memcpy(&ret->slice_count, at + layout->slice_count, sizeof(ret->slice_count));
	memcpy(&ret->info_count, at + layout->info_count, sizeof(ret->info_count));
	memcpy(&map, at + layout->free_map, sizeof(map));
	if (ret->slice_count > ARENA_SLICES_MAX || ret->info_count == 0 ||
	    ret->info_count >= ret->slice_count || map < addr ||
	    map - addr >= ret->info_count * MIMALLOC_SLICE_BYTES || map % 8 != 0 ||
	    !image_read(m->image, map, &chunks) ||
	    chunks != (ret->slice_count + CHUNK_BITS - 1) / CHUNK_BITS)
		return false;
	ret->end_addr = addr + ret->slice_count * MIMALLOC_SLICE_BYTES;
	ret->bits_addr = map + layout->chunks;
	return ret->end_addr <= UINT64_C(1) << WALK_ADDR_BITS;
}

static bool is_free(struct mimalloc *m, const struct arena *arena, uint64_t slice)
{
	uint64_t word;

	return image_read(m->image, arena->bits_addr + slice / 64 * 8, &word) &&
	       word >> slice % 64 & 1;
}

void mimalloc_add_arena(struct mimalloc *m, uint64_t addr)
{
	for (size_t i = 0; i < m->arenas.count; i++)
		if (m->arenas.items[i].start_addr == addr)
			return;
	if (addr > UINT64_MAX - MIMALLOC_SLICE_BYTES || m->arenas.count == ARENAS_MAX)
		m->broken_segments++;
	else
		mimalloc_add_range(&m->arenas, addr, addr + MIMALLOC_SLICE_BYTES);
}

/*
 * Return how many pages begin inside an arena of this layout, on a slice that the arena
 * does not list as free.
 */
static uint64_t count_fitting(struct mimalloc *m, const struct arena_layout *layout)
{
	uint64_t count = 0;

	for (size_t i = 0; i < m->arenas.count; i++) {
		struct arena arena;

		if (!read_arena(m, layout, m->arenas.items[i].start_addr, &arena))
			continue;
		for (size_t k = 0; k < m->page_count && mimalloc_spend(m, 2); k++)
			count += m->pages[k].start_addr > arena.addr &&
				 m->pages[k].start_addr < arena.end_addr &&
				 !is_free(m, &arena,
					  (m->pages[k].start_addr - arena.addr) /
						  MIMALLOC_SLICE_BYTES);
	}
	return count;
}

static const struct arena_layout *choose_layout(struct mimalloc *m)
{
	const struct arena_layout *best = NULL;
	uint64_t best_count = 0;

	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		uint64_t count = count_fitting(m, &layouts[i]);

		if (count > best_count) {
			best = &layouts[i];
			best_count = count;
		}
	}
	return best;
}

/*
 * Add all arenas in the owner's list, because the arenas without pages have not been
 * found yet.
 */
static void add_unused(struct mimalloc *m, const struct arena_layout *layout,
		       uint64_t owner_addr)
{
	mimalloc_check_table(m, owner_addr, owner_addr + OWNER_BYTES);
	for (uint64_t at = owner_addr; at < owner_addr + OWNER_BYTES; at += 8) {
		struct arena arena;
		uint64_t addr;

		if (image_read(m->image, at, &addr) && addr != 0 &&
		    read_arena(m, layout, addr, &arena) && arena.owner_addr == owner_addr)
			mimalloc_add_arena(m, addr);
	}
}

/*
 * Append the slices [first, end), which are not part of any page, to the ranges of free
 * memory or of mimalloc's own data.
 */
static void add_slices(struct mimalloc *m, const struct arena *arena, uint64_t first,
		       uint64_t end)
{
	while (first < end) {
		bool free_slice = is_free(m, arena, first);
		uint64_t next = first + 1;

		while (next < end && is_free(m, arena, next) == free_slice)
			next++;
		mimalloc_add_range(free_slice ? &m->free : &m->own,
				   arena->addr + first * MIMALLOC_SLICE_BYTES,
				   arena->addr + next * MIMALLOC_SLICE_BYTES);
		first = next;
	}
}

/*
 * Add the slices of the arena that belong to no page. *page is the index of the first
 * page that does not precede the arena. On return, it is the index of the first page
 * after the arena.
 */
static void split_arena(struct mimalloc *m, const struct arena *arena, size_t *page)
{
	uint64_t slice = arena->info_count;

	mimalloc_check_table(m, arena->bits_addr,
			     arena->bits_addr + (arena->slice_count + 7) / 8);
	mimalloc_add_range(&m->own, arena->addr,
			   arena->addr + slice * MIMALLOC_SLICE_BYTES);
	for (; *page < m->page_count && m->pages[*page].start_addr < arena->end_addr;
	     ++*page) {
		const struct mimalloc_page *p = &m->pages[*page];
		uint64_t first = (p->start_addr - arena->addr) / MIMALLOC_SLICE_BYTES;
		uint64_t end = (p->end_addr - arena->addr) / MIMALLOC_SLICE_BYTES;

		m->broken_pages += is_free(m, arena, first);
		add_slices(m, arena, slice, first);
		slice = end;
	}
	add_slices(m, arena, slice, arena->slice_count);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct mimalloc_range *x = a, *y = b;

	return (x->start_addr > y->start_addr) - (x->start_addr < y->start_addr);
}

static void sort(struct mimalloc_ranges *ranges)
{
	if (ranges->count > 0)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items),
		      compare_ranges);
}

/*
 * Return true if the claimed ranges, which are sorted, are disjoint and contain all
 * pages.
 */
static bool are_claims_sound(const struct mimalloc *m)
{
	size_t k = 0;

	for (size_t i = 1; i < m->claimed.count; i++)
		if (m->claimed.items[i].start_addr < m->claimed.items[i - 1].end_addr)
			return false;
	for (size_t i = 0; i < m->page_count; i++) {
		while (k < m->claimed.count &&
		       m->claimed.items[k].end_addr <= m->pages[i].start_addr)
			k++;
		if (k == m->claimed.count ||
		    m->pages[i].start_addr < m->claimed.items[k].start_addr ||
		    m->pages[i].end_addr > m->claimed.items[k].end_addr)
			return false;
	}
	return true;
}

/* Claim all arenas. Remove arenas whose structs are invalid from the list. */
static void claim_arenas(struct mimalloc *m, const struct arena_layout *layout)
{
	size_t count = 0;

	for (size_t i = 0; i < m->arenas.count; i++) {
		struct mimalloc_range *range = &m->arenas.items[i];
		struct arena arena;

		if (!read_arena(m, layout, range->start_addr, &arena) ||
		    !mimalloc_spend(m, arena.slice_count / 32)) {
			m->broken_segments++;
			continue;
		}
		m->arenas.items[count++] =
			(struct mimalloc_range){ arena.addr, arena.end_addr };
		mimalloc_add_range(&m->claimed, arena.addr, arena.end_addr);
	}
	m->arenas.count = count;
}

const char *mimalloc_read_arenas(struct mimalloc *m)
{
	const struct arena_layout *layout = choose_layout(m);
	struct arena arena;
	size_t page = 0;

	if (m->arenas.count > 0 && !layout)
		return "the arenas are not those of mimalloc 3.1 to 3.4";
	if (layout && read_arena(m, layout, m->arenas.items[0].start_addr, &arena) &&
	    arena.owner_addr <= UINT64_MAX - OWNER_BYTES)
		add_unused(m, layout, arena.owner_addr);
	claim_arenas(m, layout);
	sort(&m->claimed);
	sort(&m->arenas);
	if (!are_claims_sound(m))
		return "mimalloc's structures contradict each other";
	for (size_t i = 0; i < m->arenas.count; i++) {
		if (!read_arena(m, layout, m->arenas.items[i].start_addr, &arena))
			continue;
		while (page < m->page_count && m->pages[page].start_addr < arena.addr)
			page++;
		if (page < m->page_count &&
		    m->pages[page].start_addr <
			    arena.addr + arena.info_count * MIMALLOC_SLICE_BYTES)
			return "mimalloc's structures contradict each other";
		split_arena(m, &arena, &page);
	}
	return NULL;
}
