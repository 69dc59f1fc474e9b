/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ruby_image.h"

#define PAGE IMAGE_PAGE_BYTES

#define MALLOC_ADDR UINT64_C(0x20000000) /* descriptions */
#define DESCRIPTION_STRIDE 256
#define PAGES_ADDR UINT64_C(0x7f1000000000)
#define TRANSIENT_ADDR UINT64_C(0x7f2000000000)
#define TRANSIENT_BYTES (UINT64_C(32) << 20)
#define BLOCK_BYTES UINT64_C(32768)
#define TRANSIENT_USED 1000 /* bytes in the second block */
#define STRING_FLAGS 0x502065
#define FREE_EACH 4 /* each fourth slot is free */

static uint64_t page_addr(const struct ruby_image *h, unsigned int index)
{
	return PAGES_ADDR + index * h->page_bytes;
}

static uint64_t description_addr(unsigned int index)
{
	return MALLOC_ADDR + index * DESCRIPTION_STRIDE;
}

static void make_page(struct ruby_image *h, unsigned int index)
{
	uint64_t bytes = index == 0 || index % 4 ? 40 : 80, free_count = 0, list = 0;
	uint64_t start = page_addr(h, index) + 8 + index % 3 * 8;
	uint64_t count = (h->page_bytes - 24) / bytes;
	uint64_t description = description_addr(index);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t addr = start + i * bytes;

		if (i % FREE_EACH != 0) {
			made_memory_write(&h->memory, addr, STRING_FLAGS);
			chunk_sum_add(&h->live, bytes);
			continue;
		}
		made_memory_write(&h->memory, addr + 8, list);
		list = addr;
		free_count++;
		chunk_sum_add(&h->free, bytes);
	}
	made_memory_write(&h->memory, page_addr(h, index), description);
	made_memory_write(&h->memory, description,
			  bytes | count << 16 | free_count << 32);
	made_memory_write(&h->memory, description + 8 * 4, start);
	made_memory_write(&h->memory, description + 8 * 5, list);
}

static void make_transient(struct ruby_image *h)
{
	made_memory_add_mapping(&h->memory, TRANSIENT_ADDR, TRANSIENT_BYTES, "");
	for (uint64_t at = 0; at < TRANSIENT_BYTES; at += BLOCK_BYTES) {
		made_memory_add_pages(&h->memory, TRANSIENT_ADDR + at, PAGE);
		made_memory_write(&h->memory, TRANSIENT_ADDR + at, 0xffff0000);
		if (at > 0)
			made_memory_write(&h->memory, TRANSIENT_ADDR + at + 8,
					  TRANSIENT_ADDR + at - BLOCK_BYTES);
		h->resident_bytes += PAGE;
	}
	h->transient_addr = TRANSIENT_ADDR + BLOCK_BYTES;
	h->transient_live_bytes = TRANSIENT_USED;
	made_memory_write(&h->memory, h->transient_addr,
			  TRANSIENT_USED | UINT64_C(0xffff) << 16 | UINT64_C(7) << 32);
}

void ruby_image_init(struct ruby_image *h, uint64_t page_bytes, bool has_transient)
{
	uint64_t bytes = RUBY_IMAGE_PAGES * page_bytes;

	*h = (struct ruby_image){
		.page_bytes = page_bytes,
		.page_addr = PAGES_ADDR,
		.description_addr = MALLOC_ADDR,
		.free_slot_addr = PAGES_ADDR + 8,
		.live_slot_addr = PAGES_ADDR + 8 + 40,
		.resident_bytes = bytes,
	};
	made_memory_init(
		&h->memory,
		PAGE + bytes +
			(has_transient ? TRANSIENT_BYTES / BLOCK_BYTES * PAGE : 0));
	made_memory_add_mapping(&h->memory, MALLOC_ADDR, PAGE, "[heap]");
	made_memory_add_pages(&h->memory, MALLOC_ADDR, PAGE);
	made_memory_add_mapping(&h->memory, PAGES_ADDR, bytes, "");
	made_memory_add_pages(&h->memory, PAGES_ADDR, bytes);
	for (unsigned int i = 0; i < RUBY_IMAGE_PAGES; i++)
		make_page(h, i);
	if (has_transient)
		make_transient(h);
}

void ruby_image_write_descriptions(struct ruby_image *h, unsigned int word,
				   uint64_t value)
{
	for (unsigned int i = 0; i < RUBY_IMAGE_PAGES; i++)
		made_memory_write(&h->memory, description_addr(i) + 8 * word, value);
}
