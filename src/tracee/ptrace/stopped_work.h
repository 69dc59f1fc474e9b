/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopped_work - run the work of stop_run() in a thread that can be abandoned. Only
 * stop.c uses this module.
 */
#ifndef MS_TRACEE_PTRACE_STOPPED_WORK_H
#define MS_TRACEE_PTRACE_STOPPED_WORK_H

#include <stdbool.h>

#include "tracee/ptrace/stop.h"

struct stopped_work;

/* Start the thread that will do the work. Return 0 or -errno from thread_start(). */
int stopped_work_new(const struct stop_request *request, struct stopped_work **ret);

/*
 * Return the struct stop that the work function receives. The caller
 * fills in its members.
 */
struct stop *stopped_work_stop(struct stopped_work *w);

/*
 * Do the work, and wait for its end. Return its result, or -ETIMEDOUT if the work has not
 * ended by the deadline in struct stop.
 */
int stopped_work_run(struct stopped_work *w);

/*
 * Make stop_write_word() fail from now on. Wait until a write that has already begun is
 * complete, but only briefly if the write hangs.
 */
void stopped_work_forbid_writes(struct stopped_work *w);

/*
 * Wait a limited time for the work to end, then free everything and return true. If the
 * work hangs, abandon its thread and return false.
 */
bool stopped_work_end(struct stopped_work *w);

#endif
