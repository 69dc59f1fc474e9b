/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "partition_image.h"

#include <byteswap.h>

#define PAGE IMAGE_PAGE_BYTES
#define SUPER PARTITION_SUPER_BYTES

#define METADATA_ADDR UINT64_C(0x290000000000)
#define POOL_BYTES (UINT64_C(16) << 30)
#define INNER_POOL UINT64_C(0x359800000000)
#define FIRST_POOL (INNER_POOL + POOL_BYTES)
#define DIRECT_ADDR (FIRST_POOL + SUPER)
#define DIRECT_BYTES (SUPER + 3 * PAGE) /* size of the slot */
#define ROOT_ADDR UINT64_C(0x555500000000)
#define INNER_ROOT_ADDR (ROOT_ADDR + 0x8000)
#define DATA_BYTES UINT64_C(0x10000)

#define BUCKETS_OFFSET 0xc8
#define BUCKETS 80
#define WIDE_BUCKET 31 /* its spans have 8 pages, all others 4 */
#define INVERTED_OFFSET 0x39f8

/* The first span: 256 slots of 64 bytes, of which 100 were used. */
#define SLOT_BYTES UINT64_C(64)
#define USED 100
#define FREE_FIRST 10
#define FREE_COUNT 40
#define CACHED_FIRST 60
#define CACHED_COUNT 5
#define CACHE_BUCKETS 20
/* offset of the array in the cache, which is the third slot of 1024 bytes */
#define CACHE_ARRAY 64

#define ENTRY(addr, i) ((addr) + (i) * (uint64_t)PARTITION_ENTRY_BYTES)

struct version {
	unsigned int bucket_bytes, pages_offset;
	/* start of the memory for metadata, with one page for each partition */
	uint64_t metadata_addr;
};

/* In the last one, the metadata of the first super page are aligned to 2 MiB. */
static const struct version versions[PARTITION_IMAGE_VERSIONS] = {
	{ 56, 32, METADATA_ADDR },
	{ 48, 28, METADATA_ADDR },
	{ 56, 32, METADATA_ADDR - 3 * PAGE },
};

static uint64_t inner_metadata(const struct version *v)
{
	return v->metadata_addr + PAGE;
}

static uint64_t first_metadata(const struct version *v)
{
	return v->metadata_addr + 3 * PAGE;
}

static uint64_t bucket_addr(const struct version *v, uint64_t root, unsigned int i)
{
	return root + BUCKETS_OFFSET + (uint64_t)i * v->bucket_bytes;
}

static void make_root(struct made_memory *m, const struct version *v, uint64_t root,
		      uint64_t pool, uint64_t metadata)
{
	uint64_t tail = bucket_addr(v, root, BUCKETS + 1);

	made_memory_write(m, root + 0x18, pool);
	made_memory_write(m, root + 0x20, ~(POOL_BYTES - 1));
	made_memory_write(m, root + 0x90, metadata - pool);
	for (unsigned int i = 0; i < BUCKETS; i++) {
		uint64_t addr = bucket_addr(v, root, i);

		made_memory_write_u32(m, addr + 24, 16 * (i + 1));
		/* three full spans */
		made_memory_write_u32(m, addr + v->pages_offset,
				      (i == WIDE_BUCKET ? 8 : 4) | 3 << 8);
	}
	made_memory_write(m, tail, 1);
	made_memory_write(m, tail + 8 * 3, SUPER);
	made_memory_write(m, tail + 8 * 19, metadata);
	made_memory_write(m, root + INVERTED_OFFSET, ~root);
	made_memory_write(m, metadata, root);
}

static void set_span(struct made_memory *m, uint64_t metadata, unsigned int i,
		     uint64_t bucket, uint64_t first_free, uint64_t live, uint64_t unused)
{
	made_memory_write(m, ENTRY(metadata, i), first_free);
	made_memory_write(m, ENTRY(metadata, i) + 16, bucket);
	made_memory_write(m, ENTRY(metadata, i) + 24,
			  live | unused << 15 | UINT64_C(1) << 54);
}

