/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "golang_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)

#define DATA_ADDR UINT64_C(0x500000)
#define SLICE_ADDR (DATA_ADDR + 0x200)
#define TABLE_WORD_ADDR (DATA_ADDR + 0x800)
#define ARENA_ADDR UINT64_C(0xc000000000)
#define ARENA_GO_PAGES 8 /* resident pages of 8192 bytes */
#define EMPTY_ARENA_ADDR (ARENA_ADDR + GOLANG_ARENA_BYTES)
#define EMPTY_PAGES 2
#define LIST_ADDR UINT64_C(0x7f1000000000)
#define SPANS_ADDR UINT64_C(0x7f2000000000)
#define BITS_ADDR UINT64_C(0x7f3000000000)
#define TABLE_ADDR UINT64_C(0x7f4000000000)
#define HEAP_ARENA_ADDR UINT64_C(0x7f5000000000)
/* the table of arenas begins at the address -2^47 */
#define TABLE_INDEX ((ARENA_ADDR + (UINT64_C(1) << 47)) / GOLANG_ARENA_BYTES)
#define SPAN_STRIDE 192

#define CLASS_8 1
#define CLASS_64 6
#define LARGE_BYTES 16000

struct made_span {
	unsigned int index;
	uint64_t go_page, go_pages;
	uint64_t object_bytes, object_count, free_index, live_count;
	uint64_t bits_addr;
	uint8_t class, state;
};

static uint8_t *at(struct golang_image *h, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, length);

	if (!found)
		abort();
	return found;
}

void golang_image_write(struct golang_image *h, uint64_t addr, uint64_t value)
{
	memcpy(at(h, addr, sizeof(value)), &value, sizeof(value));
}

uint64_t golang_image_read(struct golang_image *h, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, at(h, addr, sizeof(value)), sizeof(value));
	return value;
}

static void write_u16(struct golang_image *h, uint64_t addr, uint64_t value)
{
	uint16_t v = (uint16_t)value;

	memcpy(at(h, addr, sizeof(v)), &v, sizeof(v));
}

static void add_mapping(struct golang_image *h, uint64_t addr, uint64_t bytes,
			uint64_t inode, uint64_t resident_addr, uint64_t resident_bytes)
{
	struct mapping m = { .start_addr = addr,
			     .end_addr = addr + bytes,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .inode = inode,
			     .name = inode ? "/usr/bin/program" : "" };

	m.name_length = (uint32_t)strlen(m.name);
	m.counters.bytes[SMAPS_RSS] = resident_bytes;
	mapping_list_add(&h->mappings, &m);
	if (image_add_run(&h->image, resident_addr, resident_addr + resident_bytes) < 0)
		abort();
}

static uint64_t span_addr(unsigned int index)
{
	return SPANS_ADDR + SPAN_STRIDE * index;
}

static void make_span(struct golang_image *h, const struct made_span *s)
{
	uint64_t addr = span_addr(s->index);
	uint64_t start = ARENA_ADDR + s->go_page * GOLANG_PAGE_BYTES;

	golang_image_write(h, LIST_ADDR + 8 * s->index, addr);
	golang_image_write(h, addr + 24, start);
	golang_image_write(h, addr + 32, s->go_pages);
	if (h->is_short) {
		write_u16(h, addr + 48, s->free_index);
		write_u16(h, addr + 50, s->object_count);
		golang_image_write(h, addr + 64, s->bits_addr);
	} else {
		golang_image_write(h, addr + 48, s->free_index);
		golang_image_write(h, addr + 56, s->object_count);
		golang_image_write(h, addr + 72, s->bits_addr);
	}
	write_u16(h, addr + 96, s->live_count);
	*at(h, addr + 98, 1) = (uint8_t)(s->class << 1);
	*at(h, addr + 99, 1) = s->state;
	golang_image_write(h, addr + 104, s->object_bytes);
	for (uint64_t i = 0; s->state != GOLANG_DEAD && i < s->go_pages; i++)
		golang_image_write(h, HEAP_ARENA_ADDR + 8 * (s->go_page + i), addr);
	if (s->state == GOLANG_MANUAL)
		h->manual_bytes += s->go_pages * GOLANG_PAGE_BYTES;
	if (s->state != GOLANG_IN_USE)
		return;
	h->live.count += s->live_count;
	h->live.bytes += s->live_count * s->object_bytes;
	h->free.count += s->object_count - s->live_count;
	h->free.bytes += (s->object_count - s->live_count) * s->object_bytes;
}

