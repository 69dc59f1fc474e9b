/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/borrow.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/private.h"
#include "tracee/ptrace/trace.h"

#define CALL_LIMIT_NS (3 * NS_PER_S)
#define LOOK_NS (20 * NS_PER_US)
#define RETURN_LOOKS 50

void borrow_step(const struct borrow *b, const char *name)
{
	if (b->request->step)
		b->request->step(b->request->context, name);
}

int borrow_fail(struct borrow *b, int error, const char *reason)
{
	b->reason = reason;
	return error;
}

int borrow_wait(struct borrow *b, uint64_t limit_ns, enum trace_event *ret,
		int *ret_signal)
{
	int r = trace_wait(b->tid, limit_ns, ret, ret_signal);

	if (r == 0 && *ret == TRACE_ENDED)
		r = -ESRCH;
	if (r == 0)
		b->cost.stops++;
	return r;
}

void borrow_resume(struct borrow *b, int signal)
{
	(void)trace_detach(b->tid, signal);
	b->cost.stopped_ns += clock_now_ns() - b->stopped_at_ns;
}

/* Resume the thread, and wait for a stop that is neither a signal nor a group stop. */
static int resume_until_stop(struct borrow *b, enum trace_how how, uint64_t limit_ns,
			     enum trace_event *ret)
{
	int signal = 0;

	*ret = TRACE_ENDED;
	for (;;) {
		int r = trace_resume(b->tid, how, signal);

		if (r == 0)
			r = borrow_wait(b, limit_ns, ret, &signal);
		if (r < 0 || *ret == TRACE_SYSCALL || *ret == TRACE_STOPPED)
			return r;
		b->handler_ran = b->handler_ran || *ret == TRACE_SIGNAL;
		if (*ret != TRACE_SIGNAL)
			signal = 0;
	}
}

/*
 * Block signals in the thread. Do this last: if memstate is killed earlier, the thread
 * still has its original signal mask.
 */
static int block_signals(struct borrow *b)
{
	if (b->is_masked)
		return 0;
	borrow_step(b, "mask");
	b->is_masked = true;
	return machine_block_signals(b->tid);
}

int borrow_syscall(struct borrow *b, const uint64_t call[7], long *ret)
{
	unsigned int stops = 0;
	int r;

	b->code.syscall_addr = b->marks->syscall_addr;
	b->place = BORROW_IS_STOPPED;
	borrow_step(b, "registers of a system call");
	r = machine_begin_syscall(b->tid, b->state, &b->code, call);
	if (r == 0)
		r = block_signals(b);
	/* a traced thread stops at the start of a system call, and again at its end */
	while (r == 0 && stops < 2) {
		enum trace_event event;

		borrow_step(b, stops == 0 ? "system call" : "end of the system call");
		r = resume_until_stop(b, TRACE_TO_SYSCALL, CALL_LIMIT_NS, &event);
		if (r == 0 && event == TRACE_SYSCALL)
			r = machine_is_at_syscall(b->tid, &b->code, (long)call[0], ret);
		if (r > 0) {
			stops++;
			r = 0;
		}
	}
	return r;
}

/* A part of the thread's stack that memstate has overwritten. */
struct overwritten {
	uint64_t addr;
	size_t length;
	uint8_t *bytes;
};

/*
 * Write to the thread's stack the signal frame that makes the thread execute the call.
 * The frame is below the frame that returns the thread to its own code.
 */
static int write_call_frame(struct borrow *b, const uint64_t call[7],
			    struct overwritten *ret)
{
	_cleanup_free_ uint8_t *frame = xcalloc(1, MACHINE_FRAME_MAX);
	int r;

	b->code.syscall_addr = b->marks->syscall_addr;
	ret->length = machine_call_frame(b->state, &b->code, b->marks->sigreturn_addr,
					 call, frame, &ret->addr);
	if (ret->length == 0)
		return -E2BIG;
	ret->bytes = xmalloc(ret->length);
	r = trace_read_memory(b->request->pid, ret->addr, ret->bytes, ret->length);
	if (r < 0)
		return r;
	borrow_step(b, "frame of the second call");
	return trace_write_memory(b->request->pid, ret->addr, frame, ret->length);
}

int borrow_open_briefly(struct borrow *b, const uint64_t call[7], int expected_fd,
			int (*use)(void *context, int fd), void *context, long *ret_fd)
{
	uint64_t close_call[7] = { SYS_close, (uint64_t)expected_fd };
	struct overwritten stack = { 0, 0, NULL };
	uint64_t frame_addr = b->code.frame_addr;
	int r = write_call_frame(b, close_call, &stack), closed = 0;
	long unused;

	if (r < 0)
		b->reason = "its stack has no free space";
	if (r == 0) {
		b->code.frame_addr = stack.addr;
		r = borrow_syscall(b, call, ret_fd);
		b->code.frame_addr = frame_addr;
	}
	if (r == 0 && *ret_fd >= 0) {
		borrow_step(b, "descriptor");
		r = use(context, (int)*ret_fd);
		close_call[1] = (uint64_t)*ret_fd;
		closed = borrow_syscall(b, close_call, &unused);
	}
	if (stack.bytes)
		(void)trace_write_memory(b->request->pid, stack.addr, stack.bytes,
					 stack.length);
	free(stack.bytes);
	return r < 0 ? r : closed;
}

