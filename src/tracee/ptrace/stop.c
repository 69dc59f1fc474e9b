/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"
#include "proc/process/status.h"
#include "tracee/ptrace/endless_wait.h"
#include "tracee/ptrace/registers.h"
#include "tracee/ptrace/stopped_work.h"
#include "tracee/ptrace/trace.h"

/*
 * Interval for polling the state of a thread that is about to stop. A thread stops when
 * it is next scheduled, or at the end of a system call.
 */
#define POLL_NS (50 * NS_PER_US)

/*
 * Timeout for stopping a thread that is in an uninterruptible sleep. stop_run() gives up
 * after the timeout, because the threads that have already stopped must not wait longer.
 */
#define DEEP_SLEEP_NS (100 * NS_PER_MS)

/*
 * Time reserved for detaching the threads, which is faster than seizing them. The work
 * must end this long before the limit. The reserve is at most 1/RELEASE_SHARE of the
 * limit.
 */
#define RELEASE_BASE_NS (500 * NS_PER_US)
#define RELEASE_SHARE 4

struct seized {
	int tid;
	bool is_stopped;
	bool is_gone;
	/*
	 * signal that was pending when the thread stopped; delivered when the thread is
	 * released
	 */
	int signal;
};

struct tracer {
	const struct stop_request *request;
	int tid;
	DIR *tasks;
	struct seized *seized; /* the first sorted_count items are sorted by tid */
	size_t count, capacity, sorted_count;
	uint64_t deadline_ns, began_ns, ended_ns;
	struct stopped_work *held;
};

static bool has_ended(int task_fd, int tid)
{
	char state;
	int tracer, r;

	r = proc_status_read_state(task_fd, tid, &state, &tracer);
	return r == -ESRCH || (r == 0 && (state == 'Z' || state == 'X'));
}

/*
 * Find out why ptrace(2) failed with EPERM. Return 0 if the thread has ended or memstate
 * already traces it, -EBUSY if it has another tracer, or -EPERM.
 */
static int explain_refusal(const struct tracer *t, int tid)
{
	char state;
	int tracer, r;

	r = proc_status_read_state(t->request->task_fd, tid, &state, &tracer);
	if (r == -ESRCH || (r == 0 && (state == 'Z' || state == 'X')))
		return 0;
	if (r < 0 || tracer == 0)
		return -EPERM;
	return tracer == t->tid ? 0 : -EBUSY;
}

static int compare_tids(const void *a, const void *b)
{
	const struct seized *left = a, *right = b;

	return (left->tid > right->tid) - (left->tid < right->tid);
}

static const struct seized *find_seized(const struct tracer *t, int tid)
{
	const struct seized key = { .tid = tid };

	return t->sorted_count > 0 ? bsearch(&key, t->seized, t->sorted_count,
					     sizeof(key), compare_tids)
				   : NULL;
}

static void sort_seized(struct tracer *t)
{
	if (t->count > t->sorted_count)
		qsort(t->seized, t->count, sizeof(*t->seized), compare_tids);
	t->sorted_count = t->count;
}

/*
 * Seize a thread. During an execve() of the process, PTRACE_SEIZE waits for the execve(),
 * which waits for the end of all other threads, while threads held by memstate cannot
 * end. trace_run() breaks this deadlock by cancelling the calling thread in PTRACE_SEIZE.
 */
static int ptrace_seize(int tid)
{
	int r, unused;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &unused);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &unused);
	r = ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ? -errno : 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
	return r;
}

