/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "mimalloc_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)
#define SLICE UINT64_C(65536)

#define DATA_ADDR UINT64_C(0x7f1000000000)
#define DATA_BYTES (8 * PAGE)
#define SEGMENT_ADDR UINT64_C(0x7f2000000000)
#define SEGMENT_BYTES (UINT64_C(64) << 20)
#define UNUSED_ADDR (SEGMENT_ADDR + SEGMENT_BYTES)

/* Version 3: the map, with 2^18 words, the table for address 0, and one more table. */
#define MAP_ADDR UINT64_C(0x7f3000000000)
#define MAP_BYTES (UINT64_C(8) << 18)
#define TABLE_BYTES (UINT64_C(8) << 13)
#define TABLE_ADDR (MAP_ADDR + MAP_BYTES + TABLE_BYTES)

/* The slices: the info slice, a small page, a large page, free slices. */
#define LARGE_SLICES 3
#define FREE_SLICE (2 + LARGE_SLICES)
#define FREE_RESIDENT (4 * PAGE)
#define ARENA_SLICES 64
#define OWN_SLICE 9 /* version 3: not free, but in no page */

#define BLOCK_BYTES 64
#define CAPACITY 100
#define LARGE_BYTES UINT64_C(150016)
#define COOKIE UINT64_C(0x5ec2e7c00c1e5eed)
#define THREAD_ID UINT64_C(0x7f5000001740)
#define KEY_0 UINT64_C(0x9e3779b97f4a7c15)
#define KEY_1 UINT64_C(0xc2b2ae3d27d4eb4f)

#define FREE_COUNT 5
#define LOCAL_COUNT 3
#define THREAD_COUNT 2
#define DELAYED_COUNT 4

#define SEGMENT_2_0                               \
	{                                         \
		312, 320, 328, 336, 360, 352, 368 \
	}
#define SEGMENT_2_1                               \
	{                                         \
		208, 216, 224, 232, 248, 256, 264 \
	}
#define SEGMENT_2_2                               \
	{                                         \
		216, 224, 248, 256, 272, 280, 288 \
	}
#define PAGE_PLAIN                                        \
	{                                                 \
		80, 16, 32, 40, 24, 4, 28, 4, 0, 0, 48, 0 \
	}
#define PAGE_SECURE_2_0                                    \
	{                                                  \
		96, 16, 48, 56, 40, 4, 44, 4, 0, 24, 64, 0 \
	}
#define PAGE_SECURE_2_1                                    \
	{                                                  \
		96, 16, 32, 56, 24, 4, 28, 4, 0, 40, 64, 0 \
	}
#define PAGE_2_1_4                                         \
	{                                                  \
		96, 16, 24, 56, 32, 2, 40, 8, 48, 0, 64, 0 \
	}
#define PAGE_2_1_4_SECURE                                    \
	{                                                    \
		112, 16, 24, 72, 32, 2, 40, 8, 48, 56, 80, 0 \
	}
#define PAGE_3(keys, memory)                                    \
	{                                                       \
		0, 8, 24, 32, 16, 2, 40, 8, 48, keys, 0, memory \
	}

const struct mimalloc_made mimalloc_made[MIMALLOC_MADE_COUNT] = {
	{ "2.0.9", 512, SEGMENT_2_1, PAGE_PLAIN, 2840, 384, false, { 0 } },
	{ "2.0.9 secure", 512, SEGMENT_2_1, PAGE_SECURE_2_1, 2840, 384, false, { 0 } },
	{ "2.0.7", 1024, SEGMENT_2_0, PAGE_PLAIN, 2840, 128, false, { 0 } },
	{ "2.0.7 secure", 1024, SEGMENT_2_0, PAGE_SECURE_2_0, 2840, 128, false, { 0 } },
	{ "2.1.2", 512, SEGMENT_2_1, PAGE_PLAIN, 2840, 192, false, { 0 } },
	{ "2.1.2 secure", 512, SEGMENT_2_1, PAGE_SECURE_2_1, 2848, 192, false, { 0 } },
	{ "2.1.7", 512, SEGMENT_2_1, PAGE_2_1_4, 8, 192, false, { 0 } },
	{ "2.1.7 secure", 512, SEGMENT_2_1, PAGE_2_1_4_SECURE, 8, 192, false, { 0 } },
	{ "2.4.1", 512, SEGMENT_2_2, PAGE_2_1_4, 8, 192, false, { 0 } },
	{ "2.4.1 secure", 512, SEGMENT_2_2, PAGE_2_1_4_SECURE, 8, 192, false, { 0 } },
	{ "3.1.5", 0, { 0 }, PAGE_3(0, 96), 0, 128, false, { 32, 40, 80, 384 } },
	{ "3.1.5 secure", 0, { 0 }, PAGE_3(64, 112), 0, 192, false, { 32, 40, 80, 384 } },
	{ "3.2.8", 0, { 0 }, PAGE_3(0, 96), 0, 128, false, { 40, 48, 88, 448 } },
	{ "3.2.8 secure", 0, { 0 }, PAGE_3(56, 112), 0, 192, false, { 40, 48, 88, 448 } },
	{ "3.3.2", 0, { 0 }, PAGE_3(0, 96), 0, 128, false, { 40, 48, 104, 448 } },
	{ "3.4.3", 0, { 0 }, PAGE_3(0, 88), 0, 128, true, { 40, 48, 104, 448 } },
	{ "3.4.3 secure", 0, { 0 }, PAGE_3(56, 104), 0, 192, true, { 40, 48, 104, 448 } },
};

