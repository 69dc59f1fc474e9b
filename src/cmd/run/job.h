/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job - run a command of a comparison, and track all processes that it starts: those in
 * its process group, and orphans, which are reparented to memstate.
 */
#ifndef MS_CMD_RUN_JOB_H
#define MS_CMD_RUN_JOB_H

#include <stdint.h>

#include "cmd/run/child.h"
#include "proc/process/cost.h"
#include "sample/run/run_sampler.h"

struct end_watch;

struct job {
	struct child child;
	struct end_watch *watch; /* thread that waits for the child's end */
	/* tracks the processes of the job; borrowed from the caller */
	struct run_sampler *sampler;
	/* cost of the ended processes, from wait4(2) */
	struct process_cost cost;
	/* highest peak Rss of an ended process, from wait4(2); 0: unknown */
	uint64_t peak_rss_bytes;
	/* memstate's Rss at the start of the job; a lower peak may be that of memstate */
	uint64_t own_rss_bytes;
};

/*
 * Make memstate a subreaper, so that orphans are reparented to it. Return 0 or -errno.
 */
int job_begin_all(void);

/*
 * Start the command like child_start(), in a new process group. The caller releases a
 * started job with job_release().
 */
int job_start(struct job *job, char **argv, struct child_setup *setup);
void job_release(struct job *job);

/*
 * Return the time when the child ended, even if memstate did not poll at that time. If
 * the child is still running, return the current time.
 */
uint64_t job_end_ns(const struct job *job);

/*
 * Reap the processes of the job that have ended. Also reap `other`, a child outside the
 * job, if it is not NULL and has ended.
 */
void job_poll(struct job *job, struct child *other);

/* Return true if any process of the job is still running. */
bool job_is_running(struct job *job);

/*
 * Send the signal once to every process of the job, including those that moved to another
 * process group.
 */
void job_signal_all(struct job *job, int number);

#endif
