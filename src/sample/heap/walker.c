/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/walker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/heap/copies.h"
#include "sample/heap/reader.h"

/*
 * Maximum size of a heap image whose buffer is kept for the next read. A larger buffer is
 * freed, because it would be idle most of the time.
 */
#define ROOM_KEPT_BYTES (UINT64_C(32) << 20)

struct heap_walker {
	struct procfs fs;
	struct sampler *sampler;
	struct heap_reader reader;
	struct heap_copies *copies;
	int wake_fd;

	/* the next two members are accessed only by the caller's thread */
	bool is_running;
	/* time at which cancellation of the read was first requested, or 0 */
	uint64_t cancelled_ns;

	/*
	 * the members up to `findings` are accessed only by the walker's thread
	 * while it runs
	 */
	struct heap_request request;
	struct helpers *helpers; /* the walker's own helper, or NULL */
	/* pid of the process that contains the walker's own helper */
	int helped_pid;
	struct heap_findings findings;

	atomic_bool is_cancelled;
	atomic_int progress_per_mille;

	/* helpers of the caller that the thread must free when it ends, or NULL */
	struct helpers *given_helpers;

	pthread_mutex_t lock; /* mutex for has_ended and is_abandoned */
	bool has_ended;
	bool is_abandoned;
};

static void destroy(struct heap_walker *w)
{
	helpers_free(w->helpers, NULL, NULL);
	helpers_free(w->given_helpers, NULL, NULL);
	heap_findings_release(&w->findings);
	heap_reader_release(&w->reader);
	heap_copies_free(w->copies);
	sampler_free(w->sampler);
	procfs_release(&w->fs);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

struct heap_walker *heap_walker_new(const struct procfs *fs)
{
	struct heap_walker *w = xcalloc(1, sizeof(*w));

	w->fs = *fs;
	w->fs.fd = fcntl(fs->fd, F_DUPFD_CLOEXEC, 0);
	w->sampler = sampler_new(&w->fs, fs->is_live);
	heap_reader_init(&w->reader, &w->fs, w->sampler, 0);
	w->copies = heap_copies_new();
	heap_findings_init(&w->findings);
	pthread_mutex_init(&w->lock, NULL);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fs.fd >= 0 && w->wake_fd >= 0)
		return w;
	destroy(w);
	return NULL;
}

void heap_walker_free(struct heap_walker *w)
{
	uint64_t waited_ns;
	bool is_ours;

	if (!w)
		return;
	heap_walker_cancel(w);
	/*
	 * Wait until the helper is removed, because memstate may exit afterwards. The
	 * wait is bounded, because every step of a read has a timeout. The caller may
	 * already have waited since it cancelled the read.
	 */
	waited_ns = clock_now_ns() - w->cancelled_ns;
	if (w->request.wants_helper && waited_ns < HEAP_WALKER_HELPER_NS)
		heap_walker_wait(w, HEAP_WALKER_HELPER_NS - waited_ns);
	pthread_mutex_lock(&w->lock);
	w->is_abandoned = true;
	is_ours = !w->is_running || w->has_ended;
	pthread_mutex_unlock(&w->lock);
	if (is_ours)
		destroy(w);
}

void heap_walker_give_helpers(struct heap_walker *w, struct helpers *helpers)
{
	w->given_helpers = helpers;
}

static bool update_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct heap_walker *w = context;

	atomic_store(&w->progress_per_mille,
		     (int)units_per_mille(done_bytes, total_bytes));
	return atomic_load(&w->is_cancelled);
}

static int read_once(struct heap_walker *w)
{
	const struct mark_progress progress = { update_progress, w };
	struct heap_findings *f = &w->findings;
	int r;

	r = heap_reader_read(&w->reader, &f->usage, &f->mappings, &f->heap);
	if (w->reader.own_sampler) {
		/* leak the old sampler, because a hung thread may still be using it */
		w->sampler = w->reader.own_sampler;
		w->reader.own_sampler = NULL;
	}
	if (r == 0 && !f->usage.error && w->request.wants_leaks)
		r = heap_leaks_scan(&w->reader, &f->mappings, &f->heap, &progress,
				    &f->leaks);
	return r;
}

/*
 * Prepare the helper of the process that is to be read, and remove the
 * helper of any other process.
 */
static void choose_helpers(struct heap_walker *w)
{
	const struct heap_request *request = &w->request;
	struct target_pid pid = { .pid = w->findings.usage.process.pid };
	const struct targets targets = { .pids = &pid, .pid_count = 1 };

	if (!request->wants_helper || w->helped_pid != pid.pid) {
		helpers_free(w->helpers, NULL, NULL);
		w->helpers = NULL;
	}
	w->helped_pid = pid.pid;
	if (request->wants_helper && !w->helpers)
		w->helpers = helpers_new(&w->fs, false, false);
	if (request->wants_helper && request->may_inject)
		helpers_allow(w->helpers, &targets);
	w->reader.helpers = request->helpers ? request->helpers : w->helpers;
}

static bool takes_too_long(int r)
{
	return r == -EFBIG || r == -ETIMEDOUT;
}

static void read_heap(struct heap_walker *w)
{
	struct heap_findings *f = &w->findings;
	uint64_t pause_ns;

	f->error = read_once(w);
	if (!takes_too_long(f->error) || w->request.stops != STOPS_SHORT_OR_NONE)
		return;
	f->refusal = f->error;
	pause_ns = f->heap.pause_ns;
	heap_release(&f->heap);
	w->reader.is_running = true;
	f->error = read_once(w);
	f->heap.pause_ns = pause_ns;
}