static uint8_t *at(struct mimalloc_image *h, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, length);

	if (!found)
		abort();
	return found;
}

void mimalloc_image_write(struct mimalloc_image *h, uint64_t addr, uint64_t value,
			  unsigned int bytes)
{
	memcpy(at(h, addr, bytes), &value, bytes);
}

uint64_t mimalloc_image_read(struct mimalloc_image *h, uint64_t addr, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, at(h, addr, bytes), bytes);
	return value;
}

static void write_word(struct mimalloc_image *h, uint64_t addr, uint64_t value)
{
	mimalloc_image_write(h, addr, value, 8);
}

static void add_run(struct mimalloc_image *h, uint64_t start, uint64_t bytes)
{
	if (image_add_run(&h->image, start, start + bytes) < 0)
		abort();
}

static void add_mapping(struct mimalloc_image *h, uint64_t start, uint64_t bytes,
			uint64_t inode)
{
	struct mapping m = { .start_addr = start,
			     .end_addr = start + bytes,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .inode = inode,
			     .name = inode ? "/lib/libmimalloc.so" : "" };

	m.name_length = (uint32_t)strlen(m.name);
	m.counters.bytes[SMAPS_RSS] = bytes;
	mapping_list_add(&h->mappings, &m);
}

/* Encode an address as mi_ptr_encode() does; null stands for 0. */
static uint64_t encode(const struct mimalloc_image *h, uint64_t addr, uint64_t null)
{
	unsigned int shift = KEY_0 % 64;
	uint64_t value = (addr ? addr : null) ^ KEY_1;

	if (h->made->page.keys == 0)
		return addr;
	return (value << shift | value >> (64 - shift)) + KEY_0;
}

/* Link `count` blocks from the block `first` on. Returns the address of the first one. */
static uint64_t link_blocks(struct mimalloc_image *h, unsigned int first,
			    unsigned int count, uint64_t null)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t addr = h->small_addr + (first + i) * BLOCK_BYTES;

		write_word(h, addr,
			   encode(h, i + 1 < count ? addr + BLOCK_BYTES : 0, null));
		chunk_sum_add(&h->free, BLOCK_BYTES);
	}
	return h->small_addr + first * BLOCK_BYTES;
}

static void make_page(struct mimalloc_image *h, uint64_t addr, uint64_t block_addr,
		      uint64_t block_bytes, unsigned int capacity, unsigned int reserved,
		      unsigned int used)
{
	const struct mimalloc_made *m = h->made;
	bool is_3 = m->segment_slices == 0;

	mimalloc_image_write(h, addr + (is_3 ? 18 : 10), capacity, 2);
	mimalloc_image_write(h, addr + (is_3 ? 20 : 12), reserved, 2);
	mimalloc_image_write(h, addr + m->page.used, used, m->page.used_bytes);
	mimalloc_image_write(h, addr + m->page.block_bytes, block_bytes,
			     m->page.block_bytes_bytes);
	if (m->has_offset)
		mimalloc_image_write(h, addr + m->page.start, (block_addr - addr) / 8, 4);
	else if (m->page.start)
		write_word(h, addr + m->page.start, block_addr);
	if (m->page.keys) {
		write_word(h, addr + m->page.keys, KEY_0);
		write_word(h, addr + m->page.keys + 8, KEY_1);
	}
	if (m->page.heap)
		write_word(h, addr + m->page.heap, h->heap_addr);
}

