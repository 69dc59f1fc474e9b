/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "walk/blocks/data_area.h"

/*
 * Limits on the number of words in the page map, which contains the addresses of tables.
 * Each table has one word per slice.
 */
#define MAP_WORDS_MIN (UINT64_C(1) << 17)
#define MAP_WORDS_MAX (UINT64_C(1) << 19)
#define TABLE_WORDS UINT64_C(8192)
#define TABLE_BYTES (8 * TABLE_WORDS)

/* Maximum number of tables to read, to limit the memory for the list of pages. */
#define TABLES_MAX (UINT64_C(1) << 19)

/* Offsets in struct mi_page_s that are the same in all versions of mimalloc 3. */
#define PAGE_FREE 8
#define PAGE_USED 16
#define PAGE_CAPACITY 18
#define PAGE_RESERVED 20
#define PAGE_LOCAL 24
#define PAGE_THREAD 32
#define PAGE_BLOCK_BYTES 40
#define PAGE_START 48

/*
 * The lowest bits of the pointer to the list of blocks freed by other threads
 * (xthread_free) are flags.
 */
#define THREAD_FLAGS UINT64_C(3)

/*
 * Maximum size of a block. It ensures that the size of a block times the number of blocks
 * in a page fits into 64 bits.
 */
#define BLOCK_BYTES_MAX (UINT64_C(1) << WALK_ADDR_BITS)

/* Values of memkind in struct mi_memid_s, and the offset of that member. */
#define MEMORY_KIND 16
#define MEMORY_OF_ARENA 7

/* Size of the shortest struct mi_page_s. */
#define STRUCT_BYTES_MIN UINT64_C(112)

static const struct mimalloc_map_layout layouts[] = {
	{ .versions = "3.1 to 3.3", .memory = 96 },
	{ .versions = "3.1, secure", .keys = 64, .memory = 112 },
	{ .versions = "3.2 and 3.3, secure", .keys = 56, .memory = 112 },
	{ .versions = "3.4", .has_offset = true, .memory = 88 },
	{ .versions = "3.4, secure", .has_offset = true, .keys = 56, .memory = 104 },
};

#define LAYOUT_COUNT (sizeof(layouts) / sizeof(layouts[0]))

/* A page as the map describes it: the address of its struct, and its slices. */
struct entry {
	uint64_t struct_addr, start_addr, end_addr;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
};

/*
 * Return true if most words between addr and limit that are not 0 can be the addresses of
 * tables: page-aligned and in a mapping.
 */
static bool has_tables(struct mimalloc *m, uint64_t addr, uint64_t limit)
{
	uint64_t count = 0, sound = 0, value;

	while ((addr = image_next_resident(m->image, addr, limit)) < limit &&
	       mimalloc_spend(m, 1)) {
		if (image_read(m->image, addr, &value) && value != 0) {
			count++;
			sound += value % IMAGE_PAGE_BYTES == 0 &&
				 mapping_list_find(m->input->mappings, value);
		}
		addr += 8;
	}
	return sound > count / 2;
}

/*
 * Return the number of words in the page map at addr, or 0 if there is no page map. The
 * table for the lowest addresses directly follows the page map, so the first word of the
 * page map is the address of its end. A page map is not part of a runtime's heap.
 */
static uint64_t map_words(struct mimalloc *m, uint64_t addr)
{
	uint64_t first;

	if (addr == 0 || addr % IMAGE_PAGE_BYTES != 0 ||
	    !image_read(m->image, addr, &first) || first <= addr ||
	    walk_is_claimed(m->input, addr))
		return 0;
	for (uint64_t words = MAP_WORDS_MIN; words <= MAP_WORDS_MAX; words *= 2)
		if (first - addr == 8 * words)
			return has_tables(m, addr, first) ? words : 0;
	return 0;
}

static bool find_map(struct mimalloc *m)
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(m->input, &index, &area)) {
		uint64_t addr = area.start_addr, value;

		while ((addr = image_next_resident(m->image, addr, area.end_addr)) <
		       area.end_addr) {
			if (image_read(m->image, addr, &value) &&
			    (m->map_words = map_words(m, value)) != 0) {
				m->map_addr = value;
				return true;
			}
			addr += 8;
		}
	}
	return false;
}

/*
 * If the slice at addr continues the last page, extend that page; otherwise add a page.
 */
