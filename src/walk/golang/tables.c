/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/golang/walk.h"

#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/*
 * pageAlloc.summary in Go's runtime: five slices with summaries of free pages. Each level
 * has 8 times the capacity of the previous level.
 */
#define LEVELS 5
#define LEVEL_MIN (UINT64_C(1) << 14)
#define SLICE_BYTES UINT64_C(24)
#define SUMMARY_BYTES UINT64_C(8)

/* pageAlloc.chunks, the member after the summaries: 2^13 pointers to tables of 1 MiB. */
#define CHUNK_TABLES (UINT64_C(1) << 13)
#define CHUNK_TABLE_BYTES (UINT64_C(1) << 20)

/*
 * mheap_.arenas in Go's runtime: a pointer to a table with the address of each arena's
 * heapArena. The first element of the table describes the address -2^47.
 */
#define ARENA_BASE (UINT64_C(1) << 47)
#define TABLE_LENGTH (2 * ARENA_BASE / GOLANG_ARENA_BYTES)

/*
 * Possible offsets of heapArena.spans, which contains a pointer for each page of the
 * arena. Before Go 1.22, a bitmap precedes `spans`; its size changed in Go 1.20. At most
 * MORE_BYTES of other members follow.
 */
static const uint64_t spans_offsets[] = { 0, (1 << 20) + (1 << 14), 2 << 20 };
#define SPANS_BYTES (GOLANG_ARENA_BYTES / GOLANG_PAGE_BYTES * 8)
#define MORE_BYTES UINT64_C(2048)

/*
 * Add the whole pages that contain the range, except pages that are already part of the
 * heap.
 */
static void add_pages(struct golang *g, uint64_t start_addr, uint64_t bytes)
{
	const uint64_t mask = IMAGE_PAGE_BYTES - 1;
	uint64_t end_addr, addr = start_addr & ~mask;

	if (bytes > UINT64_MAX - mask - start_addr)
		return;
	end_addr = (start_addr + bytes + mask) & ~mask;
	addr = image_next_resident(g->image, addr, end_addr);
	while (addr < end_addr) {
		const struct image_run *run = image_run_at(g->image, addr);
		const struct mapping *m = mapping_list_find(g->input->mappings, addr);
		uint64_t page =
			(run->offset_bytes + (addr - run->start_addr)) / IMAGE_PAGE_BYTES;

		/* skip the first tables, which are in the program's data */
		if (g->blocks->pages[page].heap_bytes == 0 && m && m->inode == 0 &&
		    (m->start_addr < g->area.start_addr ||
		     m->start_addr >= g->area.end_addr))
			page_use_add(g->blocks, addr, addr + IMAGE_PAGE_BYTES, USE_HEAP);
		addr = image_next_resident(g->image, addr + IMAGE_PAGE_BYTES, end_addr);
	}
}

static void add_summaries(struct golang *g, uint64_t addr)
{
	for (unsigned int level = 0; level < LEVELS; level++) {
		uint64_t at = addr + level * SLICE_BYTES, list = 0, capacity = 0;

		image_read(g->image, at, &list);
		image_read(g->image, at + 16, &capacity);
		add_pages(g, list, capacity * SUMMARY_BYTES);
	}
	addr += LEVELS * SLICE_BYTES;
	for (uint64_t i = 0; i < CHUNK_TABLES; i++) {
		uint64_t table;

		if (image_read(g->image, addr + 8 * i, &table) && table != 0 &&
		    table % IMAGE_PAGE_BYTES == 0)
			add_pages(g, table, CHUNK_TABLE_BYTES);
	}
}

/*
 * Return true if the five slices at addr have the capacities of the
 * levels of pageAlloc.summary.
 */
static bool are_summaries(struct golang *g, uint64_t addr)
{
	for (unsigned int level = 0; level < LEVELS; level++) {
		uint64_t at = addr + level * SLICE_BYTES, list, capacity;

		if (!image_read(g->image, at + 16, &capacity) ||
		    capacity != LEVEL_MIN << 3 * level ||
		    !image_read(g->image, at, &list) || list == 0 ||
		    list % IMAGE_PAGE_BYTES != 0)
			return false;
	}
	return true;
}

/*
 * Find the offset of `spans` in the heapArena at addr. With the correct offset, the
 * element for the first page of `span` points to `span`. Return false if no offset is
 * correct.
 */
static bool find_spans(struct golang *g, uint64_t addr, const struct golang_span *span,
		       uint64_t *ret)
{
	uint64_t page = span->start_addr % GOLANG_ARENA_BYTES / GOLANG_PAGE_BYTES;

	for (size_t i = 0; i < sizeof(spans_offsets) / sizeof(spans_offsets[0]); i++) {
		uint64_t value, at = addr + spans_offsets[i] + 8 * page;

		*ret = spans_offsets[i];
		if (addr >> WALK_ADDR_BITS == 0 && image_read(g->image, at, &value) &&
		    value == span->addr)
			return true;
	}
	return false;
}

