/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turn - wait while another memstate holds a process, and name the holder. */
#ifndef MS_CMD_SESSION_TURN_H
#define MS_CMD_SESSION_TURN_H

#include "base/strbuf.h"
#include "proc/process/tracer.h"

/*
 * If another memstate traces the process, wait until it has finished, for at most some
 * seconds. A message names it after a moment. Return early if a signal asks memstate to
 * stop.
 */
void turn_await(const struct procfs *fs, int pid);

/*
 * Append "process PID (NAME)"; for another memstate, NAME is the beginning of its command
 * line.
 */
void turn_add_tracer(const struct procfs *fs, const struct tracer_process *tracer,
		     struct strbuf *out);

#endif
