/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/detail.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/allocator_signs.h"

/*
 * Size of the word `size` in the head of a glibc chunk. The other word of the head
 * (prev_size) is usable memory of the previous block.
 */
#define CHAIN_HEAD_BYTES 8

#define SLOTS_MIN 512

/*
 * Blocks are grouped by type or by size. This bit is set in the key of a group if the key
 * is a type number instead of a size.
 */
#define KEY_TYPE (UINT64_C(1) << 63)

struct group {
	uint64_t key;
	/*
	 * 1 + the page number of the fragmented page on which a block of the group was
	 * last found
	 */
	uint64_t page;
};

struct counting {
	const struct blocks *blocks;
	struct types *types;
	struct heap_detail *detail;

	/* groups of blocks, one for each element of detail->types, in the same order */
	struct group *groups;
	size_t group_capacity, type_capacity;
	/* hash table by key: 1 + the index in groups; 0 if the slot is empty */
	uint32_t *slots;
	size_t slot_count; /* number of slots, which is a power of 2 */

	/*
	 * The fragmented page visited last, and the number of groups with blocks on that
	 * page.
	 */
	const struct page_use *page;
	size_t page_groups;
	size_t first_group;
};

static uint32_t *find_slot(const struct counting *c, uint64_t key)
{
	size_t mask = c->slot_count - 1;
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (c->slots[at] && c->groups[c->slots[at] - 1].key != key)
		at = (at + 1) & mask;
	return &c->slots[at];
}

static void grow_slots(struct counting *c)
{
	free(c->slots);
	c->slot_count *= 2;
	c->slots = xcalloc(c->slot_count, sizeof(*c->slots));
	for (size_t i = 0; i < c->detail->type_count; i++)
		*find_slot(c, c->groups[i].key) = (uint32_t)i + 1;
}

/* Return the index of the block's group in detail->types. Add the group if it is new. */
static size_t group_of(struct counting *c, const struct block *block)
{
	uint32_t type = c->types ? types_of_block(c->types, c->blocks, block) : 0;
	uint64_t key = type ? KEY_TYPE | type : block->bytes;
	struct heap_detail *d = c->detail;
	uint32_t *slot = find_slot(c, key);
	const char *name;

	if (*slot)
		return *slot - 1;
	c->groups = xgrow(c->groups, &c->group_capacity, d->type_count + 1,
			  sizeof(*c->groups));
	d->types =
		xgrow(d->types, &c->type_capacity, d->type_count + 1, sizeof(*d->types));
	name = type ? types_name(c->types, type) : NULL;
	c->groups[d->type_count] = (struct group){ .key = key };
	d->types[d->type_count] = (struct heap_type){
		.name = name ? xstrdup(name) : NULL,
		.size_bytes = block->bytes,
	};
	*slot = (uint32_t)++d->type_count;
	if (d->type_count * 2 > c->slot_count)
		grow_slots(c);
	return d->type_count - 1;
}

/* Return the page that contains addr, or NULL if the page is not resident. */
static const struct page_use *page_at(const struct blocks *blocks, uint64_t addr)
{
	const struct image_run *run = image_run_at(blocks->image, addr);

	return run ? &blocks->pages[(run->offset_bytes + (addr - run->start_addr)) /
				    IMAGE_PAGE_BYTES]
		   : NULL;
}

static bool is_fragmented(const struct page_use *page)
{
	return page->free_bytes >= FRAGMENTED_FREE_BYTES &&
	       page->free_bytes < IMAGE_PAGE_BYTES;
}

/*
 * Complete the counts of a fragmented page. If freeing the blocks of a single group would
 * free the whole page, increment the alone_page_count of that group. This is the case if
 * only that group has live blocks on the page, and if each byte of the page is live or
 * free.
 */
static void end_page(struct counting *c)
{
	if (c->page && c->page_groups == 1 &&
	    c->page->live_bytes + c->page->free_bytes == IMAGE_PAGE_BYTES)
		c->detail->types[c->first_group].pin.alone_page_count++;
	c->page = NULL;
}

/*
 * Record that a live block of the group is on the page of addr. Return false if the page
 * is not fragmented.
 */
static bool pin_page(struct counting *c, size_t group, uint64_t addr)
{
	const struct page_use *page = page_at(c->blocks, addr);
	uint64_t number;

	if (!page || !is_fragmented(page))
		return false;
	number = (uint64_t)(page - c->blocks->pages) + 1;
	if (page != c->page) {
		end_page(c);
		c->page = page;
		c->page_groups = 0;
		c->first_group = group;
	}
	if (c->groups[group].page != number) {
		struct page_sum *pages = &c->detail->types[group].pin.pages;

		c->groups[group].page = number;
		c->page_groups++;
		pages->page_count++;
		pages->free_bytes += page->free_bytes;
	}
	return true;
}

