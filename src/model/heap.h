/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - the contents of an allocator's heap, as read from the memory of a process. Plain
 * data.
 *
 * Unless a name contains "resident", amounts count whole chunks including their headers,
 * whether resident or not. For each arena that passed every check:
 *    system_bytes >= live + cached + fast + bin + top
 * The remainder of system_bytes is the allocator's own data. For each mapping:
 *    resident = sum of the shares of the heap's owners + memory outside the heap
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

/* The states of page ranges in jemalloc. */
enum heap_stretch {
	HEAP_ACTIVE, /* in use for allocated blocks or slabs */
	HEAP_DIRTY,  /* free; the pages still contain old data */
	/* free; marked with MADV_FREE, so that the kernel may reclaim the pages */
	HEAP_MUZZY,
	HEAP_RETAINED, /* free address space without pages */
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
	uint64_t addr;	 /* address of the arena's control data; glibc only */
	uint32_t number; /* arena index; jemalloc only */
	uint64_t top_addr;
	/* size of the last chunk, from which glibc splits new chunks */
	uint64_t top_bytes;
	uint64_t system_bytes; /* memory that the arena has obtained from the kernel */
	uint64_t attached_threads;
	uint32_t heap_count; /* number of separate memory ranges of the arena */
	struct chunk_sum live;
	struct chunk_sum cached; /* freed chunks in thread caches */
	struct chunk_sum fast;	 /* freed chunks in fastbins */
	/* Freed chunks in all other bins. For jemalloc, free regions in slabs. */
	struct chunk_sum bin;
	struct chunk_sum own; /* blocks that jemalloc allocated for its own data */
	struct stretch_sum stretches[HEAP_STRETCH_COUNT_];
	/*
	 * Resident bytes that trimming the arena would return to the kernel;
	 * BYTES_UNKNOWN if the arena failed a check.
	 */
	uint64_t trimmable_bytes;
	/* Resident bytes of free chunks and of top; glibc only. */
	uint64_t free_resident_bytes;
	/* why the arena's data cannot be trusted; NULL if the arena passed every check */
	const char *problem;
};

/* The fields of mallinfo2(3). */
struct heap_mallinfo {
	uint64_t arena, ordblks, smblks, hblks, hblkhd;
	uint64_t usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* Chunks whose size is at least lower_bytes and at most upper_bytes, by their state. */
struct heap_class {
	uint64_t lower_bytes, upper_bytes;
	struct chunk_sum live;
	struct chunk_sum cached;
	/* Chunks in fastbins, other bins and top. For jemalloc, free regions in slabs. */
	struct chunk_sum free;
	struct chunk_sum own; /* chunks that hold jemalloc's own data */
};

#define HEAP_CLASS_MAX 235

/*
 * A part of a runtime's heap, such as the old generation of a Java heap. live_bytes and
 * free_bytes count memory whether resident or not; the other amounts are resident.
 */
struct heap_space {
	const char *name; /* string constant: the runtime's own term for the space */
	uint64_t count;	  /* number of regions, spans, pools or stacks */
	uint64_t live_bytes;
	uint64_t free_bytes;
	uint64_t resident_bytes;
};

#define HEAP_SPACE_MAX 24
#define HEAP_VERSION_SIZE 24

/*
 * Value of `version` in struct heap for musl's old malloc, the default before musl 1.2.1.
 */
#define HEAP_OLDMALLOC "oldmalloc"

/*
 * How much of the resident memory of one mapping belongs to each owner within the heap.
 */
struct heap_share {
	size_t mapping; /* index in the list of mappings passed to the walk */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

/* How memstate copied a heap that is too large to copy in one pause. */
struct heap_pre_copy {
	/*
	 * String constant that explains why the heap was not copied while the process
	 * ran. NULL if it was copied, or if a copy while the process ran was not
	 * necessary or not permitted.
	 */
	const char *problem;
	/*
	 * number of rounds of copying while the process ran; 0 if the heap was
	 * copied only in the pause
	 */
	unsigned int round_count;
	uint64_t copied_bytes; /* bytes copied while the process ran, in all rounds */
	uint64_t late_bytes;   /* bytes copied in the pause */
	/*
	 * Bytes in huge pages that the process split by writing to them during the copy,
	 * and how many of these bytes memstate has turned into huge pages again.
	 */
	uint64_t split_bytes, restored_bytes;
};

/* A nearly empty part of a heap. Arrays of this struct are sorted by address. */
struct heap_range {
	uint64_t start_addr, end_addr;
	uint64_t free_bytes;
};

struct heap {
	enum allocator allocator;
	/*
	 * QUALITY_BOUND if some arenas are unknown. QUALITY_UNKNOWN if the struct
	 * contains no results.
	 */
	enum quality quality;
	const char *problem; /* why the quality is not exact; NULL if it is exact */
	/*
	 * how memstate identified the allocator: a string constant, or NULL if the
	 * allocator is unknown
	 */
	const char *evidence;
	/*
	 * True if memstate did not walk the heap: owner_bytes come from the allocator's
	 * own figures, and the other fields are empty.
	 */
	bool is_reported;
	/* how long memstate stopped the target, summed over all attempts */
	uint64_t pause_ns;
	uint64_t expected_ns; /* how long memstate expected to stop the target for */
	uint64_t copied_bytes;
	struct heap_pre_copy pre_copy;
	/*
	 * Set if there was not enough memory to copy the heap: the number of bytes
	 * needed, the number available, and the name of the limit that was too low.
	 */
	uint64_t needed_bytes, room_bytes;
	const char *room_limit;

