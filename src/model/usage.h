/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage - the memory figures of one process at one instant, and how reliable they are.
 * Plain data.
 *
 * A snapshot contains the usages of all processes in one sample, and the number of
 * processes that could not be read.
 */
#ifndef MS_MODEL_USAGE_H
#define MS_MODEL_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"
#include "model/matrix.h"
#include "model/process.h"

/* The data to read for each process. Each column declares which data it needs. */
enum need {
	/*
	 * The values in /proc/PID/stat: comm, ppid, state, threads, start time and
	 * sizes.
	 */
	NEED_STAT = 1 << 0,
	NEED_UID = 1 << 1,
	NEED_COMMAND = 1 << 2, /* the command line */
	NEED_ROLLUP = 1 << 3,  /* the totals in /proc/PID/smaps_rollup */
	NEED_STATES = 1 << 4,  /* the exact size of the process's pages in each state */
	/*
	 * The memory by owner, unbacked and reserved memory, and the number of mappings.
	 */
	NEED_SMAPS = 1 << 5,
	/* comm alone, at half the cost of NEED_STAT (which includes comm) */
	NEED_COMM = 1 << 6,
	/*
	 * the memory of the owners within the heap, and anonymous memory without the heap
	 */
	NEED_HEAP = 1 << 7,
};

/* The data that requires reading smaps_rollup or smaps. */
#define NEED_MEMORY (NEED_ROLLUP | NEED_STATES | NEED_SMAPS)

/*
 * The source of the memory figures. Each source provides all figures of the sources
 * before it.
 */
enum source {
	SOURCE_NONE, /* nothing was read, or reading failed with the -errno in error */
	SOURCE_STAT, /* figures from /proc/PID/stat only */
	/*
	 * smaps_rollup: the totals over all mappings, but neither the memory
	 * by owner nor Size
	 */
	SOURCE_ROLLUP,
	SOURCE_SMAPS, /* smaps: the figures of every mapping */
	SOURCE_COUNT_
};

extern const char *const source_names[SOURCE_COUNT_];

enum quality {
	QUALITY_UNKNOWN,
	QUALITY_ESTIMATE,
	QUALITY_BOUND,
	QUALITY_EXACT,
	QUALITY_COUNT_
};

extern const char *const quality_names[QUALITY_COUNT_];

/*
 * The malloc or the language runtime to which a heap belongs. The allocator of a process
 * is its malloc, or its runtime if it has no malloc. memstate detects the allocator from
 * the heap if it has read the heap. Otherwise it uses the mapped files, which do not show
 * a statically linked malloc.
 */
enum allocator {
	ALLOCATOR_UNKNOWN,
	ALLOCATOR_GLIBC,
	ALLOCATOR_MUSL,
	ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC,
	ALLOCATOR_MIMALLOC,
	ALLOCATOR_GO,
	ALLOCATOR_PARTITION, /* Chromium's PartitionAlloc */
	ALLOCATOR_PYTHON,    /* CPython's pymalloc */
	ALLOCATOR_HOTSPOT,   /* the heap of a Java virtual machine */
	ALLOCATOR_ERLANG,    /* the allocators of Erlang's virtual machine (erts_alloc) */
	ALLOCATOR_PHP,	     /* PHP's Zend memory manager */
	ALLOCATOR_V8,	     /* the JavaScript heap of V8, as in Node.js */
	ALLOCATOR_RUBY,	     /* CRuby's object slots */
	ALLOCATOR_COUNT_
};

/*
 * Names are for machine-readable output, such as "glibc"; titles are for sentences, such
 * as "glibc malloc". Both are NULL for ALLOCATOR_UNKNOWN.
 */
extern const char *const allocator_names[ALLOCATOR_COUNT_];
extern const char *const allocator_titles[ALLOCATOR_COUNT_];

/*
 * The allocator's own figures, obtained by a helper in the process. The figures
 * count bytes whether resident or not. They are BYTES_UNKNOWN if the helper did not
 * query the allocator.
 */
struct reported {
	uint64_t system_bytes; /* bytes that the allocator obtained from the kernel */
	uint64_t live_bytes;
	uint64_t pool_bytes;
	uint64_t cost_ns; /* how long the query took inside the process */
};

