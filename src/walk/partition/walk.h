/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for PartitionAlloc, Chromium's
 * malloc. Internal to walk/.
 *
 * Sources: partition_root.h, partition_bucket.h, partition_page.h,
 * partition_superpage_extent_entry.h, partition_direct_map_extent.h,
 * partition_freelist_entry.h and thread_cache.h of Chromium; the layouts are those of
 * Debian's Chromium 150 and 156; x86-64.
 *
 * A partition is a heap of its own, described by a root. Its memory consists of super
 * pages of 2 MiB, and of reservations that contain a single large block each (direct
 * maps). A super page is divided into partition pages of four pages, and these into slot
 * spans. All slots of a span have the size of its bucket. A page of metadata, at a
 * constant distance from the super page, has an entry for each partition page. The first
 * entry links the super pages of the partition. Freed slots are in the list of their
 * span, or in the cache of a thread; slots that were never allocated are in no list.
 */
#ifndef MS_WALK_PARTITION_WALK_H
#define MS_WALK_PARTITION_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define PARTITION_SUPER_BYTES (UINT64_C(2) << 20)
#define PARTITION_PAGE_BYTES (UINT64_C(16) << 10)
/* size of an entry of the metadata; number of entries, including the unused last one */
#define PARTITION_ENTRY_BYTES 32
#define PARTITION_ENTRIES 128
#define PARTITION_ROOTS_MAX 64

#define PARTITION_BUCKETS_MAX 200

/*
 * The differences between versions: the size of a bucket, and the offsets of its slot
 * size and of the number of pages of its spans (8 bits).
 */
struct partition_layout {
	uint8_t bucket_bytes, slot_size, page_count;
	/* mask for reading slot_size, a field of 32 or 64 bits */
	uint64_t slot_size_mask;
};

/* The root of a partition. */
struct partition_root {
	uint64_t addr;
	const struct partition_layout *layout;
	uint64_t bucket_addr; /* address of the first bucket */
	unsigned int bucket_count;
	/*
	 * address range of the pool; the lists of free slots contain offsets in the pool;
	 * pool_bytes is a power of two
	 */
	uint64_t pool_addr, pool_bytes;
	/* address of a super page's metadata minus the address of the super page */
	uint64_t metadata_offset;
	/* The figures that PartitionAlloc itself maintains in the root. */
	uint64_t super_bytes, direct_bytes, allocated_bytes;
	uint64_t first_extent, first_direct_map;
	bool has_cache; /* true if threads have caches for the slots of this partition */
	/* Sums over the spans, which should equal the root's own figures. */
	uint64_t found_super_bytes, found_direct_bytes, found_allocated_bytes;
	/* number of spans, lists and figures that failed a check */
	uint64_t broken_count;
};

/* A slot span, or a direct map with its only slot. */
struct partition_span {
	uint64_t start_addr, end_addr; /* address range of the span, in whole pages */
	uint64_t slot_bytes;
	uint32_t slot_count;
	uint32_t used_count; /* number of slots that have ever been allocated */
	uint32_t live_count; /* number of allocated slots, including cached ones */
	uint32_t root;	     /* index of the root */
	uint64_t first_free; /* address of the first free slot in the list, or 0 */
	uint64_t first_bit;  /* the first slot's bit in the bit tables of struct blocks */
};

/* Memory that consists of super pages, or of a direct map. */
struct partition_area {
	uint64_t start_addr, end_addr;
	uint64_t metadata_addr;
};

struct partition {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct partition_root roots[PARTITION_ROOTS_MAX];
	size_t root_count;
	struct partition_area *areas;
	size_t area_count, area_capacity;
	/* spans, in ascending address order once all are read */
	struct partition_span *spans;
	size_t span_count, span_capacity;
	uint64_t bit_count;
	size_t cache_count;
	/* true if static data, which contains the roots, is swapped out */
	bool may_lack_root;
};

/*
 * Find the roots in the data of the program and its libraries. Return NULL on success, or
 * a string that describes the problem. (find.c)
 */
const char *partition_find(struct partition *p);

/* Return the slot size of the bucket at addr, or 0 if it cannot be read. (find.c) */
uint64_t partition_read_slot_bytes(struct partition *p, const struct partition_root *root,
				   uint64_t addr);

/* Return the slot size of the bucket with this index, or 0. (find.c) */
uint64_t partition_slot_bytes(struct partition *p, const struct partition_root *root,
			      unsigned int bucket);

/* Read the super pages and direct maps of all roots. (spans.c) */
void partition_read_spans(struct partition *p);

/*
 * Mark as free the slots that are in the list of a span or were never allocated. Requires
 * initialised blocks. (lists.c)
 */
void partition_read_lists(struct partition *p);

/*
 * Find the caches of the threads, and mark the cached slots. Call partition_read_lists()
 * first. (caches.c)
 */
void partition_read_caches(struct partition *p);

/*
 * Return the address of the slot that follows slot_addr in a list of free slots, or 0 at
 * the end of the list. A list also ends at a slot whose page is not resident. Set
 * *ret_is_sound to false if the link is corrupt. (lists.c)
 */
uint64_t partition_next_free(struct partition *p, const struct partition_root *root,
			     uint64_t slot_addr, bool *ret_is_sound);

/* Sum the slots by partition, size, page and mapping. (account.c) */
void partition_account(struct partition *p);

/* Like walk_heap(), but walk only the partitions of PartitionAlloc. */
void walk_partition(const struct walk_input *input, struct heap *ret,
		    struct blocks *ret_blocks);

#endif
