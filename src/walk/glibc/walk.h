/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the glibc walker. Internal to walk/.
 *
 * Sources: malloc/malloc.c and malloc/arena.c of glibc 2.26 to 2.42 and of the
 * development tree after 2.42; x86-64. The walker determines the layout of the process's
 * libc from the memory: see struct layout.
 */
#ifndef MS_WALK_GLIBC_WALK_H
#define MS_WALK_GLIBC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define CHUNK_ALIGN BLOCK_ALIGN
#define CHUNK_MIN_BYTES UINT64_C(32)
#define CHUNK_HEAD UINT64_C(16)	  /* size of the fields prev_size and size */
#define CHUNK_STRUCT UINT64_C(48) /* sizeof(struct malloc_chunk) */
#define CHUNK_FLAGS UINT64_C(7)
#define CHUNK_PREV_INUSE UINT64_C(1)
#define CHUNK_MMAPPED UINT64_C(2)

#define BIN_COUNT 127
#define FAST_COUNT 10

/*
 * Size of bins[] in struct malloc_state. The members after bins[] are binmap, next,
 * next_free, attached_threads, system_mem and max_system_mem.
 */
#define ARENA_BINS_BYTES (UINT64_C(2) * BIN_COUNT * 8)
#define ARENA_TAIL_OFFSET (ARENA_BINS_BYTES + 16)
#define ARENA_TAIL_BYTES (UINT64_C(5) * 8)

#define GLIBC_ARENAS_MAX 65536

/*
 * The layout of struct malloc_state. The offset of bins[] depends on the version. The
 * fields after bins[] are the same in all versions.
 */
struct layout {
	uint64_t bins_offset;
	/* Offset of the fastbins; 0 if the version has none. */
	uint64_t fast_offset;
};

/* The fields of struct malloc_par that the walker uses. */
struct malloc_par {
	uint64_t thp_page_bytes;
	uint64_t huge_page_bytes;
	uint64_t sbrk_base_addr;
	uint64_t mapped_bytes;
	uint32_t mapped_count;
	uint64_t
		cache_slots; /* maximum number of chunks of each size in a thread cache */
};

enum region_kind {
	REGION_MAIN,
	REGION_HEAP,
	REGION_MAPPED
};

/*
 * A range of the allocator's memory, [start_addr, end_addr). Its first chunk is at
 * first_addr.
 */
struct region {
	uint64_t start_addr, end_addr;
	uint64_t first_addr;
	enum region_kind kind;
	/* Index of the arena; 0 if the region is a chunk with its own mapping. */
	size_t arena;
};

struct glibc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;

	struct layout layout;
	struct malloc_par par;
	uint64_t main_arena_addr;

	/*
	 * Regions do not overlap. The first sorted_count regions are in ascending address
	 * order.
	 */
	struct region *regions;
	size_t region_count, region_capacity, sorted_count;

	/*
	 * Blocks with bit tables that have one bit per 16 bytes of the image. A bit in
	 * not_live is set if the next chunk or a free list marks the chunk as free.
	 */
	struct blocks *blocks;
	/*
	 * For each arena, the count and total size of the chunks that are marked as free
	 * by the chunk that follows them.
	 */
	struct chunk_sum *unused;
	/* true if the pointer to a thread's cache may be swapped out */
	bool has_swapped_cache;
	uint64_t budget; /* number of steps that the searches may still take in total */
};

/*
 * Return true if the target ran during the copy. The walker then accepts inconsistencies
 * that it would reject in a copy of a stopped target.
 */
static inline bool glibc_is_running(const struct glibc *g)
{
	return g->input->is_running;
}

/*
 * Deduct steps from the budget. Return false once the budget is exhausted, or if the
 * result of the walk is useless.
 */
static inline bool glibc_spend(struct glibc *g, uint64_t steps)
{
	g->budget = g->budget > steps && !image_is_cut(g->image) ? g->budget - steps : 0;
	return g->budget > 0;
}

/*
 * Return the value of `top` in an unused arena, which is an address in the arena itself.
 */
static inline uint64_t glibc_initial_top(const struct glibc *g, uint64_t arena_addr)
{
	return arena_addr + g->layout.bins_offset - CHUNK_HEAD;
}

/* Mark an arena as untrusted, and record the first problem found in it. */
void glibc_reject_arena(struct glibc *g, size_t arena, const char *problem);

/*
 * Return true if the mapping is private, anonymous, readable and writable, as all heaps
 * are.
 */
