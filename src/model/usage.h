/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage - what is known of one process's memory at one instant, and how well. Plain data.
 * snapshot - the usages of one sample, with what could not be read.
 */
#ifndef MS_MODEL_USAGE_H
#define MS_MODEL_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"
#include "model/matrix.h"
#include "model/process.h"

/* What is to be known of each process; columns say which they need. */
enum need {
	NEED_STAT = 1 << 0,    /* comm, ppid, state, threads, start time, sizes of stat */
	NEED_UID = 1 << 1,
	NEED_COMMAND = 1 << 2, /* the command line */
	NEED_ROLLUP = 1 << 3,  /* the totals */
	NEED_STATES = 1 << 4,  /* the state margin, exactly */
	NEED_SMAPS = 1 << 5,   /* the owners, unbacked, reserved, mapping count */
	NEED_COMM = 1 << 6,    /* comm alone: NEED_STAT has it too, at twice the price */
	NEED_HEAP = 1 << 7,    /* the heap's owners, and with that anon without them */
};

/* Those that make the memory be read. */
#define NEED_MEMORY (NEED_ROLLUP | NEED_STATES | NEED_SMAPS)

/* Where the memory figures come from; each gives all that the ones before it give. */
enum source {
	SOURCE_NONE,   /* nothing was read, or it could not be: see error */
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
 * The malloc in use, as the mapped files say, which a static one is not among; or, where
 * the heap was read, as the memory itself says.
 */
enum allocator {
	ALLOCATOR_UNKNOWN,
	ALLOCATOR_GLIBC,
	ALLOCATOR_MUSL,
	ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC,
	ALLOCATOR_MIMALLOC,
	ALLOCATOR_GO,
	ALLOCATOR_COUNT_
};

/* NULL for ALLOCATOR_UNKNOWN. Names are for machines, titles for a sentence: "glibc malloc". */
extern const char *const allocator_names[ALLOCATOR_COUNT_];
extern const char *const allocator_titles[ALLOCATOR_COUNT_];

/*
 * An allocator's own words, by a helper in the process: bytes, resident or not.
 * BYTES_UNKNOWN: not asked.
 */
struct said {
	uint64_t system_bytes; /* what it has from the kernel */
	uint64_t live_bytes;
	uint64_t pool_bytes;
	uint64_t cost_ns; /* how long the answer took, inside the process */
};

#define SAID_UNKNOWN { BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN }

#define MAPPING_COUNT_UNKNOWN UINT32_MAX

struct usage {
	struct process process;
	char *command; /* command line, arguments joined by blanks; NULL if not read. Owned. */

	enum source source;
	int error;	     /* 0, or the -errno that kept the memory from being read */
	uint64_t taken_ns;   /* when the memory was read, monotonic clock */
	uint64_t read_ns;    /* how long reading it took, pauses not counted; may be unknown */

	struct counters total;		       /* sums over all mappings, or the rollup */
	uint64_t state_bytes[STATE_COUNT_];    /* the matrix's state margin */
	struct matrix matrix;		       /* all unknown unless source is smaps */
	/*
	 * Of a recording's sample that has totals alone: usage_droppable_bytes() as they were
	 * when each mapping was read. BYTES_UNKNOWN elsewhere.
	 */
	uint64_t recorded_droppable_bytes;
	uint64_t unbacked_bytes;	       /* private anonymous, accessible: Size - Rss - Swap */
	uint64_t reserved_bytes;	       /* the same, PROT_NONE */
	uint64_t trimmable_bytes;	       /* what malloc_trim(0) would return */
	uint32_t mapping_count;
	enum allocator allocator;

	enum quality heap_quality; /* of the heap's owners and of trimmable_bytes */
	uint64_t heap_taken_ns;    /* when the walk was that they come from; 0: none */
	uint64_t heap_pause_ns;    /* how long the last walk stopped the process; 0: not stopped */
	bool heap_is_running;      /* it was read while the process ran: approximate */
	int heap_error;            /* 0, or the -errno that kept the last walk from being done */
	const char *heap_problem;  /* why what it found is not exact; NULL: it is. Static. */
	uint64_t heap_expected_ns; /* with -EFBIG: how long the walk would stop the process */
	bool heap_is_said;	   /* not walked: the figures are the allocator's own */

	struct said said;	    /* what the allocator said, whoever's figures are shown */
	const char *helper_problem; /* why it could not be asked, as it was to be; NULL. Static. */
};

void usage_init(struct usage *u);
void usage_release(struct usage *u);

/* A kernel thread or a zombie: no memory, and that is known. */
void usage_set_no_memory(struct usage *u);

/* Private_Clean + Private_Dirty, what would be freed if the process ended. */
uint64_t usage_uss_bytes(const struct usage *u);

/*
 * LazyFree pages that nobody else has: those the kernel can take at once. Exact from
 * smaps; from the rollup it may be too much.
 */
uint64_t usage_droppable_bytes(const struct usage *u);

/*
 * Anonymous memory, less that: what it takes that cannot be taken back without swap. Shared
 * memory is not among it: it may belong to others, and outlive the process.
 */
uint64_t usage_need_bytes(const struct usage *u);

/* Private_Hugetlb + Shared_Hugetlb: never part of Rss. */
uint64_t usage_hugetlb_bytes(const struct usage *u);

/*
 * Anonymous, shmem and file memory in huge pages (AnonHugePages + ShmemPmdMapped +
 * FilePmdMapped).
 */
uint64_t usage_thp_bytes(const struct usage *u);

/* Rss less the sum of the matrix, or of the state margin where owners were not read. */
uint64_t usage_unexplained_bytes(const struct usage *u);

struct snapshot {
	uint64_t taken_ns;     /* monotonic clock, when the sample began */
	uint64_t unix_ms;
	uint64_t elapsed_ns;   /* since the series began */
	uint64_t cost_ns;      /* CPU and waiting that the sample took */
	struct usage *usages;
	size_t count;
	size_t capacity;
	size_t unreadable_count; /* usages with error set for want of permission */
	size_t gone_count;	 /* ended while they were being read; not among usages */
};

void snapshot_init(struct snapshot *s);
void snapshot_release(struct snapshot *s);

/* Forget the usages, keep the storage. */
void snapshot_clear(struct snapshot *s);

/* A new, initialised usage at the end. Borrowed until the next add. */
struct usage *snapshot_add(struct snapshot *s);

/* The usage of pid, or NULL. */
struct usage *snapshot_find(const struct snapshot *s, int pid);

#endif
