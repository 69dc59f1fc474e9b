/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/heap_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/heap/reader.h"

/*
 * Largest heap image whose memory is kept for the next read; larger ones are freed
 * between reads.
 */
#define ROOM_KEPT_BYTES (UINT64_C(64) << 20)

/* Longer than the helper takes to reach a safe moment and to answer. */
#define HELPER_WAIT_MS 10000

struct heap_job {
	struct procfs fs;
	bool no_stop;
	struct sampler *sampler;
	struct heap_reader reader;
	int wake_fd;

	/* used only by the caller */
	bool is_running;

	/* used by the thread while it runs */
	struct heap_request request;
	int pid;		 /* pid of the last process read */
	struct helpers *helpers; /* NULL: no helper is wanted */
	struct heap_findings findings;

	atomic_bool is_cancelled;
	atomic_int progress_per_mille;

	pthread_mutex_t lock; /* protects the members below */
	bool has_ended;
	bool is_abandoned;
};

void heap_findings_init(struct heap_findings *f)
{
	*f = (struct heap_findings){
		.mappings = MAPPING_LIST_INIT,
		.detail = HEAP_DETAIL_INIT,
	};
	usage_init(&f->usage);
	heap_init(&f->heap);
}

void heap_findings_release(struct heap_findings *f)
{
	usage_release(&f->usage);
	mapping_list_release(&f->mappings);
	heap_release(&f->heap);
	heap_detail_release(&f->detail);
	heap_leaks_release(&f->leaks);
	helper_answer_release(&f->answer);
	heap_findings_init(f);
}

static void destroy(struct heap_job *job)
{
	helpers_free(job->helpers, NULL, NULL);
	heap_findings_release(&job->findings);
	heap_reader_release(&job->reader);
	sampler_free(job->sampler);
	procfs_release(&job->fs);
	if (job->wake_fd >= 0)
		close(job->wake_fd);
	pthread_mutex_destroy(&job->lock);
	free(job);
}

static void init_reader(struct heap_job *job)
{
	heap_reader_init(&job->reader, &job->fs, job->sampler, 0);
	job->reader.is_running = job->no_stop;
	job->reader.helpers = job->helpers;
}

struct heap_job *heap_job_new(const struct procfs *fs, bool no_stop)
{
	struct heap_job *job = xcalloc(1, sizeof(*job));

	job->fs = *fs;
	job->fs.fd = fcntl(fs->fd, F_DUPFD_CLOEXEC, 0);
	job->sampler = sampler_new(&job->fs, fs->is_live);
	job->no_stop = no_stop;
	init_reader(job);
	heap_findings_init(&job->findings);
	pthread_mutex_init(&job->lock, NULL);
	job->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (job->fs.fd >= 0 && job->wake_fd >= 0)
		return job;
	destroy(job);
	return NULL;
}

/*
 * Cancel the read and wait until it ends, so that the helper can be removed before
 * memstate exits. Each step of a read has a time limit.
 */
static void wait_for_helpers(struct heap_job *job)
{
	struct pollfd wake = { .fd = job->wake_fd, .events = POLLIN };

	atomic_store(&job->is_cancelled, true);
	if (job->is_running && job->request.wants_helper)
		poll(&wake, 1, HELPER_WAIT_MS);
}

void heap_job_free(struct heap_job *job)
{
	bool is_ours;

	if (!job)
		return;
	wait_for_helpers(job);
	pthread_mutex_lock(&job->lock);
	job->is_abandoned = true;
	atomic_store(&job->is_cancelled, true);
	is_ours = !job->is_running || job->has_ended;
	pthread_mutex_unlock(&job->lock);
	if (is_ours)
		destroy(job);
}

bool heap_findings_are_known(const struct heap_findings *f)
{
	return !f->error && !f->usage.error && f->heap.quality != QUALITY_UNKNOWN;
}

static bool tell_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct heap_job *job = context;

	atomic_store(&job->progress_per_mille,
		     (int)units_per_mille(done_bytes, total_bytes));
	return atomic_load(&job->is_cancelled);
}

static int read_once(struct heap_job *job)
{
	const struct mark_progress progress = { tell_progress, job };
	struct heap_findings *f = &job->findings;
	int r;

	if (job->request.wants_leaks)
		r = heap_leaks_scan(&job->reader, &f->usage, &progress, &f->mappings,
				    &f->heap, &f->leaks);
	else
		r = heap_reader_read(&job->reader, &f->usage, &f->mappings, &f->heap);
	if (job->reader.own_sampler) {
		/* a hung thread may still use the old sampler, which therefore leaks */
		job->sampler = job->reader.own_sampler;
		job->reader.own_sampler = NULL;
	}
	return r;
}

