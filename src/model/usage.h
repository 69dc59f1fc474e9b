/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage - the memory figures of one process at one instant, and their quality. Plain
 * data.
 * snapshot - the usages of one sample, and counts of what could not be read.
 */
#ifndef MS_MODEL_USAGE_H
#define MS_MODEL_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"
#include "model/matrix.h"
#include "model/process.h"

/* The data to read for each process. Columns declare what they need. */
enum need {
	/*
	 * The values in /proc/PID/stat: comm, ppid, state, threads, start time and
	 * sizes.
	 */
	NEED_STAT = 1 << 0,
	NEED_UID = 1 << 1,
	NEED_COMMAND = 1 << 2, /* the command line */
	NEED_ROLLUP = 1 << 3,  /* the totals of smaps_rollup */
	NEED_STATES = 1 << 4,  /* the exact sum of each page state */
	/* The owners, unbacked, reserved, and the number of mappings. */
	NEED_SMAPS = 1 << 5,
	/* comm alone, at half the cost of NEED_STAT, which includes comm */
	NEED_COMM = 1 << 6,
	NEED_HEAP = 1 << 7, /* the heap's owners, and anon without the heap */
};

/* The needs that require reading memory figures. */
#define NEED_MEMORY (NEED_ROLLUP | NEED_STATES | NEED_SMAPS)

/*
 * Where the memory figures come from. Each source provides all figures that
 * the sources before it provide.
 */
enum source {
	SOURCE_NONE,   /* nothing was read, or reading failed with the -errno in error */
	SOURCE_STAT,   /* only /proc/PID/stat */
	SOURCE_ROLLUP, /* smaps_rollup: the totals, without owners and Size */
	SOURCE_SMAPS,  /* smaps: every mapping */
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
 * is its malloc, or its runtime if it has no malloc. memstate detects it from the heap if
 * it read the heap, and otherwise from the mapped files, which do not show a malloc that
 * is linked statically.
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
	ALLOCATOR_COUNT_
};

/*
 * Names are for machine-readable output, such as "glibc"; titles are for sentences, such
 * as "glibc malloc". Both are NULL for ALLOCATOR_UNKNOWN.
 */
extern const char *const allocator_names[ALLOCATOR_COUNT_];
extern const char *const allocator_titles[ALLOCATOR_COUNT_];

/*
 * The allocator's own figures, which a helper in the process queried. The figures count
 * bytes whether resident or not. BYTES_UNKNOWN: not queried.
 */
struct reported {
	uint64_t system_bytes; /* obtained from the kernel */
	uint64_t live_bytes;
	uint64_t pool_bytes;
	uint64_t cost_ns; /* how long the query took inside the process */
};

#define REPORTED_UNKNOWN                                                   \
	{                                                                  \
		BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN \
	}

/* The figures of one of the heaps of a process. */
struct usage_heap {
	enum allocator allocator; /* malloc or runtime; never ALLOCATOR_UNKNOWN */
	enum quality quality;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1]; /* resident bytes */
	uint64_t trimmable_bytes;		   /* or BYTES_UNKNOWN */
	/*
	 * The arenas of glibc's malloc except the main arena: their number, and the
	 * resident bytes in them that are free. 0 in a recorded sample.
	 */
	size_t arena_count;
	uint64_t arena_free_bytes;
};

#define USAGE_HEAP_MAX 6

#define MAPPING_COUNT_UNKNOWN UINT32_MAX

struct usage {
	struct process process;
	/* Command line: arguments joined by blanks; NULL if not read; owned. */
	char *command;

	enum source source;
	int error;	   /* 0, or the -errno with which reading the memory failed */
	uint64_t taken_ns; /* when the memory was read, on the monotonic clock */
	/* Time spent reading, without pauses; BYTES_UNKNOWN in a recorded sample. */
	uint64_t read_ns;

	struct counters total; /* sums over all mappings, or the totals of smaps_rollup */
	uint64_t state_bytes[STATE_COUNT_]; /* sum of each state over the matrix */
	struct matrix matrix; /* all cells are unknown unless source is SOURCE_SMAPS */
	/*
	 * Only for recorded samples without mappings: the result that
	 * usage_droppable_bytes() had when the sample was taken from all
	 * mappings. Otherwise BYTES_UNKNOWN.
	 */
	uint64_t recorded_droppable_bytes;
	/* Private anonymous memory with access rights: Size - Rss - Swap. */
	uint64_t unbacked_bytes;
	/* Private anonymous memory with PROT_NONE: Size - Rss - Swap. */
	uint64_t reserved_bytes;
	/* Memory that malloc_trim(0) would return to the kernel. */
	uint64_t trimmable_bytes;
	uint32_t mapping_count;
	enum allocator allocator;