#define REPORTED_UNKNOWN                                                   \
	{                                                                  \
		BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN \
	}

/* The figures of one heap of a process. */
struct usage_heap {
	/* the malloc or runtime that owns the heap; never ALLOCATOR_UNKNOWN */
	enum allocator allocator;
	enum quality quality;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1]; /* resident bytes of each owner */
	/* bytes that a trim would return to the kernel; may be BYTES_UNKNOWN */
	uint64_t trimmable_bytes;
	/*
	 * Number of glibc's arenas, not counting the main arena, and the free resident
	 * bytes in these arenas. Both are 0 in a recorded sample.
	 */
	size_t arena_count;
	uint64_t arena_free_bytes;
};

#define USAGE_HEAP_MAX 6

/*
 * How much memory of one owner has a known use, such as InnoDB's buffer pool. memstate
 * recognises the use from the mappings.
 */
struct usage_use {
	enum known_use use; /* never USE_NONE */
	/* owner of the mappings; heaps inside them do not change it */
	enum owner owner;
	/*
	 * Resident bytes of the mappings, without the bytes of heaps. For
	 * USE_POSTGRES_BACKEND, only the bytes of heaps.
	 */
	uint64_t rss_bytes;
	uint64_t size_bytes; /* total size of the mappings */
	/*
	 * True if the heap was not read, so rss_bytes may include large blocks of malloc.
	 */
	bool is_upper_bound;
};

#define USAGE_USE_MAX 16

/*
 * The known uses of the memory of a process, such as InnoDB's buffer pool, the largest
 * first.
 */
struct usage_uses {
	struct usage_use items[USAGE_USE_MAX];
	size_t count;
};

#define MAPPING_COUNT_UNKNOWN UINT32_MAX

struct usage {
	struct process process;
	/* command line with the arguments joined by spaces; NULL if not read; owned */
	char *command;

	enum source source;
	int error;	   /* 0, or the -errno with which reading the memory failed */
	uint64_t taken_ns; /* when the memory was read, on the monotonic clock */
	/* Time spent reading, without pauses. BYTES_UNKNOWN in a recorded sample. */
	uint64_t read_ns;

	struct counters total; /* sums over all mappings, or the totals in smaps_rollup */
	/* for each page state, the sum over all owners */
	uint64_t state_bytes[STATE_COUNT_];
	/*
	 * resident bytes by owner and page state; unknown unless source is SOURCE_SMAPS
	 */
	struct matrix matrix;
	/*
	 * The result of usage_droppable_bytes(), computed from all mappings before the
	 * sample was recorded. Set only for recorded samples without mappings,
	 * otherwise BYTES_UNKNOWN.
	 */
	uint64_t recorded_droppable_bytes;
	/*
	 * Private anonymous memory that is accessible but has no pages: Size - Rss -
	 * Swap.
	 */
	uint64_t unbacked_bytes;
	/*
	 * Private anonymous memory that is inaccessible (PROT_NONE): Size - Rss - Swap.
	 */
	uint64_t reserved_bytes;
	/* Memory that malloc_trim(0) would return to the kernel, in bytes. */
	uint64_t trimmable_bytes;
	uint32_t mapping_count;
	enum allocator allocator;

	/*
	 * The individual heaps that were read; the matrix contains their sums. The heap
	 * of malloc is first. heap_count is 0 if no heap was read.
	 */
	struct usage_heap heaps[USAGE_HEAP_MAX];
	size_t heap_count;
	struct usage_uses uses;
	/*
	 * True if the process contains a Java virtual machine, whether or not
	 * its heap was read.
	 */
	bool has_java;

	/*
	 * How reliable trimmable_bytes and the amounts of the owners up to
	 * OWNER_HEAP_LAST are.
	 */
	enum quality heap_quality;
	/*
	 * When memstate last read the heap, or the allocator's own figures; 0 if the
	 * figures are unknown, or if this time is unknown.
	 */
	uint64_t heap_taken_ns;
	/*
	 * How long the last heap read stopped the process; 0 if it did not stop the
	 * process.
	 */
	uint64_t heap_pause_ns;
	/*
	 * True if memstate read the heap while the process ran, so the heap's figures
	 * are approximate.
	 */
	bool heap_is_running;
	int heap_error; /* 0, or the -errno with which the last heap read failed */
	/*
	 * String constant that explains why the heap's figures are not exact;
	 * NULL if they are exact.
	 */
	const char *heap_problem;
	/*
	 * String constant that explains why memstate did not copy the heap while the
	 * process ran; NULL if memstate did not try to.
	 */
	const char *heap_pre_copy_problem;
	/*
	 * How long memstate would have to stop the process to read the heap. Set if
	 * heap_error is -EFBIG.
	 */
	uint64_t heap_expected_ns;
	/*
	 * True if memstate did not read the heap, and uses the figures that the allocator
	 * reported.
	 */
	bool heap_is_reported;