	struct heap_arena *arenas; /* the arenas; the main arena is first */
	size_t arena_count;
	/*
	 * Chunks by size class. For jemalloc, its own size classes. For glibc, the first
	 * 64 multiples of 16, then powers of two.
	 */
	struct heap_class classes[HEAP_CLASS_MAX];
	size_t class_count;
	/*
	 * Chunks that have their own mappings. mapped.bytes is the total size of these
	 * mappings.
	 */
	struct chunk_sum mapped;
	size_t cache_count; /* number of thread caches found */
	struct heap_mallinfo mallinfo;
	uint64_t trimmable_bytes;
	/*
	 * Resident bytes of each owner. BYTES_UNKNOWN if the allocator does not report
	 * the owner's bytes separately; OWNER_LIVE then includes them.
	 */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * The results of reading the heap repeatedly without stopping the target: the
	 * number of readings, the differences between the readings, and the number of
	 * bytes that could not be interpreted. reading_count is 0 if memstate stopped the
	 * target.
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
	/* Nearly empty arenas of Python: less than a tenth of each arena is live. */
	struct heap_range *empty_ranges;
	size_t empty_range_count, empty_range_capacity;

	/*
	 * The other heaps in the process: those of its language runtimes, and that of
	 * a second malloc. No page belongs to two heaps. Only the first heap of a
	 * process lists the other heaps.
	 */
	struct heap *others;
	size_t other_count;
};

/*
 * The amounts by which a heap read changed the matrix of a process (struct matrix). With
 * these amounts and the mappings marked MAPPING_HEAP, memstate repeats the change when it
 * replays a recording.
 */
struct heap_sums {
	enum allocator allocator;
	enum quality quality; /* quality of the heap's figures; never QUALITY_UNKNOWN */
	/*
	 * Whether the allocator itself reported the figures, and whether memstate read
	 * the heap while the process ran (see struct usage).
	 */
	bool is_reported, is_running;
	uint64_t pause_ns, trimmable_bytes;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * How many resident bytes of each owner, such as OWNER_ANON, turned out to be
	 * heap memory. owner_bytes divides the same bytes among the owners within the
	 * heap. The elements up to OWNER_HEAP_LAST are 0.
	 */
	uint64_t taken_bytes[OWNER_COUNT_];
	/*
	 * The individual heaps, as in struct usage. heap_count is 0 if the process has
	 * only the heap of its malloc.
	 */
	struct usage_heap heaps[USAGE_HEAP_MAX];
	size_t heap_count;
};

void heap_init(struct heap *heap);
void heap_release(struct heap *heap);

/*
 * Append an initialised heap to the other heaps of the process. The returned pointer is
 * valid until the next call.
 */
struct heap *heap_add_other(struct heap *heap);

/* Return true if this is a heap of musl's old malloc, the default before musl 1.2.1. */
bool heap_is_oldmalloc(const struct heap *heap);

/* Append a space whose figures are 0. A heap has at most HEAP_SPACE_MAX spaces. */
struct heap_space *heap_add_space(struct heap *heap, const char *name);

/*
 * Access the heaps of a process by index: index 0 is the heap itself, and the others
 * follow. The pointer is valid until heap_add_other() or heap_release().
 */
size_t heap_count(const struct heap *heap);
const struct heap *heap_at(const struct heap *heap, size_t index);

/*
 * Return the quality of the sums over all heaps of the process. The result is the lowest
 * quality of all heaps, where a heap with unknown figures counts as QUALITY_BOUND. Return
 * QUALITY_UNKNOWN only if the figures of all heaps are unknown.
 */
enum quality heap_total_quality(const struct heap *heap);

/*
 * Return the reason why the sums over all heaps are inexact, or NULL if they are exact or
 * the reason is unknown. The string is static.
 */
const char *heap_total_problem(const struct heap *heap);

/* Return the resident bytes of an owner in all heaps, or BYTES_UNKNOWN. */
uint64_t heap_total_bytes(const struct heap *heap, enum owner owner);

/*
 * Return how many resident bytes a trim of all heaps would return to the kernel, or
 * BYTES_UNKNOWN if the amount is unknown for every heap.
 */
uint64_t heap_total_trimmable(const struct heap *heap);

/*
 * Return how much of each mapping belongs to each owner within the heaps. The amounts are
 * sums over all heaps of the process. The array is sorted by mapping, and its length is
 * stored in *ret_count. The caller frees it with free(3).
 */
struct heap_share *heap_total_shares(const struct heap *heap, size_t *ret_count);

/*
 * Sum the blocks and page ranges of all arenas that passed every check, and store the
 * counts and bytes in *ret. The other fields of *ret are 0.
 */
void heap_sum_arenas(const struct heap *heap, struct heap_arena *ret);

/*
 * Return the function call that makes this allocator return free memory to the kernel,
 * such as "malloc_trim(0)", or NULL if the allocator has none. The string is static.
 */
const char *heap_trim_call(enum allocator allocator);

/* Return true if the allocator keeps freed blocks in thread caches. */
bool heap_has_caches(enum allocator allocator);

/*
 * Return the index of a chunk's size class in the classes of struct heap. For glibc's
 * heaps only: jemalloc has its own size classes.
 */
size_t heap_class_index(uint64_t chunk_bytes);

#endif