/* Seize a thread. Return 1 on success, 0 if the thread no longer exists, or -errno. */
static int seize(struct tracer *t, int tid)
{
	bool is_other;
	int r;

	r = ptrace_seize(tid);
	if (r == -EPERM)
		return explain_refusal(t, tid);
	if (r < 0)
		return r == -ESRCH ? 0 : r;
	/*
	 * A seized thread keeps its tid. The thread may have ended before it was seized,
	 * however, and a thread of another process may have reused its tid.
	 */
	is_other = !proc_thread_exists(t->request->task_fd, tid);
	t->seized = xgrow(t->seized, &t->capacity, t->count + 1, sizeof(*t->seized));
	t->seized[t->count++] = (struct seized){ .tid = tid, .is_gone = is_other };
	if (!is_other)
		(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 1;
}

/*
 * Return true if the process has more than `count` threads. The list of threads is not a
 * reliable count: it may be incomplete if a thread ends while the list is read.
 */
static bool has_more(const struct tracer *t, size_t count)
{
	struct stat st;

	/*
	 * The task directory has one link for itself, one for its parent directory, and
	 * one for each thread.
	 */
	return fstat(dirfd(t->tasks), &st) == 0 && st.st_nlink > count + 2;
}

/*
 * Seize the threads that are not seized yet. Return 1 if there may be more threads, 0 if
 * not, or -errno. The function counts only threads that cannot disappear: seized threads,
 * and a thread group leader that has ended, which remains until the other threads have
 * ended.
 */
static int seize_new(struct tracer *t)
{
	struct dirent *entry;
	size_t standing = 0;
	int added = 0;

	rewinddir(t->tasks);
	while ((entry = readdir(t->tasks))) {
		const struct seized *ours;
		int tid, r;

		if (clock_now_ns() > t->deadline_ns)
			return -ETIMEDOUT;
		if (num_parse_pid(entry->d_name, &tid) < 0)
			continue;
		ours = find_seized(t, tid);
		r = ours ? 0 : seize(t, tid);
		if (r < 0)
			return r;
		added += r;
		standing += ours && !ours->is_gone;
		standing += tid == t->request->pid && (ours ? ours->is_gone : r == 0);
	}
	return added > 0 || has_more(t, standing);
}

/*
 * Record that a thread has stopped or ended. Do not consume a stop, so that the kernel
 * still delivers the signal if memstate is killed now. Consume the end of a thread,
 * because other threads wait for it. Leave the end of the process to its parent, which
 * may be memstate itself.
 */
static void record_event(const struct tracer *t, struct seized *s, const siginfo_t *info)
{
	siginfo_t unused;

	if (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED) {
		s->is_stopped = true;
		endless_wait_continue(s->tid);
		/* the thread stopped for a pending signal, not at memstate's request */
		if (info->si_status >> 8 == 0)
			s->signal = info->si_status;
	} else {
		s->is_gone = true;
		if (s->tid != t->request->pid)
			(void)waitid(P_PID, (id_t)s->tid, &unused,
				     WEXITED | WNOHANG | __WALL);
	}
}

/*
 * Decide whether to keep waiting for thread s to stop, because the threads that have
 * already stopped must not wait long. Return 0 to keep waiting, or -ETIMEDOUT or -EAGAIN
 * to give up. The function also detects that a thread group leader has ended, which the
 * kernel does not report before the last thread has ended.
 */
static int check_patience(const struct tracer *t, struct seized *s,
			  uint64_t *patient_until_ns)
{
	uint64_t now_ns = clock_now_ns();
	char state;
	int tracer;

	if (now_ns > t->deadline_ns)
		return -ETIMEDOUT;
	if (now_ns < *patient_until_ns)
		return 0;
	*patient_until_ns = now_ns + DEEP_SLEEP_NS;
	if (proc_status_read_state(t->request->task_fd, s->tid, &state, &tracer) < 0)
		return 0;
	s->is_gone = s->tid == t->request->pid && state == 'Z';
	return state == 'D' ? -EAGAIN : 0;
}

static int wait_for_stop(const struct tracer *t, struct seized *s)
{
	const struct timespec poll = { .tv_nsec = (long)POLL_NS };
	uint64_t patient_until_ns = clock_now_ns() + DEEP_SLEEP_NS;

	while (!s->is_stopped && !s->is_gone) {
		siginfo_t info = { .si_pid = 0 };
		int r;

		if (waitid(P_PID, (id_t)s->tid, &info,
			   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) < 0) {
			s->is_gone = s->is_gone || errno != EINTR;
			continue;
		}
		if (info.si_pid == s->tid) {
			record_event(t, s, &info);
			continue;
		}
		r = check_patience(t, s, &patient_until_ns);
		if (r < 0)
			return r;
		nanosleep(&poll, NULL);
	}
	return 0;
}

static int open_tasks(struct tracer *t)
{
	int fd = openat(t->request->task_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	t->tasks = fdopendir(fd);
	if (!t->tasks) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Stop all threads. The loop repeats because new threads may appear while others are
 * being stopped, and because some threads take time to end.
 */
static int stop_all(struct tracer *t)
{
	const struct timespec poll = { .tv_nsec = (long)POLL_NS };
	size_t waited = 0;
	int r;

	r = open_tasks(t);
	while (r == 0) {
		int more = seize_new(t);

		if (more <= 0)
			return more < 0 ? more : t->count > 0 ? 0 : -ESRCH;
		if (waited == t->count)
			nanosleep(&poll, NULL);
		for (; r == 0 && waited < t->count; waited++)
			r = wait_for_stop(t, &t->seized[waited]);
		sort_seized(t);
		if (r == 0 && clock_now_ns() > t->deadline_ns)
			r = -ETIMEDOUT;
	}
	return r;
}

static int read_all_registers(const struct tracer *t, struct stop *stop)
{
	size_t capacity = 0;

	for (size_t i = 0; i < t->count; i++) {
		size_t count = 0;
		int r;

		if (clock_now_ns() > t->deadline_ns)
			return -ETIMEDOUT;
		if (t->seized[i].is_gone)
			continue;
		stop->words = xgrow(stop->words, &capacity,
				    stop->word_count + STOP_WORDS_MAX,
				    sizeof(*stop->words));
		r = registers_read(t->seized[i].tid, &stop->threads[stop->count],
				   stop->words + stop->word_count, &count);
		/* the thread was killed while it was stopped */
		if (r == -ESRCH) {
			if (!has_ended(t->request->task_fd, t->seized[i].tid))
				return -ESTALE;
			continue;
		}
		if (r < 0)
			return r;
		stop->threads[stop->count++].word_count = count;
		stop->word_count += count;
	}
	return stop->count > 0 ? 0 : -ESRCH;
}

/*
 * Return the deadline for the work, which is earlier than the limit because releasing the
 * target also takes time.
 */
static uint64_t work_deadline_ns(const struct tracer *t)
{
	uint64_t max_ns = t->request->limit_ns / RELEASE_SHARE;
	uint64_t release_ns = RELEASE_BASE_NS + (clock_now_ns() - t->began_ns) / 2;

	return t->deadline_ns - (release_ns < max_ns ? release_ns : max_ns);
}

static int work_stopped(struct tracer *t)
{
	struct stop *stop = stopped_work_stop(t->held);
	int r;

	stop->threads = xcalloc(t->count, sizeof(*stop->threads));
	r = read_all_registers(t, stop);
	stop->deadline_ns = work_deadline_ns(t);
	if (r < 0)
		return r;
	if (clock_now_ns() > stop->deadline_ns)
		return -ETIMEDOUT;
	return stopped_work_run(t->held);
}

/*
 * Detach all stopped threads. The other threads cannot be detached; the kernel releases
 * them when the tracing thread ends.
 */
static void release_all(struct tracer *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->seized[i].is_stopped)
			(void)ptrace(PTRACE_DETACH, t->seized[i].tid, NULL,
				     (void *)(intptr_t)t->seized[i].signal);
}

static int trace(void *context)
{
	struct tracer *t = context;
	int r;

	t->began_ns = clock_now_ns();
	t->deadline_ns = t->began_ns + t->request->limit_ns;
	t->tid = gettid();
	r = stop_all(t);
	if (r == 0)
		r = work_stopped(t);
	stopped_work_forbid_writes(t->held);
	release_all(t);
	t->ended_ns = clock_now_ns();
	return r;
}

int stop_run(const struct stop_request *request, uint64_t *ret_pause_ns)
{
	struct tracer tracer = { .request = request };
	int r;

	*ret_pause_ns = 0;
	r = stopped_work_new(request, &tracer.held);
	if (r < 0)
		return r;
	r = trace_run(trace, &tracer, request->limit_ns);
	if (tracer.began_ns && tracer.count > 0)
		*ret_pause_ns = (tracer.ended_ns ? tracer.ended_ns : clock_now_ns()) -
				tracer.began_ns;
	if (tracer.tasks)
		closedir(tracer.tasks);
	free(tracer.seized);
	return stopped_work_end(tracer.held) ? r : -ETIME;
}
