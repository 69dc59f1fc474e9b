/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow - stop one thread of a process at a safe moment, have it run something for
 * memstate, and let it continue where it was. The other threads keep running. All
 * functions must be called within trace_run().
 *
 * If the thread is let go of at any time, the frame on its stack leads it back.
 */
#ifndef MS_PROBE_BORROW_BORROW_H
#define MS_PROBE_BORROW_BORROW_H

#include "model/mapping.h"
#include "probe/borrow/landmarks.h"
#include "probe/borrow/machine.h"
#include "probe/borrow/request.h"

struct borrow {
	const struct probe_request *request;
	const struct landmarks *marks;
	int process_fd; /* the process's directory in /proc */
	/*
	 * borrow_run() will be called, so the thread must hold no lock
	 * that the call needs
	 */
	bool calls_libc;
	/*
	 * /proc/PID/mem, opened before marks were read: refers to the same
	 * address space as they do
	 */
	int mem_fd;
	struct probe_cost cost;
	const char *reason; /* why the last call failed; static */
	/* saved state of the thread earlier_tid, or NULL */
	const struct machine_state *earlier;
	int earlier_tid;

	/* private to borrow */
	struct machine_state *state;
	struct machine_code code;
	int tid;
	bool is_masked, handler_ran;
	enum borrow_place {
		/* stopped by trace_interrupt(): the thread can be given back */
		BORROW_RESTS,
		BORROW_STOPS,
		BORROW_RUNS,
	} place;
	uint64_t stopped_at_ns;
	uint8_t *stack_bytes; /* the bytes that the frame has overwritten */
	uint64_t stack_addr;
	size_t stack_length;
};

/*
 * Call the test's hook before a step that changes the target; a test
 * may kill memstate there.
 */
void borrow_step(const struct borrow *b, const char *name);

/*
 * Choose a thread, preferably the main thread, and stop it. Return 0; -EAGAIN
 * if no moment was safe in time; -ESRCH, -EPERM, -EBUSY; -errno. After a
 * failure no thread is stopped.
 */
int borrow_begin(struct borrow *b);

/*
 * Run a system call. *ret is its result, which may be -errno. Return 0, or -errno if it
 * is unknown whether the call has ended.
 */
int borrow_syscall(struct borrow *b, const uint64_t call[7], long *ret);

/*
 * Run the stub at stub_addr with the order at order_addr. *ret is its result. Return
 * values as for borrow_syscall().
 */
int borrow_run(struct borrow *b, uint64_t stub_addr, uint64_t order_addr, long *ret);

/* Let the thread continue where it was. Required after borrow_begin() returned 0. */
int borrow_end(struct borrow *b);

/* Free the borrow's memory; needed in every case. */
void borrow_release(struct borrow *b);

#endif
