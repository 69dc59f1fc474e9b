/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/trace.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "tracee/memory/expendable.h"
#include "tracee/ptrace/hold.h"

#ifndef NT_X86_XSTATE
#	define NT_X86_XSTATE 0x202
#endif
#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#	define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

/* the type of ptrace(2)'s first parameter: an enum in glibc, an int in musl */
#ifdef __GLIBC__
typedef enum __ptrace_request ptrace_request;
#else
typedef int ptrace_request;
#endif

#define MASK_BYTES sizeof(uint64_t)

/*
 * While a thread is about to stop, memstate polls its state continuously for SPIN_NS,
 * then every POLL_NS.
 */
#define SPIN_NS (50 * NS_PER_US)
#define POLL_NS (20 * NS_PER_US)

/*
 * The kernel may block the tracing thread itself. trace_run() checks every JOIN_NS
 * whether the thread has ended, and cancels it OVERDUE_NS after the limit.
 */
#define JOIN_NS (100 * NS_PER_MS)
#define OVERDUE_NS (200 * NS_PER_MS)

#define NICE_MIN (-20)

/*
 * Maximum time for a memory access. Only an access to a page that its file system does
 * not supply takes longer.
 */
#define ACCESS_NS (250 * NS_PER_MS)

/*
 * True in a tracing thread. A tracing thread must not hang, because it has to release the
 * target. A second thread, which can be abandoned, therefore makes all memory accesses
 * that can hang in the kernel.
 */
static _Thread_local bool is_tracing;
/* the thread that makes the accesses; NULL if it was not started or was abandoned */
static _Thread_local struct expendable *accessor;

struct run {
	int (*work)(void *context);
	void *context;
	int result;
};

static void end_accessor(void *unused)
{
	(void)unused;
	if (accessor)
		(void)expendable_end(accessor, NULL);
}

static void *run(void *arg)
{
	struct run *r = arg;
	int unused;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
	/* raise the priority, because the target waits while this thread works */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_MIN);
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	is_tracing = true;
	(void)expendable_new(&accessor);
	/* also end the accessor thread if join() cancels this thread */
	pthread_cleanup_push(end_accessor, NULL);
	r->result = r->work(r->context);
	pthread_cleanup_pop(1);
	return NULL;
}

/*
 * Wait for the tracing thread. If the thread has not ended at the deadline, the kernel
 * blocks it in PTRACE_SEIZE; then cancel the thread (see trace_seize()).
 */
static void join(pthread_t thread, uint64_t deadline_ns)
{
	struct timespec until;

	do {
		if (clock_now_ns() > deadline_ns)
			pthread_cancel(thread);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)JOIN_NS;
		if (until.tv_nsec >= (long)NS_PER_S) {
			until.tv_nsec -= (long)NS_PER_S;
			until.tv_sec++;
		}
	} while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
}

int trace_run(int (*work)(void *context), void *context, uint64_t limit_ns)
{
	struct run r = { work, context, -ETIMEDOUT };
	uint64_t deadline_ns;
	pthread_t thread;
	int err = hold_begin();

	if (err == -EAGAIN)
		return -EUSERS;
	if (err < 0)
		return err == -ENOMEM ? -ENOBUFS : err;
	deadline_ns = clock_now_ns() + limit_ns + OVERDUE_NS;
	err = thread_start(&thread, run, &r);
	if (err == 0)
		join(thread, deadline_ns);
	hold_end();
	return err < 0 ? err : r.result;
}

uint32_t trace_sign(uint32_t *word)
{
	/*
	 * The robust futex list that replaces the C library's list. The thread has no
	 * other robust futexes; see set_robust_list(2).
	 */
	static _Thread_local struct robust_list_head head;
	static _Thread_local struct robust_list entry;
	uint32_t number = (uint32_t)gettid();

	head.list.next = &head.list;
	head.list_op_pending = NULL;
	if (word) {
		*(volatile uint32_t *)word = number;
		head.futex_offset = (long)((uintptr_t)word - (uintptr_t)&entry);
		entry.next = &head.list;
		head.list.next = &entry;
	}
	syscall(SYS_set_robust_list, &head, sizeof(head));
	return number;
}