/*
 * Call pin_page() for the first and the last page of a block. The block fully uses all
 * pages between them, so they are not fragmented.
 */
static void pin_pages(struct counting *c, size_t group, const struct block *block)
{
	uint64_t first = block->addr - c->blocks->head_bytes;
	uint64_t last = block->addr + block->bytes - 1;
	bool is_pinning;

	if (c->blocks->extents[block->extent].kind == EXTENT_CHAIN)
		/* the last word of the block is in the next chunk's head */
		last -= CHAIN_HEAD_BYTES - c->blocks->chain_end_bytes;
	is_pinning = pin_page(c, group, first);
	if (first / IMAGE_PAGE_BYTES != last / IMAGE_PAGE_BYTES)
		is_pinning = pin_page(c, group, last) || is_pinning;
	if (is_pinning)
		c->detail->types[group].pin.block_count++;
}

static uint64_t resident_bytes(const struct blocks *blocks, const struct block *block)
{
	if (image_at(blocks->image, block->addr, block->bytes))
		return block->bytes;
	return image_resident_bytes(blocks->image, block->addr,
				    block->addr + block->bytes);
}

static void count_blocks(struct counting *c)
{
	struct block_place place = { 0 };
	struct block block;

	while (blocks_next(c->blocks, &place, &block)) {
		struct heap_type *type;
		size_t group;

		if (block.state != BLOCK_LIVE)
			continue;
		group = group_of(c, &block);
		type = &c->detail->types[group];
		chunk_sum_add(&type->live, block.bytes);
		type->resident_bytes += resident_bytes(c->blocks, &block);
		if (type->size_bytes != block.bytes)
			type->size_bytes = 0;
		pin_pages(c, group, &block);
	}
	end_page(c);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_types(const void *a, const void *b)
{
	const struct heap_type *left = a, *right = b;
	int order = compare_u64(right->live.bytes, left->live.bytes);

	if (order == 0)
		order = compare_u64(right->live.count, left->live.count);
	if (order == 0)
		order = compare_u64(right->size_bytes, left->size_bytes);
	return order ? order
		     : strcmp(left->name ? left->name : "",
			      right->name ? right->name : "");
}

static int compare_pins(const void *a, const void *b, void *types)
{
	const size_t *left = a, *right = b;
	const struct heap_pin *x = &((struct heap_type *)types)[*left].pin;
	const struct heap_pin *y = &((struct heap_type *)types)[*right].pin;
	int order = compare_u64(y->alone_page_count, x->alone_page_count);

	if (order == 0)
		order = compare_u64(y->pages.page_count, x->pages.page_count);
	return order ? order : compare_u64(*left, *right);
}

static void sort_types(struct heap_detail *d)
{
	if (d->type_count == 0)
		return;
	qsort(d->types, d->type_count, sizeof(*d->types), compare_types);
	d->pins = xcalloc(d->type_count, sizeof(*d->pins));
	for (size_t i = 0; i < d->type_count; i++)
		if (d->types[i].pin.pages.page_count > 0)
			d->pins[d->pin_count++] = i;
	qsort_r(d->pins, d->pin_count, sizeof(*d->pins), compare_pins, d->types);
}

static void add_page(struct page_sum *sum, const struct page_use *page)
{
	sum->page_count++;
	sum->free_bytes += page->free_bytes;
}

static void count_pages(const struct blocks *blocks, struct heap_detail *d)
{
	uint64_t count = blocks->pages ? blocks->image->length_bytes / IMAGE_PAGE_BYTES
				       : 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct page_use *page = &blocks->pages[i];

		if (page->heap_bytes == 0)
			continue;
		add_page(&d->fill[page_fill_of(page->free_bytes, IMAGE_PAGE_BYTES)],
			 page);
		if (is_fragmented(page))
			add_page(&d->fragmented, page);
	}
}

/*
 * Return the index of the page map for an extent. The page maps of the arenas come first,
 * followed by the page map of the blocks with their own mappings.
 */
static size_t strip_index(const struct extent *extent, size_t arena_count)
{
	return extent->is_mapped ? arena_count : extent->arena;
}

static void add_cell(struct heap_strip *strip, uint64_t addr, const struct page_use *page)
{
	/*
	 * the first pass only counts the pages of a map; the second also fills
	 * the map's cells
	 */
	if (strip->cells) {
		uint64_t cell = strip->sum.page_count / strip->pages_per_cell;

		add_page(&strip->cells[cell], page);
	}
	if (strip->sum.page_count == 0)
		strip->start_addr = addr;
	strip->end_addr = addr + IMAGE_PAGE_BYTES;
	add_page(&strip->sum, page);
}

