/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/partition/walk.h"

#include "walk/blocks/data_area.h"

/*
 * PartitionRoot ends with a word that is the complement of the root's address
 * (inverted_self_). A root is aligned to a cache line.
 */
#define ROOT_ALIGN 64
#define INVERTED_MIN UINT64_C(0x1000)
#define INVERTED_MAX UINT64_C(0x8000)

/*
 * Range of possible offsets of buckets_ in PartitionRoot; the settings and the lock
 * precede this member.
 */
#define BUCKETS_MIN 64
#define BUCKETS_OFFSET_MAX 512
#define SLOT_BYTES_MIN 16
#define SLOT_BYTES_MAX (UINT64_C(1) << 20)

/* Offset of with_thread_cache in the settings of PartitionRoot. */
#define HAS_CACHE_SHIFT 8

/*
 * Indices of the root's words after the sentinel bucket. The word with the index 0
 * contains `initialized_`.
 */
enum {
	WORD_IS_INITIALIZED = 0,
	WORD_SUPER_BYTES = 3,
	WORD_DIRECT_BYTES = 4,
	WORD_ALLOCATED_BYTES = 5,
	WORD_FIRST_EXTENT = 19,
	WORD_DIRECT_MAP_LIST = 20
};

#define POOL_BITS_MIN 28
#define POOL_BITS_MAX 40

static const struct partition_layout layouts[] = {
	/* Chromium 156 */
	{ 56, 24, 32, UINT64_MAX },
	/* Chromium 150 */
	{ 48, 24, 28, UINT32_MAX },
};

uint64_t partition_read_slot_bytes(struct partition *p, const struct partition_root *root,
				   uint64_t addr)
{
	uint64_t bytes;

	return image_read(p->image, addr + root->layout->slot_size, &bytes)
		       ? bytes & root->layout->slot_size_mask
		       : 0;
}

uint64_t partition_slot_bytes(struct partition *p, const struct partition_root *root,
			      unsigned int bucket)
{
	uint64_t offset = (uint64_t)bucket * root->layout->bucket_bytes;

	return partition_read_slot_bytes(p, root, root->bucket_addr + offset);
}

/*
 * Count the buckets at root->bucket_addr. Their slot sizes are in ascending order, and a
 * bucket with the size 0 follows the last one. Return false if there is no such array.
 */
static bool count_buckets(struct partition *p, struct partition_root *root)
{
	uint64_t last = SLOT_BYTES_MIN - 1;

	for (root->bucket_count = 0; root->bucket_count < PARTITION_BUCKETS_MAX;
	     root->bucket_count++) {
		uint64_t bytes = partition_slot_bytes(p, root, root->bucket_count);

		if (bytes == 0)
			return root->bucket_count >= BUCKETS_MIN;
		if (bytes <= last || bytes > SLOT_BYTES_MAX || bytes % 16 != 0)
			return false;
		last = bytes;
	}
	return false;
}

static bool find_buckets(struct partition *p, struct partition_root *root)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		root->layout = &layouts[i];
		for (uint64_t offset = 0; offset < BUCKETS_OFFSET_MAX; offset += 8) {
			root->bucket_addr = root->addr + offset;
			if (partition_slot_bytes(p, root, 0) == SLOT_BYTES_MIN &&
			    count_buckets(p, root))
				return true;
		}
	}
	return false;
}

/*
 * Find the pool that contains the super page. Two members of the settings describe the
 * pool: its address, and a mask that selects the upper bits of an address.
 */
static bool find_pool(struct partition *p, struct partition_root *root,
		      uint64_t super_addr)
{
	uint64_t addr = root->addr, mask;

	for (; addr + 8 < root->bucket_addr; addr += 8) {
		if (!image_read(p->image, addr, &root->pool_addr) ||
		    !image_read(p->image, addr + 8, &mask))
			return false;
		root->pool_bytes = ~mask + 1;
		if (root->pool_addr != 0 && (super_addr & mask) == root->pool_addr &&
		    (root->pool_bytes & (root->pool_bytes - 1)) == 0 &&
		    root->pool_bytes >> POOL_BITS_MIN != 0 &&
		    root->pool_bytes >> POOL_BITS_MAX == 0)
			return true;
	}
	return false;
}

