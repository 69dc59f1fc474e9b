/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "pymalloc_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)

#define DATA_ADDR UINT64_C(0x7e1000000000)
#define DATA_PAGES 2
#define USED_ADDR (DATA_ADDR + 0x140)
#define ARENAS_WORD_ADDR (DATA_ADDR + PAGE + 0x80)
#define ARRAY_ADDR UINT64_C(0x7e2000000000)
#define FIRST_ADDR UINT64_C(0x7e3000000000)
/* not aligned to a pool of 16 KiB */
#define SECOND_ADDR UINT64_C(0x7e4000001000)
#define FIRST_POOLS 5
#define HEAD_BYTES 48

struct made_pool {
	uint64_t addr;
	unsigned int class;
	uint64_t arena;
	uint64_t carved; /* blocks that have ever been used */
	uint64_t freed;	 /* of these, how many are in the list of free blocks */
};

static uint8_t *at(struct pymalloc_image *h, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, length);

	if (!found)
		abort();
	return found;
}

void pymalloc_image_write(struct pymalloc_image *h, uint64_t addr, uint64_t value)
{
	memcpy(at(h, addr, sizeof(value)), &value, sizeof(value));
}

uint64_t pymalloc_image_read(struct pymalloc_image *h, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, at(h, addr, sizeof(value)), sizeof(value));
	return value;
}

static void write_u32(struct pymalloc_image *h, uint64_t addr, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(at(h, addr, sizeof(v)), &v, sizeof(v));
}

static void add_mapping(struct pymalloc_image *h, uint64_t addr, uint64_t bytes,
			uint64_t resident_bytes, uint64_t inode)
{
	struct mapping m = { .start_addr = addr,
			     .end_addr = addr + bytes,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .inode = inode,
			     .name = inode ? "/usr/bin/python3" : "" };

	m.name_length = (uint32_t)strlen(m.name);
	m.counters.bytes[SMAPS_RSS] = resident_bytes;
	mapping_list_add(&h->mappings, &m);
	if (image_add_run(&h->image, addr, addr + resident_bytes) < 0)
		abort();
}

/* Link a pool into the ring of its class, which has no other pool. */
static void link_pool(struct pymalloc_image *h, uint64_t addr, unsigned int class)
{
	uint64_t pair = h->used_addr + 16 * class;

	pymalloc_image_write(h, pair, addr);
	pymalloc_image_write(h, pair + 8, addr);
	pymalloc_image_write(h, addr + 16, pair - 16);
	pymalloc_image_write(h, addr + 24, pair - 16);
}

/* Make a pool that is in use. Its first `freed` blocks are in the list of free blocks. */
static void make_pool(struct pymalloc_image *h, const struct made_pool *p,
		      uint64_t pool_bytes, uint64_t step)
{
	uint64_t bytes = (p->class + 1) * step, start = p->addr + HEAD_BYTES;
	uint64_t count = (pool_bytes - HEAD_BYTES) / bytes;
	uint64_t live = p->carved - p->freed;

	write_u32(h, p->addr, live);
	pymalloc_image_write(h, p->addr + 8, p->freed > 0 ? start : 0);
	for (uint64_t i = 0; i < p->freed; i++)
		pymalloc_image_write(h, start + i * bytes,
				     i + 1 < p->freed ? start + (i + 1) * bytes : 0);
	write_u32(h, p->addr + 32, p->arena);
	write_u32(h, p->addr + 36, p->class);
	write_u32(h, p->addr + 40, HEAD_BYTES + p->carved * bytes);
	if (live < count)
		link_pool(h, p->addr, p->class);
	h->live.count += live;
	h->live.bytes += live * bytes;
	h->free.count += count - live;
	h->free.bytes += (count - live) * bytes;
}

static void make_arena(struct pymalloc_image *h, uint64_t index, uint64_t addr,
		       uint64_t pool_bytes, unsigned int carved, uint64_t free_pool)
{
	uint64_t object = h->array_addr + 48 * index;
	uint64_t first = (addr + pool_bytes - 1) / pool_bytes * pool_bytes;
	uint64_t pools = (addr + 64 * pool_bytes - first) / pool_bytes;
	uint64_t free_count = pools - carved + (free_pool != 0);

	pymalloc_image_write(h, object, addr);
	pymalloc_image_write(h, object + 8, first + carved * pool_bytes);
	write_u32(h, object + 16, free_count);
	write_u32(h, object + 20, pools);
	pymalloc_image_write(h, object + 24, free_pool);
	h->arena_count++;
	h->free_pools += free_count;
}

