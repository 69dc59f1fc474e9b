/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/borrow.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/key_lines.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/blocked.h"
#include "probe/borrow/gates.h"
#include "probe/borrow/private.h"
#include "probe/borrow/safe_point.h"
#include "proc/process/dir.h"
#include "proc/smaps/maps.h"
#include "tracee/ptrace/trace.h"

/*
 * Limits on the attempts to stop a thread. Each stop pauses the thread for 0.1 to 2 ms.
 * The first attempts follow each other quickly; the pauses between later attempts grow.
 * In 5 seconds memstate makes about 60 attempts, during which the thread is stopped for
 * at most 2 % of its time.
 */
#define TRIES_MAX 100
#define QUICK_TRIES 12
/* lengthen the pause between attempts by a quarter after each attempt */
#define PAUSE_GROWTH_DIVISOR 4
#define PAUSE_MAX_NS (200 * NS_PER_MS)
/*
 * Pauses between attempts to stop a thread are random, so that the attempts do not always
 * hit the same phase of a loop in the program.
 */
#define PAUSE_MIN_NS (500 * NS_PER_US)
#define PAUSE_RANGE_NS (1500 * NS_PER_US)
/*
 * At first, stop the thread only while it waits for work. After this number of checks,
 * also accept other safe moments.
 */
#define IDLE_LOOKS 8
/*
 * For the first 1 / MAIN_ALONE_DIVISOR of the time limit, try to stop only the main
 * thread; after that, also try the other threads.
 */
#define MAIN_ALONE_DIVISOR 4
#define TURN_NS (500 * NS_PER_MS)

/*
 * Time limit for stopping a thread that is waiting for a CPU, as a multiple of
 * BORROW_STOP_LIMIT_NS.
 */
#define STOP_LIMITS_RUNNABLE 5

/*
 * Number of bytes reserved below the signal frame, where the injected stub
 * stores its answer.
 */
#define BELOW_FRAME_BYTES 64

static int explain_refusal(struct borrow *b, int error)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t tracer;

	if (error == -ESRCH)
		return borrow_fail(b, -ESRCH, "the process has exited");
	if (proc_dir_read_thread(b->process_fd, b->tid, PROC_STATUS, KEY_LINES_BYTES_MAX,
				 &text) == 0 &&
	    key_lines_find_u64(strbuf_text(&text), "TracerPid:", &tracer) && tracer != 0)
		return borrow_fail(b, -EBUSY,
				   "another tracer is attached to the process");
	return borrow_fail(b, error, gates_error_text(error));
}

/*
 * If the stop made the thread's system call return -EINTR, make the kernel restart the
 * call. Do this immediately after the stop, so that the program does not notice the stop
 * even if memstate is killed later.
 */
static int fix_result(struct borrow *b)
{
	long number, result;

	if (!machine_syscall(b->state, &number, &result) ||
	    blocked_result(number, result) == result)
		return 0;
	machine_set_result(b->state, blocked_result(number, result));
	return machine_restore_registers(b->tid, b->state);
}

/*
 * Parse a line of /proc/PID/stat such as "1234 (comm) R 1 …". Return true if the state
 * is R: the thread is running or waiting for a CPU.
 */
static bool is_runnable(const struct borrow *b)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *end;

	if (proc_dir_read_thread(b->process_fd, b->tid, PROC_STAT, 4096, &text) < 0)
		return false;
	end = strrchr(strbuf_text(&text), ')');
	return end && strncmp(end, ") R", 3) == 0;
}

/*
 * Wait until the thread stops. On a busy machine, a runnable thread may need a long time
 * to stop.
 */
static int wait_for_stop(struct borrow *b, enum trace_event *ret, int *ret_signal)
{
	int r = borrow_wait(b, BORROW_STOP_LIMIT_NS, ret, ret_signal);

	for (size_t i = 1; r == -ETIMEDOUT && i < STOP_LIMITS_RUNNABLE && is_runnable(b);
	     i++)
		r = borrow_wait(b, BORROW_STOP_LIMIT_NS, ret, ret_signal);
	return r;
}

/*
 * Stop the thread. Return 0, -EAGAIN if the thread stopped for a signal or a group stop
 * instead, or -errno.
 */
static int stop(struct borrow *b)
{
	enum trace_event event = TRACE_ENDED;
	int r, signal = 0;

	borrow_step(b, "seize");
	r = trace_seize(b->tid);
	if (r < 0)
		return explain_refusal(b, r);
	borrow_step(b, "interrupt");
	b->stopped_at_ns = clock_now_ns();
	r = trace_interrupt(b->tid);
	if (r == 0)
		r = wait_for_stop(b, &event, &signal);
	if (r == -ETIMEDOUT)
		return borrow_fail(b, r,
				   "the thread cannot be stopped: it is frozen, or in an "
				   "uninterruptible sleep");
	if (r == 0)
		r = machine_save(b->tid, b->state);
	if (r == 0 && b->earlier && b->earlier_tid == b->tid)
		machine_learn(b->state, b->earlier);
	if (r == 0)
		r = fix_result(b);
	if (r == 0 && event == TRACE_STOPPED)
		return 0;
	borrow_resume(b, signal);
	if (r < 0)
		return borrow_fail(b, r,
				   r == -EOPNOTSUPP ? "the thread is running 32-bit code"
						    : "the process has exited");
	return borrow_fail(b, -EAGAIN,
			   event == TRACE_GROUP_STOP
				   ? "the process is stopped by a signal"
				   : "signals arrived continuously");
}

