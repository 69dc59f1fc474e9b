/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for tcmalloc of gperftools.
 * Internal to walk/.
 *
 * Sources: src/span.h, page_heap.h, pagemap.h, central_freelist.h, thread_cache.h and
 * common.h of gperftools 2.6 to 2.18; x86-64, 48-bit addresses. Google's newer tcmalloc
 * has other structures.
 *
 * tcmalloc divides its memory into spans of whole pages, whose size is set when it is
 * built. A span is free, a single large block, or divided into blocks of one size class.
 * The page map, a tree with two levels, leads from a page number to the span. Free blocks
 * of a class are on lists: one for each span, one for each thread, and a few batches of
 * blocks in the transfer cache of the class. The page heap begins with the root of the
 * page map and contains a row of list heads, two for each length of a free span.
 */
#ifndef MS_WALK_TCMALLOC_WALK_H
#define MS_WALK_TCMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/data_area.h"
#include "walk/blocks/input.h"

/* kClassSizesMax from version 2.8 on; class 0 is not used */
#define TCMALLOC_CLASS_MAX 128

/* struct Span */
#define TCMALLOC_SPAN_BYTES 48

/* CentralFreeListPadded: the distance between the central lists of two classes */
#define TCMALLOC_CENTRAL_BYTES 1216

/* Where a span is: the field `location` of struct Span. */
enum tcmalloc_location {
	TCMALLOC_IN_USE,
	TCMALLOC_FREE,	  /* on a list of free spans */
	TCMALLOC_RETURNED /* free, and its pages were returned to the kernel */
};

struct tcmalloc_class {
	uint64_t bytes;	       /* size of a block */
	uint64_t span_pages;   /* number of pages of a span */
	uint64_t batch_count;  /* number of blocks in a batch of the transfer cache */
	uint64_t listed_count; /* number of blocks that were found on the spans' lists */
};

struct tcmalloc_span {
	uint64_t struct_addr; /* address of its struct Span */
	uint64_t start_addr, end_addr;
	uint64_t block_bytes; /* a large block has the size of its span */
	uint64_t block_count; /* 0 if the span is free */
	uint64_t first_bit;   /* bit of the first block in struct blocks */
	uint64_t first_free;  /* address of the first block on the span's list, or 0 */
	uint16_t taken_count; /* number of blocks that are not on the span's list */
	uint8_t class;	      /* size class; 0 if the span is free or a large block */
	uint8_t location;     /* enum tcmalloc_location */
};

/* The figures of the page heap about itself, in bytes. */
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
		row_end_addr;	 /* list heads of the page heap; row_addr 0: none */
	unsigned int page_shift; /* log2 of the page size */
	unsigned int leaf_bits;	 /* page number bits that select a word of a leaf */
	uint64_t root_addr, root_words;
	struct tcmalloc_stats stats;
	struct tcmalloc_class classes[TCMALLOC_CLASS_MAX];
	unsigned int class_count; /* with class 0 */
	unsigned int class_max;	  /* number of elements of tcmalloc's tables of classes */
	uint64_t central_addr;	  /* central lists: one for each class */

	/* the list of the threads' caches: the first one, and the offset of the links */
	struct {
		uint64_t first;
		unsigned int link;
		size_t cache_count;
		bool is_sure; /* tcmalloc counts as many caches */
	} list;
	uint64_t *caches; /* addresses of the threads' caches */
	size_t cache_count, cache_capacity;
	uint64_t *leaves; /* addresses of the page map's leaves */
	size_t leaf_count, leaf_capacity;
	struct tcmalloc_span *spans; /* in ascending order of addresses; disjoint */
	size_t span_count, span_capacity;
	uint64_t bit_count;
	/* for each page of the image: not 0 if it contains tcmalloc's own data */
	uint8_t *own_pages;
	uint64_t own_page_count;
	uint64_t budget; /* words that may still be read, see tcmalloc_spend() */

	/* numbers of spans and lists that failed a check */
	uint64_t broken_spans, broken_lists;
};

typedef bool (*tcmalloc_test)(struct tcmalloc *t, uint64_t addr, const uint8_t *at);

/*
 * Call the test for each address in the area that is a multiple of `step` and is followed
 * by `length` bytes of the copy, which begin at `at`, until a test returns true. Returns
 * false if none does. Defined in find.c.
 */
bool tcmalloc_scan(struct tcmalloc *t, unsigned int step, uint64_t length,
		   tcmalloc_test test);

/*
 * Allow `words` more words to be read. Returns false if the budget is exhausted, as it
 * may be if corrupt structures refer to the same memory many times.
 */
static inline bool tcmalloc_spend(struct tcmalloc *t, uint64_t words)
{
	if (t->budget < words)
		return false;
	t->budget -= words;
	return true;
}

/* Return the span that contains addr, or NULL. */
const struct tcmalloc_span *tcmalloc_find_span(const struct tcmalloc *t, uint64_t addr);

/*
 * Find the page heap, the size classes, the central lists and the threads' caches.
 * Returns NULL, or a static description of the problem. If the page heap and the size
 * classes were found, row_addr is not 0. Defined in find.c.
 */
const char *tcmalloc_find(struct tcmalloc *t);

/*
 * Find the threads' caches. Returns NULL, or a static description of the problem. Defined
 * in caches.c.
 */
const char *tcmalloc_find_caches(struct tcmalloc *t);

/*
 * Read the spans from the page map. Returns NULL, or a static description of the problem.
 * Defined in spans.c.
 */
const char *tcmalloc_read_spans(struct tcmalloc *t);

/*
 * Find the pages of tcmalloc's own data outside the spans: the structures that were read,
 * and others of the same kind that are not in use. Defined in own.c.
 */
void tcmalloc_find_own(struct tcmalloc *t);

/* Mark the blocks on the lists as free or cached, and check the lists. In lists.c. */
void tcmalloc_read_lists(struct tcmalloc *t);

/* Sum the blocks by class, page and mapping, and add their extents. In account.c. */
void tcmalloc_account(struct tcmalloc *t);

/* Do what walk_heap() does, for tcmalloc of gperftools only. */
void walk_tcmalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
