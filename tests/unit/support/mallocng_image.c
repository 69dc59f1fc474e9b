/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "mallocng_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)
#define SECRET UINT64_C(0x1122334455667788)

#define DATA_ADDR UINT64_C(0x7f1000000000)
#define DATA_PAGES 3
#define CONTEXT_ADDR (DATA_ADDR + 0x140)
#define DONATED_ADDR (DATA_ADDR + 2 * PAGE + 0x20)
#define AREAS_ADDR UINT64_C(0x7f2000000000)
#define AREAS_PAGES 3
#define GROUPS_ADDR UINT64_C(0x7f3000000000)
#define GROUPS_PAGES 2
#define MAPPED_ADDR UINT64_C(0x7f4000000000)
#define MAPPED_PAGES 5

#define META_BYTES 40
#define AREA_HEAD_BYTES 24

#define OUTER_CLASS 15 /* 31 units: 496 bytes */
#define OUTER_SLOTS 8
#define NESTED_SLOT 3
#define NESTED_CLASS 3 /* 64 bytes */
#define NESTED_SLOTS 7
#define SMALL_CLASS 2 /* 48 bytes */
#define SMALL_SLOTS 32
#define DONATED_CLASS 10 /* 12 units: 192 bytes */
#define MAPPED_REQUEST 18000

static uint8_t *at(struct mallocng_image *h, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, length);

	if (!found)
		abort();
	return found;
}

void mallocng_image_write(struct mallocng_image *h, uint64_t addr, uint64_t value)
{
	memcpy(at(h, addr, sizeof(value)), &value, sizeof(value));
}

uint64_t mallocng_image_read(struct mallocng_image *h, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, at(h, addr, sizeof(value)), sizeof(value));
	return value;
}

static void write_u16(struct mallocng_image *h, uint64_t addr, unsigned int value)
{
	uint16_t v = (uint16_t)value;

	memcpy(at(h, addr, sizeof(v)), &v, sizeof(v));
}

static void write_u32(struct mallocng_image *h, uint64_t addr, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(at(h, addr, sizeof(v)), &v, sizeof(v));
}

struct made_group {
	uint64_t meta_addr, addr;
	uint64_t slot_bytes;
	unsigned int slots, class, pages;
	bool is_freeable;
	uint32_t available, freed;
};

static void make_group(struct mallocng_image *h, const struct made_group *g)
{
	mallocng_image_write(h, g->meta_addr + 16, g->addr);
	write_u32(h, g->meta_addr + 24, g->available);
	write_u32(h, g->meta_addr + 28, g->freed);
	mallocng_image_write(h, g->meta_addr + 32,
			     (g->slots - 1) | (uint64_t)g->is_freeable << 5 |
				     (uint64_t)g->class << 6 | (uint64_t)g->pages << 12);
	mallocng_image_write(h, g->addr, g->meta_addr);
	for (unsigned int i = 0; i < g->slots; i++)
		if ((g->available | g->freed) >> i & 1) {
			h->free.count++;
			h->free.bytes += g->slot_bytes;
		}
}

/*
 * Allocate a slot as enframe() does: a block of `bytes` bytes that begins `skip` units
 * after the slot's start. Returns the block's address.
 */
static uint64_t allocate(struct mallocng_image *h, const struct made_group *g,
			 unsigned int index, uint64_t bytes, unsigned int skip)
{
	uint64_t start = g->addr + 16 + index * g->slot_bytes, p = start + 16 * skip;
	uint64_t end = start + g->slot_bytes - 4, reserved = end - p - bytes;
	uint64_t units = (p - g->addr - 16) / 16;

	if (skip > 0) {
		*at(h, start - 3, 1) = 7 << 5;
		write_u16(h, start - 2, skip);
	}
	*at(h, p - 4, 1) = units > 0xffff;
	*at(h, p - 3, 1) = (uint8_t)(index | (reserved < 5 ? reserved : 5) << 5);
	if (units > 0xffff)
		write_u32(h, p - 8, units);
	else
		write_u16(h, p - 2, (unsigned int)units);
	if (reserved >= 5)
		write_u32(h, end - 4, reserved);
	h->live_count++;
	h->requested_bytes += bytes;
	if (g->class == MALLOCNG_CLASS_MAPPED) {
		h->mapped_bytes += g->pages * PAGE;
	} else {
		h->live.count++;
		h->live.bytes += g->slot_bytes;
	}
	return p;
}

static void add_mapping(struct mallocng_image *h, uint64_t addr, unsigned int pages,
			uint64_t inode)
{
	struct mapping m = { .start_addr = addr,
			     .end_addr = addr + pages * PAGE,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .inode = inode,
			     .name = inode ? "/lib/libc.so" : "" };

	m.name_length = (uint32_t)strlen(m.name);
	m.counters.bytes[SMAPS_RSS] = pages * PAGE;
	mapping_list_add(&h->mappings, &m);
	if (image_add_run(&h->image, m.start_addr, m.end_addr) < 0)
		abort();
}

static void make_area(struct mallocng_image *h, uint64_t addr, uint64_t next)
{
	mallocng_image_write(h, addr, SECRET);
	mallocng_image_write(h, addr + 8, next);
	write_u32(h, addr + 16, 101);
}

