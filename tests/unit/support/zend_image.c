/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "zend_image.h"

#include <string.h>

#define PAGE ZEND_PAGE_BYTES

#define MAIN_ADDR UINT64_C(0x7f1000000000)
#define SECOND_ADDR (MAIN_ADDR + ZEND_CHUNK_BYTES)
#define CACHED_ADDR (MAIN_ADDR + 4 * ZEND_CHUNK_BYTES)
#define HUGE_ADDR (MAIN_ADDR + 8 * ZEND_CHUNK_BYTES)
#define HUGE_BYTES (ZEND_CHUNK_BYTES + 3 * PAGE)

#define MAIN_PAGES 16
#define SECOND_PAGES 4

#define BIN_24 2
#define BIN_64 7
#define BIN_320 16

static void write_word(struct zend_image *h, uint64_t index, uint64_t value)
{
	made_memory_write(&h->memory, MAIN_ADDR + ZEND_CHUNK_HEAP_SLOT + 8 * index,
			  value);
}

static void make_run(struct zend_image *h, uint64_t chunk, unsigned int page,
		     unsigned int bin, unsigned int pages)
{
	uint64_t bitmap = chunk + (h->bitmap_addr - MAIN_ADDR);
	uint64_t map = bitmap + ZEND_BITMAP_BYTES;

	for (unsigned int i = page; i < page + pages; i++) {
		*(uint8_t *)made_memory_at(&h->memory, bitmap + i / 8, 1) |=
			(uint8_t)(1 << i % 8);
		/* elements of later pages contain the distance from the first one */
		made_memory_write_u32(&h->memory, map + 4 * i,
				      0xc0000000 | bin | (i - page) << 16);
	}
	made_memory_write_u32(&h->memory, map + 4 * page,
			      bin == ZEND_LARGE ? 0x40000000 | pages : 0x80000000 | bin);
	if (page == 0)
		return;
	if (bin == ZEND_LARGE) {
		chunk_sum_add(&h->live, pages * PAGE);
		return;
	}
	h->live.count += pages * PAGE / zend_bin_bytes(bin);
	h->live.bytes += pages * PAGE / zend_bin_bytes(bin) * zend_bin_bytes(bin);
}

/* Put blocks of a run into the bin's list of free blocks, the last one first. */
static void free_blocks(struct zend_image *h, unsigned int page, unsigned int bin,
			const unsigned int *blocks, size_t count)
{
	uint64_t bytes = zend_bin_bytes(bin), slot = h->slots_addr + 8 * bin;

	for (size_t i = 0; i < count; i++) {
		uint64_t addr = MAIN_ADDR + page * PAGE + blocks[i] * bytes;

		made_memory_write(&h->memory, addr, made_memory_read(&h->memory, slot));
		made_memory_write(&h->memory, slot, addr);
		chunk_sum_add(&h->free, bytes);
		h->live.count--;
		h->live.bytes -= bytes;
	}
}

static void make_chunk(struct zend_image *h, uint64_t addr, unsigned int used_pages)
{
	uint64_t other = addr == MAIN_ADDR ? SECOND_ADDR : MAIN_ADDR;

	made_memory_write(&h->memory, addr, MAIN_ADDR + ZEND_CHUNK_HEAP_SLOT);
	made_memory_write(&h->memory, addr + ZEND_CHUNK_NEXT, other);
	made_memory_write(&h->memory, addr + ZEND_CHUNK_PREV, other);
	made_memory_write_u32(&h->memory, addr + ZEND_CHUNK_FREE_PAGES,
			      ZEND_PAGES - used_pages);
	make_run(h, addr, 0, ZEND_LARGE, 1);
}

static void make_runs(struct zend_image *h)
{
	const unsigned int free_64[] = { 1, 63, 5 }, free_320[] = { 0, 63 };
	uint64_t element = MAIN_ADDR + 11 * PAGE + 3 * zend_bin_bytes(BIN_24);

	make_chunk(h, MAIN_ADDR, 11);
	make_run(h, MAIN_ADDR, 1, 0, 1);
	make_run(h, MAIN_ADDR, 2, BIN_64, 1);
	make_run(h, MAIN_ADDR, 3, BIN_320, 5);
	make_run(h, MAIN_ADDR, 8, ZEND_LARGE, 2);
	/* page 10 is free, but resident */
	make_run(h, MAIN_ADDR, 11, BIN_24, 1);
	make_chunk(h, SECOND_ADDR, 4);
	make_run(h, SECOND_ADDR, 1, ZEND_LARGE, 3);
	free_blocks(h, 2, BIN_64, free_64, 3);
	free_blocks(h, 3, BIN_320, free_320, 2);
	made_memory_write(&h->memory, element, HUGE_ADDR);
	made_memory_write(&h->memory, element + 8, HUGE_BYTES);
	made_memory_write(&h->memory, h->huge_list_addr, element);
	chunk_sum_add(&h->live, HUGE_BYTES);
	made_memory_write(&h->memory, CACHED_ADDR, MAIN_ADDR + ZEND_CHUNK_HEAP_SLOT);
}

void zend_image_init(struct zend_image *h, const struct zend_image_layout *layout)
{
	uint64_t slot = MAIN_ADDR + ZEND_CHUNK_HEAP_SLOT;
	uint64_t pages = MAIN_PAGES + SECOND_PAGES + 1 + 2;

	*h = (struct zend_image){
		.layout = *layout,
		.main_addr = MAIN_ADDR,
		.second_addr = SECOND_ADDR,
		.cached_addr = CACHED_ADDR,
		.size_addr = slot + 16,
		.real_size_addr = slot + 8 * layout->real_size,
		.slots_addr = slot + 8 * (layout->real_size - ZEND_BINS),
		.huge_list_addr = slot + 8 * (layout->main_chunk - 1),
		.bitmap_addr = slot + 8 * layout->heap_length,
		.map_addr = slot + 8 * layout->heap_length + ZEND_BITMAP_BYTES,
		.live_block_addr = MAIN_ADDR + 2 * PAGE + 64 * 2,
		.free_block_addr = MAIN_ADDR + 2 * PAGE + 64 * 5,
		.real_bytes = 3 * ZEND_CHUNK_BYTES + HUGE_BYTES,
		.resident_bytes = pages * PAGE,
	};
	made_memory_init(&h->memory, pages * PAGE);
	made_memory_add_mapping(&h->memory, MAIN_ADDR, 2 * ZEND_CHUNK_BYTES, "");
	made_memory_add_pages(&h->memory, MAIN_ADDR, MAIN_PAGES * PAGE);
	made_memory_add_pages(&h->memory, SECOND_ADDR, SECOND_PAGES * PAGE);
	made_memory_add_mapping(&h->memory, CACHED_ADDR, ZEND_CHUNK_BYTES, "");
	made_memory_add_pages(&h->memory, CACHED_ADDR, PAGE);
	made_memory_add_mapping(&h->memory, HUGE_ADDR, HUGE_BYTES, "");
	made_memory_add_pages(&h->memory, HUGE_ADDR, 2 * PAGE);
	make_runs(h);
	made_memory_write(&h->memory, h->size_addr, h->live.bytes);
	write_word(h, layout->real_size, h->real_bytes);
	write_word(h, layout->real_size + 1, h->real_bytes);
	write_word(h, layout->main_chunk, MAIN_ADDR);
	write_word(h, layout->main_chunk + 1, CACHED_ADDR);
	write_word(h, layout->main_chunk + 2, 2);
	write_word(h, layout->main_chunk + 3, 1);
	h->counters_addr = slot + 8 * (layout->main_chunk + 1);
}