	/* the allocator's own figures; set even if no report shows them */
	struct reported reported;
	/*
	 * String constant that explains why a requested query of the allocator failed;
	 * NULL if it succeeded.
	 */
	const char *helper_problem;
};

void usage_init(struct usage *u);
void usage_release(struct usage *u);

/* Set the figures of a kernel thread or zombie, whose memory is known to be 0. */
void usage_set_no_memory(struct usage *u);

/*
 * Return Private_Clean + Private_Dirty, the memory that the kernel would free if the
 * process ended.
 */
uint64_t usage_uss_bytes(const struct usage *u);

/*
 * Return the size of the LazyFree pages that no other process shares, which the kernel
 * can reclaim immediately. The result is exact if the source is smaps, and an upper bound
 * if the source is smaps_rollup.
 */
uint64_t usage_droppable_bytes(const struct usage *u);

/*
 * Return the anonymous memory minus the droppable memory, which is the amount that the
 * kernel cannot reclaim without swap. Shared memory is not included, because it may
 * belong to other processes and outlive this process.
 */
uint64_t usage_need_bytes(const struct usage *u);

/* Return Private_Hugetlb + Shared_Hugetlb, which are never part of Rss. */
uint64_t usage_hugetlb_bytes(const struct usage *u);

/*
 * Return the memory backed by huge pages: AnonHugePages + ShmemPmdMapped + FilePmdMapped.
 */
uint64_t usage_thp_bytes(const struct usage *u);

/*
 * Return true if a report should list the individual heaps. If the only heap is that of
 * malloc, it is not listed, because the matrix already shows its figures.
 */
bool usage_heaps_are_listed(const struct usage *u);

/* Return the resident bytes of one heap, or BYTES_UNKNOWN. */
uint64_t usage_heap_bytes(const struct usage_heap *heap);

/*
 * Return the resident bytes, or only the live bytes if is_live is set, summed over all
 * heaps of one allocator. ALLOCATOR_UNKNOWN stands for every malloc. Return BYTES_UNKNOWN
 * if no heap of the allocator was read.
 */
uint64_t usage_heaps_sum(const struct usage *u, enum allocator allocator, bool is_live);

/*
 * Return the bytes of OWNER_ANON whose use is unknown, or BYTES_UNKNOWN if the mappings
 * were not read.
 */
uint64_t usage_unknown_anon_bytes(const struct usage *u);

/*
 * Return Rss minus the sum of the matrix. If the owners were not read, return Rss minus
 * the sums of the page states.
 */
uint64_t usage_unexplained_bytes(const struct usage *u);

struct snapshot {
	uint64_t taken_ns; /* when the sample began, on the monotonic clock */
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* time since the series of samples began */
	/* elapsed time that memstate spent on the sample, including waiting */
	uint64_t cost_ns;
	struct usage *usages;
	size_t count;
	size_t capacity;
	/*
	 * Number of processes that could not be read, in most cases for lack of
	 * permission.
	 */
	size_t unreadable_count;
	/*
	 * Number of processes that ended during the sample, and for which there is no
	 * usage.
	 */
	size_t gone_count;
};

void snapshot_init(struct snapshot *s);
void snapshot_release(struct snapshot *s);

/* Remove all usages, but keep the memory for reuse. */
void snapshot_clear(struct snapshot *s);

/*
 * Append a new, initialised usage, and return it. The pointer is valid until the next
 * call.
 */
struct usage *snapshot_add(struct snapshot *s);

/* Return the usage of the process with this pid, or NULL. */
struct usage *snapshot_find(const struct snapshot *s, int pid);

#endif
