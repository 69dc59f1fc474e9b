/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - the contents of an allocator's heap, as read from the memory of a process. Plain
 * data.
 *
 * Amounts count whole chunks including their headers, resident or not, unless the name
 * says resident. For each arena that passed every check:
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

/* Kinds of page ranges in jemalloc. */
enum heap_stretch {
	HEAP_ACTIVE, /* contains allocated blocks or slabs */
	HEAP_DIRTY,  /* free; the pages still contain old data */
	HEAP_MUZZY, /* free; marked with MADV_FREE, so the kernel may reclaim the pages */
	HEAP_RETAINED, /* free; address space without pages */
	HEAP_STRETCH_COUNT_
};

extern const char *const heap_stretch_names[HEAP_STRETCH_COUNT_];

struct stretch_sum {
	uint64_t count;
	uint64_t bytes;
	uint64_t resident_bytes;
};

/*
 * One arena of a heap. Fields that do not apply to the
 * allocator are 0, and reports omit them.
 */
struct heap_arena {
	uint64_t addr;	 /* address of the arena's data; glibc only */
	uint32_t number; /* arena index; jemalloc only */
	uint64_t top_addr;
	uint64_t top_bytes; /* size of the last chunk, from which glibc cuts new chunks */
	uint64_t system_bytes; /* memory that the arena obtained from the kernel */
	uint64_t attached_threads;
	uint32_t heap_count; /* number of separate memory ranges */
	struct chunk_sum live;
	struct chunk_sum cached; /* freed chunks in thread caches */
	struct chunk_sum fast;	 /* freed chunks in fastbins */
	/* Freed chunks in all other bins; jemalloc: free regions in slabs. */
	struct chunk_sum bin;
	struct chunk_sum own; /* blocks that jemalloc allocated for its own data */
	struct stretch_sum stretches[HEAP_STRETCH_COUNT_];
	/*
	 * Resident bytes that a trim would return; BYTES_UNKNOWN
	 * if the arena failed a check.
	 */
	uint64_t trimmable_bytes;
	/* Resident bytes of free chunks and of top; glibc only. */
	uint64_t free_resident_bytes;
	/* NULL if the arena passed every check, else why its data is not trusted */
	const char *problem;
};

