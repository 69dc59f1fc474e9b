/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for the Zend memory manager, from
 * which PHP allocates its values. Internal to walk/.
 *
 * Sources: Zend/zend_alloc.c and zend_alloc_sizes.h of PHP 7.0 to 8.4; x86-64.
 *
 * A chunk is 2 MiB of memory, aligned to 2 MiB, and has 512 pages. The first page
 * contains the chunk's description: a bitmap of the pages in use, and a map with an
 * element for each page. A run of pages contains blocks of one size class (a bin) or a
 * single block. Each block that does not fit into a chunk (a huge block) has its own
 * mapping. The chunks of a heap form a ring. The struct of the heap is in its main chunk.
 */
#ifndef MS_WALK_ZEND_WALK_H
#define MS_WALK_ZEND_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define ZEND_CHUNK_BYTES (UINT64_C(2) << 20)
#define ZEND_PAGE_BYTES UINT64_C(4096)
#define ZEND_PAGES 512 /* pages in a chunk */
#define ZEND_BINS 30
#define ZEND_LARGE ZEND_BINS /* bin number of a run with a single block */

/* Offsets in a chunk. */
#define ZEND_CHUNK_NEXT 8
#define ZEND_CHUNK_PREV 16
#define ZEND_CHUNK_FREE_PAGES 24
#define ZEND_CHUNK_HEAP_SLOT 64 /* the heap's struct, which only a main chunk contains */

/*
 * Index of real_size among the words of the struct of the heap up to PHP 8.3. The array
 * free_slot[] precedes real_size. In PHP 8.4, the word shadow_key precedes the array, so
 * the index is greater by 1.
 */
#define ZEND_REAL_SIZE UINT64_C(34)

/* value of map[0]: the first page is a run of one page */
#define ZEND_MAP_FIRST UINT32_C(0x40000001)
#define ZEND_BITMAP_BYTES (ZEND_PAGES / 8)

/* The members that determine whether PHP keeps an empty chunk for later use. */
struct zend_counters {
	int32_t chunk_count;
	int32_t kept_count; /* number of chunks in the list of unused chunks */
	double average_count;
	int32_t boundary, deletion_count;
};

/*
 * The heap of one PHP interpreter. A PHP that was built with support for threads (ZTS)
 * has one heap per thread.
 */
struct zend_heap {
	uint64_t addr;		 /* address of the main chunk */
	uint64_t bitmap_offset;	 /* offset of free_map in each chunk; map[] follows */
	uint64_t slots_addr;	 /* free_slot[]: the first free block of each bin */
	uint64_t size_bytes;	 /* memory_get_usage() */
	uint64_t huge_list_addr; /* first element of the list of huge blocks */
	uint64_t cached_addr;	 /* first chunk of the list of unused chunks */
	/* sums found by the walker; found_bytes corresponds to memory_get_usage(true) */
	uint64_t live_bytes, found_bytes;
	struct zend_counters counters;
	bool is_broken;
	/*
	 * true if the heap may have more chunks or huge blocks, because the ring or a
	 * list continues in swapped-out memory
	 */
	bool lacks_chunks;
	/* bit n is set if the free list of bin n continues in swapped-out memory */
	uint32_t cut_bins;
};

/* A run of pages in use, or a huge block. */
struct zend_run {
	uint64_t addr;
	uint64_t page_count;
	uint64_t first_bit;
	uint64_t free_count; /* number of free blocks; only for a run of a bin */
	uint32_t heap;	     /* index of the heap */
	uint8_t bin;	     /* bin number, or ZEND_LARGE */
	bool is_huge;
};

struct zend_chunk {
	uint64_t addr;
	uint32_t heap;
	bool is_cached; /* true if the chunk is in the list of unused chunks */
};

struct zend {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct zend_heap *heaps;
	size_t heap_count, heap_capacity;
	bool lacks_chunks;	 /* true if chunks of any heap are missing */
	bool has_unknown_layout; /* true if a main chunk was found, but not its heap */
	struct zend_chunk *chunks;
	size_t chunk_count, chunk_capacity;
	struct zend_run *runs; /* runs in ascending address order */
	size_t run_count, run_capacity;
	uint64_t bit_count;
};

/* Return the size of the blocks of a bin, or the number of pages in a run of the bin. */
uint64_t zend_bin_bytes(unsigned int bin);
uint64_t zend_bin_pages(unsigned int bin);

/* Return the number of blocks in a run. */
uint64_t zend_block_count(const struct zend_run *run);

/*
 * Return true if the blocks of the run are counted. If the free list of a bin is partly
 * swapped out, the remaining free blocks of the bin count as live. If chunks are missing
 * as well, the sum of the live bytes would be neither an upper nor a lower bound, so the
 * runs of the bin are not counted.
 */
static inline bool zend_is_counted(const struct zend *z, const struct zend_run *run)
{
	return !z->lacks_chunks || run->bin == ZEND_LARGE ||
	       !(z->heaps[run->heap].cut_bins >> run->bin & 1);
}

/*
 * Find all heaps. Return NULL on success, or a string that describes the problem.
 * (find.c)
 */
const char *zend_find(struct zend *z);

/*
 * List and check the chunks and runs of all heaps. Return NULL on success, or a string
 * that describes the problem if no heap passes. (runs.c)
 */
const char *zend_read_runs(struct zend *z);

/* Mark the free blocks of all bins as not live. (free.c) */
void zend_read_free(struct zend *z);

/*
 * Return the resident bytes that gc_mem_caches() would return to the kernel: the bytes of
 * all chunks without allocated blocks, except the main chunk. Return BYTES_UNKNOWN if PHP
 * would keep some of these chunks. (trim.c)
 */
uint64_t zend_trimmable(struct zend *z);

/*
 * Sum the runs by bin, page and mapping, and append their extents to z->blocks.
 * (account.c)
 */
void zend_account(struct zend *z);

/* Like walk_heap(), but walk only the heap of PHP 7.0 to 8.4. */
void walk_zend(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks);

#endif
