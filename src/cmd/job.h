/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job - a command of a comparison with all that it starts: a group of its own, and
 * orphans, which come to memstate.
 */
#ifndef MS_CMD_JOB_H
#define MS_CMD_JOB_H

#include <stdint.h>

#include "cmd/child.h"
#include "proc/proc_cost.h"
#include "sample/run_sampler.h"

struct end_watch;

struct job {
	struct child child;
	struct end_watch *watch; /* of the child */
	struct run_sampler *sampler; /* that knows its processes; borrowed */
	struct process_cost cost; /* of those that have ended, as wait4(2) says */
	uint64_t peak_rss_bytes;  /* likewise: of the largest; 0: not known */
	uint64_t own_rss_bytes;	  /* memstate's when it was started: a smaller peak is not the command's */
};

/* Orphans come to memstate from now on. Returns 0 or -errno. */
int job_begin_all(void);

/* As child_start(), in a group of its own. A job that was started is to be released. */
int job_start(struct job *job, char **argv, struct child_setup *setup);
void job_release(struct job *job);

/* When its child ended, even if nobody looked; now, if it runs. */
uint64_t job_end_ns(const struct job *job);

/* Look who has ended. other, which is not of the job, or NULL, is looked at too. */
void job_poll(struct job *job, struct child *other);

/* Whether one of its processes runs. */
bool job_is_running(struct job *job);

/* Signal all its processes, each once, also those that went to another group. */
void job_signal_all(struct job *job, int number);

#endif
