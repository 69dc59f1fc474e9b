/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mimalloc_image - memory of a made-up process that uses mimalloc.
 *
 * The image holds the data of the library, and one segment (version 2) or one arena
 * (version 3). Both contain a page with blocks of 64 bytes, which has free blocks on each
 * kind of list, a page with one large block, and free slices. Version 2 also has a
 * segment that is not in use. The image is consistent when built; tests then damage it.
 */
#ifndef MS_TESTS_MIMALLOC_IMAGE_H
#define MS_TESTS_MIMALLOC_IMAGE_H

#include "walk/mimalloc/walk.h"

/*
 * Offsets that a compiler printed from the headers of each version, and the place of a
 * page's first block.
 */
struct mimalloc_made {
	const char *name;
	unsigned int segment_slices; /* 0: version 3 */
	struct {
		unsigned int used, cookie, slice_count, info_count, entry_count,
			thread_id, slices;
	} segment;
	struct {
		unsigned int bytes, free, local, thread, used, used_bytes, block_bytes,
			block_bytes_bytes, start, keys, heap, memory;
	} page;
	unsigned int delayed;	  /* of the heap; the thread's number follows */
	unsigned int first_block; /* offset of the first block of 64 bytes */
	bool has_offset;	  /* the page has an offset instead of an address */
	struct {
		unsigned int slice_count, info_count, free_map, chunks;
	} arena;
};

#define MIMALLOC_MADE_COUNT 17
extern const struct mimalloc_made mimalloc_made[MIMALLOC_MADE_COUNT];

struct mimalloc_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	const struct mimalloc_made *made;
	bool is_running;

	/* addresses in the image */
	uint64_t anchor_addr;	  /* the cookie or the address of the page map */
	uint64_t heap_addr;	  /* struct mi_heap_s */
	uint64_t segment_addr;	  /* the segment or the arena */
	uint64_t small_page_addr; /* struct mi_page_s */
	uint64_t large_page_addr;
	uint64_t small_addr, large_addr;    /* the first block */
	uint64_t free_addr, local_addr;	    /* the first block on each list */
	uint64_t thread_addr, delayed_addr; /* delayed_addr: version 2 only */
	uint64_t map_word_addr;		    /* version 3: the word for the small page */
	uint64_t unused_addr;		    /* version 2: the segment not in use */
	uint64_t bits_addr;		    /* version 3: the map of free slices */

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, free;
	uint64_t free_slice_bytes; /* resident */
	uint64_t resident_bytes;   /* of the heap, with mimalloc's own data */
};

void mimalloc_image_init(struct mimalloc_image *h, const struct mimalloc_made *made);
void mimalloc_image_release(struct mimalloc_image *h);

void mimalloc_image_write(struct mimalloc_image *h, uint64_t addr, uint64_t value,
			  unsigned int bytes);
uint64_t mimalloc_image_read(struct mimalloc_image *h, uint64_t addr, unsigned int bytes);

/* Walk the image's heap. The caller releases *ret. */
void mimalloc_image_walk(struct mimalloc_image *h, struct heap *ret);

#endif