	/*
	 * The heaps that were read, each with its own figures; the matrix has their sums.
	 * Malloc's heap is first. heap_count is 0 if no heap was read.
	 */
	struct usage_heap heaps[USAGE_HEAP_MAX];
	size_t heap_count;
	/* A Java virtual machine was found, even if its heap is unknown. */
	bool has_java;

	/* How reliable trimmable_bytes and the figures of the heap's owners are. */
	enum quality heap_quality;
	/*
	 * When the heap was read to obtain the figures of the heap's owners; 0: it
	 * was not read.
	 */
	uint64_t heap_taken_ns;
	/*
	 * How long the last heap read stopped the process; 0: the
	 * process was not stopped.
	 */
	uint64_t heap_pause_ns;
	/* The heap was read while the process ran, so its figures are approximate. */
	bool heap_is_running;
	int heap_error; /* 0, or the -errno with which the last heap read failed */
	/* Why the heap's figures are not exact; NULL: they are exact. Static. */
	const char *heap_problem;
	/* If heap_error is -EFBIG: how long reading the heap would stop the process. */
	uint64_t heap_expected_ns;
	/* The heap was not read: its figures are the allocator's own. */
	bool heap_is_reported;

	struct reported
		reported; /* the allocator's own figures, even if no report shows them */
	/* Why a requested query of the allocator failed; NULL: it succeeded. Static. */
	const char *helper_problem;
};

void usage_init(struct usage *u);
void usage_release(struct usage *u);

/* Set the figures of a kernel thread or zombie, whose memory is known to be 0. */
void usage_set_no_memory(struct usage *u);

/* Return Private_Clean + Private_Dirty: the memory freed if the process ended. */
uint64_t usage_uss_bytes(const struct usage *u);

/*
 * Return the size of the LazyFree pages that no other process shares, which
 * the kernel can reclaim immediately. The result is exact from smaps, and an
 * upper bound from smaps_rollup.
 */
uint64_t usage_droppable_bytes(const struct usage *u);

/*
 * Return anonymous memory minus droppable memory, which is what the kernel cannot
 * reclaim without swap. Shared memory is not included, because it may belong to other
 * processes and outlive this one.
 */
uint64_t usage_need_bytes(const struct usage *u);

/* Return Private_Hugetlb + Shared_Hugetlb, which are never part of Rss. */
uint64_t usage_hugetlb_bytes(const struct usage *u);

/* Return the memory in huge pages: AnonHugePages + ShmemPmdMapped + FilePmdMapped. */
uint64_t usage_thp_bytes(const struct usage *u);

/*
 * Return true if a report lists the heaps one by one. A lone heap of malloc is not
 * listed, because its figures are those of the heap's owners in the matrix.
 */
bool usage_heaps_are_listed(const struct usage *u);

/* Return the resident bytes of one heap, or BYTES_UNKNOWN. */
uint64_t usage_heap_bytes(const struct usage_heap *heap);

/*
 * Return the sum of the resident bytes, or of the live ones, over the heaps of one
 * allocator. ALLOCATOR_UNKNOWN stands for every malloc. Return BYTES_UNKNOWN if the
 * process has no such heap, or if it was not read.
 */
uint64_t usage_heaps_sum(const struct usage *u, enum allocator allocator, bool is_live);

/*
 * Return Rss minus the sum of the matrix. If owners were not read, return Rss
 * minus the sums of the page states.
 */
uint64_t usage_unexplained_bytes(const struct usage *u);

struct snapshot {
	uint64_t taken_ns; /* when the sample began, on the monotonic clock */
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* time since the series began */
	uint64_t cost_ns;    /* CPU time and waiting time that the sample cost */
	struct usage *usages;
	size_t count;
	size_t capacity;
	/* Number of usages that could not be read for lack of permission. */
	size_t unreadable_count;
	/* Number of processes that ended during the sample and are not in usages. */
	size_t gone_count;
};

void snapshot_init(struct snapshot *s);
void snapshot_release(struct snapshot *s);

/* Remove the usages but keep the memory for reuse. */
void snapshot_clear(struct snapshot *s);

/*
 * Append and return a new, initialised usage. The pointer is valid until the next call.
 */
struct usage *snapshot_add(struct snapshot *s);

/* Return the usage of pid, or NULL. */
struct usage *snapshot_find(const struct snapshot *s, int pid);

#endif
