/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/job.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "tracee/ptrace/watchdog.h"

#ifndef SYS_pidfd_open
/*
 * number of pidfd_open(2), which is the same on all architectures (Linux 5.3 and later)
 */
#	define SYS_pidfd_open 434
#endif

int job_begin_all(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : 0;
}

/*
 * A thread that waits for the end of a child and records the time, because samples may
 * delay memstate's main thread. The thread uses a pidfd, because waitid(2) would also
 * report stops that another thread of memstate caused.
 */
struct end_watch {
	pthread_t thread;
	int fd;
	/* time at which the child ended; 0: the child is still running */
	atomic_uint_least64_t end_ns;
};

static void *wait_for_end(void *arg)
{
	struct end_watch *watch = arg;
	struct pollfd ended = { .fd = watch->fd, .events = POLLIN };

	while (poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	atomic_store(&watch->end_ns, clock_now_ns());
	return NULL;
}

/*
 * Start a thread that records when the child exits. Return NULL on failure, for example
 * before Linux 5.3. The exit time is then the time when memstate notices the exit.
 */
static struct end_watch *start_watch(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct end_watch *watch;

	if (fd < 0)
		return NULL;
	watch = xcalloc(1, sizeof(*watch));
	watch->fd = fd;
	if (thread_start(&watch->thread, wait_for_end, watch) == 0)
		return watch;
	close(fd);
	free(watch);
	return NULL;
}

int job_start(struct job *job, char **argv, struct child_setup *setup)
{
	int r;

	setup->has_own_group = true;
	r = child_start(&job->child, argv, setup);
	if (r == 0)
		job->watch = start_watch(job->child.pid);
	return r;
}

void job_release(struct job *job)
{
	if (!job->watch)
		return;
	/*
	 * do not join the thread while the child runs, because the child may
	 * be unkillable
	 */
	if (!job->child.has_ended) {
		pthread_detach(job->watch->thread);
	} else {
		pthread_join(job->watch->thread, NULL);
		close(job->watch->fd);
		free(job->watch);
	}
	job->watch = NULL;
}

uint64_t job_end_ns(const struct job *job)
{
	uint64_t end_ns = job->watch ? atomic_load(&job->watch->end_ns) : 0;

	return end_ns ? end_ns : clock_now_ns();
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

/*
 * Add the usage of an ended process to the job. The peak from wait4(2) may be that of
 * memstate's copy before exec, so only a peak above own_rss_bytes counts. ru_maxrss is
 * in kB.
 */
static void add_usage(struct job *job, const struct rusage *usage)
{
	uint64_t peak_bytes;

	job->cost.user_ns += ns_of(&usage->ru_utime);
	job->cost.system_ns += ns_of(&usage->ru_stime);
	job->cost.minor_fault_count += (uint64_t)usage->ru_minflt;
	job->cost.major_fault_count += (uint64_t)usage->ru_majflt;
	if (units_bytes_from_kib((uint64_t)usage->ru_maxrss, &peak_bytes) == 0 &&
	    peak_bytes > job->own_rss_bytes && peak_bytes > job->peak_rss_bytes)
		job->peak_rss_bytes = peak_bytes;
}

static void poll_child(struct job *job)
{
	bool had_ended = job->child.has_ended;

	child_poll(&job->child);
	if (job->child.has_ended && !had_ended)
		add_usage(job, &job->child.usage);
}

void job_poll(struct job *job, struct child *other)
{
	struct rusage usage;
	siginfo_t info;

	poll_child(job);
	if (other)
		child_poll(other);
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid == 0 || info.si_pid == job->child.pid ||
		    (other && info.si_pid == other->pid))
			return;
		/*
		 * do not consume this stop, for which another thread of memstate waits
		 * after pausing the process with ptrace
		 */
		if (info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED)
			return;
		if (wait4(info.si_pid, NULL, WNOHANG, &usage) != info.si_pid)
			return;
		/* memstate's own watchdog is not part of the job */
		if (info.si_pid != watchdog_pid())
			add_usage(job, &usage);
	}
}

bool job_is_running(struct job *job)
{
	const struct snapshot *processes;

	return run_sampler_list(job->sampler, &processes) == 0 && processes->count > 0;
}

void job_signal_all(struct job *job, int number)
{
	bool has_group = job->child.pid > 0 && !job->child.has_ended;
	const struct snapshot *processes;

	if (run_sampler_list(job->sampler, &processes) < 0)
		return;
	for (size_t i = 0; i < processes->count; i++) {
		int pid = processes->usages[i].process.pid;

		if (!has_group || getpgid(pid) != job->child.pid)
			kill(pid, number);
	}
	/*
	 * the id of the process group cannot be reused before its leader has been reaped
	 */
	if (has_group)
		kill(-job->child.pid, number);
}
