/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow - stop one thread of a process at a safe moment, make it execute a system call
 * or a function for memstate, and then let it continue where it was stopped. The other
 * threads keep running.
 *
 * All functions must be called within trace_run(). If memstate is killed during a call,
 * the thread returns to its own code through a signal frame that memstate has written to
 * its stack.
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
	int process_fd; /* descriptor of /proc/PID */
	/*
	 * true if borrow_run() will make the thread call a libc function; the thread
	 * must then not hold a lock that this function needs
	 */
	bool calls_libc;
	/*
	 * true if borrow_begin() must fail with -EINTR when a signal asks memstate to
	 * exit
	 */
	bool is_interruptible;
	/*
	 * descriptor of /proc/PID/mem, opened before the mappings were read, so that the
	 * descriptor and the mappings refer to the same address space
	 */
	int mem_fd;
	struct probe_cost cost;
	const char *reason; /* a static string that explains why the last call failed */
	/*
	 * the state that was saved when the thread earlier_tid was stopped earlier, or
	 * NULL
	 */
	const struct machine_state *earlier;
	int earlier_tid;

	/* the following members are used only by the implementation */
	struct machine_state *state;
	struct machine_code code;
	int tid;
	bool is_masked, handler_ran;
	enum borrow_place {
		/*
		 * stopped by trace_interrupt(); the thread's state can be restored
		 */
		BORROW_IS_INTERRUPTED,
		BORROW_IS_STOPPED,
		BORROW_IS_RUNNING,
	} place;
	uint64_t stopped_at_ns;
	/*
	 * saved bytes of the thread's stack, which memstate overwrote
	 * with the signal frame
	 */
	uint8_t *stack_bytes;
	uint64_t stack_addr;
	size_t stack_length;
};

/*
 * Call the callback that a test has set, before a step that changes the target. A test
 * may kill memstate in that callback.
 */
void borrow_step(const struct borrow *b, const char *name);

/*
 * Choose a thread, preferably the main thread, and stop it. Return 0; -EAGAIN if no
 * thread could be stopped safely before the timeout; -ESRCH, -EPERM, -EBUSY; or another
 * -errno. After a failure no thread is stopped.
 */
int borrow_begin(struct borrow *b);

/*
 * Make the borrowed thread execute a system call. *ret is the call's result, which may
 * be -errno. Return 0, or -errno if it is unknown whether the call has ended.
 */
int borrow_syscall(struct borrow *b, const uint64_t call[7], long *ret);

/*
 * Make the borrowed thread open a descriptor with the system call `call`, then call
 * use(context, fd) in memstate, and finally make the thread close the descriptor. If
 * memstate is killed while the descriptor is open, the thread closes it before it returns
 * to the program's code. memstate prepares this in advance, so it must know which number
 * the descriptor will have: expected_fd. The other threads must be stopped
 * (track/others.h).
 *
 * *ret_fd is the result of the system call, which may be -errno. Return 0, an error from
 * use(), or another -errno.
 */
int borrow_open_briefly(struct borrow *b, const uint64_t call[7], int expected_fd,
			int (*use)(void *context, int fd), void *context, long *ret_fd);

/*
 * Make the borrowed thread execute the stub, the code at stub_addr, with the parameters
 * (struct machine_order) at order_addr. *ret is the stub's result. Return 0, or -errno
 * if it is unknown whether the stub has ended.
 */
int borrow_run(struct borrow *b, uint64_t stub_addr, uint64_t order_addr, long *ret);

/*
 * Let the borrowed thread continue where it was stopped. Must be called if borrow_begin()
 * returned 0.
 */
int borrow_end(struct borrow *b);

/* Free the memory of b; must always be called, even if borrow_begin() failed. */
void borrow_release(struct borrow *b);

#endif
