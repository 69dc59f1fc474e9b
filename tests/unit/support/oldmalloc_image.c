/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "oldmalloc_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)

#define DATA_ADDR UINT64_C(0x7f1000000000)
#define DATA_BYTES (4 * PAGE)
#define MAP_ADDR (DATA_ADDR + PAGE + 0x3c0)
#define DONATED_ADDR (DATA_ADDR + 2 * PAGE + 0x130)
#define BRK_ADDR UINT64_C(0x5500000000)
#define BRK_BYTES (8 * PAGE)
#define MMAP_ADDR UINT64_C(0x7f2000000000)
#define MMAP_BYTES (2 * PAGE)
/* directly after the region, as the kernel merges such mappings */
#define MAPPED_ADDR (MMAP_ADDR + MMAP_BYTES)
#define MAPPED_BYTES (60 * PAGE)
#define ALIGNED_ADDR (MAPPED_ADDR + MAPPED_BYTES)
#define ALIGNED_BYTES (64 * PAGE)
#define ALIGNED_OFFSET UINT64_C(256)

#define IN_USE 1

static uint8_t *at(struct oldmalloc_image *h, uint64_t addr)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, 8);

	if (!found)
		abort();
	return found;
}

void oldmalloc_image_write(struct oldmalloc_image *h, uint64_t addr, uint64_t value)
{
	memcpy(at(h, addr), &value, sizeof(value));
}

uint64_t oldmalloc_image_read(struct oldmalloc_image *h, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, at(h, addr), sizeof(value));
	return value;
}

static void add_memory(struct oldmalloc_image *h, uint64_t start, uint64_t bytes,
		       const char *name)
{
	struct mapping m = { .start_addr = start,
			     .end_addr = start + bytes,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .inode = name[0] == '/' ? 7 : 0,
			     .name = name,
			     .name_length = (uint32_t)strlen(name) };

	m.counters.bytes[SMAPS_RSS] = bytes;
	mapping_list_add(&h->mappings, &m);
	if (image_add_run(&h->image, start, start + bytes) < 0)
		abort();
}

static uint64_t bin_chunk(unsigned int bin)
{
	return MAP_ADDR + 8 + 24 * bin + 8 - 16;
}

/* Put a free chunk at the end of a bin's ring. */
static void add_to_bin(struct oldmalloc_image *h, unsigned int bin, uint64_t chunk)
{
	uint64_t self = bin_chunk(bin), last = oldmalloc_image_read(h, self + 24);

	oldmalloc_image_write(h, chunk + 16, self);
	oldmalloc_image_write(h, chunk + 24, last);
	oldmalloc_image_write(h, last + 16, chunk);
	oldmalloc_image_write(h, self + 24, chunk);
	oldmalloc_image_write(h, MAP_ADDR,
			      oldmalloc_image_read(h, MAP_ADDR) | UINT64_C(1) << bin);
}

/* Add a chunk of this size, in bin `bin` if it is free. *addr is then its end. */
static void add_chunk(struct oldmalloc_image *h, uint64_t *addr, uint64_t bytes, int bin)
{
	uint64_t size = bytes | (bin < 0 ? IN_USE : 0);

	oldmalloc_image_write(h, *addr + 8, size);
	oldmalloc_image_write(h, *addr + bytes, size);
	if (bin >= 0)
		add_to_bin(h, (unsigned int)bin, *addr);
	chunk_sum_add(bin < 0 ? &h->live : &h->free, bytes);
	*addr += bytes;
}

/* End a region: the size before the first chunk, and a chunk of size 0. */
static void end_region(struct oldmalloc_image *h, uint64_t first, uint64_t end)
{
	oldmalloc_image_write(h, first, IN_USE);
	oldmalloc_image_write(h, end + 8, IN_USE);
}

