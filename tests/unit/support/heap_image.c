/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "heap_image.h"

#include <stdlib.h>
#include <string.h>

#include "made_memory.h"

#define PAGE UINT64_C(4096)

#define BRK_ADDR UINT64_C(0x555555560000)
#define BRK_BYTES (40 * PAGE)
#define DATA_ADDR UINT64_C(0x7f0000010000)
#define DATA_BYTES (4 * PAGE)
#define MAPPED_ADDR UINT64_C(0x7f1000000000)
#define MAPPED_BYTES (5 * PAGE)
#define HEAP_ADDR UINT64_C(0x7f2000000000) /* a multiple of 64 MiB, as glibc requires */
#define HEAP_BYTES (33 * PAGE)
#define TLS_ADDR UINT64_C(0x7f3000000000)
#define TLS_BYTES (3 * PAGE)

#define BIN_COUNT 127
#define BINS_BYTES (2 * BIN_COUNT * UINT64_C(8))

#define PREV_INUSE UINT64_C(1)
#define MMAPPED UINT64_C(2)
#define NON_MAIN UINT64_C(4)

const struct heap_kind heap_kinds[] = {
	{ "2.26", 104, 8, 40, 56, 72, 80, 0x20, 0x250, 64, 1, 7, false, false, false },
	{ "2.27", 112, 16, 40, 56, 72, 80, 0x20, 0x250, 64, 1, 7, false, false, false },
	{ "2.30", 112, 16, 40, 56, 72, 80, 0x20, 0x290, 64, 2, 7, false, false, false },
	{ "2.32", 112, 16, 40, 56, 72, 80, 0x20, 0x290, 64, 2, 7, false, true, false },
	{ "2.35", 112, 16, 60, 80, 96, 104, 0x30, 0x290, 64, 2, 7, false, true, false },
	{ "2.41, cache 16 bytes larger", 112, 16, 60, 80, 96, 104, 0x30, 0x2a0, 64, 2, 7,
	  false, true, false },
	{ "2.42", 112, 16, 60, 80, 96, 104, 0x30, 0x300, 76, 2, 7, true, true, false },
	{ "2.43", 24, 0, 68, 88, 104, 112, 0x30, 0x310, 76, 2, 16, true, true, true },
};
const size_t heap_kind_count = sizeof(heap_kinds) / sizeof(heap_kinds[0]);

void heap_image_write(struct heap_image *h, uint64_t addr, uint64_t value)
{
	const uint8_t *at = image_at(&h->image, addr, sizeof(value));

	if (!at)
		abort();
	memcpy((uint8_t *)(uintptr_t)at, &value, sizeof(value));
}

uint64_t heap_image_read(struct heap_image *h, uint64_t addr)
{
	uint64_t value;

	if (!image_read(&h->image, addr, &value))
		abort();
	return value;
}

static void write_small(struct heap_image *h, uint64_t addr, unsigned int bytes,
			uint64_t value)
{
	const uint8_t *at = image_at(&h->image, addr, bytes);

	if (!at)
		abort();
	memcpy((uint8_t *)(uintptr_t)at, &value, bytes);
}

static void add_mapping(struct heap_image *h, uint64_t addr, uint64_t bytes,
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

	m.counters.bytes[SMAPS_RSS] = bytes;
	mapping_list_add(&h->mappings, &m);
	if (image_add_run(&h->image, addr, addr + bytes) < 0)
		abort();
}

enum use {
	LIVE,
	BIN,
	FAST,
	CACHED
};

static const struct {
	uint64_t bytes;
	enum use use;
} chunks[] = {
	{ 48, LIVE },	{ 48, CACHED }, { 48, CACHED }, { 64, FAST },	  { 64, FAST },
	{ 320, LIVE },	{ 20000, BIN }, { 48, LIVE },	{ 1040, CACHED }, { 160, BIN },
	{ 9008, LIVE }, { 112, FAST },	{ 2064, BIN },	{ 32, LIVE },
};

/* The arena under construction. */
struct arena {
	struct heap_image *h;
	const struct heap_kind *kind;
	uint64_t addr;
	uint64_t flags; /* flag bits that each of its chunks gets */
	uint64_t at;	/* address of the next chunk */
	bool is_previous_free;
	uint64_t previous_bytes;
};

static void add_chunk(struct arena *a, uint64_t bytes, bool is_free)
{
	if (a->is_previous_free)
		heap_image_write(a->h, a->at, a->previous_bytes);
	heap_image_write(a->h, a->at + 8,
			 bytes | a->flags | (a->is_previous_free ? 0 : PREV_INUSE));
	a->is_previous_free = is_free;
	a->previous_bytes = bytes;
	a->at += bytes;
}