/* Fill the two pages. Their structs and the addresses of their blocks are set. */
static void make_pages(struct mimalloc_image *h)
{
	const struct mimalloc_made *m = h->made;
	uint64_t small = h->small_page_addr;

	make_page(h, small, h->small_addr, BLOCK_BYTES, CAPACITY,
		  (unsigned int)((SLICE - m->first_block) / BLOCK_BYTES),
		  CAPACITY - FREE_COUNT - LOCAL_COUNT);
	make_page(h, h->large_page_addr, h->large_addr, LARGE_BYTES, 1, 1, 1);
	h->free_addr = link_blocks(h, 10, FREE_COUNT, small);
	h->local_addr = link_blocks(h, 30, LOCAL_COUNT, small);
	h->thread_addr = link_blocks(h, 50, THREAD_COUNT, small);
	write_word(h, small + m->page.free, h->free_addr);
	write_word(h, small + m->page.local, h->local_addr);
	/* the lowest bits are flags */
	write_word(h, small + m->page.thread, h->thread_addr | 1);
	h->live.count = CAPACITY - FREE_COUNT - LOCAL_COUNT - THREAD_COUNT + 1;
	h->live.bytes = (h->live.count - 1) * BLOCK_BYTES + LARGE_BYTES;
}

static void make_heap(struct mimalloc_image *h)
{
	uint64_t list = h->heap_addr + h->made->delayed;

	h->delayed_addr = link_blocks(h, 70, DELAYED_COUNT, h->heap_addr);
	h->live.count -= DELAYED_COUNT;
	h->live.bytes -= DELAYED_COUNT * BLOCK_BYTES;
	write_word(h, list, h->delayed_addr);
	write_word(h, list + 8, THREAD_ID);
	write_word(h, list + 32, KEY_0);
	write_word(h, list + 40, KEY_1);
}

/* Describe a page or free slices of a segment. Returns the address of the struct. */
static uint64_t make_slices(struct mimalloc_image *h, unsigned int first,
			    unsigned int count)
{
	uint64_t addr = SEGMENT_ADDR + h->made->segment.slices +
			(uint64_t)first * h->made->page.bytes;

	mimalloc_image_write(h, addr, count, 4);
	return addr;
}

static void make_segment(struct mimalloc_image *h, uint64_t addr, unsigned int used)
{
	const struct mimalloc_made *m = h->made;

	write_word(h, addr + m->segment.used, used);
	write_word(h, addr + m->segment.cookie, addr ^ COOKIE);
	write_word(h, addr + m->segment.slice_count, m->segment_slices);
	write_word(h, addr + m->segment.info_count, 1);
	write_word(h, addr + m->segment.entry_count, m->segment_slices);
	write_word(h, addr + m->segment.thread_id, THREAD_ID);
	mimalloc_image_write(h, addr + m->segment.slices, 1, 4);
}

static void make_version_2(struct mimalloc_image *h)
{
	add_mapping(h, DATA_ADDR, DATA_BYTES, 7);
	add_run(h, DATA_ADDR, DATA_BYTES);
	add_mapping(h, SEGMENT_ADDR, 2 * SEGMENT_BYTES, 0);
	add_run(h, SEGMENT_ADDR, FREE_SLICE * SLICE + FREE_RESIDENT);
	add_run(h, UNUSED_ADDR, FREE_RESIDENT);
	memset(h->image.bytes, 0, h->image.length_bytes);
	h->anchor_addr = DATA_ADDR + 3 * PAGE;
	h->heap_addr = DATA_ADDR + PAGE;
	h->unused_addr = UNUSED_ADDR;
	write_word(h, h->anchor_addr, COOKIE);
	make_segment(h, SEGMENT_ADDR, 2);
	make_segment(h, UNUSED_ADDR, 0);
	h->small_page_addr = make_slices(h, 1, 1);
	h->large_page_addr = make_slices(h, 2, LARGE_SLICES);
	make_slices(h, FREE_SLICE, h->made->segment_slices - FREE_SLICE);
	h->small_addr = SEGMENT_ADDR + SLICE + h->made->first_block;
	h->large_addr = SEGMENT_ADDR + 2 * SLICE;
	make_pages(h);
	make_heap(h);
	h->free_slice_bytes = 2 * FREE_RESIDENT;
	h->resident_bytes = FREE_SLICE * SLICE + 2 * FREE_RESIDENT;
}