bool glibc_is_heap_memory(const struct mapping *m);

/*
 * Read the size field of a chunk, including its flags. Return false if its page is not
 * resident.
 */
static inline bool glibc_read_head(const struct glibc *g, uint64_t chunk_addr,
				   uint64_t *ret)
{
	return image_read(g->image, chunk_addr + 8, ret);
}

/*
 * Return the bit for an address in the bit tables of struct blocks. The address must be
 * in the image.
 */
static inline uint64_t glibc_bit(const struct glibc *g, uint64_t addr)
{
	const struct image_run *run = image_run_at(g->image, addr);

	return (run->offset_bytes + (addr - run->start_addr)) / CHUNK_ALIGN;
}

/*
 * Find main_arena with its layout, and mp_. Return NULL on success, or a static string
 * that describes the problem. Defined in find.c.
 */
const char *glibc_find_main_arena(struct glibc *g);
const char *glibc_find_par(struct glibc *g);

const char *glibc_find_arenas(struct glibc *g);
void glibc_find_regions(struct glibc *g);
struct region *glibc_add_region(struct glibc *g, enum region_kind kind, size_t arena);
void glibc_sort_regions(struct glibc *g);

/* Return the region that contains addr, or NULL. Only sorted regions are searched. */
const struct region *glibc_region_at(const struct glibc *g, uint64_t addr);

/* Return the end of the adjacent heap mappings that begin with the mapping at addr. */
uint64_t glibc_contiguous_end(const struct glibc *g, uint64_t addr);

/* Call fn for each range of heap memory that no sorted region contains. */
void glibc_for_each_gap(struct glibc *g,
			void (*fn)(void *context, uint64_t start_addr, uint64_t end_addr),
			void *context);

/* Find the memory of the main arena. Defined in segments.c. */
void glibc_find_segments(struct glibc *g);

/* Find the chunks that have their own mappings. Defined in mapped.c. */
void glibc_find_mapped(struct glibc *g);

/* Walk the adjacent chunks of all regions. Defined in chunks.c. */
void glibc_walk_chunks(struct glibc *g);

/*
 * Read the size of the chunk at addr. *ret_is_unused is set to true if the next chunk
 * marks this chunk as free. Return false if no chunk starts at addr, or if the next
 * chunk's page is not resident.
 */
bool glibc_read_chunk(struct glibc *g, uint64_t addr, uint64_t *ret_size,
		      bool *ret_is_unused);

/* Read the free lists of all arenas. Defined in lists.c. */
void glibc_read_lists(struct glibc *g);

/*
 * Read the doubly linked bins of one arena. Return false if a bin is
 * broken. Defined in bins.c.
 */
bool glibc_read_bins(struct glibc *g, size_t index);

/*
 * A singly linked free list. It is a fastbin, whose pointers contain addresses of chunks,
 * or a list of a thread cache, whose pointers contain addresses of user memory.
 */
struct free_list {
	uint64_t first_addr;
	/* value of a pointer to a chunk minus the chunk's address */
	uint64_t bias_bytes;
	uint64_t max_count;
	/* Number and total size of the chunks in the list; set by glibc_check_list(). */
	uint64_t count, bytes;
	/*
	 * Set by glibc_check_list() if the pointers are mangled by XOR with their
	 * addresses, as in glibc 2.32 and later.
	 */
	bool is_protected;
};

/*
 * Check a free list without marking its chunks as free. fits() returns true if chunks of
 * the given size may be in the list. Return false if the list is broken.
 */
bool glibc_check_list(struct glibc *g, struct free_list *list,
		      bool (*fits)(uint64_t chunk_bytes, unsigned int bin),
		      unsigned int bin);

/*
 * Mark the chunks of a checked list as free. Return false if one of the chunks is also
 * in another list.
 */
bool glibc_mark_list(struct glibc *g, const struct free_list *list, bool is_cache);

/* Read the thread caches of all threads. Defined in cache.c. */
void glibc_read_caches(struct glibc *g);

/*
 * Sum the walker's results by arena, class, page and mapping, and append the extents of
 * the trusted arenas to g->blocks. Defined in account.c.
 */
void glibc_account(struct glibc *g);

/*
 * Like walk_heap(), but walk only the heap of glibc 2.26 to 2.43, linked dynamically or
 * statically.
 */
void walk_glibc(const struct walk_input *input, struct heap *ret,
		struct blocks *ret_blocks);

#endif