void pymalloc_image_init(struct pymalloc_image *h, uint64_t pool_bytes,
			 unsigned int class_count)
{
	uint64_t step = 512 / class_count, arena_bytes = 64 * pool_bytes;
	uint64_t second = (SECOND_ADDR + pool_bytes - 1) / pool_bytes * pool_bytes;
	uint64_t first_resident = FIRST_POOLS * pool_bytes;
	uint64_t second_resident = second - SECOND_ADDR + pool_bytes;
	uint64_t total = (DATA_PAGES + 1) * PAGE + first_resident + second_resident;
	unsigned int last = class_count - 1;

	*h = (struct pymalloc_image){
		.image = IMAGE_INIT,
		.mappings = MAPPING_LIST_INIT,
		.blocks = BLOCKS_INIT,
		.used_addr = USED_ADDR,
		.arenas_word_addr = ARENAS_WORD_ADDR,
		.array_addr = ARRAY_ADDR,
		.partial_addr = FIRST_ADDR,
		.full_addr = FIRST_ADDR + pool_bytes,
		.free_addr = FIRST_ADDR + 2 * pool_bytes,
		.resident_bytes = first_resident + second_resident,
	};
	h->freed_block_addr = h->partial_addr + HEAD_BYTES;
	h->live_block_addr = h->partial_addr + HEAD_BYTES + 5 * 4 * step;
	if (image_reserve(&h->image, total) < 0)
		abort();
	memset(h->image.bytes, 0, total);
	add_mapping(h, DATA_ADDR, DATA_PAGES * PAGE, DATA_PAGES * PAGE, 7);
	add_mapping(h, ARRAY_ADDR, PAGE, PAGE, 0);
	add_mapping(h, FIRST_ADDR, arena_bytes, first_resident, 0);
	add_mapping(h, SECOND_ADDR, arena_bytes, second_resident, 0);
	for (unsigned int i = 0; i < class_count; i++) {
		pymalloc_image_write(h, USED_ADDR + 16 * i, USED_ADDR + 16 * i - 16);
		pymalloc_image_write(h, USED_ADDR + 16 * i + 8, USED_ADDR + 16 * i - 16);
	}
	pymalloc_image_write(h, ARENAS_WORD_ADDR, ARRAY_ADDR);
	/* element 3 is unused: its arena was returned */
	make_arena(h, 2, FIRST_ADDR, pool_bytes, FIRST_POOLS, h->free_addr);
	make_arena(h, 4, SECOND_ADDR, pool_bytes, 1, 0);
	make_pool(h, &(struct made_pool){ h->partial_addr, 3, 2, 10, 5 }, pool_bytes,
		  step);
	make_pool(h,
		  &(struct made_pool){ h->full_addr, 3, 2,
				       (pool_bytes - HEAD_BYTES) / (4 * step), 0 },
		  pool_bytes, step);
	make_pool(h, &(struct made_pool){ FIRST_ADDR + 3 * pool_bytes, last, 2, 3, 1 },
		  pool_bytes, step);
	make_pool(h, &(struct made_pool){ FIRST_ADDR + 4 * pool_bytes, 8, 2, 7, 6 },
		  pool_bytes, step);
	make_pool(
		h,
		&(struct made_pool){ second, 0, 4, (pool_bytes - HEAD_BYTES) / step, 0 },
		pool_bytes, step);
}

static void make_type(struct pymalloc_image *h, uint64_t addr, const char *name,
		      uint64_t basic_bytes, uint64_t flags)
{
	uint64_t name_addr = addr + 0xc0;

	pymalloc_image_write(h, addr, 1);
	pymalloc_image_write(h, addr + 8, PYMALLOC_IMAGE_TYPE(h));
	pymalloc_image_write(h, addr + 24, name_addr);
	pymalloc_image_write(h, addr + 32, basic_bytes);
	pymalloc_image_write(h, addr + 168, flags | 1 << 12);
	memcpy(at(h, name_addr, strlen(name) + 1), name, strlen(name) + 1);
}

void pymalloc_image_add_objects(struct pymalloc_image *h)
{
	uint64_t block = h->full_addr + HEAD_BYTES;

	make_type(h, PYMALLOC_IMAGE_TYPE(h), "type", 400, 1 << 14);
	make_type(h, PYMALLOC_IMAGE_THING(h), "Thing", 32, 1 << 14);
	make_type(h, PYMALLOC_IMAGE_PLAIN(h), "plain", 24, 0);
	for (int i = 0; i < PYMALLOC_IMAGE_THINGS; i++, block += 64) {
		pymalloc_image_write(h, block + 16, 1 + (uint64_t)i);
		pymalloc_image_write(h, block + 24, PYMALLOC_IMAGE_THING(h));
	}
	for (int i = 0; i < PYMALLOC_IMAGE_PLAINS; i++, block += 64) {
		pymalloc_image_write(h, block, UINT32_MAX);
		pymalloc_image_write(h, block + 8, PYMALLOC_IMAGE_PLAIN(h));
	}
}

void pymalloc_image_release(struct pymalloc_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void pymalloc_image_walk(struct pymalloc_image *h, struct heap *ret)
{
	const struct walk_input input = {
		.image = &h->image,
		.mappings = &h->mappings,
		.is_running = h->is_running,
	};

	blocks_release(&h->blocks);
	walk_pymalloc(&input, ret, &h->blocks);
}
