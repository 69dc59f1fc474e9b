/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/job.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/procfs.h"

int job_begin_all(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : 0;
}

int job_start(struct job *job, char **argv, struct child_setup *setup)
{
	setup->has_own_group = true;
	return child_start(&job->child, argv, setup);
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

/*
 * What wait4(2) says of the largest counts from before exec too, when the process was memstate's copy. In bytes it is
 * the kernel's kB.
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
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0 ||
		    info.si_pid == job->child.pid || (other && info.si_pid == other->pid))
			return;
		if (wait4(info.si_pid, NULL, WNOHANG, &usage) != info.si_pid)
			return;
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
	/* while it is not waited for, nobody else's group can have its number */
	if (has_group)
		kill(-job->child.pid, number);
}
