/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcmalloc_image - memory of a made-up process that uses gperftools' tcmalloc.
 *
 * The image holds the data of the library, two threads' caches, one leaf of the page map,
 * and spans of each kind: two with small blocks, one large block, a free span, and one
 * that was returned to the kernel. Free blocks are on a span's list, in the transfer
 * cache and in the threads' caches. The image is consistent when built; tests then damage
 * it.
 */
#ifndef MS_TESTS_TCMALLOC_IMAGE_H
#define MS_TESTS_TCMALLOC_IMAGE_H

#include "walk/tcmalloc/walk.h"

/* The differences between versions and builds of gperftools. */
struct tcmalloc_layout {
	const char *name;
	unsigned int class_max;	  /* number of elements of the tables of classes */
	unsigned int link_offset; /* from a cache's lists to its links */
	unsigned int page_shift;
	bool has_large_heads;  /* the row begins with the heads of long spans */
	bool has_word_between; /* a word precedes the number of classes */
};

#define TCMALLOC_LAYOUT_COUNT 5
extern const struct tcmalloc_layout tcmalloc_layouts[TCMALLOC_LAYOUT_COUNT];

struct tcmalloc_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	const struct tcmalloc_layout *layout;
	bool is_running;

	/* addresses in the image */
	uint64_t root_word_addr; /* the word of the page map's root that is not 0 */
	uint64_t leaf_word_addr; /* the leaf's word for the first page of the heap */
	uint64_t row_addr, stats_addr, sizes_addr, central_addr, first_cache_addr;
	uint64_t count_addr;			   /* the number of caches */
	uint64_t small_span_addr, large_span_addr; /* struct Span */
	uint64_t small_addr, large_addr;	   /* first byte of the spans */
	uint64_t listed_addr;			   /* first block on the span's list */
	uint64_t batch_addr;			   /* first block in the transfer cache */
	uint64_t cached_addr; /* first block in the first thread's cache */
	unsigned int small_class;

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, cached, free;
	uint64_t in_use_bytes, free_span_bytes, returned_bytes;
	uint64_t resident_bytes; /* of the heap, with tcmalloc's own data */
};

void tcmalloc_image_init(struct tcmalloc_image *h, const struct tcmalloc_layout *layout);
void tcmalloc_image_release(struct tcmalloc_image *h);

void tcmalloc_image_write(struct tcmalloc_image *h, uint64_t addr, uint64_t value);
uint64_t tcmalloc_image_read(struct tcmalloc_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void tcmalloc_image_walk(struct tcmalloc_image *h, struct heap *ret);

#endif