/*
 * Return the number of the thread's current system call, or -1 if the thread is not in a
 * system call or the number cannot be read. *ret receives the line in
 * /proc/PID/task/TID/syscall, such as "232 0x5 … 0x7ffe… 0x7f…".
 */
static long read_syscall(const struct borrow *b, int tid, struct strbuf *ret)
{
	strbuf_clear(ret);
	if (proc_dir_read_thread(b->process_fd, tid, PROC_SYSCALL, 256, ret) < 0 ||
	    strbuf_text(ret)[0] < '0' || strbuf_text(ret)[0] > '9')
		return -1;
	return strtol(strbuf_text(ret), NULL, 10);
}

/*
 * Return 0 if the given code is at addr, -EILSEQ if other code is there, or another
 * -errno if the memory cannot be read.
 */
static int compare_code(const struct borrow *b, uint64_t addr, const uint8_t *expected,
			size_t length)
{
	uint8_t code[16];
	int r = trace_read_opened(b->mem_fd, addr, code, length);

	return r < 0 ? r : memcmp(code, expected, length) == 0 ? 0 : -EILSEQ;
}

/*
 * Check that libc's code is still mapped. The check fails after an execve(2), because
 * mem_fd still refers to the old address space.
 */
static int check_code(struct borrow *b)
{
	size_t length;
	const uint8_t *expected = machine_sigreturn_code(&length);
	int r = compare_code(b, b->marks->sigreturn_addr, expected, length);

	if (r < 0 && r != -ETIMEDOUT)
		return borrow_fail(b, -ESRCH, "the process has executed another program");
	if (r == 0) {
		expected = machine_syscall_code(&length);
		r = compare_code(b, b->marks->syscall_addr, expected, length);
	}
	if (r == -ETIMEDOUT)
		return borrow_fail(b, r,
				   "the process's memory could not be read in time");
	if (r < 0)
		return borrow_fail(
			b, -EOPNOTSUPP,
			"the process's libc in memory differs from the file on disk");
	return 0;
}

static int check_moment(struct borrow *b, const struct mapping_list *mappings)
{
	struct safe_point where = { b->marks, mappings, b->request->pid };
	int r;

	r = check_code(b);
	if (r < 0 || b->request->trusts_any_moment)
		return r;
	r = safe_point_check(&where, b->tid, b->state, &b->reason);
	return r == 0 && b->calls_libc
		       ? safe_point_check_locks(&where, b->tid, b->state, &b->reason)
		       : r;
}

static int write_frame(struct borrow *b)
{
	_cleanup_free_ uint8_t *frame = xcalloc(1, MACHINE_FRAME_MAX);
	size_t length;
	int r;

	length = machine_frame(b->state, b->marks->sigreturn_addr, frame,
			       &b->code.frame_addr);
	if (length == 0)
		return -E2BIG;
	b->stack_addr = b->code.frame_addr - BELOW_FRAME_BYTES;
	b->stack_length = length + BELOW_FRAME_BYTES;
	b->stack_bytes = xrealloc(b->stack_bytes, b->stack_length);
	r = trace_read_memory(b->request->pid, b->stack_addr, b->stack_bytes,
			      b->stack_length);
	if (r < 0)
		return r;
	borrow_step(b, "frame");
	return trace_write_memory(b->request->pid, b->code.frame_addr, frame, length);
}

static int stop_safely(struct borrow *b, const struct mapping_list *mappings)
{
	int r = stop(b);

	if (r < 0)
		return r;
	r = check_moment(b, mappings);
	if (r == 0) {
		b->place = BORROW_IS_INTERRUPTED;
		r = write_frame(b);
		if (r < 0)
			b->reason = "its stack has no free space";
	}
	if (r < 0)
		borrow_resume(b, 0);
	return r == -EFAULT ? -EAGAIN : r;
}

/* Make one attempt to stop the thread at a safe moment. Return 0 on success. */
static int try_thread(struct borrow *b, int tid)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	int r;

	b->tid = tid;
	b->cost.tries++;
	/*
	 * Read the mappings before the stop, to keep the stop short. They must be read
	 * for each attempt, because they change as stacks grow and threads start.
	 */
	r = proc_maps_read(b->process_fd, &mappings);
	if (r == 0)
		r = stop_safely(b, &mappings);
	mapping_list_release(&mappings);
	return r;
}