/* Set up the helper for the process to be read, and remove it from any other process. */
static void choose_helpers(struct heap_job *job)
{
	const struct heap_request *request = &job->request;
	struct target_pid pid = { .pid = job->findings.usage.process.pid };
	const struct targets targets = { .pids = &pid, .pid_count = 1 };

	if (!request->wants_helper || job->pid != pid.pid) {
		helpers_free(job->helpers, NULL, NULL);
		job->helpers = NULL;
	}
	job->pid = pid.pid;
	if (request->wants_helper && !job->helpers)
		job->helpers = helpers_new(&job->fs, false, false);
	if (request->wants_helper && request->may_inject)
		helpers_allow(job->helpers, &targets);
	job->reader.helpers = job->helpers;
}

static bool takes_too_long(int r)
{
	return r == -EFBIG || r == -ETIMEDOUT;
}

static void read_heap(struct heap_job *job)
{
	struct heap_findings *f = &job->findings;

	choose_helpers(job);
	f->taken_ns = clock_now_ns();
	f->error = read_once(job);
	if (takes_too_long(f->error) && job->request.or_running) {
		job->reader.is_running = true;
		heap_release(&f->heap);
		f->error = read_once(job);
		job->reader.is_running = job->no_stop;
	}
	f->answer = job->reader.answer;
	job->reader.answer = (struct helper_answer){ .was_wanted = false };
	if (job->request.wants_detail && heap_findings_are_known(f) && !f->heap.is_said &&
	    !atomic_load(&job->is_cancelled)) {
		heap_reader_detail(&job->reader, &f->mappings, &f->detail);
		f->has_detail = true;
	}
	f->cost_ns = clock_now_ns() - f->taken_ns;
	/*
	 * Another thread works while the process is stopped. Count the whole stop
	 * as its CPU time.
	 */
	f->cpu_ns = clock_thread_cpu_ns() + f->heap.pause_ns;
	if (job->reader.image.capacity_bytes <= ROOM_KEPT_BYTES)
		return;
	heap_reader_release(&job->reader);
	init_reader(job);
}

static void *work(void *arg)
{
	struct heap_job *job = arg;
	bool is_abandoned;

	read_heap(job);
	pthread_mutex_lock(&job->lock);
	job->has_ended = true;
	is_abandoned = job->is_abandoned;
	/* wake the caller before unlocking: afterwards the job may be freed */
	eventfd_write(job->wake_fd, 1);
	pthread_mutex_unlock(&job->lock);
	if (is_abandoned)
		destroy(job);
	return NULL;
}

/* Start a detached thread with all signals blocked. */
static int start_thread(struct heap_job *job)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attributes, work, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return err ? -ENOMEM : 0;
}

int heap_job_start(struct heap_job *job, const struct heap_request *request)
{
	int r;

	if (job->is_running)
		return -EBUSY;
	heap_findings_release(&job->findings);
	job->findings.usage.process = *request->process;
	job->request = *request;
	job->request.process = NULL;
	atomic_store(&job->is_cancelled, false);
	atomic_store(&job->progress_per_mille, -1);
	job->reader.max_pause_ns = request->max_pause_ns;
	job->has_ended = false;
	r = start_thread(job);
	job->is_running = r == 0;
	return r;
}

bool heap_job_is_running(const struct heap_job *job)
{
	return job->is_running;
}

void heap_job_cancel(struct heap_job *job)
{
	atomic_store(&job->is_cancelled, true);
}

int heap_job_progress_per_mille(struct heap_job *job)
{
	return atomic_load(&job->progress_per_mille);
}

bool heap_job_take(struct heap_job *job, struct heap_findings *ret)
{
	eventfd_t count;
	bool has_ended;

	if (!job->is_running)
		return false;
	pthread_mutex_lock(&job->lock);
	has_ended = job->has_ended;
	pthread_mutex_unlock(&job->lock);
	if (!has_ended)
		return false;
	eventfd_read(job->wake_fd, &count);
	job->is_running = false;
	*ret = job->findings;
	heap_findings_init(&job->findings);
	return true;
}

int heap_job_fd(const struct heap_job *job)
{
	return job->wake_fd;
}
