/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopped_work - the work of stop_run(), in a thread that can be abandoned. Used by stop
 * only.
 */
#ifndef MS_TRACEE_PTRACE_STOPPED_WORK_H
#define MS_TRACEE_PTRACE_STOPPED_WORK_H

#include <stdbool.h>

#include "tracee/ptrace/stop.h"

struct stopped_work;

/* Start the thread. NULL if there is none to be had. */
struct stopped_work *stopped_work_new(const struct stop_request *request);

/* The description of the stop that the work is given: to be filled. */
struct stop *stopped_work_stop(struct stopped_work *w);

/* Do the work. Returns its result, or -ETIMEDOUT if it has not ended at the stop's deadline. */
int stopped_work_run(struct stopped_work *w);

/*
 * Have stop_write_word() fail from here on. Waits for a write that was begun, but not if
 * it hangs.
 */
void stopped_work_forbid_writes(struct stopped_work *w);

/* Free it all, after some time for the work to end. False if it hangs and was abandoned. */
bool stopped_work_end(struct stopped_work *w);

#endif
