/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow - one thread of a process, stopped at a safe moment, that runs something for us
 * and then goes on where it was. The others run all the time. All of it is to be called
 * in trace_run().
 *
 * The thread gets back by itself, by the frame on its stack, if it is let go of at any time.
 */
#ifndef MS_PROBE_BORROW_H
#define MS_PROBE_BORROW_H

#include <dirent.h>

#include "model/mapping.h"
#include "probe/landmarks.h"
#include "probe/machine.h"
#include "probe/request.h"

struct borrow {
	const struct probe_request *request;
	const struct landmarks *marks;
	int process_fd; /* the process's directory in /proc */
	bool calls_libc; /* borrow_run() is to be called: no lock must be held that it needs */
	int mem_fd;	/* its mem, opened before marks were read: of the address space that they are of */
	struct probe_cost cost;
	const char *reason; /* why it failed last; static */
	const struct machine_state *earlier; /* of the thread earlier_tid, or NULL */
	int earlier_tid;

	/* borrow's own */
	struct machine_state *state;
	struct machine_code code;
	int tid;
	bool is_masked, handler_ran;
	enum borrow_place {
		BORROW_RESTS, /* as trace_interrupt() asked: where it can be given back from */
		BORROW_STOPS,
		BORROW_RUNS,
	} place;
	uint64_t stopped_at_ns;
	uint8_t *stack_bytes; /* what was where the frame is */
	uint64_t stack_addr;
	size_t stack_length;
};

/* What a process has mapped, by address; without counters. 0 or -errno. */
int borrow_read_mappings(int process_fd, struct mapping_list *ret);

/* The list of its threads, or NULL. The caller closes it. */
DIR *borrow_open_tasks(int process_fd);

/* A test may end memstate here: something in the target is changed next. */
void borrow_step(const struct borrow *b, const char *name);

/*
 * Choose a thread, the main one where that can be, and stop it. Returns 0; -EAGAIN if no
 * moment was safe in time;
 * -ESRCH, -EPERM, -EBUSY; -errno. Nothing is held then.
 */
int borrow_begin(struct borrow *b);

/*
 * A system call. *ret is its result, -errno included. Returns 0, or -errno: it is not
 * known to have ended.
 */
int borrow_syscall(struct borrow *b, const uint64_t call[7], long *ret);

/*
 * The stub, where it is now, with the order that is there. *ret is its result. Returns as
 * above.
 */
int borrow_run(struct borrow *b, uint64_t stub_addr, uint64_t order_addr, long *ret);

/* Let it go on where it was. Always to be called after borrow_begin() returned 0. */
int borrow_end(struct borrow *b);

/* Free what a borrow has, in every case. */
void borrow_release(struct borrow *b);

#endif