static bool is_offset(struct partition *p, struct partition_root *root, uint64_t offset)
{
	uint64_t super_addr = root->first_extent - offset;

	root->metadata_offset = offset;
	return offset != 0 && super_addr % PARTITION_SUPER_BYTES == 0 &&
	       find_pool(p, root, super_addr);
}

/*
 * Find the word in the root's settings that contains the offset of the metadata, and find
 * the pool.
 */
static bool read_settings(struct partition *p, struct partition_root *root)
{
	uint64_t word;

	for (uint64_t addr = root->addr; addr < root->bucket_addr; addr += 8)
		if (image_read(p->image, addr, &word) && is_offset(p, root, word))
			return true;
	return false;
}

/*
 * Read the members of the root that follow the buckets. Return false if the partition
 * is not in use.
 */
static bool read_figures(struct partition *p, struct partition_root *root)
{
	uint64_t addr = root->bucket_addr +
			(root->bucket_count + 1) * (uint64_t)root->layout->bucket_bytes;
	uint64_t is_initialized;

	return image_read(p->image, addr + 8 * WORD_IS_INITIALIZED, &is_initialized) &&
	       (is_initialized & 0xff) == 1 &&
	       image_read(p->image, addr + 8 * WORD_SUPER_BYTES, &root->super_bytes) &&
	       image_read(p->image, addr + 8 * WORD_DIRECT_BYTES, &root->direct_bytes) &&
	       image_read(p->image, addr + 8 * WORD_ALLOCATED_BYTES,
			  &root->allocated_bytes) &&
	       image_read(p->image, addr + 8 * WORD_FIRST_EXTENT, &root->first_extent) &&
	       image_read(p->image, addr + 8 * WORD_DIRECT_MAP_LIST,
			  &root->first_direct_map) &&
	       (root->super_bytes | root->direct_bytes) != 0 &&
	       (root->super_bytes | root->direct_bytes) % PARTITION_SUPER_BYTES == 0;
}

static void try_root(struct partition *p, uint64_t addr, uint64_t *unread_count)
{
	struct partition_root root = { .addr = addr };
	uint64_t settings;

	if (!image_read(p->image, addr, &settings) || !find_buckets(p, &root) ||
	    !read_figures(p, &root))
		return;
	root.has_cache = (settings >> HAS_CACHE_SHIFT & 0xff) == 1;
	/* a partition that has only direct maps has no first extent */
	if (root.first_extent == 0)
		root.first_extent = root.first_direct_map & ~(IMAGE_PAGE_BYTES - 1);
	if (p->root_count == PARTITION_ROOTS_MAX || !read_settings(p, &root)) {
		(*unread_count)++;
		return;
	}
	if (root.super_bytes == 0)
		root.first_extent = 0;
	p->roots[p->root_count++] = root;
}

static bool is_area_swapped(const struct partition *p, const struct data_area *area)
{
	for (uint64_t addr = area->start_addr; addr < area->end_addr;
	     addr += IMAGE_PAGE_BYTES)
		if (walk_is_swapped(p->input, addr))
			return true;
	return false;
}

static void scan_area(struct partition *p, const struct data_area *area,
		      uint64_t *unread_count)
{
	uint64_t addr = image_next_resident(p->image, area->start_addr, area->end_addr);

	for (; addr < area->end_addr;
	     addr = image_next_resident(p->image, addr + 8, area->end_addr)) {
		uint64_t word, root;

		if (!image_read(p->image, addr, &word))
			continue;
		root = ~word;
		if (root % ROOT_ALIGN == 0 && root < addr &&
		    addr - root >= INVERTED_MIN && addr - root <= INVERTED_MAX)
			try_root(p, root, unread_count);
	}
}

const char *partition_find(struct partition *p)
{
	struct data_area area;
	uint64_t unread_count = 0;
	size_t index = 0;

	while (data_area_next(p->input, &index, &area))
		scan_area(p, &area, &unread_count);
	index = 0;
	while (p->root_count > 0 && !p->may_lack_root &&
	       data_area_next(p->input, &index, &area))
		p->may_lack_root = is_area_swapped(p, &area);
	return p->root_count > 0 && unread_count == 0
		       ? NULL
		       : "it is PartitionAlloc, but not that of Chromium 150 or 156";
}