/*
 * The progress of a loop that visits the pages of a heap in ascending address order, and
 * adds them to page maps (strips). `extent` is the index of the first extent that ends
 * after the start of the current page.
 */
struct stripping {
	const struct blocks *blocks;
	struct heap_strip *strips;
	size_t arena_count, extent;
};

/*
 * Add a page to the page map of the first extent that has memory on the page. A page
 * without blocks is added only if all blocks are in one arena.
 */
static void add_to_strip(struct stripping *s, uint64_t addr, const struct page_use *page)
{
	const struct blocks *blocks = s->blocks;
	size_t strip = 0;

	while (s->extent < blocks->extent_count &&
	       blocks->extents[s->extent].end_addr <= addr)
		s->extent++;
	if (s->extent < blocks->extent_count &&
	    blocks->extents[s->extent].start_addr < addr + IMAGE_PAGE_BYTES)
		strip = strip_index(&blocks->extents[s->extent], s->arena_count);
	else if (s->arena_count != 1)
		return;
	add_cell(&s->strips[strip], addr, page);
}

static void for_each_page(const struct blocks *blocks, struct heap_strip *strips,
			  size_t arena_count)
{
	struct stripping stripping = { blocks, strips, arena_count, 0 };

	for (size_t r = 0; r < blocks->image->run_count; r++) {
		const struct image_run *run = &blocks->image->runs[r];
		const struct page_use *page =
			&blocks->pages[run->offset_bytes / IMAGE_PAGE_BYTES];

		for (uint64_t addr = run->start_addr; addr < run->end_addr;
		     addr += IMAGE_PAGE_BYTES, page++)
			if (page->heap_bytes > 0)
				add_to_strip(&stripping, addr, page);
	}
}

static size_t count_arenas(const struct blocks *blocks)
{
	size_t count = 1;

	for (size_t i = 0; i < blocks->extent_count; i++)
		if (blocks->extents[i].arena >= count)
			count = (size_t)blocks->extents[i].arena + 1;
	return count;
}

static void make_strips(const struct blocks *blocks, struct heap_detail *d)
{
	size_t arena_count = count_arenas(blocks), count = arena_count + 1;

	d->strips = xcalloc(count, sizeof(*d->strips));
	for_each_page(blocks, d->strips, arena_count);
	for (size_t i = 0; i < count; i++) {
		struct heap_strip *strip = &d->strips[i];
		uint64_t pages = strip->sum.page_count;

		strip->arena = i < arena_count ? (uint32_t)i : 0;
		strip->is_mapped = i == arena_count;
		strip->pages_per_cell = pages / STRIP_CELLS_MAX +
					(pages % STRIP_CELLS_MAX != 0 || pages == 0);
		strip->cell_count = (size_t)((pages + strip->pages_per_cell - 1) /
					     strip->pages_per_cell);
		strip->cells = xcalloc(strip->cell_count + 1, sizeof(*strip->cells));
		strip->sum = (struct page_sum){ 0, 0 };
	}
	for_each_page(blocks, d->strips, arena_count);
	for (size_t i = 0; i < count; i++) {
		if (d->strips[i].sum.page_count > 0)
			d->strips[d->strip_count++] = d->strips[i];
		else
			free(d->strips[i].cells);
	}
}

static void group_blocks(const struct blocks *blocks, struct types *types,
			 struct heap_detail *ret)
{
	struct counting counting = {
		.blocks = blocks,
		.types = types,
		.detail = ret,
		.slot_count = SLOTS_MIN,
	};

	counting.slots = xcalloc(counting.slot_count, sizeof(*counting.slots));
	counting.groups =
		xgrow(NULL, &counting.group_capacity, 1, sizeof(*counting.groups));
	count_blocks(&counting);
	free(counting.slots);
	free(counting.groups);
	sort_types(ret);
	if (types)
		ret->problem = types_problem(types);
}

/* Return true if each block that the walker reports is a region with several objects. */
static bool has_regions_only(enum allocator allocator)
{
	return allocator == ALLOCATOR_V8 || allocator == ALLOCATOR_HOTSPOT;
}

void walk_detail(const struct heap *heap, const struct blocks *blocks,
		 struct types *types, struct heap_detail *ret)
{
	bool has_blocks = !has_regions_only(heap->allocator);

	*ret = (struct heap_detail)HEAP_DETAIL_INIT;
	if (!blocks->image || heap->quality == QUALITY_UNKNOWN ||
	    (!has_blocks && heap->quality != QUALITY_EXACT))
		return;
	ret->has_pages = true;
	ret->has_blocks = has_blocks;
	if (has_blocks)
		group_blocks(blocks, allocator_is_malloc(heap->allocator) ? types : NULL,
			     ret);
	count_pages(blocks, ret);
	make_strips(blocks, ret);
}
