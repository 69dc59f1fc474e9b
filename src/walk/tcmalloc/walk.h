/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for tcmalloc of gperftools.
 * Internal to walk/.
 *
 * Sources: src/span.h, page_heap.h, pagemap.h, central_freelist.h, thread_cache.h and
 * common.h of gperftools 2.6 to 2.18; x86-64, 48-bit addresses. Google's newer tcmalloc
 * has other structures.
 *
 * tcmalloc divides its memory into spans of whole pages, whose size is set at build time.
 * A span is free, a single large block, or divided into blocks of one size class. The
 * page map, a tree with two levels, maps page numbers to spans. Free blocks of a class
 * are in several lists: one for each span, one for each thread, and a few batches of
 * blocks in the transfer cache of the class. The page heap begins with the root of the
 * page map and contains an array of list heads, two for each length of a free span.
 */
#ifndef MS_WALK_TCMALLOC_WALK_H
#define MS_WALK_TCMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/data_area.h"
#include "walk/blocks/input.h"

/*
 * Maximum number of size classes (kClassSizesMax) from version 2.8 on. Class 0 is not
 * used.
 */
#define TCMALLOC_CLASS_MAX 128

/* Size of struct Span. */
#define TCMALLOC_SPAN_BYTES 48

/*
 * Size of CentralFreeListPadded, the distance between the central lists of two classes.
 */
#define TCMALLOC_CENTRAL_BYTES 1216

/* The location of a span, as in the field `location` of struct Span. */
enum tcmalloc_location {
	TCMALLOC_IN_USE,
	TCMALLOC_FREE, /* the span is in a list of free spans */
	/* the span is free, and its pages were returned to the kernel */
	TCMALLOC_RETURNED
};

struct tcmalloc_class {
	uint64_t bytes;	       /* size of a block in bytes */
	uint64_t span_pages;   /* number of pages of a span */
	uint64_t batch_count;  /* number of blocks in a batch of the transfer cache */
	uint64_t listed_count; /* number of blocks found in the lists of the spans */
};

struct tcmalloc_span {
	uint64_t struct_addr; /* address of the struct Span */
	uint64_t start_addr, end_addr;
	/* size of a block; for a large block, the size of the span */
	uint64_t block_bytes;
	uint64_t block_count; /* number of blocks; 0 if the span is free */
	/* the first block's bit in the bit tables of struct blocks */
	uint64_t first_bit;
	/* address of the first block in the span's list; 0 if the list is empty */
	uint64_t first_free;
	uint16_t taken_count; /* number of blocks that are not in the span's list */
	uint8_t class;	      /* size class; 0 if the span is free or a large block */
	uint8_t location;     /* a value of enum tcmalloc_location */
};

/* The page heap's own figures, in bytes. */
struct tcmalloc_stats {
	uint64_t system_bytes, free_bytes, returned_bytes;
};

