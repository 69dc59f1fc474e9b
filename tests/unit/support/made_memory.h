/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_memory - the memory of a made-up process: mappings and the copy of their resident
 * pages, which tests fill and damage.
 */
#ifndef MS_TESTS_MADE_MEMORY_H
#define MS_TESTS_MADE_MEMORY_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

struct made_memory {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	bool is_running;
	const uint8_t *claimed; /* as in struct walk_input; NULL unless a test sets it */
};

typedef void (*made_memory_walker)(const struct walk_input *input, struct heap *ret,
				   struct blocks *ret_blocks);

/* Make room for the resident pages, which are zero. */
void made_memory_init(struct made_memory *m, uint64_t resident_bytes);
void made_memory_release(struct made_memory *m);

/*
 * Append a private mapping that is readable and writable. It is anonymous if name is
 * empty. Add its resident pages with made_memory_add_pages(), in ascending order.
 */
void made_memory_add_mapping(struct made_memory *m, uint64_t addr, uint64_t bytes,
			     const char *name);
void made_memory_add_pages(struct made_memory *m, uint64_t addr, uint64_t bytes);

/*
 * Make a memory with the mappings and the resident pages of several images, which must
 * not overlap. lists[i] has the mappings of images[i].
 */
void made_memory_join(struct made_memory *m, const struct image *const images[],
		      const struct mapping_list *const lists[], size_t count);

/* Remove the pages of [start_addr, end_addr) from an image: they are swapped out. */
void made_memory_drop(struct image *image, uint64_t start_addr, uint64_t end_addr);

/*
 * Remove the page at addr from an image. If is_swapped is set, count the page as swapped
 * out in its mapping, as smaps does.
 */
void made_memory_remove_page(struct image *image, struct mapping_list *mappings,
			     uint64_t addr, bool is_swapped);

/* Add one page to the swapped-out memory of the mapping that contains addr. */
void made_memory_count_swapped(struct mapping_list *mappings, uint64_t addr);

/* The addresses must be in the image. */
void *made_memory_at(struct made_memory *m, uint64_t addr, uint64_t length);
void made_memory_write(struct made_memory *m, uint64_t addr, uint64_t value);
void made_memory_write_u32(struct made_memory *m, uint64_t addr, uint32_t value);
uint64_t made_memory_read(struct made_memory *m, uint64_t addr);

/* Walk the heap. The caller releases *ret. */
void made_memory_walk(struct made_memory *m, made_memory_walker walk, struct heap *ret);

#endif
