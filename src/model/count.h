/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - the calls that programs made of malloc and its like. Plain data.
 */
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
	CALL_NEW,    /* C++'s, of an allocator that has its own: else they are calls of malloc… */
	CALL_DELETE, /* …and of free */
	CALL_COUNT_
};

/* "malloc", …, as in a program's source. */
extern const char *const counted_call_names[CALL_COUNT_];

/* Any of these may be BYTES_UNKNOWN. */
struct count_sums {
	uint64_t calls[CALL_COUNT_];
	uint64_t allocation_calls; /* all of them but free and delete */
	uint64_t free_null_calls;  /* of free and delete: with NULL, which frees nothing */
	uint64_t failed_calls;	   /* of the allocation calls: they gave nothing */
	uint64_t requested_bytes;  /* of those that did not fail, as the program said it */
	uint64_t temporary_blocks; /* freed with no other call in that thread since they were allocated */
	uint64_t live_blocks;	   /* allocated, and not freed */
	uint64_t live_bytes;	   /* of these, usable */
};

#define COUNT_NAME_SIZE 16

struct count_thread {
	int tid; /* 0: all whose place was given to another after they had ended */
	bool is_main;
	char name[COUNT_NAME_SIZE]; /* when it allocated first */
	struct count_sums sums; /* live_…: unknown, as blocks move between threads */
};

/* How a program is counted that ran already. */
struct count_means {
	const char *method; /* "bpf" */
	char *how;     /* what that is, and where */
	char *blind;   /* what cannot be seen that way, with commas */
	char *refused; /* the ways that were tried before, as "NAME: why; …"; "" if there are none */
};

/* A program from exec, or from fork, to its end or to the next exec. */
struct count_program {
	int pid, parent_pid; /* as it sees them itself */
	unsigned int generation; /* 0: the first that was counted of that pid; by exec it became 1, and so on */
	char name[COUNT_NAME_SIZE];
	char allocator[256]; /* the file of the allocator below */
	bool is_forked;	      /* not begun by exec */
	bool has_other_malloc; /* the program's own comes first: its calls are not seen */
	bool has_other_new; /* the allocator has C++'s new and delete, and they were not counted */
	bool has_filter; /* it installed a seccomp filter while it was counted */
	bool has_ended;
	const struct count_means *means; /* NULL: since it began, by a library in it. Borrowed */
	uint64_t peak_live_bytes; /* the most of sums.live_bytes */
	uint64_t peak_error_bytes; /* how far off that may be */
	const char *uncovered; /* "Go's allocator": the program has it, and its calls are not counted; or NULL. Borrowed */
	uint64_t thread_count;	/* that called any of the functions, ever */
	uint64_t lost_threads;	/* that there was no room for: they are in no figure */
	uint64_t lost_children; /* that could not be counted */
	struct count_sums sums;
	struct count_thread *threads; /* by when they allocated first */
	size_t listed_count;
	size_t thread_capacity;
};

struct count_list {
	struct count_program *programs; /* by pid, then by generation */
	size_t count, capacity;
	size_t unreadable_count; /* files that hold no counts: there was no room for them */
};

#define COUNT_LIST_INIT { NULL, 0, 0, 0 }

/* What is reported of a program with an allocator of its own that cannot be counted. */
#define COUNT_UNCOVERED_FORMAT "%s is not covered; only calls of malloc are counted"
extern const char count_uncovered_go[];

void count_list_release(struct count_list *list);

/*
 * What a person means by a command: the last program that the process of that pid was;
 * where that is one that only starts another, as a shell, env or timeout, and has: that
 * other. NULL if it started several: they are all meant. Returns 0, or -ENOENT: nothing
 * was counted of the process.
 */
int count_list_find_command(const struct count_list *list, int pid,
			    const struct count_program **ret);

/* Begin with nothing counted, and add what is known of both. */
void count_sums_add(struct count_sums *sums, const struct count_sums *more);

#endif