static void add_slice(struct entries *entries, uint64_t struct_addr, uint64_t addr)
{
	struct entry *last = entries->count ? &entries->items[entries->count - 1] : NULL;

	if (last && last->struct_addr == struct_addr && last->end_addr == addr) {
		last->end_addr += MIMALLOC_SLICE_BYTES;
		return;
	}
	entries->items = xgrow(entries->items, &entries->capacity, entries->count + 1,
			       sizeof(*entries->items));
	entries->items[entries->count++] =
		(struct entry){ struct_addr, addr, addr + MIMALLOC_SLICE_BYTES };
}

/* Read the table at addr, whose first word describes the slice at first_addr. */
static bool read_table(struct mimalloc *m, uint64_t addr, uint64_t first_addr,
		       struct entries *entries)
{
	uint64_t at = addr, value;

	if (addr % 8 != 0 || addr > UINT64_MAX - TABLE_BYTES)
		return false;
	while ((at = image_next_resident(m->image, at, addr + TABLE_BYTES)) <
	       addr + TABLE_BYTES) {
		if (!mimalloc_spend(m, 1) || !image_read(m->image, at, &value))
			return false;
		if (value != 0)
			add_slice(entries, value,
				  first_addr + (at - addr) / 8 * MIMALLOC_SLICE_BYTES);
		at += 8;
	}
	mimalloc_check_table(m, addr, addr + TABLE_BYTES);
	mimalloc_add_range(&m->claimed, addr, addr + TABLE_BYTES);
	mimalloc_add_range(&m->own, addr, addr + TABLE_BYTES);
	return true;
}

/* Read the whole map. Return false if it is corrupt. */
static bool read_map(struct mimalloc *m, struct entries *entries)
{
	uint64_t limit = m->map_addr + 8 * m->map_words, at = m->map_addr, table;
	uint64_t count = 0;

	mimalloc_check_table(m, m->map_addr, limit);
	mimalloc_add_range(&m->claimed, m->map_addr, limit);
	mimalloc_add_range(&m->own, m->map_addr, limit);
	while ((at = image_next_resident(m->image, at, limit)) < limit &&
	       image_read(m->image, at, &table)) {
		uint64_t index = (at - m->map_addr) / 8;

		if (!mimalloc_spend(m, 1) ||
		    (table != 0 &&
		     (++count > TABLES_MAX ||
		      !read_table(m, table, index * TABLE_WORDS * MIMALLOC_SLICE_BYTES,
				  entries))))
			return false;
		at += 8;
	}
	return true;
}