static uint64_t arena_index(const struct golang_span *span)
{
	return (span->start_addr + ARENA_BASE) / GOLANG_ARENA_BYTES;
}

/* Return true if anonymous memory, which may contain Go's tables, is swapped out. */
static bool has_swapped_table(const struct golang *g)
{
	return walk_next_swapped(g->input, 0, IMAGE_PAGE_BYTES, false) != UINT64_MAX;
}

/*
 * Add the heapArena of each arena to the heap. `table` is the address of the table of
 * arenas.
 */
static void add_arenas(struct golang *g, uint64_t table)
{
	uint64_t last = UINT64_MAX;

	for (size_t i = 0; i < g->span_count; i++) {
		const struct golang_span *span = &g->spans[i];
		uint64_t index = arena_index(span), at = table + 8 * index, addr, offset;

		if (index == last || span->is_broken)
			continue;
		last = index;
		add_pages(g, at, 8);
		if (image_read(g->image, at, &addr) && find_spans(g, addr, span, &offset))
			add_pages(g, addr, offset + SPANS_BYTES + MORE_BYTES);
		else
			g->may_lack_tables |= has_swapped_table(g);
	}
}

/* Return true if the word at addr points to the table of arenas. */
static bool is_arena_table(struct golang *g, uint64_t addr, uint64_t *ret_table)
{
	uint64_t offset;

	return image_read(g->image, addr, ret_table) && *ret_table != 0 &&
	       *ret_table % IMAGE_PAGE_BYTES == 0 && *ret_table >> WALK_ADDR_BITS == 0 &&
	       image_read(g->image, *ret_table + 8 * arena_index(&g->spans[0]), &addr) &&
	       find_spans(g, addr, &g->spans[0], &offset);
}

static void add_arena(struct golang *g, uint64_t addr)
{
	if (g->arena_count > 0 && addr <= g->arenas[g->arena_count - 1])
		return;
	g->arenas = xgrow(g->arenas, &g->arena_capacity, g->arena_count + 1,
			  sizeof(*g->arenas));
	g->arenas[g->arena_count++] = addr;
}

/* List the arenas whose element in the table is not 0. */
static void list_arenas(struct golang *g, uint64_t table)
{
	uint64_t end = table + 8 * TABLE_LENGTH;
	uint64_t addr = image_next_resident(g->image, table, end), value;

	for (; addr < end; addr = image_next_resident(g->image, addr + 8, end)) {
		uint64_t arena = (addr - table) / 8 * GOLANG_ARENA_BYTES;

		if (arena >= ARENA_BASE && image_read(g->image, addr, &value) &&
		    value != 0)
			add_arena(g, arena - ARENA_BASE);
	}
}

void golang_find_arenas(struct golang *g, uint64_t *ret_table_addr)
{
	uint64_t end = g->area.end_addr;
	uint64_t addr = image_next_resident(g->image, g->area.start_addr, end);

	*ret_table_addr = 0;
	for (; addr < end && g->span_count > 0;
	     addr = image_next_resident(g->image, addr + 8, end)) {
		if (!is_arena_table(g, addr, ret_table_addr))
			continue;
		list_arenas(g, *ret_table_addr);
		return;
	}
	*ret_table_addr = 0;
	g->may_lack_tables = has_swapped_table(g);
	for (size_t i = 0; i < g->span_count; i++)
		add_arena(g, g->spans[i].start_addr & ~(GOLANG_ARENA_BYTES - 1));
}

/* Return true if data of the program may be swapped out. */
static bool is_area_swapped(const struct golang *g)
{
	for (uint64_t addr = g->area.start_addr; addr < g->area.end_addr;
	     addr += IMAGE_PAGE_BYTES)
		if (walk_is_swapped(g->input, addr))
			return true;
	return false;
}

void golang_account_tables(struct golang *g, uint64_t arena_table_addr)
{
	uint64_t end = g->area.end_addr;
	uint64_t addr = image_next_resident(g->image, g->area.start_addr, end);
	bool has_summaries = false;

	add_pages(g, g->list_addr, g->list_count * 8);
	for (size_t i = 0; i < g->span_count; i++) {
		add_pages(g, g->spans[i].addr, GOLANG_SPAN_BYTES);
		if (g->spans[i].state != GOLANG_IN_USE)
			continue;
		add_pages(g, g->spans[i].bits_addr, (g->spans[i].object_count + 7) / 8);
		add_pages(g, g->spans[i].marks_addr, (g->spans[i].object_count + 7) / 8);
	}
	if (arena_table_addr != 0)
		add_arenas(g, arena_table_addr);
	for (; addr < end; addr = image_next_resident(g->image, addr + 8, end))
		if (are_summaries(g, addr)) {
			add_summaries(g, addr);
			has_summaries = true;
		}
	g->may_lack_tables |= !has_summaries && is_area_swapped(g);
}
