/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_glibc - what the parts of the glibc walker share. Internal to walk/.
 *
 * Sources: malloc/malloc.c and malloc/arena.c of glibc 2.26 to 2.42 and the development
 * tree after it; x86-64. Which layout a libc has shows in the memory itself: see struct
 * layout.
 */
#ifndef MS_WALK_WALK_GLIBC_H
#define MS_WALK_WALK_GLIBC_H

#include "walk/walk.h"

#define CHUNK_ALIGN BLOCK_ALIGN
#define CHUNK_MIN_BYTES UINT64_C(32)
#define CHUNK_HEAD UINT64_C(16)	  /* prev_size and size */
#define CHUNK_STRUCT UINT64_C(48) /* sizeof(struct malloc_chunk) */
#define CHUNK_FLAGS UINT64_C(7)
#define CHUNK_PREV_INUSE UINT64_C(1)
#define CHUNK_MMAPPED UINT64_C(2)

#define BIN_COUNT 127
#define FAST_COUNT 10
#define CACHE_BINS_MAX 76

/* From bins[] on: binmap, then next, next_free, attached_threads, system_mem, max_system_mem. */
#define ARENA_BINS_BYTES (UINT64_C(2) * BIN_COUNT * 8)
#define ARENA_TAIL_OFFSET (ARENA_BINS_BYTES + 16)
#define ARENA_TAIL_BYTES (UINT64_C(5) * 8)

#define GLIBC_ARENAS_MAX 65536

/* struct malloc_state, by the offset of bins[]; what follows bins is the same in all. */
struct layout {
	uint64_t bins_offset;
	uint64_t fast_offset; /* 0: there are no fastbins */
};

/* struct malloc_par, as far as it is used. */
struct malloc_par {
	uint64_t thp_page_bytes;
	uint64_t huge_page_bytes;
	uint64_t sbrk_base_addr;
	uint64_t mapped_bytes;
	uint32_t mapped_count;
	uint64_t cache_slots; /* of one size in a thread cache, 2.26 and later */
};

enum region_kind {
	REGION_MAIN,
	REGION_HEAP,
	REGION_MAPPED
};

/* Memory that is the allocator's: [start, end), with chunks from first on. */
struct region {
	uint64_t start_addr, end_addr;
	uint64_t first_addr;
	enum region_kind kind;
	size_t arena; /* of a mapped chunk: 0 */
};

struct glibc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;

	struct layout layout;
	struct malloc_par par;
	uint64_t main_arena_addr;

	struct region *regions; /* disjoint; the first sorted_count by address */
	size_t region_count, region_capacity, sorted_count;

	/* a bit per 16 bytes of the image; not_live: free, by its neighbour or by a list */
	struct blocks *blocks;
	/* per arena: chunks that their neighbour says are free */
	struct chunk_sum *unused;
	uint64_t budget; /* steps left for searches that may have to try much */
};

/* What is not believed of a target that stood still happens to one that runs. */
static inline bool glibc_is_running(const struct glibc *g)
{
	return g->input->is_running;
}

/* Take steps from the budget. False, and none left, when they are used up. */
static inline bool glibc_spend(struct glibc *g, uint64_t steps)
{
	g->budget = g->budget > steps ? g->budget - steps : 0;
	return g->budget > 0;
}

/* Where an arena's top points before it has memory: into the arena itself. */
static inline uint64_t glibc_initial_top(const struct glibc *g, uint64_t arena_addr)
{
	return arena_addr + g->layout.bins_offset - CHUNK_HEAD;
}

/* Note what is wrong with an arena, unless something was before. */
void glibc_distrust(struct glibc *g, size_t arena, const char *problem);

/* Private, anonymous, readable and writable: what heaps are made of. */
bool glibc_is_heap_memory(const struct mapping *m);

/* The head of a chunk: its size with flags. False if its page is not there. */
static inline bool glibc_read_head(const struct glibc *g, uint64_t chunk_addr,
				   uint64_t *ret)
{
	return image_read(g->image, chunk_addr + 8, ret);
}

/* Bit of an address in the tables above. The address must be in the image. */
static inline uint64_t glibc_bit(const struct glibc *g, uint64_t addr)
{
	const struct image_run *run = image_run_at(g->image, addr);

	return (run->offset_bytes + (addr - run->start_addr)) / CHUNK_ALIGN;
}

/* walk_glibc_find.c: main_arena, its layout, and mp_. Return NULL, or why not. */
const char *glibc_find_main_arena(struct glibc *g);
const char *glibc_find_par(struct glibc *g);

/* walk_glibc_regions.c */
const char *glibc_find_arenas(struct glibc *g);
void glibc_find_regions(struct glibc *g);
struct region *glibc_add_region(struct glibc *g, enum region_kind kind, size_t arena);
void glibc_sort_regions(struct glibc *g);

/* Among the sorted ones; NULL if there is none. */
const struct region *glibc_region_at(const struct glibc *g, uint64_t addr);

/* Where the mappings of heap memory that hold addr and go on from each other end. */
uint64_t glibc_contiguous_end(const struct glibc *g, uint64_t addr);

/* Call fn for each stretch of heap memory that no sorted region has. */
void glibc_for_each_gap(struct glibc *g,
			void (*fn)(void *context, uint64_t start_addr, uint64_t end_addr),
			void *context);

/* walk_glibc_segments.c: the memory of the main arena. */
void glibc_find_segments(struct glibc *g);

/* walk_glibc_mapped.c: chunks with mappings of their own. */
void glibc_find_mapped(struct glibc *g);

/* walk_glibc_chunks.c: chains of chunks. */
void glibc_walk_chunks(struct glibc *g);

/* False if addr is not the start of a chunk, or its neighbour's page is not there. */
bool glibc_read_chunk(struct glibc *g, uint64_t addr, uint64_t *ret_size,
		      bool *ret_is_unused);

/* walk_glibc_lists.c: the lists of free chunks that an arena keeps. */
void glibc_read_lists(struct glibc *g);

/* walk_glibc_bins.c: those of one arena that are linked both ways. False if one is broken. */
bool glibc_read_bins(struct glibc *g, size_t index);

/*
 * A list linked by single pointers: of fastbins, which point to chunks, or of thread
 * caches, which point to what the user had.
 */
struct free_list {
	uint64_t first_addr;
	uint64_t bias_bytes; /* from a chunk to where pointers point */
	uint64_t max_count;
	uint64_t count, bytes; /* set by glibc_check_list() */
	bool is_protected;     /* likewise: pointers are xor'ed with their place (2.32) */
};

/* fits(): may a chunk of this size be in it? Marks nothing. False if the list is broken. */
bool glibc_check_list(struct glibc *g, struct free_list *list,
		      bool (*fits)(uint64_t chunk_bytes, unsigned int bin),
		      unsigned int bin);

/* Mark the chunks of a list that was checked. False if one of them is in another list. */
bool glibc_mark_list(struct glibc *g, const struct free_list *list, bool is_cache);

/* walk_glibc_cache.c: the threads' caches. */
void glibc_read_caches(struct glibc *g);

/* walk_glibc_account.c: sums per arena, class, page and mapping; extents of what is trusted. */
void glibc_account(struct glibc *g);

#endif
