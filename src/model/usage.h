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
	/* Comm, ppid, state, threads, start time, and the sizes in stat. */
	NEED_STAT = 1 << 0,
	NEED_UID = 1 << 1,
	NEED_COMMAND = 1 << 2, /* the command line */
	NEED_ROLLUP = 1 << 3,  /* the totals */
	NEED_STATES = 1 << 4,  /* the exact sums by state */
	NEED_SMAPS = 1 << 5,   /* the owners, unbacked, reserved, mapping count */
	NEED_COMM = 1 << 6,    /* comm alone; NEED_STAT includes it at twice the cost */
	NEED_HEAP = 1 << 7,    /* the heap's owners, and anon without them */
};

/* The needs that require reading memory figures. */
#define NEED_MEMORY (NEED_ROLLUP | NEED_STATES | NEED_SMAPS)

/*
 * Where the memory figures come from. Each source provides everything that the previous
 * ones do.
 */
enum source {
	SOURCE_NONE,   /* nothing was read, or reading failed: see error */
	SOURCE_STAT,   /* only /proc/PID/stat */
	SOURCE_ROLLUP, /* smaps_rollup: totals, no owners, no Size */
	SOURCE_SMAPS,  /* every mapping */
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
 * The malloc in use, detected from the mapped files, which cannot show one that is linked
 * statically. If the heap was read, detected from the memory itself.
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
	ALLOCATOR_COUNT_
};

/*
 * NULL for ALLOCATOR_UNKNOWN. Names are for machine-readable output, titles for
 * sentences: "glibc malloc".
 */
extern const char *const allocator_names[ALLOCATOR_COUNT_];
extern const char *const allocator_titles[ALLOCATOR_COUNT_];

/*
 * The allocator's own figures, queried by a helper in the process; bytes, resident or
 * not. BYTES_UNKNOWN: not queried.
 */
struct said {
	uint64_t system_bytes; /* obtained from the kernel */
	uint64_t live_bytes;
	uint64_t pool_bytes;
	uint64_t cost_ns; /* duration of the query inside the process, in ns */
};

#define SAID_UNKNOWN                                                       \
	{                                                                  \
		BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN \
	}

#define MAPPING_COUNT_UNKNOWN UINT32_MAX

struct usage {
	struct process process;
	char *command; /* arguments joined by spaces; NULL if not read. Owned. */

	enum source source;
	int error;	   /* 0, or the -errno why the memory could not be read */
	uint64_t taken_ns; /* when the memory was read; monotonic clock */
	uint64_t read_ns;  /* time spent reading, without pauses; may be unknown */

	struct counters total;		    /* sums over all mappings, or the rollup */
	uint64_t state_bytes[STATE_COUNT_]; /* sums of the matrix by state */
	struct matrix matrix;		    /* all unknown unless source is smaps */
	/*
	 * For a recorded sample with totals only: usage_droppable_bytes() as computed
	 * when every mapping was read. Otherwise BYTES_UNKNOWN.
	 */
	uint64_t recorded_droppable_bytes;
	uint64_t unbacked_bytes;  /* private anonymous, accessible: Size - Rss - Swap */
	uint64_t reserved_bytes;  /* likewise, PROT_NONE */
	uint64_t trimmable_bytes; /* malloc_trim(0) would return this much */
	uint32_t mapping_count;
	enum allocator allocator;

	enum quality heap_quality; /* for the heap's owners and trimmable_bytes */
	/* When the walk that produced them took place; 0: no walk. */
	uint64_t heap_taken_ns;
	/* How long the last walk stopped the process; 0: not stopped. */
	uint64_t heap_pause_ns;
	bool heap_is_running;	  /* read while the process ran: approximate */
	int heap_error;		  /* 0, or the -errno why the last walk failed */
	const char *heap_problem; /* why the result is not exact; NULL: it is. Static. */
	/* With -EFBIG: how long the walk would stop the process. */
	uint64_t heap_expected_ns;
	bool heap_is_said; /* not walked: the figures are the allocator's own */

	struct said said; /* the allocator's own figures, shown or not */
	/* Why a requested query failed; NULL: it did not. Static. */
	const char *helper_problem;
};

void usage_init(struct usage *u);
void usage_release(struct usage *u);

/* Set the figures of a kernel thread or zombie: its memory is known to be 0. */
void usage_set_no_memory(struct usage *u);

/* Return Private_Clean + Private_Dirty: the memory freed if the process ended. */
uint64_t usage_uss_bytes(const struct usage *u);

/*
 * Return the LazyFree pages that no other process shares, which the kernel can reclaim
 * immediately. Exact from smaps; an upper bound from the rollup.
 */
uint64_t usage_droppable_bytes(const struct usage *u);

/*
 * Return anonymous memory minus droppable memory: what the kernel cannot reclaim
 * without swap. Shared memory is not included, because it may belong to others
 * and outlive the process.
 */
uint64_t usage_need_bytes(const struct usage *u);

/* Return Private_Hugetlb + Shared_Hugetlb, which are never part of Rss. */
uint64_t usage_hugetlb_bytes(const struct usage *u);

/*
 * Return anonymous, shmem and file memory in huge pages (AnonHugePages +
 * ShmemPmdMapped + FilePmdMapped).
 */
uint64_t usage_thp_bytes(const struct usage *u);

/*
 * Return Rss minus the sum of the matrix, or minus the sums by state if owners were not
 * read.
 */
uint64_t usage_unexplained_bytes(const struct usage *u);

struct snapshot {
	uint64_t taken_ns; /* when the sample began; monotonic clock */
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* since the series began */
	uint64_t cost_ns;    /* CPU time and waiting time of the sample */
	struct usage *usages;
	size_t count;
	size_t capacity;
	size_t unreadable_count; /* usages with error set for lack of permission */
	size_t gone_count; /* processes that ended during the sample; not among usages */
};

void snapshot_init(struct snapshot *s);
void snapshot_release(struct snapshot *s);

/* Remove the usages but keep the storage. */
void snapshot_clear(struct snapshot *s);

/* Append and return a new, initialised usage. Valid until the next call. */
struct usage *snapshot_add(struct snapshot *s);

/* Return the usage of pid, or NULL. */
struct usage *snapshot_find(const struct snapshot *s, int pid);

#endif
