/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the glibc walker. Internal to walk/.
 *
 * Sources: malloc/malloc.c and malloc/arena.c of glibc 2.26 to 2.42 and the
 * development tree after it; x86-64. The memory itself shows which layout a libc
 * uses: see struct layout.
 */
#ifndef MS_WALK_GLIBC_WALK_H
#define MS_WALK_GLIBC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define CHUNK_ALIGN BLOCK_ALIGN
#define CHUNK_MIN_BYTES UINT64_C(32)
#define CHUNK_HEAD UINT64_C(16)	  /* prev_size and size */
#define CHUNK_STRUCT UINT64_C(48) /* sizeof(struct malloc_chunk) */
#define CHUNK_FLAGS UINT64_C(7)
#define CHUNK_PREV_INUSE UINT64_C(1)
#define CHUNK_MMAPPED UINT64_C(2)

#define BIN_COUNT 127
#define FAST_COUNT 10

/*
 * After bins[] come binmap, next, next_free, attached_threads,
 * system_mem, max_system_mem.
 */
#define ARENA_BINS_BYTES (UINT64_C(2) * BIN_COUNT * 8)
#define ARENA_TAIL_OFFSET (ARENA_BINS_BYTES + 16)
#define ARENA_TAIL_BYTES (UINT64_C(5) * 8)

#define GLIBC_ARENAS_MAX 65536

/*
 * Layout of struct malloc_state, identified by the offset of bins[]. The fields after
 * bins[] are the same in all versions.
 */
struct layout {
	uint64_t bins_offset;
	uint64_t fast_offset; /* 0: there are no fastbins */
};

/* The fields of struct malloc_par that the walker uses. */
struct malloc_par {
	uint64_t thp_page_bytes;
	uint64_t huge_page_bytes;
	uint64_t sbrk_base_addr;
	uint64_t mapped_bytes;
	uint32_t mapped_count;
	uint64_t cache_slots; /* slots per size in a thread cache, 2.26 and later */
};

enum region_kind {
	REGION_MAIN,
	REGION_HEAP,
	REGION_MAPPED
};

/* Memory of the allocator: [start_addr, end_addr), with chunks from first_addr on. */
struct region {
	uint64_t start_addr, end_addr;
	uint64_t first_addr;
	enum region_kind kind;
	size_t arena; /* 0 for a mapped chunk */
};

struct glibc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;

	struct layout layout;
	struct malloc_par par;
	uint64_t main_arena_addr;

	/* Disjoint; the first sorted_count are in address order. */
	struct region *regions;
	size_t region_count, region_capacity, sorted_count;

	/*
	 * One bit per 16 bytes of the image. not_live: free according to
	 * a neighbour or a list.
	 */
	struct blocks *blocks;
	/* per arena: chunks that are free according to their neighbour */
	struct chunk_sum *unused;
	uint64_t budget; /* steps left for searches that may be long */
};

/*
 * Return true if the target ran during the copy. Inconsistencies that would make a
 * stopped target untrusted are then expected.
 */
static inline bool glibc_is_running(const struct glibc *g)
{
	return g->input->is_running;
}

/* Deduct steps from the budget. Returns false once the budget is used up. */
static inline bool glibc_spend(struct glibc *g, uint64_t steps)
{
	g->budget = g->budget > steps ? g->budget - steps : 0;
	return g->budget > 0;
}

/* Return the initial value of an arena's top, which points into the arena itself. */
static inline uint64_t glibc_initial_top(const struct glibc *g, uint64_t arena_addr)
{
	return arena_addr + g->layout.bins_offset - CHUNK_HEAD;
}

/* Record a problem of an arena, unless it already has one. */
void glibc_distrust(struct glibc *g, size_t arena, const char *problem);

/*
 * Return true for private, anonymous, readable and writable mappings,
 * which heaps consist of.
 */
bool glibc_is_heap_memory(const struct mapping *m);

/*
 * Read the head of a chunk, its size with flags. Returns false if
 * its page is not resident.
 */
static inline bool glibc_read_head(const struct glibc *g, uint64_t chunk_addr,
				   uint64_t *ret)
{
	return image_read(g->image, chunk_addr + 8, ret);
}

/* Return the bit of an address in the tables above. The address must be in the image. */
static inline uint64_t glibc_bit(const struct glibc *g, uint64_t addr)
{
	const struct image_run *run = image_run_at(g->image, addr);

	return (run->offset_bytes + (addr - run->start_addr)) / CHUNK_ALIGN;
}

/*
 * find.c: find main_arena with its layout, and mp_. Return NULL,
 * or the problem (static).
 */
const char *glibc_find_main_arena(struct glibc *g);
const char *glibc_find_par(struct glibc *g);

/* regions.c */
const char *glibc_find_arenas(struct glibc *g);
void glibc_find_regions(struct glibc *g);
struct region *glibc_add_region(struct glibc *g, enum region_kind kind, size_t arena);
void glibc_sort_regions(struct glibc *g);

/* Return the sorted region that contains addr, or NULL. */
const struct region *glibc_region_at(const struct glibc *g, uint64_t addr);

/* Return the end of the contiguous heap mappings that contain addr. */
uint64_t glibc_contiguous_end(const struct glibc *g, uint64_t addr);

/* Call fn for each range of heap memory outside all sorted regions. */
void glibc_for_each_gap(struct glibc *g,
			void (*fn)(void *context, uint64_t start_addr, uint64_t end_addr),
			void *context);

/* segments.c: find the memory of the main arena. */
void glibc_find_segments(struct glibc *g);

/* mapped.c: find chunks with their own mappings. */
void glibc_find_mapped(struct glibc *g);

/* chunks.c: follow the chains of chunks. */
void glibc_walk_chunks(struct glibc *g);

/*
 * Read the chunk at addr. Returns false if no chunk starts there or its
 * neighbour's page is not resident.
 */
bool glibc_read_chunk(struct glibc *g, uint64_t addr, uint64_t *ret_size,
		      bool *ret_is_unused);

/* lists.c: read the lists of free chunks of all arenas. */
void glibc_read_lists(struct glibc *g);

/*
 * bins.c: read the doubly linked lists of one arena. Returns
 * false if one is broken.
 */
bool glibc_read_bins(struct glibc *g, size_t index);

/* A singly linked list. Fastbins point to chunks; thread caches point to user memory. */
struct free_list {
	uint64_t first_addr;
	uint64_t bias_bytes; /* offset from a chunk to the address that pointers hold */
	uint64_t max_count;
	uint64_t count, bytes; /* set by glibc_check_list() */
	/* Likewise: pointers are XORed with their own address (2.32). */
	bool is_protected;
};

/*
 * Validate a list without marking its chunks. fits() returns whether a chunk size may
 * occur in the bin. Returns false if the list is broken.
 */
bool glibc_check_list(struct glibc *g, struct free_list *list,
		      bool (*fits)(uint64_t chunk_bytes, unsigned int bin),
		      unsigned int bin);

/*
 * Mark the chunks of a validated list. Returns false if one of them
 * is also in another list.
 */
bool glibc_mark_list(struct glibc *g, const struct free_list *list, bool is_cache);

/* cache.c: read the thread caches. */
void glibc_read_caches(struct glibc *g);

/*
 * account.c: sum per arena, class, page and mapping, and add the
 * extents of trusted arenas.
 */
void glibc_account(struct glibc *g);

/*
 * Like walk_heap(), for glibc's malloc only: 2.26 to 2.43,
 * dynamically or statically linked.
 */
void walk_glibc(const struct walk_input *input, struct heap *ret,
		struct blocks *ret_blocks);

#endif