/* Write an element of a list; next_addr is 0 for the last one. */
static void set_next(struct made_memory *m, uint64_t addr, uint64_t next_addr)
{
	uint64_t next = bswap_64(next_addr % POOL_BYTES);

	made_memory_write(m, addr, next_addr ? next : 0);
	made_memory_write(m, addr + 8, ~(next_addr ? next : 0));
}

static uint64_t make_list(struct made_memory *m, uint64_t first_slot, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		set_next(m, first_slot + i * SLOT_BYTES,
			 i + 1 < count ? first_slot + (i + 1) * SLOT_BYTES : 0);
	return first_slot;
}

static void make_first_partition(struct partition_image *h, const struct version *v)
{
	struct made_memory *m = &h->memory;
	uint64_t span = FIRST_POOL + PARTITION_PAGE_BYTES;
	uint64_t empty = FIRST_POOL + 4 * PARTITION_PAGE_BYTES;

	make_root(m, v, ROOT_ADDR, FIRST_POOL, first_metadata(v));
	made_memory_write(m, ROOT_ADDR, 0x100); /* with_thread_cache */
	/* one super page, two spans with live slots */
	made_memory_write(m, first_metadata(v) + 16, 1 | 2 << 16);
	h->first_free_addr = make_list(m, span + FREE_FIRST * SLOT_BYTES, FREE_COUNT);
	h->last_free_addr = span + (FREE_FIRST + FREE_COUNT - 1) * SLOT_BYTES;
	set_span(m, first_metadata(v), 1, bucket_addr(v, ROOT_ADDR, 3),
		 h->first_free_addr, USED - FREE_COUNT, 256 - USED);
	/* 12 slots of 1280 bytes */
	set_span(m, first_metadata(v), 2, bucket_addr(v, ROOT_ADDR, 79), 0, 12, 0);
	/* its memory was returned to the kernel */
	set_span(m, first_metadata(v), 3, bucket_addr(v, ROOT_ADDR, 0), 0, 0, 0);
	/* an empty span of two partition pages, with 64 slots of 512 bytes */
	set_next(m, empty, empty + 512);
	set_next(m, empty + 512, 0);
	set_span(m, first_metadata(v), 4, bucket_addr(v, ROOT_ADDR, WIDE_BUCKET), empty,
		 0, 62);
	made_memory_write(m, ENTRY(first_metadata(v), 5) + 24,
			  UINT64_C(1) << 54 | UINT64_C(1) << 48);
}

static void make_direct_map(struct partition_image *h, const struct version *v)
{
	struct made_memory *m = &h->memory;
	uint64_t metadata = first_metadata(v) + SUPER, bucket = ENTRY(metadata, 3);
	uint64_t extent = bucket + v->bucket_bytes;

	made_memory_write(m, metadata, ROOT_ADDR);
	set_span(m, metadata, 1, bucket, 0, 1, 0);
	made_memory_write(m, bucket, ENTRY(metadata, 1));
	made_memory_write_u32(m, bucket + 24, DIRECT_BYTES);
	made_memory_write(m, extent + 16, bucket);
	made_memory_write(m, extent + 24, 2 * SUPER);
	made_memory_write(m, h->figures_addr + 8 * 4, 2 * SUPER);
	made_memory_write(m, h->figures_addr + 8 * 20, extent);
	h->direct_metadata_addr = metadata;
	h->direct_extent_addr = extent;
}

