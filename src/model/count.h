/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count - how often programs called malloc and related functions. Plain data. */
#ifndef MS_MODEL_COUNT_H
#define MS_MODEL_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counted_call {
	CALL_MALLOC,
	CALL_FREE,
	CALL_CALLOC,
	CALL_REALLOC,
	CALL_REALLOCARRAY,
	CALL_POSIX_MEMALIGN,
	CALL_ALIGNED_ALLOC,
	CALL_MEMALIGN,
	CALL_VALLOC,
	CALL_PVALLOC,
	/*
	 * Calls to C++ operator new, if the allocator defines it. Otherwise operator new
	 * calls malloc, and these calls are counted as CALL_MALLOC.
	 */
	CALL_NEW,
	CALL_DELETE, /* calls to operator delete, if the allocator defines it */
	CALL_COUNT_
};

/* The names of the functions as in source code: "malloc", … */
extern const char *const counted_call_names[CALL_COUNT_];

/* Counts of calls, blocks and bytes. Each figure may be BYTES_UNKNOWN. */
struct count_sums {
	uint64_t calls[CALL_COUNT_];
	uint64_t allocation_calls; /* calls to all functions except free and delete */
	/* Calls to free and delete with a NULL argument, which free nothing. */
	uint64_t free_null_calls;
	/* Calls that returned NULL although the caller requested a block. */
	uint64_t failed_calls;
	uint64_t requested_bytes; /* sum of the sizes requested by successful calls */
	/* Number of blocks that a thread allocated and freed in two consecutive calls. */
	uint64_t temporary_blocks;
	uint64_t live_blocks; /* number of live blocks: allocated and not yet freed */
	uint64_t live_bytes;  /* usable size of the live blocks */
};

#define COUNT_NAME_SIZE 16

struct count_thread {
	/* thread ID; 0 for the sum over all ended threads whose records were reused */
	int tid;
	bool is_main;
	char name[COUNT_NAME_SIZE]; /* the thread's name at its first allocation */
	/*
	 * The figures of the thread. The live_* figures are unknown, because threads free
	 * each other's blocks.
	 */
	struct count_sums sums;
};

/* How memstate counts the calls to malloc in a program that was already running. */
struct count_means {
	const char *method; /* name of the method, such as "bpf" */
	/* description of the method and of the functions that it hooks */
	char *description;
	char *unseen; /* calls that the method misses, separated by commas */
	/*
	 * error message that explains why the counts are incomplete; "" if they are
	 * complete
	 */
	char *missed;
	/*
	 * Methods that memstate tried without success, as "NAME: reason; …"; "" if none.
	 */
	char *refused;
};

/*
 * One program: the code that a process runs from its start, or from an execve(), until
 * the process exits or calls execve() again.
 */
struct count_program {
	int pid, parent_pid; /* pids in the process's own PID namespace */
	/*
	 * Number of the program under this pid: 0 for the first, and 1 more
	 * after each execve().
	 */
	unsigned int generation;
	char name[COUNT_NAME_SIZE];
	char allocator[256]; /* path of the allocator's file */
	/* true if the process was forked and has not called execve() */
	bool is_forked;
	/* True if the program defines its own malloc, whose calls are not counted. */
	bool has_other_malloc;
	/*
	 * True if the allocator defines the C++ operators new and delete, but memstate
	 * did not count calls to them.
	 */
	bool has_other_new;
	/*
	 * true if the program installed a seccomp filter while memstate counted its calls
	 */
	bool has_filter;
	bool has_ended;
	/*
	 * How memstate counted the calls. NULL if a preloaded library counted them from
	 * the start of the program. Borrowed.
	 */
	const struct count_means *means;
	uint64_t peak_live_bytes;  /* highest value of sums.live_bytes so far */
	uint64_t peak_error_bytes; /* maximum error of peak_live_bytes */
	/*
	 * Name of a built-in allocator whose calls memstate does not count, such as "Go's
	 * allocator", or NULL. Borrowed.
	 */
	const char *uncovered;
	uint64_t thread_count; /* number of threads that called any of the functions */
	/*
	 * Number of threads whose calls are not counted, because no slot for their counts
	 * was free.
	 */
	uint64_t lost_threads;
	/* number of child processes whose calls memstate could not count */
	uint64_t lost_children;
	struct count_sums sums;
	/* The threads, sorted by the time of their first allocation. */
	struct count_thread *threads;
	size_t listed_count;
	size_t thread_capacity;
};

struct count_list {
	struct count_program *programs; /* programs sorted by pid, then by generation */
	size_t count, capacity;
	/*
	 * Number of counts files of size 0. A process leaves such a file if it cannot
	 * count, for example because the disk is full.
	 */
	size_t unreadable_count;
};

#define COUNT_LIST_INIT       \
	{                     \
		NULL, 0, 0, 0 \
	}

/* Message for a program with a built-in allocator whose calls memstate cannot count. */
#define COUNT_UNCOVERED_FORMAT "%s is not covered; only calls to malloc are counted"
extern const char count_uncovered_go[];

void count_list_release(struct count_list *list);

/*
 * Find the program that the user's command refers to: the last program that ran under
 * pid. If it is a wrapper (a shell, env, timeout), find the only program that the wrapper
 * started. If the wrapper started several programs, set *ret to NULL, which stands for
 * all of them. Return 0, or -ENOENT if no program was counted under pid.
 */
int count_list_find_command(const struct count_list *list, int pid,
			    const struct count_program **ret);

/* Add *more to *sums. A sum is unknown if either term is unknown. */
void count_sums_add(struct count_sums *sums, const struct count_sums *more);

#endif