struct tcmalloc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct data_area area; /* data of the library or program that contains tcmalloc */
	uint64_t row_addr,
		/*
		 * address range of the page heap's array of list heads; row_addr is 0 if
		 * it was not found
		 */
		row_end_addr;
	unsigned int page_shift; /* base-2 logarithm of the page size */
	/* number of bits of a page number that select a word of a leaf */
	unsigned int leaf_bits;
	uint64_t root_addr, root_words;
	struct tcmalloc_stats stats;
	struct tcmalloc_class classes[TCMALLOC_CLASS_MAX];
	unsigned int class_count; /* number of size classes, including class 0 */
	/* number of elements in each of tcmalloc's size class tables */
	unsigned int class_max;
	uint64_t central_addr; /* address of the central lists, one for each class */

	/*
	 * the list of the threads' caches: address of the first cache, and offset of the
	 * links
	 */
	struct {
		uint64_t first;
		unsigned int link;
		size_t cache_count;
		/* true if the length of the list equals tcmalloc's own count */
		bool is_sure;
		bool is_cut;   /* true if the list continues in swapped-out memory */
		uint64_t addr; /* address of the pointer to the first cache */
	} list;
	uint64_t *caches; /* addresses of the threads' caches */
	size_t cache_count, cache_capacity;
	uint64_t *leaves; /* addresses of the leaves of the page map */
	size_t leaf_count, leaf_capacity;
	struct tcmalloc_span *spans; /* spans, disjoint and in ascending address order */
	size_t span_count, span_capacity;
	uint64_t bit_count;
	/*
	 * one byte for each page of the image, nonzero if the page contains tcmalloc's
	 * own data
	 */
	uint8_t *own_pages;
	uint64_t own_page_count;
	/* number of words that may still be read, see tcmalloc_spend() */
	uint64_t budget;

	/* counts of the spans and lists that failed a check */
	uint64_t broken_spans, broken_lists;
	/* count of spans, and of lists, that are at least partly swapped out */
	uint64_t absent_spans, absent_lists;
	/* true if the sums over the spans equal the page heap's own figures */
	bool are_stats_equal;
	/*
	 * true if spans are missing because the spans, or parts of the page map, are
	 * swapped out
	 */
	bool lacks_spans;
	/*
	 * true if the last word read from the page map may be out of date, because its
	 * page may be in the middle of a swapped-out span
	 */
	bool is_after_absent;
};

typedef bool (*tcmalloc_test)(struct tcmalloc *t, uint64_t addr, const uint8_t *at);

/*
 * Call `test` for each address in the area that is a multiple of `step` and at which at
 * least `length` bytes are in the image, until a call returns true. The argument `at` of
 * `test` points to the copy of these bytes. Return false if all calls return false.
 * Defined in find.c.
 */
bool tcmalloc_scan(struct tcmalloc *t, unsigned int step, uint64_t length,
		   tcmalloc_test test);

/*
 * Deduct `words` from the number of words that may be read. Return false if the budget
 * is exhausted, which can happen if corrupt structures refer to the same memory many
 * times.
 */
static inline bool tcmalloc_spend(struct tcmalloc *t, uint64_t words)
{
	if (t->budget < words)
		return false;
	t->budget -= words;
	return true;
}

/*
 * Return true if the span that contains addr, or its part of the page map, is swapped
 * out. Defined in spans.c.
 */
bool tcmalloc_is_span_absent(const struct tcmalloc *t, uint64_t addr);

/* Return the span that contains addr, or NULL. */
const struct tcmalloc_span *tcmalloc_find_span(const struct tcmalloc *t, uint64_t addr);

/*
 * Find the page heap, the size classes, the central lists and the threads' caches. Return
 * NULL on success, or a static string that describes the problem. If the page heap and
 * the size classes were found, row_addr is not 0. Defined in find.c.
 */
const char *tcmalloc_find(struct tcmalloc *t);

/*
 * Find the threads' caches. Return NULL on success, or a static string that describes the
 * problem. Defined in caches.c.
 */
const char *tcmalloc_find_caches(struct tcmalloc *t);

/*
 * Read the spans from the page map. Return NULL on success, or a static string that
 * describes the problem. Defined in spans.c.
 */
const char *tcmalloc_read_spans(struct tcmalloc *t);

/*
 * Find the pages of tcmalloc's own data outside the spans, which contain structures that
 * the walker has read, or unused structures of the same kind. Defined in own.c.
 */
void tcmalloc_find_own(struct tcmalloc *t);

/*
 * Mark the blocks in the lists as free or cached, and check the lists. Defined in
 * lists.c.
 */
void tcmalloc_read_lists(struct tcmalloc *t);

/*
 * Sum the blocks by class, page and mapping, and append their extents to t->blocks.
 * Defined in account.c.
 */
void tcmalloc_account(struct tcmalloc *t);

/* Like walk_heap(), but walk only the heap of gperftools' tcmalloc. */
void walk_tcmalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