static int wait_for_answer(struct borrow *b, long *ret)
{
	uint64_t deadline_ns = clock_now_ns() + CALL_LIMIT_NS;
	enum trace_event event = TRACE_ENDED;
	struct machine_answer answer = { 0, 0 };
	int r, signal;

	for (;;) {
		signal = 0;
		r = borrow_wait(b, LOOK_NS, &event, &signal);
		if (r == 0) {
			b->handler_ran = b->handler_ran || event == TRACE_SIGNAL;
			r = trace_resume(b->tid, TRACE_ON,
					 event == TRACE_SIGNAL ? signal : 0);
		}
		if (r < 0 && r != -ETIMEDOUT)
			return r;
		r = trace_read_memory(b->request->pid, machine_answer_addr(&b->code),
				      &answer, sizeof(answer));
		if (r < 0)
			return r;
		if (answer.is_done) {
			*ret = answer.result;
			return 0;
		}
		if (clock_now_ns() > deadline_ns)
			return borrow_fail(b, -ETIMEDOUT,
					   "the code that memstate runs in one of the "
					   "process's threads has not finished");
	}
}

/*
 * Stop the thread before it executes any of its own code. Only then can the kernel still
 * resume the interrupted system call.
 */
static int stop_again(struct borrow *b)
{
	enum trace_event event = TRACE_ENDED;
	int r, signal = 0;

	borrow_step(b, "interrupt for the return");
	r = trace_interrupt(b->tid);
	if (r == 0 && b->place != BORROW_IS_RUNNING)
		r = trace_resume(b->tid, TRACE_ON, 0);
	for (;;) {
		if (r == 0)
			r = borrow_wait(b, BORROW_STOP_LIMIT_NS, &event, &signal);
		if (r < 0 || event == TRACE_STOPPED || event == TRACE_GROUP_STOP)
			return r;
		b->handler_ran = b->handler_ran || event == TRACE_SIGNAL;
		r = trace_resume(b->tid, TRACE_ON, event == TRACE_SIGNAL ? signal : 0);
	}
}

/*
 * Stop the borrowed thread while it executes the code that memstate made it run. If a
 * signal handler of libc is running, let the handler finish first. Return -EALREADY if
 * the thread has already returned to the program's code.
 */
static int stop_borrowed(struct borrow *b)
{
	const struct timespec time = { .tv_nsec = (long)NS_PER_MS };
	int r;

	for (size_t i = 0; b->place != BORROW_IS_INTERRUPTED; i++) {
		r = stop_again(b);
		if (r == 0)
			r = machine_is_borrowed(b->tid, &b->code);
		if (r < 0)
			return r;
		if (r == 0 && i == RETURN_LOOKS)
			return -EALREADY;
		b->place = r > 0 ? BORROW_IS_INTERRUPTED : BORROW_IS_RUNNING;
		if (r > 0)
			break;
		r = trace_resume(b->tid, TRACE_ON, 0);
		if (r < 0)
			return r;
		nanosleep(&time, NULL);
	}
	return 0;
}

int borrow_run(struct borrow *b, uint64_t stub_addr, uint64_t order_addr, long *ret)
{
	const struct machine_answer none = { 0, 0 };
	int r;

	b->code.stub_addr = stub_addr;
	b->code.order_addr = order_addr;
	r = trace_write_memory(b->request->pid, machine_answer_addr(&b->code), &none,
			       sizeof(none));
	if (r < 0)
		return r;
	borrow_step(b, "registers of the call");
	r = machine_begin_stub(b->tid, b->state, &b->code);
	if (r == 0)
		r = block_signals(b);
	borrow_step(b, "call");
	if (r == 0)
		r = trace_resume(b->tid, TRACE_ON, 0);
	b->place = BORROW_IS_RUNNING;
	if (r == 0)
		r = wait_for_answer(b, ret);
	return r < 0 ? r : stop_borrowed(b);
}

static int release_thread(struct borrow *b)
{
	int r;

	r = stop_borrowed(b);
	if (r < 0)
		return r;
	/*
	 * once a signal handler has run, the kernel has discarded the remaining time of
	 * an interrupted sleep
	 */
	if (b->handler_ran)
		machine_restart_sleep(b->state);
	borrow_step(b, "vectors and mask back");
	r = machine_restore_vectors_and_mask(b->tid, b->state);
	borrow_step(b, "registers back");
	if (r == 0)
		r = machine_restore_registers(b->tid, b->state);
	borrow_step(b, "stack back");
	if (r == 0)
		(void)trace_write_memory(b->request->pid, b->stack_addr, b->stack_bytes,
					 b->stack_length);
	return r;
}

int borrow_end(struct borrow *b)
{
	int r = release_thread(b);

	borrow_step(b, "detach");
	borrow_resume(b, 0);
	b->is_masked = false;
	return r == -EALREADY ? 0 : r;
}

void borrow_release(struct borrow *b)
{
	free(b->stack_bytes);
	machine_state_free(b->state);
	b->stack_bytes = NULL;
	b->state = NULL;
}