static uint64_t bin_head(const struct arena *a, unsigned int bin)
{
	return a->addr + a->kind->bins_offset - 16 + (bin - 1) * UINT64_C(16);
}

/* Link chunk in at the front of the unsorted bin. */
static void put_into_bin(struct arena *a, uint64_t chunk)
{
	uint64_t head = bin_head(a, 1);
	uint64_t next = heap_image_read(a->h, head + 16);

	heap_image_write(a->h, chunk + 16, next);
	heap_image_write(a->h, chunk + 24, head);
	heap_image_write(a->h, next + 24, chunk);
	heap_image_write(a->h, head + 16, chunk);
}

static uint64_t protect(const struct arena *a, uint64_t place, uint64_t pointer)
{
	return a->kind->is_protected ? pointer ^ place >> 12 : pointer;
}

static void put_into_fast(struct arena *a, uint64_t chunk, uint64_t bytes)
{
	uint64_t head = a->addr + a->kind->fast_offset + (bytes / 16 - 2) * 8;

	heap_image_write(a->h, chunk + 16,
			 protect(a, chunk + 16, heap_image_read(a->h, head)));
	heap_image_write(a->h, head, chunk);
}

static unsigned int cache_bin(uint64_t bytes)
{
	return (unsigned int)((bytes - 32) / 16);
}

static void put_into_cache(struct arena *a, uint64_t chunk, uint64_t bytes)
{
	const struct heap_kind *kind = a->kind;
	unsigned int bin = cache_bin(bytes);
	uint64_t count_addr = a->h->cache_addr + bin * kind->cache_count_bytes;
	uint64_t head = a->h->cache_addr + kind->cache_bins * kind->cache_count_bytes +
			bin * UINT64_C(8);
	const uint8_t *at = image_at(&a->h->image, count_addr, kind->cache_count_bytes);
	uint64_t count = 0;

	memcpy(&count, at, kind->cache_count_bytes);
	write_small(a->h, count_addr, kind->cache_count_bytes,
		    kind->cache_counts_down ? count - 1 : count + 1);
	heap_image_write(a->h, chunk + 16,
			 protect(a, chunk + 16, heap_image_read(a->h, head)));
	heap_image_write(a->h, chunk + 24, UINT64_C(0xfeedfacedeadbeef));
	heap_image_write(a->h, head, chunk + 16);
}

static void note(uint64_t *first_addr, struct chunk_sum *sum, uint64_t addr,
		 uint64_t bytes)
{
	if (!*first_addr)
		*first_addr = addr;
	chunk_sum_add(sum, bytes);
}

static void place_chunk(struct arena *a, uint64_t chunk, uint64_t bytes, enum use use)
{
	struct heap_image *h = a->h;

	switch (use) {
	case LIVE: note(&h->live_addr, &h->live, chunk, bytes); break;
	case BIN:
		note(&h->bin_addr, &h->bin, chunk, bytes);
		put_into_bin(a, chunk);
		break;
	case FAST:
		note(&h->fast_addr, &h->fast, chunk, bytes);
		put_into_fast(a, chunk, bytes);
		break;
	case CACHED:
		note(&h->cached_addr, &h->cached, chunk, bytes);
		put_into_cache(a, chunk, bytes);
		break;
	}
}

/* Lay out the chunks of the table, then let the top chunk fill the rest up to end. */
static void fill_arena(struct arena *a, uint64_t end)
{
	struct heap_image *h = a->h;

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		enum use use = chunks[i].use;
		uint64_t chunk = a->at;

		if (use == FAST && !a->kind->fast_offset)
			use = LIVE;
		add_chunk(a, chunks[i].bytes, use == BIN);
		place_chunk(a, chunk, chunks[i].bytes, use);
	}
	heap_image_write(h, a->at + 8, (end - a->at) | PREV_INUSE);
	heap_image_write(h, bin_head(a, 1), a->at);
	h->top_bytes += end - a->at;
}

static void write_arena(struct heap_image *h, const struct heap_kind *kind, uint64_t addr,
			uint64_t next_addr, uint64_t system_bytes)
{
	uint64_t tail = addr + kind->bins_offset + BINS_BYTES + 16;

	for (unsigned int bin = 1; bin <= BIN_COUNT; bin++) {
		uint64_t head = addr + kind->bins_offset - 16 + (bin - 1) * UINT64_C(16);

		heap_image_write(h, head + 16, head);
		heap_image_write(h, head + 24, head);
	}
	heap_image_write(h, tail, next_addr);
	heap_image_write(h, tail + 16, 1);
	heap_image_write(h, tail + 24, system_bytes);
	heap_image_write(h, tail + 32, system_bytes);
	h->system_bytes += system_bytes;
}

