/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - what an allocator holds, as read from a process's memory. Plain data.
 *
 * Amounts are whole chunks, their headers included, resident or not, unless a name says
 * resident. For an arena that is trusted:
 *     system_bytes >= live + cached + fast + bin + top,  the rest being the allocator's own data
 * and for every mapping:
 *     resident = sum of the heap owners' shares + what is not the heap's
 */
#ifndef MS_MODEL_HEAP_H
#define MS_MODEL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/matrix.h"
#include "model/usage.h"

struct chunk_sum {
	uint64_t count;
	uint64_t bytes;
};

static inline void chunk_sum_add(struct chunk_sum *sum, uint64_t bytes)
{
	sum->count++;
	sum->bytes += bytes;
}

/* Stretches of pages, by what jemalloc does with them. */
enum heap_stretch {
	HEAP_ACTIVE,   /* blocks are cut from it */
	HEAP_DIRTY,    /* free; its pages are as they were left */
	HEAP_MUZZY,    /* free; the kernel may take its pages: MADV_FREE */
	HEAP_RETAINED, /* free, without pages */
	HEAP_STRETCH_COUNT_
};

extern const char *const heap_stretch_names[HEAP_STRETCH_COUNT_];

struct stretch_sum {
	uint64_t count;
	uint64_t bytes;
	uint64_t resident_bytes;
};

/* What only one allocator has is 0 for the others, and is not shown. */
struct heap_arena {
	uint64_t addr;   /* glibc's */
	uint32_t number; /* jemalloc's own number for it */
	uint64_t top_addr;
	uint64_t top_bytes;    /* the last chunk, from which new ones are cut */
	uint64_t system_bytes; /* what it has from the kernel */
	uint64_t attached_threads;
	uint32_t heap_count; /* separate stretches of memory */
	struct chunk_sum live;
	struct chunk_sum cached; /* freed, in a thread's cache */
	struct chunk_sum fast;	 /* freed, in a fastbin */
	struct chunk_sum bin;	 /* freed, in the other bins; jemalloc: in slabs */
	struct chunk_sum own;	 /* blocks that jemalloc took from itself */
	struct stretch_sum stretches[HEAP_STRETCH_COUNT_];
	/* resident; BYTES_UNKNOWN if the arena is not trusted */
	uint64_t trimmable_bytes;
	/* NULL: it passed every check. Else why its memory is unknown */
	const char *problem;
};

/* mallinfo2(3), field by field. */
struct heap_mallinfo {
	uint64_t arena, ordblks, smblks, hblks, hblkhd;
	uint64_t usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* Chunks of [lower_bytes, upper_bytes], by what became of them. */
struct heap_class {
	uint64_t lower_bytes, upper_bytes;
	struct chunk_sum live;
	struct chunk_sum cached;
	struct chunk_sum free; /* fastbins, bins and top; jemalloc: in slabs */
	struct chunk_sum own;  /* jemalloc's own data */
};

#define HEAP_CLASS_MAX 235

/* What of one mapping's resident memory is the heap's. */
struct heap_share {
	size_t mapping; /* its index in the list the walk was given */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct heap {
	enum allocator allocator;
	/* exact; bound: some arenas are unknown; unknown: nothing is here */
	enum quality quality;
	const char *problem; /* why it is not exact; NULL if it is */
	/*
	 * not walked: owner_bytes are made of what the allocator said, and there is
	 * nothing else
	 */
	bool is_said;
	uint64_t pause_ns;   /* how long the target stood still, all tries together */
	uint64_t expected_ns; /* how long it was expected to */
	uint64_t copied_bytes;
	/*
	 * where there is no room for a copy: for what, how much there is, and whose limit
	 * that is
	 */
	uint64_t needed_bytes, room_bytes;
	const char *room_limit;

	struct heap_arena *arenas; /* the main one first */
	size_t arena_count;
	/* jemalloc: its own; else the first 64 multiples of 16, then powers of two */
	struct heap_class classes[HEAP_CLASS_MAX];
	size_t class_count;
	/* chunks with a mapping of their own, with all that is mapped for it */
	struct chunk_sum mapped;
	size_t cache_count; /* thread caches found */
	struct heap_mallinfo mallinfo;
	uint64_t trimmable_bytes;
	/* resident; BYTES_UNKNOWN: part of live, from which the allocator does not tell it */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * read without a stop: how far the readings were apart, and what could not be
	 * followed
	 */
	unsigned int reading_count; /* 0: it was stopped */
	uint64_t spread_bytes[OWNER_HEAP_LAST + 1];
	uint64_t skipped_bytes;
	struct heap_share *shares;
	size_t share_count, share_capacity;
};

/*
 * What a read of a heap made of a matrix, in sums alone: that and the mappings marked
 * MAPPING_MALLOC are enough to make it again.
 */
struct heap_sums {
	enum allocator allocator;
	enum quality quality; /* not unknown */
	bool is_said, is_running; /* as in struct usage */
	uint64_t pause_ns, trimmable_bytes;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	uint64_t taken_bytes[OWNER_COUNT_]; /* from those that the mappings have; 0 of the heap's */
};

void heap_init(struct heap *heap);
void heap_release(struct heap *heap);

/*
 * Why a heap could not be read; and what to do about it, NULL if there is nothing. No
 * full stop ends them. Static.
 */
const char *heap_error_text(int error);
const char *heap_error_help(int error);

/* Why the heap of *u is unknown, or is not exact; NULL if it is, or nobody tried. Static. */
const char *heap_problem_text(const struct usage *u);

/*
 * What all arenas that are trusted have together: counts and bytes of blocks and
 * stretches, nothing else.
 */
void heap_sum_arenas(const struct heap *heap, struct heap_arena *ret);

/* The class of a chunk of so many bytes; not jemalloc's. */
size_t heap_class_index(uint64_t chunk_bytes);

#endif