static void make_context(struct mallocng_image *h)
{
	uint64_t usage = CONTEXT_ADDR + 464;

	mallocng_image_write(h, CONTEXT_ADDR, SECRET);
	write_u32(h, CONTEXT_ADDR + 8, 1);
	mallocng_image_write(h, CONTEXT_ADDR + 56, h->first_area_addr);
	mallocng_image_write(h, usage + 8 * OUTER_CLASS, OUTER_SLOTS);
	mallocng_image_write(h, usage + 8 * NESTED_CLASS, NESTED_SLOTS);
	mallocng_image_write(h, usage + 8 * SMALL_CLASS, SMALL_SLOTS);
}

static void make_outer(struct mallocng_image *h)
{
	struct made_group outer = { .meta_addr = h->outer_meta_addr,
				    .addr = h->outer_addr,
				    .slot_bytes = 496,
				    .slots = OUTER_SLOTS,
				    .class = OUTER_CLASS,
				    .pages = 1,
				    .is_freeable = true,
				    .available = 0xc0,
				    .freed = 0x34 };
	struct made_group nested = { .meta_addr = h->nested_meta_addr,
				     .slot_bytes = 64,
				     .slots = NESTED_SLOTS,
				     .class = NESTED_CLASS,
				     .is_freeable = true,
				     .freed = 0x70 };
	uint64_t units = NESTED_SLOT * 31;

	make_group(h, &outer);
	allocate(h, &outer, 0, 492, 0);
	allocate(h, &outer, 1, 400, 0);
	/* slot 3 contains a group */
	h->nested_addr = nested.addr = h->outer_addr + 16 + NESTED_SLOT * 496;
	make_group(h, &nested);
	*at(h, nested.addr - 4, 1) = 0;
	*at(h, nested.addr - 3, 1) = NESTED_SLOT | 6 << 5;
	write_u16(h, nested.addr - 2, (unsigned int)units);
	for (unsigned int i = 0; i < 3; i++)
		allocate(h, &nested, i, 60 - i, 0);
	h->empty_addr = allocate(h, &nested, 3, 0, 0);
}

static void make_others(struct mallocng_image *h)
{
	struct made_group small = { .meta_addr = h->second_area_addr + AREA_HEAD_BYTES,
				    .addr = GROUPS_ADDR + PAGE,
				    .slot_bytes = 48,
				    .slots = SMALL_SLOTS,
				    .class = SMALL_CLASS,
				    .pages = 1,
				    .is_freeable = true,
				    .freed = 0xfffffff0 };
	struct made_group mapped = { .meta_addr = h->mapped_meta_addr,
				     .addr = MAPPED_ADDR,
				     .slot_bytes = MAPPED_PAGES * PAGE - 16,
				     .slots = 1,
				     .class = MALLOCNG_CLASS_MAPPED,
				     .pages = MAPPED_PAGES,
				     .is_freeable = true };
	struct made_group donated = { .meta_addr = h->second_area_addr + AREA_HEAD_BYTES +
						   5 * META_BYTES,
				      .addr = DONATED_ADDR,
				      .slot_bytes = 192,
				      .slots = 1,
				      .class = DONATED_CLASS,
				      .freed = 1 };

	make_group(h, &small);
	allocate(h, &small, 0, 44, 0);
	h->aligned_addr = allocate(h, &small, 1, 20, 1);
	allocate(h, &small, 2, 1, 2);
	allocate(h, &small, 3, 43, 0);
	make_group(h, &mapped);
	h->mapped_addr = allocate(h, &mapped, 0, MAPPED_REQUEST, 0);
	make_group(h, &donated);
}

void mallocng_image_init(struct mallocng_image *h)
{
	*h = (struct mallocng_image){
		.image = IMAGE_INIT,
		.mappings = MAPPING_LIST_INIT,
		.blocks = BLOCKS_INIT,
		.context_addr = CONTEXT_ADDR,
		.first_area_addr = AREAS_ADDR,
		.second_area_addr = AREAS_ADDR + 2 * PAGE,
		.outer_meta_addr = AREAS_ADDR + AREA_HEAD_BYTES,
		.nested_meta_addr = AREAS_ADDR + AREA_HEAD_BYTES + META_BYTES,
		.mapped_meta_addr = AREAS_ADDR + AREA_HEAD_BYTES + 100 * META_BYTES,
		.outer_addr = GROUPS_ADDR,
	};
	if (image_reserve(&h->image, 64 * PAGE) < 0)
		abort();
	memset(h->image.bytes, 0, 64 * PAGE);
	add_mapping(h, DATA_ADDR, DATA_PAGES, 7);
	add_mapping(h, AREAS_ADDR, AREAS_PAGES, 0);
	add_mapping(h, GROUPS_ADDR, GROUPS_PAGES, 0);
	add_mapping(h, MAPPED_ADDR, MAPPED_PAGES, 0);
	make_area(h, h->first_area_addr, h->second_area_addr);
	make_area(h, h->second_area_addr, 0);
	make_context(h);
	make_outer(h);
	make_others(h);
}

void mallocng_image_release(struct mallocng_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void mallocng_image_walk(struct mallocng_image *h, struct heap *ret)
{
	const struct walk_input input = {
		.image = &h->image,
		.mappings = &h->mappings,
		.is_running = h->is_running,
	};

	blocks_release(&h->blocks);
	walk_mallocng(&input, ret, &h->blocks);
}