static void make_cache(struct partition_image *h, const struct version *v)
{
	struct made_memory *m = &h->memory;
	uint64_t slots = INNER_POOL + PARTITION_PAGE_BYTES;
	uint64_t array = slots + 2 * 1024 + CACHE_ARRAY;
	uint64_t cached = FIRST_POOL + PARTITION_PAGE_BYTES + CACHED_FIRST * SLOT_BYTES;

	make_root(m, v, INNER_ROOT_ADDR, INNER_POOL, inner_metadata(v));
	made_memory_write(m, inner_metadata(v) + 16, 1 | 1 << 16);
	set_next(m, slots + 3 * 1024, 0);
	set_span(m, inner_metadata(v), 1, bucket_addr(v, INNER_ROOT_ADDR, 63),
		 slots + 3 * 1024, 3, 12);
	made_memory_write(m, bucket_addr(v, INNER_ROOT_ADDR, BUCKETS + 1) + 8 * 5,
			  3 * 1024);
	for (unsigned int i = 0; i < CACHE_BUCKETS; i++)
		made_memory_write(m, array + 16 * i + 8,
				  UINT64_C(16) * (i + 1) << 16 | 0x80 << 8);
	made_memory_write(m, array + 16 * CACHE_BUCKETS, ROOT_ADDR);
	h->cache_addr = array + 16 * 3;
	h->cached_addr = make_list(m, cached, CACHED_COUNT);
	made_memory_write(m, h->cache_addr, cached);
	made_memory_write(m, h->cache_addr + 8,
			  CACHED_COUNT | 0x80 << 8 | SLOT_BYTES << 16);
}

static void add_memory(struct made_memory *m, const struct version *v)
{
	made_memory_init(m, 64 * PAGE);
	made_memory_add_mapping(m, v->metadata_addr, 2 * SUPER, "");
	made_memory_add_pages(m, inner_metadata(v), PAGE);
	made_memory_add_pages(m, first_metadata(v), PAGE);
	made_memory_add_pages(m, first_metadata(v) + SUPER, PAGE);
	made_memory_add_mapping(m, INNER_POOL, SUPER, "");
	made_memory_add_pages(m, INNER_POOL + PARTITION_PAGE_BYTES, 4 * PAGE);
	made_memory_add_mapping(m, FIRST_POOL, 3 * SUPER, "");
	made_memory_add_pages(m, FIRST_POOL + 2 * PAGE, PAGE);
	made_memory_add_pages(m, FIRST_POOL + PARTITION_PAGE_BYTES, 2 * PAGE);
	made_memory_add_pages(m, FIRST_POOL + 2 * PARTITION_PAGE_BYTES, 4 * PAGE);
	made_memory_add_pages(m, FIRST_POOL + 4 * PARTITION_PAGE_BYTES, PAGE);
	made_memory_add_pages(m, DIRECT_ADDR + PARTITION_PAGE_BYTES, 5 * PAGE);
	made_memory_add_mapping(m, ROOT_ADDR, DATA_BYTES, "/opt/chromium");
	made_memory_add_pages(m, ROOT_ADDR, DATA_BYTES);
}

void partition_image_init(struct partition_image *h, unsigned int version)
{
	const struct version *v = &versions[version];
	uint64_t first_live = USED - FREE_COUNT - CACHED_COUNT;

	*h = (struct partition_image){ .root_addr = ROOT_ADDR,
				       .inner_root_addr = INNER_ROOT_ADDR,
				       .metadata_addr = first_metadata(v) };
	add_memory(&h->memory, v);
	h->bucket_addr = bucket_addr(v, ROOT_ADDR, 0);
	h->figures_addr = bucket_addr(v, ROOT_ADDR, BUCKETS + 1);
	h->inverted_addr = ROOT_ADDR + INVERTED_OFFSET;
	make_first_partition(h, v);
	make_direct_map(h, v);
	made_memory_write(&h->memory, h->figures_addr + 8 * 5,
			  (USED - FREE_COUNT) * SLOT_BYTES + 12 * 1280 + DIRECT_BYTES);
	make_cache(h, v);

	h->cached_count = CACHED_COUNT;
	h->cached_bytes = CACHED_COUNT * SLOT_BYTES;
	/* the first span, the full span, the direct map, the other partition */
	h->live_count = first_live + 12 + 1 + 3;
	h->live_bytes = first_live * SLOT_BYTES + 12 * 1280 + DIRECT_BYTES + 3 * 1024;
	h->live_resident_bytes =
		first_live * SLOT_BYTES + 12 * 1280 + 5 * PAGE + 3 * 1024;
	h->free_resident_bytes =
		2 * PAGE - first_live * SLOT_BYTES + PAGE + 4 * PAGE - 3 * 1024;
	h->resident_bytes = (3 + 4 + 1 + 2 + 4 + 1 + 5) * PAGE;
}