static void write_par(struct heap_image *h, const struct heap_kind *kind)
{
	uint64_t par = h->par_addr;

	heap_image_write(h, par, 131072);
	heap_image_write(h, par + 8, 131072);
	heap_image_write(h, par + 16, 131072);
	heap_image_write(h, par + 24, 8);
	write_small(h, par + kind->par_count_offset, 4, 1);
	write_small(h, par + kind->par_count_offset + 4, 4, 65536);
	write_small(h, par + kind->par_count_offset + 8, 4, 3);
	heap_image_write(h, par + kind->par_bytes_offset, MAPPED_BYTES);
	heap_image_write(h, par + kind->par_bytes_offset + 8, 2 * MAPPED_BYTES);
	heap_image_write(h, par + kind->par_base_offset, BRK_ADDR);
	heap_image_write(h, par + kind->par_cache_offset, 64);
	heap_image_write(h, par + kind->par_cache_offset + 8, 1032);
	heap_image_write(h, par + kind->par_cache_offset + 16, kind->cache_slots);
}

static void build_main(struct heap_image *h, const struct heap_kind *kind)
{
	struct arena a = {
		.h = h, .kind = kind, .addr = h->main_arena_addr, .at = BRK_ADDR
	};

	write_arena(h, kind, a.addr, h->second_arena_addr, BRK_BYTES);
	h->cache_addr = a.at + 16;
	add_chunk(&a, kind->cache_chunk_bytes, false);
	for (unsigned int bin = 0; kind->cache_counts_down && bin < kind->cache_bins;
	     bin++)
		write_small(h, h->cache_addr + 2 * bin, 2, kind->cache_slots);
	fill_arena(&a, BRK_ADDR + BRK_BYTES);
	h->top_addr = a.at;
}

static void build_second(struct heap_image *h, const struct heap_kind *kind)
{
	uint64_t end = h->second_arena_addr + kind->bins_offset + BINS_BYTES + 16 + 40;
	struct arena a = {
		.h = h, .kind = kind, .addr = h->second_arena_addr, .flags = NON_MAIN
	};

	a.at = (end + 15) & ~UINT64_C(15);
	h->heap_info_addr = HEAP_ADDR;
	h->second_live_addr = a.at;
	heap_image_write(h, HEAP_ADDR, a.addr);
	heap_image_write(h, HEAP_ADDR + 16, HEAP_BYTES);
	heap_image_write(h, HEAP_ADDR + 24, HEAP_BYTES);
	write_arena(h, kind, a.addr, h->main_arena_addr, HEAP_BYTES);
	fill_arena(&a, HEAP_ADDR + HEAP_BYTES);
}

void heap_image_init(struct heap_image *h, const struct heap_kind *kind)
{
	memset(h, 0, sizeof(*h));
	if (image_reserve(&h->image,
			  BRK_BYTES + DATA_BYTES + MAPPED_BYTES + HEAP_BYTES + TLS_BYTES))
		abort();
	add_mapping(h, BRK_ADDR, BRK_BYTES, 0, "[heap]");
	add_mapping(h, DATA_ADDR, DATA_BYTES, 7, "/lib/libc.so.6");
	add_mapping(h, MAPPED_ADDR, MAPPED_BYTES, 0, "");
	add_mapping(h, HEAP_ADDR, HEAP_BYTES, 0, "");
	add_mapping(h, TLS_ADDR, TLS_BYTES, 0, "");

	h->heap_addr = BRK_ADDR;
	h->par_addr = DATA_ADDR + 0x200;
	/* so placed that it crosses a page boundary */
	h->main_arena_addr = DATA_ADDR + 0xc60;
	h->second_arena_addr = HEAP_ADDR + kind->heap_info_bytes;
	write_par(h, kind);
	build_main(h, kind);
	build_second(h, kind);

	heap_image_write(h, MAPPED_ADDR + 8,
			 (MAPPED_BYTES - (kind->is_mapped_size_short ? 16 : 0)) |
				 MMAPPED);
	chunk_sum_add(&h->mapped, MAPPED_BYTES);
	h->thread_addr = TLS_ADDR + 2 * PAGE + 0x740;
	heap_image_write(h, h->thread_addr - 0x48, h->cache_addr);
}

void heap_image_release(struct heap_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void heap_image_drop(struct heap_image *h, uint64_t start_addr, uint64_t end_addr)
{
	made_memory_drop(&h->image, start_addr, end_addr);
}

void heap_image_walk(struct heap_image *h, struct heap *ret)
{
	const struct walk_input input = {
		.image = &h->image,
		.mappings = &h->mappings,
		.thread_addrs = &h->thread_addr,
		.thread_count = 1,
		.is_running = h->is_running,
		.claimed = h->claimed,
	};

	blocks_release(&h->blocks);
	blocks_release(&h->blocks);
	walk_glibc(&input, ret, &h->blocks);
}
