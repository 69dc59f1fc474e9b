/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/stopped_work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"
#include "tracee/memory/expendable.h"

/*
 * Work counts as hung if it continues for more than HANG_NS after the release of the
 * target. The wait for its end is divided into slices of SLICE_NS. If memstate itself is
 * stopped during a slice, so is the work; that time therefore counts as only one slice.
 */
#define HANG_NS (2 * NS_PER_S)
#define SLICE_NS (20 * NS_PER_MS)

/* Maximum time to wait for a write that the work has begun. */
#define WRITE_NS (20 * NS_PER_MS)

/*
 * All data that the work's thread uses. The struct outlives stop_run() if the work hangs.
 */
struct stopped_work {
	struct stop stop;
	int (*work)(void *context, const struct stop *stop);
	void *context;
	struct expendable *thread;
	bool is_begun;
	/*
	 * The work holds this lock while it writes a word. The release of the target
	 * waits for the lock for a limited time.
	 */
	pthread_mutex_t lock;
	bool is_released; /* true once the target has been released */
	int mem_fd;
};

static void free_work(void *context)
{
	struct stopped_work *w = context;

	free(w->stop.threads);
	free(w->stop.words);
	if (w->mem_fd >= 0)
		close(w->mem_fd);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int stopped_work_new(const struct stop_request *request, struct stopped_work **ret)
{
	struct stopped_work *w = xcalloc(1, sizeof(*w));
	int r;

	pthread_mutex_init(&w->lock, NULL);
	w->stop.held = w;
	w->work = request->work;
	w->context = request->context;
	w->mem_fd = proc_thread_open(request->task_fd, request->pid, PROC_MEM, O_RDWR);
	r = expendable_new(&w->thread);
	if (r < 0) {
		free_work(w);
		return r;
	}
	*ret = w;
	return 0;
}

struct stop *stopped_work_stop(struct stopped_work *w)
{
	return &w->stop;
}

static int work(void *context)
{
	struct stopped_work *w = context;

	return w->work(w->context, &w->stop);
}

int stopped_work_run(struct stopped_work *w)
{
	int r;

	w->is_begun = true;
	expendable_run(w->thread, work, w);
	return expendable_wait(w->thread, w->stop.deadline_ns, &r) ? r : -ETIMEDOUT;
}

void stopped_work_forbid_writes(struct stopped_work *w)
{
	struct timespec until;
	bool is_locked;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)WRITE_NS;
	if (until.tv_nsec >= (long)NS_PER_S) {
		until.tv_nsec -= (long)NS_PER_S;
		until.tv_sec++;
	}
	is_locked = pthread_mutex_timedlock(&w->lock, &until) == 0;
	__atomic_store_n(&w->is_released, true, __ATOMIC_SEQ_CST);
	if (is_locked)
		pthread_mutex_unlock(&w->lock);
}

bool stop_has_ended(const struct stop *stop)
{
	return stop->held && __atomic_load_n(&stop->held->is_released, __ATOMIC_SEQ_CST);
}

struct word {
	int tid;
	uint64_t addr, word;
};

/*
 * Write a word in the tracing thread, because some kernels let only the tracer write to
 * read-only memory.
 */
static int poke(void *argument)
{
	const struct word *w = argument;

	return ptrace(PTRACE_POKEDATA, w->tid, (void *)(uintptr_t)w->addr,
		      (void *)(uintptr_t)w->word) < 0
		       ? -errno
		       : 0;
}

int stop_write_word(const struct stop *stop, uint64_t addr, uint64_t word)
{
	struct word argument = { stop->threads[0].tid, addr, word };
	struct stopped_work *w = stop->held;
	uint64_t unused;
	ssize_t n;
	int r;

	pthread_mutex_lock(&w->lock);
	if (stop_has_ended(stop)) {
		r = -ETIMEDOUT;
	} else {
		n = pwrite(w->mem_fd, &word, sizeof(word), (off_t)addr);
		r = n == sizeof(word) ? 0 : n < 0 ? -errno : -ESRCH;
	}
	/*
	 * The write failed, so the tracing thread has to write the word with ptrace.
	 * First read the word here, which faults in its page: if the page's file system
	 * does not answer, only this thread hangs, and not the tracing thread.
	 */
	if (r == -EIO && pread(w->mem_fd, &unused, sizeof(unused), (off_t)addr) < 0)
		r = -errno;
	if (r == -EIO && !stop_has_ended(stop))
		r = expendable_call_owner(w->thread, poke, &argument);
	pthread_mutex_unlock(&w->lock);
	return r;
}

bool stopped_work_end(struct stopped_work *w)
{
	bool is_busy = w->is_begun;
	int unused;

	for (uint64_t waited_ns = 0; is_busy && waited_ns < HANG_NS;
	     waited_ns += SLICE_NS)
		is_busy = !expendable_wait(w->thread, clock_now_ns() + SLICE_NS, &unused);
	if (!expendable_end(w->thread, free_work))
		return false;
	free_work(w);
	return true;
}