static void make_spans(struct golang_image *h)
{
	const struct made_span spans[] = {
		/* the first ten objects are allocated, and two others by their bits */
		{ 0, 0, 1, 64, 128, 10, 12, BITS_ADDR, CLASS_64, GOLANG_IN_USE },
		{ 1, 1, 2, LARGE_BYTES, 1, 1, 1, 0, 0, GOLANG_IN_USE },
		{ 2, 3, 1, 0, 0, 0, 0, 0, 0, GOLANG_MANUAL },
		{ 3, 0, 0, 0, 0, 0, 0, 0, 0, GOLANG_DEAD },
		{ 5, 4, 1, 8, GOLANG_OBJECTS_MAX, GOLANG_OBJECTS_MAX, GOLANG_OBJECTS_MAX,
		  0, CLASS_8, GOLANG_IN_USE },
		{ 6, 5, 1, 64, 128, 0, 0, 0, CLASS_64, GOLANG_IN_USE },
		{ 7, 6, 1, 64, 128, 1, 1, 0, CLASS_64, GOLANG_IN_USE },
	};

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		make_span(h, &spans[i]);
	/* span 4 was made in advance, on a page that was never touched */
	golang_image_write(h, LIST_ADDR + 8 * 4, SPANS_ADDR + PAGE);
	*at(h, BITS_ADDR + 1, 1) = 1 << 4 | 1 << 7;
}

void golang_image_init(struct golang_image *h, bool is_short)
{
	uint64_t table_page = TABLE_ADDR + 8 * TABLE_INDEX / PAGE * PAGE;
	uint64_t total =
		(2 + 5 + EMPTY_PAGES) * PAGE + ARENA_GO_PAGES * GOLANG_PAGE_BYTES;

	*h = (struct golang_image){
		.image = IMAGE_INIT,
		.mappings = MAPPING_LIST_INIT,
		.blocks = BLOCKS_INIT,
		.is_short = is_short,
		.slice_addr = SLICE_ADDR,
		.table_word_addr = TABLE_WORD_ADDR,
		.list_addr = LIST_ADDR,
		.small_span_addr = span_addr(0),
		.large_span_addr = span_addr(1),
		.bits_addr = BITS_ADDR,
		.live_object_addr = ARENA_ADDR + 64 * 12,
		.free_object_addr = ARENA_ADDR + 64 * 13,
		.idle_bytes = GOLANG_PAGE_BYTES + EMPTY_PAGES * PAGE,
		.table_bytes = 5 * PAGE,
		.resident_bytes = total - 2 * PAGE,
	};
	if (image_reserve(&h->image, total) < 0)
		abort();
	memset(h->image.bytes, 0, total);
	add_mapping(h, DATA_ADDR, 2 * PAGE, 7, DATA_ADDR, 2 * PAGE);
	add_mapping(h, ARENA_ADDR, GOLANG_ARENA_BYTES, 0, ARENA_ADDR,
		    ARENA_GO_PAGES * GOLANG_PAGE_BYTES);
	add_mapping(h, EMPTY_ARENA_ADDR, GOLANG_ARENA_BYTES, 0, EMPTY_ARENA_ADDR + PAGE,
		    EMPTY_PAGES * PAGE);
	add_mapping(h, LIST_ADDR, PAGE, 0, LIST_ADDR, PAGE);
	add_mapping(h, SPANS_ADDR, 2 * PAGE, 0, SPANS_ADDR, PAGE);
	add_mapping(h, BITS_ADDR, PAGE, 0, BITS_ADDR, PAGE);
	add_mapping(h, TABLE_ADDR, UINT64_C(32) << 20, 0, table_page, PAGE);
	add_mapping(h, HEAP_ARENA_ADDR, UINT64_C(1) << 20, 0, HEAP_ARENA_ADDR, PAGE);
	golang_image_write(h, SLICE_ADDR, LIST_ADDR);
	golang_image_write(h, SLICE_ADDR + 8, 8);
	golang_image_write(h, SLICE_ADDR + 16, 64);
	golang_image_write(h, TABLE_WORD_ADDR, TABLE_ADDR);
	golang_image_write(h, TABLE_ADDR + 8 * TABLE_INDEX, HEAP_ARENA_ADDR);
	golang_image_write(h, TABLE_ADDR + 8 * (TABLE_INDEX + 1), HEAP_ARENA_ADDR + PAGE);
	make_spans(h);
}

void golang_image_release(struct golang_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void golang_image_walk(struct golang_image *h, struct heap *ret)
{
	const struct walk_input input = {
		.image = &h->image,
		.mappings = &h->mappings,
		.is_running = h->is_running,
	};

	blocks_release(&h->blocks);
	walk_golang(&input, ret, &h->blocks);
}
