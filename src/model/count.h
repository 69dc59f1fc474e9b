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
	/* C++ new of an allocator that implements it; otherwise new calls malloc. */
	CALL_NEW,
	CALL_DELETE, /* likewise; otherwise delete calls free */
	CALL_COUNT_
};

/* The function names as in source code: "malloc", … */
extern const char *const counted_call_names[CALL_COUNT_];

/* Each figure may be BYTES_UNKNOWN. */
struct count_sums {
	uint64_t calls[CALL_COUNT_];
	uint64_t allocation_calls; /* all calls except free and delete */
	/* Calls of free and delete with NULL, which free nothing. */
	uint64_t free_null_calls;
	uint64_t failed_calls;	  /* allocation calls that returned no memory */
	uint64_t requested_bytes; /* sizes that the successful calls requested */
	/* Freed before the thread made any other counted call. */
	uint64_t temporary_blocks;
	uint64_t live_blocks; /* allocated and not freed */
	uint64_t live_bytes;  /* usable size of the live blocks */
};

#define COUNT_NAME_SIZE 16

struct count_thread {
	int tid; /* 0: sum of ended threads whose slots were reused */
	bool is_main;
	char name[COUNT_NAME_SIZE]; /* as of its first allocation */
	struct count_sums sums; /* live_* are unknown: threads free each other's blocks */
};

/* How a program that was already running is counted. */
struct count_means {
	const char *method; /* "bpf" */
	char *how;	    /* a description of the method and of where it hooks in */
	char *blind;	    /* calls that the method misses, separated by commas */
	char *refused; /* methods that failed before, "NAME: reason; …"; "" if none */
};

/* One program: a process from exec or fork until it ends or calls exec again. */
struct count_program {
	int pid, parent_pid; /* in its own PID namespace */
	/* 0: the first program counted under this pid; each exec adds 1. */
	unsigned int generation;
	char name[COUNT_NAME_SIZE];
	char allocator[256]; /* file of the allocator whose calls are counted */
	bool is_forked;	     /* started by fork without exec */
	/* The program's own malloc takes precedence: its calls are not counted. */
	bool has_other_malloc;
	/* The allocator implements C++ new and delete, which were not counted. */
	bool has_other_new;
	bool has_filter; /* it installed a seccomp filter while being counted */
	bool has_ended;
	/* NULL: counted from its start by a preloaded library. Borrowed. */
	const struct count_means *means;
	uint64_t peak_live_bytes;  /* highest value of sums.live_bytes */
	uint64_t peak_error_bytes; /* possible error of peak_live_bytes */
	/*
	 * An allocator of the program's own whose calls are not counted ("Go's
	 * allocator"), or NULL. Borrowed.
	 */
	const char *uncovered;
	uint64_t thread_count;	/* threads that ever called one of the functions */
	uint64_t lost_threads;	/* threads without a slot: missing from every figure */
	uint64_t lost_children; /* child processes that could not be counted */
	struct count_sums sums;
	struct count_thread *threads; /* in order of their first allocation */
	size_t listed_count;
	size_t thread_capacity;
};

struct count_list {
	struct count_program *programs; /* by pid, then by generation */
	size_t count, capacity;
	size_t unreadable_count; /* files without counts, for lack of room for them */
};

#define COUNT_LIST_INIT       \
	{                     \
		NULL, 0, 0, 0 \
	}

/* Message for a program with an allocator of its own that cannot be counted. */
#define COUNT_UNCOVERED_FORMAT "%s is not covered; only calls of malloc are counted"
extern const char count_uncovered_go[];

void count_list_release(struct count_list *list);

/*
 * Find the program that a user means by a command: the last program that ran under pid.
 * If that program is a wrapper (a shell, env, timeout), return the only program it
 * started instead. Set *ret to NULL if the wrapper started several: all of them are
 * meant. Returns 0, or -ENOENT if nothing was counted under pid.
 */
int count_list_find_command(const struct count_list *list, int pid,
			    const struct count_program **ret);

/* Add *more to *sums. A figure that is unknown in either is unknown in the sum. */
void count_sums_add(struct count_sums *sums, const struct count_sums *more);

#endif