static uint64_t read_word(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t read_u16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Read the struct of a page. Return false if it is not resident. */
static bool read_page(struct mimalloc *m, const struct mimalloc_map_layout *layout,
		      const struct entry *entry, struct mimalloc_page *ret)
{
	const uint8_t *at = image_at(m->image, entry->struct_addr,
				     layout->memory + MIMALLOC_MEMORY_BYTES);
	uint32_t offset;
	uint64_t end;

	if (!at || entry->struct_addr % 8 != 0)
		return false;
	*ret = (struct mimalloc_page){
		.struct_addr = entry->struct_addr,
		.start_addr = entry->start_addr,
		.end_addr = entry->end_addr,
		.block_addr = read_word(at + PAGE_START),
		.block_bytes = read_word(at + PAGE_BLOCK_BYTES),
		.lists = { read_word(at + PAGE_FREE), read_word(at + PAGE_LOCAL),
			   read_word(at + PAGE_THREAD) & ~THREAD_FLAGS },
		.capacity = read_u16(at + PAGE_CAPACITY),
		.reserved = read_u16(at + PAGE_RESERVED),
		.used = read_u16(at + PAGE_USED),
		.is_encoded = layout->keys != 0,
	};
	if (layout->keys != 0)
		memcpy(ret->keys, at + layout->keys, sizeof(ret->keys));
	memcpy(&offset, at + PAGE_START, sizeof(offset));
	if (layout->has_offset)
		ret->block_addr = entry->struct_addr + 8 * (uint64_t)offset;
	/* the page map may not contain the last slices of a page with large blocks */
	if (ret->block_addr < ret->start_addr || ret->block_addr >= ret->end_addr ||
	    ret->block_bytes > BLOCK_BYTES_MAX)
		return true;
	end = ret->block_addr + ret->reserved * ret->block_bytes;
	if (end > ret->end_addr && end < UINT64_C(1) << WALK_ADDR_BITS)
		ret->end_addr = (end + MIMALLOC_SLICE_BYTES - 1) &
				~(MIMALLOC_SLICE_BYTES - 1);
	return true;
}

/* Return true if the page and its first free blocks are consistent. */
static bool is_sound(struct mimalloc *m, const struct mimalloc_page *page)
{
	if (page->block_bytes == 0 || page->block_addr < page->start_addr ||
	    page->block_addr >= page->end_addr || page->used > page->capacity ||
	    page->capacity > page->reserved)
		return false;
	for (size_t i = 0; i < MIMALLOC_LISTS_; i++) {
		uint64_t addr = page->lists[i], value;

		for (int k = 0; k < 2 && addr != 0; k++) {
			if (addr < page->block_addr || addr >= page->end_addr ||
			    (addr - page->block_addr) % page->block_bytes != 0)
				return false;
			if (!image_read(m->image, addr, &value)) {
				if (!walk_is_swapped(m->input, addr))
					return false;
				break;
			}
			addr = mimalloc_decode(page, value);
		}
	}
	return true;
}

/* Return true if part of the struct of a page, which has `bytes`, may be swapped out. */
static bool is_struct_swapped(const struct mimalloc *m, const struct entry *entry,
			      uint64_t bytes)
{
	return entry->struct_addr % 8 == 0 &&
	       (walk_is_swapped(m->input, entry->struct_addr) ||
		walk_is_swapped(m->input, entry->struct_addr + bytes - 1));
}

/*
 * Find the layout with which the most pages are consistent. Return false if no page is
 * consistent with any layout, or if fewer than half as many pages are consistent as have
 * a struct that is not swapped out.
 */
static bool choose_layout(struct mimalloc *m, const struct entries *entries)
{
	uint64_t best = 0, resident = 0;

	for (size_t i = 0; i < entries->count; i++)
		resident += !is_struct_swapped(m, &entries->items[i], STRUCT_BYTES_MIN);

	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		uint64_t sound = 0;

		for (size_t k = 0; k < entries->count && mimalloc_spend(m, 32); k++) {
			struct mimalloc_page page;

			sound += read_page(m, &layouts[i], &entries->items[k], &page) &&
				 is_sound(m, &page);
		}
		if (sound <= best)
			continue;
		best = sound;
		m->map_layout = &layouts[i];
	}
	return best > 0 && best >= resident / 2;
}

/*
 * Add the arena that contains the page. If the page is in no arena, add its memory to the
 * claimed ranges.
 */
static void place_page(struct mimalloc *m, const struct mimalloc_page *page)
{
	const uint8_t *at = image_at(m->image, page->struct_addr + m->map_layout->memory,
				     MIMALLOC_MEMORY_BYTES);
	uint32_t kind;

	if (!at)
		return;
	memcpy(&kind, at + MEMORY_KIND, sizeof(kind));
	if (kind == MEMORY_OF_ARENA)
		mimalloc_add_arena(m, read_word(at));
	else
		mimalloc_add_range(&m->claimed, page->start_addr, page->end_addr);
}

static const char *read_pages(struct mimalloc *m, struct entries *entries)
{
	uint64_t covered = 0;

	if (!read_map(m, entries))
		return "mimalloc's page map is corrupt";
	if (!choose_layout(m, entries))
		return "the structures are not those of mimalloc 3.1 to 3.4";
	for (size_t i = 0; i < entries->count; i++) {
		struct mimalloc_page page;

		if (!read_page(m, m->map_layout, &entries->items[i], &page)) {
			if (is_struct_swapped(m, &entries->items[i],
					      m->map_layout->memory +
						      MIMALLOC_MEMORY_BYTES))
				m->absent_pages++;
			else
				m->broken_pages++;
			continue;
		}
		if (page.start_addr < covered) {
			m->broken_pages++;
			continue;
		}
		if (!mimalloc_add_page(m, &page))
			continue;
		place_page(m, &page);
		covered = page.end_addr;
	}
	return mimalloc_read_arenas(m);
}

const char *mimalloc_read_map(struct mimalloc *m)
{
	struct entries entries = { 0 };
	const char *problem;

	if (!find_map(m))
		return "mimalloc was not found";
	problem = read_pages(m, &entries);
	free(entries.items);
	return problem;
}