static uint64_t random_pause_ns(unsigned int tries)
{
	uint64_t ns = PAUSE_MIN_NS + (uint64_t)random() % PAUSE_RANGE_NS;

	for (; tries > QUICK_TRIES && ns < PAUSE_MAX_NS; tries--)
		ns += ns / PAUSE_GROWTH_DIVISOR;
	return ns < PAUSE_MAX_NS ? ns : PAUSE_MAX_NS;
}

static void pause_ns(uint64_t ns)
{
	const struct timespec time = { .tv_nsec = (long)ns };

	nanosleep(&time, NULL);
}

/*
 * Return true if this is a good moment to stop the thread. `looks` is the number of
 * checks so far. Until it reaches IDLE_LOOKS, accept only a thread that is waiting for
 * work; later, accept any moment at which the program cannot notice the stop.
 */
static bool is_moment(long number, unsigned int looks)
{
	enum blocked_kind kind = blocked_kind(number);

	/*
	 * while the thread is in restart_syscall(2), the number of the system call that
	 * it continues cannot be read before the thread has stopped
	 */
	return kind == BLOCKED_IDLE || number == SYS_restart_syscall ||
	       (kind != BLOCKED_FRAGILE && looks >= IDLE_LOOKS);
}

/*
 * Try to stop one thread safely until the deadline, preferably while the thread waits
 * for work. Make no attempt during a system call that would report the interruption to
 * the program. After a failed attempt, do not try again while the thread is still in the
 * same system call.
 */
static int try_until(struct borrow *b, int tid, uint64_t deadline_ns)
{
	_cleanup_strbuf_ struct strbuf now = STRBUF_INIT, refused = STRBUF_INIT;
	uint64_t next_ns = 0;
	unsigned int looks = 0;
	int r = borrow_fail(b, -EAGAIN,
			    "at each attempt, the thread was in a system call that must "
			    "not be interrupted");

	while (b->cost.tries < TRIES_MAX) {
		if (b->is_interruptible && interrupt_is_pending())
			return borrow_fail(b, -EINTR,
					   "memstate received a signal to "
					   "terminate");
		long number = read_syscall(b, tid, &now);

		if (clock_now_ns() >= next_ns && is_moment(number, ++looks) &&
		    (number < 0 ||
		     strcmp(strbuf_text(&now), strbuf_text(&refused)) != 0)) {
			r = try_thread(b, tid);
			if (r != -EAGAIN)
				return r;
			looks = 0;
			(void)read_syscall(b, tid, &refused);
			next_ns = clock_now_ns() + random_pause_ns(b->cost.tries);
		}
		if (clock_now_ns() > deadline_ns)
			break;
		pause_ns(random_pause_ns(0));
	}
	return r;
}

/* Try once to stop each thread except the main thread. */
static int try_others(struct borrow *b, uint64_t deadline_ns)
{
	_cleanup_closedir_ DIR *tasks = proc_dir_list_threads(b->process_fd);
	_cleanup_strbuf_ struct strbuf now = STRBUF_INIT;
	struct dirent *entry;
	int r = -EAGAIN;

	if (!tasks)
		return borrow_fail(b, -ESRCH, "the process has exited");
	while (r == -EAGAIN && clock_now_ns() < deadline_ns &&
	       b->cost.tries < TRIES_MAX && (entry = readdir(tasks))) {
		int tid;

		if (num_parse_pid(entry->d_name, &tid) < 0 || tid == b->request->pid ||
		    blocked_kind(read_syscall(b, tid, &now)) == BLOCKED_FRAGILE)
			continue;
		r = try_thread(b, tid);
		b->cost.in_other_thread = r == 0;
	}
	return r;
}

/*
 * Try the main thread first. If memstate made another thread call pthread_create(),
 * which allocates memory, glibc could create a malloc arena for that thread.
 */
int borrow_begin(struct borrow *b)
{
	uint64_t now_ns = clock_now_ns(), deadline_ns = now_ns + b->request->limit_ns;
	uint64_t until_ns = now_ns + b->request->limit_ns / MAIN_ALONE_DIVISOR;
	const char *reason;
	int r;

	if (!b->state)
		b->state = machine_state_new();
	for (;;) {
		r = try_until(b, b->request->pid, until_ns);
		/*
		 * on -EPERM, continue: the main thread may have ended while other
		 * threads are still running
		 */
		if (r != -EAGAIN && r != -ETIMEDOUT && r != -EPERM)
			return r;
		reason = b->reason;
		if (try_others(b, deadline_ns) == 0)
			return 0;
		b->reason = reason;
		now_ns = clock_now_ns();
		if (r != -EAGAIN || now_ns >= deadline_ns || b->cost.tries >= TRIES_MAX)
			return r == -ETIMEDOUT ? -EAGAIN : r;
		until_ns = now_ns + TURN_NS < deadline_ns ? now_ns + TURN_NS
							  : deadline_ns;
	}
}
