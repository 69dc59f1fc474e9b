/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "jemalloc_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)

#define DATA_ADDR UINT64_C(0x7f1000000000)
#define BSS_PAGES 520
#define ROOT_ADDR (DATA_ADDR + PAGE + 0x48)
#define HEAP_ADDR UINT64_C(0x7f2000200000)
#define HEAP_PAGES 64
#define BASE_ADDR UINT64_C(0x7f3000000000)
#define BASE_BYTES (UINT64_C(8) << 20)
#define EXTENTS_ADDR (BASE_ADDR + PAGE)
#define SPLIT_ADDR (BASE_ADDR + 4 * PAGE - 64)
#define LEAF_ADDR (BASE_ADDR + (UINT64_C(2) << 20))
#define NODE_ADDR (BASE_ADDR + (UINT64_C(6) << 20))
#define BASE_END_ADDR (NODE_ADDR + (UINT64_C(1) << 18))
#define TLS_ADDR UINT64_C(0x7f4000000000)
#define TLS_PAGES 16

#define EXTENT_BYTES 128
#define LARGE_BYTES UINT64_C(16384)
#define LARGE_BINS 5
#define BIN_SLOTS 8
#define NO_ARENA UINT64_C(4095)

const struct jemalloc_kind jemalloc_kinds[] = {
	{ "5.0", 15, 17, 25, false, 64, 48, 4, PAGE },
	{ "5.1", 16, 18, 26, false, 88, 48, 4, PAGE },
	{ "5.2", 16, 18, 26, false, 120, 48, 4, PAGE },
	{ "5.2, quantum of 8", 16, 18, 26, false, 128, 48, 3, PAGE },
	{ "5.2, 57 bits", 16, 18, 26, false, 120, 57, 4, PAGE },
	{ "5.3", 17, 20, 28, true, 0, 48, 4, PAGE },
	{ "5.3, quantum of 8", 17, 20, 28, true, 0, 48, 3, PAGE },
	{ "5.3, no padding", 17, 20, 28, true, 0, 48, 4, 0 },
	{ "5.3, 57 bits", 17, 20, 28, true, 0, 57, 4, PAGE },
};
const size_t jemalloc_kind_count = sizeof(jemalloc_kinds) / sizeof(jemalloc_kinds[0]);

enum what {
	SLAB,
	LARGE,
	DIRTY,
	MUZZY,
	RETAINED,
	STACK /* a large block that holds the stacks of the thread's cache */
};

/* The extents of the heap, in the order of their addresses. */
static const struct {
	enum what what;
	unsigned int arena;
	uint64_t block_bytes;
	unsigned int pages; /* for large extents: without the padding */
} extents[] = {
	{ SLAB, 0, 48, 3 },	      { DIRTY, 0, 0, 5 },	    { SLAB, 0, 8, 1 },
	{ LARGE, 0, LARGE_BYTES, 4 }, { SLAB, 1, 4096, 1 },	    { MUZZY, 0, 0, 3 },
	{ SLAB, 1, 48, 3 },	      { STACK, 0, LARGE_BYTES, 4 }, { RETAINED, 0, 0, 4 },
	{ LARGE, 1, LARGE_BYTES, 4 }, { SLAB, 0, 48, 3 },
};

#define EXTENT_COUNT (sizeof(extents) / sizeof(extents[0]))

void jemalloc_image_write(struct jemalloc_image *h, uint64_t addr, uint64_t value)
{
	const uint8_t *at = image_at(&h->image, addr, sizeof(value));

	if (!at)
		abort();
	memcpy((uint8_t *)(uintptr_t)at, &value, sizeof(value));
}

uint64_t jemalloc_image_read(struct jemalloc_image *h, uint64_t addr)
{
	uint64_t value;

	if (!image_read(&h->image, addr, &value))
		abort();
	return value;
}

static void add_mapping(struct jemalloc_image *h, uint64_t addr, uint64_t bytes,
			uint64_t inode, const char *name)
{
	struct mapping m = {
		.start_addr = addr,
		.end_addr = addr + bytes,
		.inode = inode,
		.flags = MAPPING_READ | MAPPING_WRITE,
		.owner = inode ? OWNER_FILE : OWNER_ANON,
		.name = name,
		.name_length = (uint32_t)strlen(name),
	};

	counters_set_zero(&m.counters);
	m.counters.bytes[SMAPS_RSS] = bytes;
	mapping_list_add(&h->mappings, &m);
}

