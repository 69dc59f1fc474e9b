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
	/* C++ new, if the allocator implements new. Otherwise new calls malloc. */
	CALL_NEW,
	CALL_DELETE, /* C++ delete, if the allocator implements delete */
	CALL_COUNT_
};

/* The functions' names as in source code: "malloc", … */
extern const char *const counted_call_names[CALL_COUNT_];

/* Sums of calls and bytes. Each figure may be BYTES_UNKNOWN. */
struct count_sums {
	uint64_t calls[CALL_COUNT_];
	uint64_t allocation_calls; /* calls to all functions except free and delete */
	/* Calls of free and delete with NULL, which free nothing. */
	uint64_t free_null_calls;
	/* Calls that should have returned a block and returned NULL. */
	uint64_t failed_calls;
	uint64_t requested_bytes; /* sum of the sizes requested by successful calls */
	/* Blocks freed before the thread called any other counted function. */
	uint64_t temporary_blocks;
	uint64_t live_blocks; /* number of live blocks: allocated and not yet freed */
	uint64_t live_bytes;  /* usable size of the live blocks */
};

#define COUNT_NAME_SIZE 16

struct count_thread {
	int tid; /* thread ID; 0: the sum of ended threads whose slots were reused */
	bool is_main;
	char name[COUNT_NAME_SIZE]; /* the thread's name at its first allocation */
	/* live_* are unknown because threads free each other's blocks. */
	struct count_sums sums;
};

/* How calls are counted in a program that was already running. */
struct count_means {
	const char *method; /* name of the method, such as "bpf" */
	char *description;  /* the method, and the functions that it hooks */
	char *unseen;	    /* calls that the method misses, separated by commas */
	/* why these counts are known to be incomplete, as a message; "" if complete */
	char *missed;
	/* Methods tried without success, as "NAME: reason; …"; "" if none. */
	char *refused;
};

/*
 * One program: what a process runs from exec or fork until it ends or calls exec again.
 */
struct count_program {
	int pid, parent_pid; /* as seen in the process's own PID namespace */
	/* 0 for the first program counted under this pid. Each exec adds 1. */
	unsigned int generation;
	char name[COUNT_NAME_SIZE];
	char allocator[256]; /* path of the allocator's file whose calls are counted */
	bool is_forked;	     /* the process was forked and did not call exec */
	/*
	 * The program defines its own malloc, which takes precedence. Calls of
	 * that malloc are not counted.
	 */
	bool has_other_malloc;
	/*
	 * The allocator implements C++ new and delete, but calls to new and delete were
	 * not counted.
	 */
	bool has_other_new;
	bool has_filter; /* the program installed a seccomp filter while it was counted */
	bool has_ended;
	/*
	 * How the calls were counted; NULL: by a preloaded library, from the program's
	 * start. Borrowed.
	 */
	const struct count_means *means;
	uint64_t peak_live_bytes;  /* highest value of sums.live_bytes so far */
	uint64_t peak_error_bytes; /* maximum error of peak_live_bytes */
	/*
	 * Name of a built-in allocator whose calls are not counted, such as "Go's
	 * allocator", or NULL. Borrowed.
	 */
	const char *uncovered;
	uint64_t thread_count; /* number of threads that called any of the functions */
	/*
	 * Threads for which there was no slot. No figure includes the calls
	 * of such threads.
	 */
	uint64_t lost_threads;
	uint64_t lost_children; /* child processes whose calls could not be counted */
	struct count_sums sums;
	/* Sorted by the time of each thread's first allocation. */
	struct count_thread *threads;
	size_t listed_count;
	size_t thread_capacity;
};

struct count_list {
	struct count_program *programs; /* sorted by pid, then by generation */
	size_t count, capacity;
	/* Number of count files that have no counts because there was no room. */
	size_t unreadable_count;
};

#define COUNT_LIST_INIT       \
	{                     \
		NULL, 0, 0, 0 \
	}

/* Message for a program with a built-in allocator that cannot be counted. */
#define COUNT_UNCOVERED_FORMAT "%s is not covered; only calls to malloc are counted"
extern const char count_uncovered_go[];

void count_list_release(struct count_list *list);

/*
 * Find the program that a user means by a command: the last program that ran under pid.
 * If it is a wrapper (a shell, env, timeout), return the only program that the wrapper
 * started. If the wrapper started several programs, the user means all of them: *ret is
 * set to NULL. Returns 0, or -ENOENT if nothing was counted under pid.
 */
int count_list_find_command(const struct count_list *list, int pid,
			    const struct count_program **ret);

/* Add *more to *sums. A sum is unknown if either of its terms is. */
void count_sums_add(struct count_sums *sums, const struct count_sums *more);

#endif