static void map_slices(struct mimalloc_image *h, uint64_t addr, uint64_t count,
		       uint64_t page)
{
	uint64_t slice = addr / SLICE % (TABLE_BYTES / 8);

	for (uint64_t i = 0; i < count; i++)
		write_word(h, TABLE_ADDR + 8 * (slice + i), page);
}

static void make_arena(struct mimalloc_image *h)
{
	const struct mimalloc_made *m = h->made;
	uint64_t map = SEGMENT_ADDR + PAGE, free_bits = 0;

	write_word(h, SEGMENT_ADDR + 24, DATA_ADDR + 2 * PAGE);
	write_word(h, SEGMENT_ADDR + m->arena.slice_count, ARENA_SLICES);
	write_word(h, SEGMENT_ADDR + m->arena.info_count, 1);
	write_word(h, SEGMENT_ADDR + m->arena.free_map, map);
	for (unsigned int i = FREE_SLICE; i < ARENA_SLICES; i++)
		free_bits |= i != OWN_SLICE ? UINT64_C(1) << i : 0;
	write_word(h, map, 1);
	h->bits_addr = map + m->arena.chunks;
	write_word(h, h->bits_addr, free_bits);
	/* the owner's list of arenas */
	write_word(h, DATA_ADDR + 2 * PAGE + 64, SEGMENT_ADDR);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t memory =
			(i ? h->large_page_addr : h->small_page_addr) + m->page.memory;

		write_word(h, memory, SEGMENT_ADDR);
		mimalloc_image_write(h, memory + 16, 7, 4);
	}
}

static void make_version_3(struct mimalloc_image *h)
{
	uint64_t index = SEGMENT_ADDR / SLICE / (TABLE_BYTES / 8);
	uint64_t word = MAP_ADDR + 8 * index;

	add_mapping(h, DATA_ADDR, DATA_BYTES, 7);
	add_run(h, DATA_ADDR, DATA_BYTES);
	add_mapping(h, SEGMENT_ADDR, ARENA_SLICES * SLICE, 0);
	add_run(h, SEGMENT_ADDR, FREE_SLICE * SLICE + FREE_RESIDENT);
	add_run(h, SEGMENT_ADDR + OWN_SLICE * SLICE, PAGE);
	add_mapping(h, MAP_ADDR, MAP_BYTES + 2 * TABLE_BYTES, 0);
	add_run(h, MAP_ADDR, PAGE);
	add_run(h, word & ~(PAGE - 1), PAGE);
	add_run(h, TABLE_ADDR, PAGE);
	memset(h->image.bytes, 0, h->image.length_bytes);
	h->anchor_addr = DATA_ADDR + 3 * PAGE;
	write_word(h, h->anchor_addr, MAP_ADDR);
	write_word(h, MAP_ADDR, MAP_ADDR + MAP_BYTES);
	write_word(h, word, TABLE_ADDR);
	h->small_page_addr = SEGMENT_ADDR + SLICE;
	h->large_page_addr = SEGMENT_ADDR + 2 * SLICE;
	h->small_addr = h->small_page_addr + h->made->first_block;
	h->large_addr = h->large_page_addr + PAGE;
	map_slices(h, h->small_page_addr, 1, h->small_page_addr);
	/* the map may lack the last slice of a large page */
	map_slices(h, h->large_page_addr, LARGE_SLICES - 1, h->large_page_addr);
	h->map_word_addr =
		TABLE_ADDR + 8 * (h->small_page_addr / SLICE % (TABLE_BYTES / 8));
	make_pages(h);
	make_arena(h);
	h->free_slice_bytes = FREE_RESIDENT;
	h->resident_bytes = FREE_SLICE * SLICE + FREE_RESIDENT + 4 * PAGE;
}

void mimalloc_image_init(struct mimalloc_image *h, const struct mimalloc_made *made)
{
	*h = (struct mimalloc_image){ .image = IMAGE_INIT,
				      .mappings = MAPPING_LIST_INIT,
				      .blocks = BLOCKS_INIT,
				      .made = made,
				      .segment_addr = SEGMENT_ADDR };
	if (image_reserve(&h->image, 256 * PAGE) < 0)
		abort();
	if (made->segment_slices)
		make_version_2(h);
	else
		make_version_3(h);
}

void mimalloc_image_release(struct mimalloc_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void mimalloc_image_walk(struct mimalloc_image *h, struct heap *ret)
{
	struct walk_input input = { .image = &h->image,
				    .mappings = &h->mappings,
				    .is_running = h->is_running };

	blocks_release(&h->blocks);
	walk_mimalloc(&input, ret, &h->blocks);
}