static void add_pages(struct jemalloc_image *h, uint64_t addr, uint64_t count)
{
	if (image_add_run(&h->image, addr, addr + count * PAGE) < 0)
		abort();
}

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(PAGE - 1);
}

/*
 * Return the index of a size among jemalloc's size classes. The function counts the
 * classes itself, independently of the code under test.
 */
static unsigned int class_of(const struct jemalloc_kind *kind, uint64_t bytes)
{
	uint64_t size = 8, step = UINT64_C(1) << kind->quantum_shift;
	unsigned int class = 0;

	for (; size < bytes; class ++) {
		if (size >= 8 * step)
			step *= 2;
		size += size < step ? step - size : step;
	}
	return class;
}

static uint64_t leaf_bits(const struct jemalloc_kind *kind)
{
	return kind->address_bits == 48 ? 18 : 15;
}

static uint64_t element_bytes(const struct jemalloc_kind *kind)
{
	return kind->address_bits == 48 ? 8 : 16;
}

static uint64_t element_addr(const struct jemalloc_kind *kind, uint64_t page_addr)
{
	uint64_t index = page_addr >> 12 & ((UINT64_C(1) << leaf_bits(kind)) - 1);

	return LEAF_ADDR + index * element_bytes(kind);
}

static void write_element(struct jemalloc_image *h, uint64_t page_addr,
			  uint64_t extent_addr, unsigned int class, unsigned int state,
			  bool is_slab)
{
	uint64_t addr = element_addr(h->kind, page_addr);

	if (h->kind->address_bits == 48) {
		uint64_t low = is_slab | (h->kind->has_leaf_state ? state << 2 : 0);

		jemalloc_image_write(h, addr, (uint64_t) class << 48 | extent_addr | low);
		return;
	}
	jemalloc_image_write(h, addr, extent_addr);
	if (h->kind->has_leaf_state)
		jemalloc_image_write(h, addr + 8,
				     (uint64_t) class << 5 | state << 2 | is_slab);
	else
		jemalloc_image_write(h, addr + 8, class | (uint64_t)is_slab << 32);
}

static void add(struct chunk_sum *sum, uint64_t count, uint64_t bytes)
{
	sum->count += count;
	sum->bytes += count * bytes;
}

/* Mark every third block of a slab as free. Return the number of free blocks. */
static unsigned int write_bitmap(struct jemalloc_image *h, uint64_t extent_addr,
				 unsigned int count)
{
	unsigned int free_count = 0;

	for (unsigned int first = 0; first < count; first += 64) {
		uint64_t word = 0;

		for (unsigned int i = first; i < count && i < first + 64; i++)
			if (i % 3 == 2) {
				word |= UINT64_C(1) << (i - first);
				free_count++;
			}
		jemalloc_image_write(h, extent_addr + 64 + first / 8, word);
	}
	/*
	 * Stale bytes follow the bitmap: the extent was in a list
	 * before it became a slab.
	 */
	if (count <= 448)
		jemalloc_image_write(h, extent_addr + 64 + 56, extent_addr);
	return free_count;
}

/*
 * Return the offset of a large block in its first page. It is 0 unless the
 * extent has a page of padding.
 */
static uint64_t block_offset(const struct jemalloc_kind *kind)
{
	return kind->pad_bytes ? 0x80 : 0;
}

static void note(struct jemalloc_image *h, size_t index, uint64_t start, uint64_t pages,
		 unsigned int free_count)
{
	uint64_t bytes = extents[index].block_bytes;

	switch (extents[index].what) {
	case SLAB:
		add(&h->free, free_count, bytes);
		add(&h->live, pages * PAGE / bytes - free_count, bytes);
		if (extents[index].arena == 0)
			h->first_arena_live_bytes +=
				(pages * PAGE / bytes - free_count) * bytes;
		break;
	case LARGE:
		add(&h->live, 1, bytes);
		h->large_addr = start + block_offset(h->kind);
		if (extents[index].arena == 0)
			h->first_arena_live_bytes += bytes;
		break;
	case STACK:
		add(&h->own, 1, bytes);
		h->stack_addr = start + block_offset(h->kind);
		break;
	case DIRTY: h->dirty_bytes += pages * PAGE; return;
	case MUZZY: h->muzzy_bytes += pages * PAGE; return;
	case RETAINED: h->retained_bytes += pages * PAGE; return;
	}
	h->active_bytes += pages * PAGE;
}