/* The fields of mallinfo2(3). */
struct heap_mallinfo {
	uint64_t arena, ordblks, smblks, hblks, hblkhd;
	uint64_t usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* Chunks with a size from lower_bytes to upper_bytes (inclusive), by their state. */
struct heap_class {
	uint64_t lower_bytes, upper_bytes;
	struct chunk_sum live;
	struct chunk_sum cached;
	/* Chunks in fastbins, other bins and top; jemalloc: in slabs. */
	struct chunk_sum free;
	struct chunk_sum own; /* chunks that hold jemalloc's own data */
};

#define HEAP_CLASS_MAX 235

/*
 * A part of a runtime's heap, such as the old generation of a Java heap. Only live_bytes
 * and free_bytes count memory whether resident or not.
 */
struct heap_space {
	const char *name; /* the runtime's own term; static */
	uint64_t count;	  /* number of regions, spans, pools or stacks */
	uint64_t live_bytes;
	uint64_t free_bytes;
	uint64_t resident_bytes;
};

#define HEAP_SPACE_MAX 24
#define HEAP_VERSION_SIZE 24

/* How much of one mapping's resident memory belongs to each owner of the heap. */
struct heap_share {
	size_t mapping; /* index in the list of mappings passed to the walk */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct heap {
	enum allocator allocator;
	/*
	 * QUALITY_BOUND: some arenas are unknown. QUALITY_UNKNOWN: the struct
	 * contains no results.
	 */
	enum quality quality;
	const char *problem; /* why quality is not exact; NULL if it is */
	/* how memstate identified the allocator; NULL: it did not. Static. */
	const char *evidence;
	/*
	 * The heap was not walked: owner_bytes come from the allocator's own figures, and
	 * the other fields are empty.
	 */
	bool is_reported;
	uint64_t pause_ns; /* how long the target was stopped, summed over all attempts */
	uint64_t expected_ns; /* how long memstate expected the target to be stopped */
	uint64_t copied_bytes;
	/*
	 * If there was no room for the copy of the heap: the bytes needed, the bytes
	 * available, and the name of the limit that was too low.
	 */
	uint64_t needed_bytes, room_bytes;
	const char *room_limit;

	struct heap_arena *arenas; /* main arena first */
	size_t arena_count;
	/*
	 * jemalloc: its own size classes. glibc: the first 64
	 * multiples of 16, then powers of two.
	 */
	struct heap_class classes[HEAP_CLASS_MAX];
	size_t class_count;
	/*
	 * Chunks that have their own mappings. mapped.bytes is the total size
	 * of the mappings.
	 */
	struct chunk_sum mapped;
	size_t cache_count; /* number of thread caches found */
	struct heap_mallinfo mallinfo;
	uint64_t trimmable_bytes;
	/*
	 * Resident bytes of each owner. BYTES_UNKNOWN: the allocator does not report the
	 * bytes of this owner separately, so OWNER_LIVE includes them.
	 */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * The results of reading the heap repeatedly without stopping the target: the
	 * number of readings, the differences between the readings, and the bytes that
	 * could not be interpreted. reading_count is 0 if the target was stopped.
	 */
	unsigned int reading_count;
	uint64_t spread_bytes[OWNER_HEAP_LAST + 1];
	uint64_t skipped_bytes;
	struct heap_share *shares;
	size_t share_count, share_capacity;

	/* The version of the runtime, such as "go1.19.8"; empty if unknown. */
	char version[HEAP_VERSION_SIZE];
	struct heap_space spaces[HEAP_SPACE_MAX];
	size_t space_count;

	/*
	 * The other heaps that were found in the process: those of its language runtimes,
	 * and those of a second malloc. Their pages are disjoint from those of this heap
	 * and from each other. The other heaps have no such list of their own.
	 */
	struct heap *others;
	size_t other_count;
};

/*
 * The totals by which reading a heap changed a matrix. Together with the mappings marked
 * MAPPING_HEAP, the totals are enough to repeat that change.
 */
struct heap_sums {
	enum allocator allocator;
	enum quality quality; /* never QUALITY_UNKNOWN */
	/* Same meaning as heap_is_reported and heap_is_running of struct usage. */
	bool is_reported, is_running;
	uint64_t pause_ns, trimmable_bytes;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * Resident bytes of each owner that turned out to be heap memory and are in
	 * owner_bytes, such as malloc's part of OWNER_ANON. The elements up to
	 * OWNER_HEAP_LAST are 0.
	 */
	uint64_t taken_bytes[OWNER_COUNT_];
	/*
	 * The heaps one by one, as in struct usage. heap_count is 0 if the process has
	 * only one heap, that of its malloc.
	 */
	struct usage_heap heaps[USAGE_HEAP_MAX];
	size_t heap_count;
};

void heap_init(struct heap *heap);
void heap_release(struct heap *heap);

/*
 * Append an initialised heap to the other heaps of the process. The pointer is valid
 * until the next call.
 */
struct heap *heap_add_other(struct heap *heap);

/* Append a space, whose figures are 0. A heap has at most HEAP_SPACE_MAX spaces. */
struct heap_space *heap_add_space(struct heap *heap, const char *name);

/*
 * The heaps of a process, counted from 0: the heap itself, then the others. The pointer
 * is valid until heap_add_other() or heap_release().
 */
size_t heap_count(const struct heap *heap);
const struct heap *heap_at(const struct heap *heap, size_t index);

/*
 * Return the quality of the sums over all heaps of the process: the lowest quality, but
 * QUALITY_BOUND instead of QUALITY_UNKNOWN if the figures of another heap are known.
 */
enum quality heap_total_quality(const struct heap *heap);

/*
 * Return the reason why the sums over all heaps are inexact. Return NULL if they are
 * exact, or if no reason is known. The string is static.
 */
const char *heap_total_problem(const struct heap *heap);

/* Return the resident bytes of an owner in all heaps, or BYTES_UNKNOWN. */
uint64_t heap_total_bytes(const struct heap *heap, enum owner owner);

/*
 * Return the resident bytes that a trim of all heaps would return, or BYTES_UNKNOWN if
 * they are unknown for every heap.
 */
uint64_t heap_total_trimmable(const struct heap *heap);

/*
 * Return the shares of all heaps, added up per mapping, in ascending order of mapping,
 * and set *ret_count. Release the result with free(3).
 */
struct heap_share *heap_total_shares(const struct heap *heap, size_t *ret_count);

/*
 * Sum the counts and bytes of the blocks and page ranges of all arenas without a problem
 * into *ret. The other fields of *ret are 0.
 */
void heap_sum_arenas(const struct heap *heap, struct heap_arena *ret);

/*
 * Return the call by which a program makes this allocator return free memory to the
 * kernel, such as "malloc_trim(0)". Return NULL if there is no such call. Static.
 */
const char *heap_trim_call(enum allocator allocator);

/*
 * Return the index of a chunk's size class in `classes` of struct heap. For glibc's heaps
 * only: jemalloc has its own size classes.
 */
size_t heap_class_index(uint64_t chunk_bytes);

#endif
