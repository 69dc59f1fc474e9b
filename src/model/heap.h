/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - the contents of an allocator's heap, as read from the memory of a process. Plain
 * data.
 *
 * Amounts count whole chunks including their headers, resident or not, unless the name
 * says resident. For each trusted arena:
 *     system_bytes >= live + cached + fast + bin + top
 * (the rest of system_bytes is the allocator's own data), and for each mapping:
 *     resident = sum of the heap owners' shares + memory outside the heap
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

/* Page ranges by their state in jemalloc. */
enum heap_stretch {
	HEAP_ACTIVE,   /* holds allocated blocks or slabs */
	HEAP_DIRTY,    /* free; its pages keep their old contents */
	HEAP_MUZZY,    /* free; the kernel may reclaim its pages (MADV_FREE) */
	HEAP_RETAINED, /* free, without pages */
	HEAP_STRETCH_COUNT_
};

extern const char *const heap_stretch_names[HEAP_STRETCH_COUNT_];

struct stretch_sum {
	uint64_t count;
	uint64_t bytes;
	uint64_t resident_bytes;
};

/* Fields that only one allocator has are 0 for the others, and reports omit them. */
struct heap_arena {
	uint64_t addr;	 /* glibc only */
	uint32_t number; /* jemalloc's arena index */
	uint64_t top_addr;
	uint64_t top_bytes;    /* the last chunk, from which new ones are cut */
	uint64_t system_bytes; /* obtained from the kernel */
	uint64_t attached_threads;
	uint32_t heap_count; /* separate memory ranges */
	struct chunk_sum live;
	struct chunk_sum cached; /* freed, in a thread cache */
	struct chunk_sum fast;	 /* freed, in a fastbin */
	struct chunk_sum bin;	 /* freed, in the other bins; jemalloc: in slabs */
	struct chunk_sum own;	 /* blocks that jemalloc allocated for itself */
	struct stretch_sum stretches[HEAP_STRETCH_COUNT_];
	/* resident; BYTES_UNKNOWN if the arena is not trusted */
	uint64_t trimmable_bytes;
	/* NULL if the arena passed every check, else why its memory is unknown */
	const char *problem;
};

/* The fields of mallinfo2(3). */
struct heap_mallinfo {
	uint64_t arena, ordblks, smblks, hblks, hblkhd;
	uint64_t usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* Chunks of lower_bytes to upper_bytes (inclusive) by their state. */
struct heap_class {
	uint64_t lower_bytes, upper_bytes;
	struct chunk_sum live;
	struct chunk_sum cached;
	struct chunk_sum free; /* fastbins, bins and top; jemalloc: in slabs */
	struct chunk_sum own;  /* jemalloc's own data */
};

#define HEAP_CLASS_MAX 235

/* The part of one mapping's resident memory that belongs to the heap, by owner. */
struct heap_share {
	size_t mapping; /* index in the list passed to the walk */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct heap {
	enum allocator allocator;
	/* exact; bound: some arenas are unknown; unknown: the struct holds no results */
	enum quality quality;
	const char *problem; /* why it is not exact; NULL if it is */
	/*
	 * The heap was not walked: owner_bytes come from the allocator's own figures, and
	 * the other fields are empty.
	 */
	bool is_said;
	uint64_t pause_ns;    /* how long the target was stopped, over all attempts */
	uint64_t expected_ns; /* how long the stop was expected to take */
	uint64_t copied_bytes;
	/*
	 * If there is no room for the copy: the bytes needed, the bytes available,
	 * and whose limit that is.
	 */
	uint64_t needed_bytes, room_bytes;
	const char *room_limit;

	struct heap_arena *arenas; /* the main arena first */
	size_t arena_count;
	/*
	 * jemalloc: its own classes; else the first 64 multiples of 16, then powers of
	 * two
	 */
	struct heap_class classes[HEAP_CLASS_MAX];
	size_t class_count;
	/* chunks with their own mappings; bytes are all that is mapped for them */
	struct chunk_sum mapped;
	size_t cache_count; /* thread caches found */
	struct heap_mallinfo mallinfo;
	uint64_t trimmable_bytes;
	/*
	 * Resident; BYTES_UNKNOWN: counted in live, because the allocator does
	 * not report it separately.
	 */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * Read without a stop: how far the repeated readings differ, and how many bytes
	 * could not be followed.
	 */
	unsigned int reading_count; /* 0: the target was stopped */
	uint64_t spread_bytes[OWNER_HEAP_LAST + 1];
	uint64_t skipped_bytes;
	struct heap_share *shares;
	size_t share_count, share_capacity;
};

/*
 * The totals by which reading a heap changed a matrix. Together with the mappings marked
 * MAPPING_MALLOC they are enough to repeat that change.
 */
struct heap_sums {
	enum allocator allocator;
	enum quality quality;	  /* never QUALITY_UNKNOWN */
	bool is_said, is_running; /* as in struct usage */
	uint64_t pause_ns, trimmable_bytes;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * Moved to the heap's owners from these owners of the mappings; 0 for the heap's
	 * own.
	 */
	uint64_t taken_bytes[OWNER_COUNT_];
};

void heap_init(struct heap *heap);
void heap_release(struct heap *heap);

/*
 * Sum the block and range counts and bytes of all trusted arenas into *ret.
 * Its other fields are 0.
 */
void heap_sum_arenas(const struct heap *heap, struct heap_arena *ret);

/* Return the index of the size class for a chunk of chunk_bytes. Not for jemalloc. */
size_t heap_class_index(uint64_t chunk_bytes);

#endif