static uint64_t add_extent(struct jemalloc_image *h, size_t index, uint64_t start)
{
	const struct jemalloc_kind *kind = h->kind;
	bool is_slab = extents[index].what == SLAB;
	bool is_large = extents[index].what == LARGE || extents[index].what == STACK;
	uint64_t pages = extents[index].pages + (is_large ? kind->pad_bytes / PAGE : 0);
	bool is_split = index == EXTENT_COUNT - 1;
	uint64_t addr = is_split ? SPLIT_ADDR : EXTENTS_ADDR + index * EXTENT_BYTES;
	unsigned int class = extents[index].block_bytes
				     ? class_of(kind, extents[index].block_bytes)
				     : 232;
	unsigned int state = extents[index].what == DIRTY      ? 1
			     : extents[index].what == MUZZY    ? 2
			     : extents[index].what == RETAINED ? 3
							       : 0;
	unsigned int free_count = 0;

	if (is_slab && !is_split)
		free_count = write_bitmap(
			h, addr,
			(unsigned int)(pages * PAGE / extents[index].block_bytes));
	jemalloc_image_write(h, addr,
			     extents[index].arena | (uint64_t)is_slab << 12 |
				     (uint64_t)state << kind->state_shift |
				     (uint64_t) class << kind->class_shift |
				     (uint64_t)free_count << kind->free_shift);
	jemalloc_image_write(h, addr + 8, start + (is_large ? block_offset(kind) : 0));
	jemalloc_image_write(h, addr + 16, pages * PAGE | 0x123);
	for (uint64_t i = 0; i < pages; i++)
		if (is_slab || i == 0 || i == pages - 1)
			write_element(h, start + i * PAGE, addr, class, state, is_slab);
	note(h, index, start, pages, free_count);
	if (is_split)
		h->split_extent_addr = addr;
	else if (index == 0)
		h->slab_extent_addr = addr;
	else if (extents[index].arena == 1 && is_slab)
		h->other_extent_addr = addr;
	return start + pages * PAGE;
}

/*
 * Write the cache's next bin: count blocks, the first at first_addr.
 * Return the end of its stack.
 */
static uint64_t write_bin(struct jemalloc_image *h, uint64_t bin_addr,
			  uint64_t stack_addr, unsigned int count, uint64_t first_addr,
			  uint64_t step)
{
	uint64_t end = stack_addr + BIN_SLOTS * 8;
	uint64_t head = end - count * UINT64_C(8);

	for (unsigned int i = 0; i < count; i++)
		jemalloc_image_write(h, head + i * UINT64_C(8), first_addr + i * step);
	if (h->kind->has_leaf_state) {
		jemalloc_image_write(h, bin_addr, head);
		jemalloc_image_write(h, bin_addr + 16,
				     (end & 0xffff) << 32 | (stack_addr & 0xffff) << 16 |
					     (end & 0xffff));
	} else {
		jemalloc_image_write(h, bin_addr, (uint64_t)count << 32);
		jemalloc_image_write(h, bin_addr + 16, end);
	}
	if (count) {
		h->cached_place = head;
		h->cached_addr = first_addr;
	}
	return end;
}

/* Put blocks of 48 bytes and the last large block into the thread's cache. */
static void write_cache(struct jemalloc_image *h)
{
	unsigned int small = class_of(h->kind, LARGE_BYTES);
	unsigned int of_48 = class_of(h->kind, 48);
	uint64_t bin = h->bins_addr;
	uint64_t stack = h->stack_addr;

	for (unsigned int i = 0; i < small; i++, bin += 24)
		if (i != of_48)
			stack = write_bin(h, bin, stack, 0, 0, 0);
		else
			stack = write_bin(h, bin, stack, 2, h->slab_addr, 3 * 48);
	bin += h->kind->large_bins_gap;
	for (unsigned int i = 0; i < LARGE_BINS; i++, bin += 24)
		stack = write_bin(h, bin, stack, 0, 0, 0);
	h->cached_addr = h->slab_addr;
	add(&h->cached, 2, 48);
	h->live.count -= 2;
	h->live.bytes -= UINT64_C(2) * 48;
	h->first_arena_live_bytes -= UINT64_C(2) * 48;
}

static void write_tree(struct jemalloc_image *h)
{
	if (h->kind->address_bits == 48) {
		jemalloc_image_write(h, h->root_element_addr, LEAF_ADDR);
		return;
	}
	jemalloc_image_write(h, h->root_element_addr, NODE_ADDR);
	jemalloc_image_write(h, NODE_ADDR + (HEAP_ADDR >> 27 & 0x7fff) * 8, LEAF_ADDR);
}