static int ask(ptrace_request request, int tid, void *addr, void *data)
{
	return ptrace(request, tid, addr, data) < 0 ? -errno : 0;
}

/*
 * Seize a thread. PTRACE_SEIZE waits while the process is in an execve(), so trace_run()
 * may have to cancel the calling thread in this function.
 */
int trace_seize(int tid)
{
	int r, unused;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &unused);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &unused);
	r = ask(PTRACE_SEIZE, tid, NULL, (void *)(intptr_t)PTRACE_O_TRACESYSGOOD);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
	return r;
}

int trace_interrupt(int tid)
{
	return ask(PTRACE_INTERRUPT, tid, NULL, NULL);
}

static enum trace_event event_of(const siginfo_t *info, int *ret_signal)
{
	int event = info->si_status >> 8, signal = info->si_status & 0xff;

	if (info->si_code != CLD_TRAPPED && info->si_code != CLD_STOPPED)
		return TRACE_ENDED;
	if (event == PTRACE_EVENT_STOP)
		return signal == SIGTRAP ? TRACE_STOPPED : TRACE_GROUP_STOP;
	if (signal == (SIGTRAP | 0x80))
		return TRACE_SYSCALL;
	*ret_signal = signal;
	return TRACE_SIGNAL;
}

int trace_wait(int tid, uint64_t limit_ns, enum trace_event *ret, int *ret_signal)
{
	const struct timespec poll = { .tv_nsec = (long)POLL_NS };
	uint64_t began_ns = clock_now_ns();

	for (;;) {
		siginfo_t info = { .si_pid = 0 };
		uint64_t waited_ns;

		if (waitid(P_PID, (id_t)tid, &info,
			   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
		    errno != EINTR)
			return -ESRCH;
		if (info.si_pid == tid) {
			*ret = event_of(&info, ret_signal);
			return 0;
		}
		waited_ns = clock_now_ns() - began_ns;
		if (waited_ns > limit_ns)
			return -ETIMEDOUT;
		if (waited_ns < SPIN_NS)
			sched_yield();
		else
			nanosleep(&poll, NULL);
	}
}

int trace_resume(int tid, enum trace_how how, int signal)
{
	return ask(how == TRACE_TO_SYSCALL ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
		   (void *)(intptr_t)signal);
}

int trace_detach(int tid, int signal)
{
	return ask(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
}

int trace_get_registers(int tid, void *ret, size_t size)
{
	struct iovec io = { ret, size };
	int r = ask(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io);

	return r < 0 ? r : io.iov_len == size ? 0 : -EOPNOTSUPP;
}

int trace_set_registers(int tid, const void *registers, size_t size)
{
	struct iovec io = { (void *)(uintptr_t)registers, size };

	return ask(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &io);
}

int trace_get_vectors(int tid, void *ret, size_t room, size_t *ret_size)
{
	struct iovec io = { ret, room };
	int r = ask(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &io);

	if (r < 0)
		return r;
	*ret_size = io.iov_len;
	return 0;
}

int trace_set_vectors(int tid, const void *vectors, size_t size)
{
	struct iovec io = { (void *)(uintptr_t)vectors, size };

	return ask(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &io);
}

int trace_get_mask(int tid, uint64_t *ret)
{
	return ask(PTRACE_GETSIGMASK, tid, (void *)MASK_BYTES, ret);
}

int trace_set_mask(int tid, uint64_t mask)
{
	return ask(PTRACE_SETSIGMASK, tid, (void *)MASK_BYTES, &mask);
}

int trace_get_rseq(int tid, uint64_t *ret_addr)
{
	struct {
		uint64_t addr;
		uint32_t size, signature, flags, pad;
	} configuration;

	if (ptrace((ptrace_request)PTRACE_GET_RSEQ_CONFIGURATION, tid,
		   (void *)sizeof(configuration), &configuration) < 0)
		return errno == EIO ? -EOPNOTSUPP : -errno;
	*ret_addr = configuration.addr;
	return 0;
}

struct access {
	/*
	 * if mem_fd is -1, process_vm_readv(2) or process_vm_writev(2) accesses
	 * the memory of tid
	 */
	int tid, mem_fd;
	bool is_write;
	uint64_t addr;
	size_t length;
	uint8_t bytes[];
};

static int do_access(void *context)
{
	struct access *a = context;
	struct iovec local = { a->bytes, a->length };
	struct iovec remote = { (void *)(uintptr_t)a->addr, a->length };
	ssize_t n;

	if (a->mem_fd >= 0)
		n = a->is_write ? pwrite(a->mem_fd, a->bytes, a->length, (off_t)a->addr)
				: pread(a->mem_fd, a->bytes, a->length, (off_t)a->addr);
	else
		n = a->is_write ? process_vm_writev(a->tid, &local, 1, &remote, 1, 0)
				: process_vm_readv(a->tid, &local, 1, &remote, 1, 0);
	return n < 0			  ? -errno
	       : (size_t)n == a->length	  ? 0
	       : n == 0 && a->mem_fd >= 0 ? -ESRCH
					  : -EFAULT;
}

/*
 * Perform the memory access, and free *a. In a tracing thread, the accessor thread
 * performs the access; if it hangs, return -ETIMEDOUT.
 */
static int run_access(struct access *a, void *to)
{
	int r = -ETIMEDOUT;

	if (!is_tracing)
		r = do_access(a);
	else if (accessor) {
		expendable_run(accessor, do_access, a);
		if (!expendable_wait(accessor, clock_now_ns() + ACCESS_NS, &r)) {
			if (!expendable_end(accessor, free))
				/* the abandoned thread frees *a when it ends */
				a = NULL;
			accessor = NULL;
			r = -ETIMEDOUT;
		}
	}
	if (r == 0 && to)
		memcpy(to, a->bytes, a->length);
	free(a);
	return r;
}

static struct access *new_access(int tid, int mem_fd, uint64_t addr, size_t length)
{
	struct access *a = xmalloc(sizeof(*a) + length);

	*a = (struct access){
		.tid = tid, .mem_fd = mem_fd, .addr = addr, .length = length
	};
	return a;
}

int trace_read_memory(int tid, uint64_t addr, void *to, size_t length)
{
	return run_access(new_access(tid, -1, addr, length), to);
}

int trace_read_opened(int mem_fd, uint64_t addr, void *to, size_t length)
{
	return run_access(new_access(0, mem_fd, addr, length), to);
}

static int write_memory(int tid, int mem_fd, uint64_t addr, const void *from,
			size_t length)
{
	struct access *a = new_access(tid, mem_fd, addr, length);

	a->is_write = true;
	memcpy(a->bytes, from, length);
	return run_access(a, NULL);
}

int trace_write_memory(int tid, uint64_t addr, const void *from, size_t length)
{
	return write_memory(tid, -1, addr, from, length);
}

/*
 * Write one word in the memory of a stopped thread, even where the thread itself may not
 * write. addr must be a multiple of 8.
 */
static int trace_write_word(int tid, uint64_t addr, uint64_t word)
{
	return ask(PTRACE_POKEDATA, tid, (void *)(uintptr_t)addr,
		   (void *)(uintptr_t)word);
}

/*
 * Write the range word by word; the first and the last word keep their other bytes. The
 * accessor thread reads each word first, to fault in its page: with an absent page,
 * PTRACE_POKEDATA would hang this thread until the page's file system answers.
 */
static int poke(int tid, uint64_t addr, const uint8_t *from, size_t length)
{
	for (size_t done = 0; done < length;) {
		uint64_t at = (addr + done) & ~(uint64_t)7, word = 0;
		size_t skip = (size_t)(addr + done - at);
		size_t part = sizeof(word) - skip < length - done ? sizeof(word) - skip
								  : length - done;
		int r = trace_read_memory(tid, at, &word, sizeof(word));

		memcpy((uint8_t *)&word + skip, from + done, part);
		if (r == 0)
			r = trace_write_word(tid, at, word);
		if (r < 0)
			return r;
		done += part;
	}
	return 0;
}

int trace_write_protected(int tid, int mem_fd, uint64_t addr, const void *from,
			  size_t length)
{
	int r = write_memory(tid, mem_fd, addr, from, length);

	/*
	 * do not retry after -ESRCH: the old address space is gone, and tid
	 * may have a new one
	 */
	return r == 0 || r == -ESRCH || r == -ETIMEDOUT ? r
							: poke(tid, addr, from, length);
}