static void make_brk(struct oldmalloc_image *h)
{
	uint64_t addr = BRK_ADDR + 16, rest;

	h->live_addr = addr;
	add_chunk(h, &addr, 64, -1);
	h->free_addr = addr;
	h->free_bin = 2;
	add_chunk(h, &addr, 96, (int)h->free_bin);
	for (int i = 0; i < 20; i++)
		add_chunk(h, &addr, 32 * (1 + (uint64_t)i % 4), -1);
	add_chunk(h, &addr, 96, 2);
	add_chunk(h, &addr, 5024, -1);
	rest = BRK_ADDR + BRK_BYTES - 16 - addr;
	add_chunk(h, &addr, rest, 48);
	h->last_addr = addr;
	end_region(h, BRK_ADDR + 16, addr);
}

static void make_others(struct oldmalloc_image *h)
{
	uint64_t addr = MMAP_ADDR + 16;

	add_chunk(h, &addr, 4096, -1);
	add_chunk(h, &addr, MMAP_BYTES - 4096 - 32, -1);
	end_region(h, MMAP_ADDR + 16, addr);
	addr = DONATED_ADDR;
	add_chunk(h, &addr, 128, -1);
	add_chunk(h, &addr, 512, 17);
	end_region(h, DONATED_ADDR, addr);
	oldmalloc_image_write(h, MAPPED_ADDR + 16, 16);
	oldmalloc_image_write(h, MAPPED_ADDR + 24, MAPPED_BYTES - 16);
	chunk_sum_add(&h->mapped, MAPPED_BYTES);
	/* the first head remains, and realloc() does not change it */
	oldmalloc_image_write(h, ALIGNED_ADDR + 16, 16);
	oldmalloc_image_write(h, ALIGNED_ADDR + 24, ALIGNED_BYTES + 4 * PAGE - 16);
	oldmalloc_image_write(h, h->aligned_addr, ALIGNED_OFFSET - 16);
	oldmalloc_image_write(h, h->aligned_addr + 8,
			      ALIGNED_BYTES - (ALIGNED_OFFSET - 16));
	chunk_sum_add(&h->mapped, ALIGNED_BYTES);
}

void oldmalloc_image_init(struct oldmalloc_image *h)
{
	*h = (struct oldmalloc_image){
		.image = IMAGE_INIT,
		.mappings = MAPPING_LIST_INIT,
		.blocks = BLOCKS_INIT,
		.map_addr = MAP_ADDR,
		.bins_addr = MAP_ADDR + 8,
		.brk_addr = BRK_ADDR,
		.mmap_addr = MMAP_ADDR,
		.donated_addr = DONATED_ADDR,
		.mapped_addr = MAPPED_ADDR + 16,
		.aligned_addr = ALIGNED_ADDR + ALIGNED_OFFSET - 16,
	};
	if (image_reserve(&h->image, 256 * PAGE) < 0)
		abort();
	add_memory(h, BRK_ADDR, BRK_BYTES, "[heap]");
	add_memory(h, DATA_ADDR, DATA_BYTES, "/lib/ld-musl-x86_64.so.1");
	add_memory(h, MMAP_ADDR, MMAP_BYTES + MAPPED_BYTES + ALIGNED_BYTES, "");
	memset(h->image.bytes, 0, h->image.length_bytes);
	/* the other bins were never used, so they are 0 */
	for (unsigned int i = 0; i < 64; i++)
		if (i % 3 != 1 || i == 48 || i == 17) {
			oldmalloc_image_write(h, bin_chunk(i) + 16, bin_chunk(i));
			oldmalloc_image_write(h, bin_chunk(i) + 24, bin_chunk(i));
		}
	make_brk(h);
	make_others(h);
	/* the donated region has two chunks, and 16 bytes of the chunk of size 0 */
	h->resident_bytes =
		BRK_BYTES + MMAP_BYTES + MAPPED_BYTES + ALIGNED_BYTES + 128 + 512 + 16;
}

void oldmalloc_image_release(struct oldmalloc_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void oldmalloc_image_walk(struct oldmalloc_image *h, struct heap *ret)
{
	struct walk_input input = { .image = &h->image,
				    .mappings = &h->mappings,
				    .is_running = h->is_running };

	blocks_release(&h->blocks);
	walk_oldmalloc(&input, ret, &h->blocks);
}