static void write_base(struct jemalloc_image *h)
{
	jemalloc_image_write(h, BASE_ADDR, BASE_BYTES);
	jemalloc_image_write(h, BASE_ADDR + 16, NO_ARENA);
	jemalloc_image_write(h, BASE_ADDR + 24, BASE_END_ADDR);
	jemalloc_image_write(h, BASE_ADDR + 32, BASE_ADDR + BASE_BYTES - BASE_END_ADDR);
	/*
	 * The library has pointers to its own data before the
	 * pointers that lead to the tree.
	 */
	jemalloc_image_write(h, DATA_ADDR + 0x100, BASE_ADDR + 0x1000);
	jemalloc_image_write(h, DATA_ADDR + 0x108, BASE_ADDR + 0x40);
}

/* Add all pages except those of the retained extent. */
static void add_heap_pages(struct jemalloc_image *h)
{
	uint64_t before = 0;

	for (size_t i = 0; extents[i].what != RETAINED; i++) {
		bool is_large = extents[i].what == LARGE || extents[i].what == STACK;

		before += extents[i].pages + (is_large ? h->kind->pad_bytes / PAGE : 0);
	}
	add_pages(h, HEAP_ADDR, before);
	add_pages(h, HEAP_ADDR + (before + 4) * PAGE, HEAP_PAGES - before - 4);
}

static void add_memory(struct jemalloc_image *h)
{
	const struct jemalloc_kind *kind = h->kind;

	add_mapping(h, DATA_ADDR, PAGE, 7, "/lib/libjemalloc.so.2");
	add_mapping(h, DATA_ADDR + PAGE, BSS_PAGES * PAGE, 0, "");
	add_mapping(h, HEAP_ADDR, HEAP_PAGES * PAGE, 0, "");
	add_mapping(h, BASE_ADDR, BASE_BYTES, 0, "");
	add_mapping(h, TLS_ADDR, TLS_PAGES * PAGE, 0, "");
	add_pages(h, DATA_ADDR, 1);
	add_pages(h, page_of(h->root_element_addr), 1);
	add_heap_pages(h);
	add_pages(h, BASE_ADDR, 4);
	add_pages(h, page_of(element_addr(kind, HEAP_ADDR)), 1);
	if (kind->address_bits == 57)
		add_pages(h, page_of(NODE_ADDR + (HEAP_ADDR >> 27 & 0x7fff) * 8), 1);
	add_pages(h, TLS_ADDR, TLS_PAGES);
	memset(h->image.bytes, 0, h->image.length_bytes);
}

void jemalloc_image_init(struct jemalloc_image *h, const struct jemalloc_kind *kind)
{
	uint64_t at = HEAP_ADDR;

	memset(h, 0, sizeof(*h));
	h->kind = kind;
	h->root_element_addr =
		ROOT_ADDR + (HEAP_ADDR >> (kind->address_bits == 48 ? 30 : 42)) * 8;
	h->base_addr = BASE_ADDR;
	h->leaf_addr = LEAF_ADDR;
	h->leaf_first_addr = kind->address_bits == 48 ? HEAP_ADDR >> 30 << 30
						      : HEAP_ADDR >> 27 << 27;
	h->slab_addr = HEAP_ADDR;
	h->thread_addrs[0] = TLS_ADDR + 7 * PAGE + 0x740;
	h->thread_addrs[1] = TLS_ADDR + 15 * PAGE + 0x740;
	h->bins_addr = h->thread_addrs[0] - 0x1408;
	if (image_reserve(&h->image, (HEAP_PAGES + TLS_PAGES + 16) * PAGE))
		abort();
	add_memory(h);
	write_base(h);
	write_tree(h);
	for (size_t i = 0; i < EXTENT_COUNT; i++)
		at = add_extent(h, i, at);
	h->last_element_addr = element_addr(kind, at - PAGE);
	write_cache(h);
}

void jemalloc_image_release(struct jemalloc_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void jemalloc_image_walk(struct jemalloc_image *h, struct heap *ret)
{
	const struct walk_input input = {
		.image = &h->image,
		.mappings = &h->mappings,
		.thread_addrs = h->thread_addrs,
		.thread_count = 2,
		.is_running = h->is_running,
	};

	blocks_release(&h->blocks);
	walk_jemalloc(&input, ret, &h->blocks);
}