static void make_findings(struct heap_walker *w)
{
	struct heap_findings *f = &w->findings;
	struct futile_pids futile;

	choose_helpers(w);
	f->taken_ns = clock_now_ns();
	f->leaks.taken_ns = f->taken_ns;
	w->reader.is_running = w->request.stops == STOPS_NONE;
	w->reader.copies_roots = w->request.wants_leaks;
	w->reader.use = w->request.wants_leaks	  ? HEAP_USE_ALL
			: w->request.wants_detail ? HEAP_USE_DETAIL
						  : HEAP_USE_FIGURES;
	read_heap(w);
	f->is_running = w->reader.is_running;
	f->answer = w->reader.answer;
	w->reader.answer = (struct helper_answer){ .was_requested = false };
	if (w->request.wants_detail && heap_findings_are_known(f) &&
	    !f->heap.is_reported && !atomic_load(&w->is_cancelled)) {
		heap_reader_detail(&w->reader, &f->heap, &f->mappings, &f->detail);
		f->has_detail = true;
	}
	f->cost_ns = clock_now_ns() - f->taken_ns;
	/*
	 * A separate thread reads the process while the process is stopped. Count the
	 * whole stop as CPU time of that thread.
	 */
	f->cpu_ns = clock_thread_cpu_ns() + w->reader.survey_cpu_ns + f->heap.pause_ns;
	heap_copies_store(&w->reader);
	f->cpu_ns -= heap_copies_saved_ns(&w->reader);
	if (w->reader.image.capacity_bytes <= ROOM_KEPT_BYTES)
		return;
	futile = w->reader.futile;
	heap_reader_release(&w->reader);
	heap_reader_init(&w->reader, &w->fs, w->sampler, 0);
	w->reader.futile = futile;
}

static void *work(void *arg)
{
	struct heap_walker *w = arg;
	bool is_abandoned;

	make_findings(w);
	pthread_mutex_lock(&w->lock);
	w->has_ended = true;
	is_abandoned = w->is_abandoned;
	/*
	 * Notify the caller before unlocking, because the caller may free the walker as
	 * soon as the mutex is unlocked.
	 */
	eventfd_write(w->wake_fd, 1);
	pthread_mutex_unlock(&w->lock);
	if (is_abandoned)
		destroy(w);
	return NULL;
}

int heap_walker_start(struct heap_walker *w, const struct heap_request *request)
{
	int r;

	if (w->is_running)
		return -EBUSY;
	heap_findings_release(&w->findings);
	w->findings.usage.process = *request->process;
	w->request = *request;
	w->request.process = NULL;
	atomic_store(&w->is_cancelled, false);
	w->cancelled_ns = 0;
	atomic_store(&w->progress_per_mille, -1);
	w->reader.max_pause_ns = request->max_pause_ns;
	w->reader.pre_copy = request->pre_copy;
	w->reader.is_read_once = request->is_read_once;
	w->reader.copies = request->keeps_copies ? w->copies : NULL;
	w->has_ended = false;
	r = thread_start(NULL, work, w);
	w->is_running = r == 0;
	return r;
}

bool heap_walker_is_running(const struct heap_walker *w)
{
	return w->is_running;
}

void heap_walker_cancel(struct heap_walker *w)
{
	atomic_store(&w->is_cancelled, true);
	if (w->cancelled_ns == 0)
		w->cancelled_ns = clock_now_ns();
}

int heap_walker_progress_per_mille(struct heap_walker *w)
{
	return atomic_load(&w->progress_per_mille);
}

bool heap_walker_wait(struct heap_walker *w, uint64_t patience_ns)
{
	struct pollfd wake = { .fd = w->wake_fd, .events = POLLIN };
	uint64_t now_ns = clock_now_ns();
	uint64_t until_ns = patience_ns < UINT64_MAX - now_ns ? now_ns + patience_ns
							      : UINT64_MAX;
	int count;

	if (!w->is_running)
		return false;
	do {
		uint64_t rest_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		const struct timespec rest = { .tv_sec = (time_t)(rest_ns / NS_PER_S),
					       .tv_nsec = (long)(rest_ns % NS_PER_S) };

		count = ppoll(&wake, 1, &rest, NULL);
		now_ns = clock_now_ns();
	} while (count < 0 && errno == EINTR);
	return count > 0;
}

bool heap_walker_take(struct heap_walker *w, struct heap_findings *ret)
{
	eventfd_t count;
	bool has_ended;

	if (!w->is_running)
		return false;
	pthread_mutex_lock(&w->lock);
	has_ended = w->has_ended;
	pthread_mutex_unlock(&w->lock);
	if (!has_ended)
		return false;
	eventfd_read(w->wake_fd, &count);
	w->is_running = false;
	*ret = w->findings;
	heap_findings_init(&w->findings);
	return true;
}

void heap_walker_prune(struct heap_walker *w,
		       bool (*is_followed)(void *context, const struct process *process),
		       void *context)
{
	heap_copies_prune(w->copies, &w->fs, is_followed, context);
}

int heap_walker_fd(const struct heap_walker *w)
{
	return w->wake_fd;
}
