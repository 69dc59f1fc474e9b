/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turn - wait while another memstate traces a process, and name the tracer. */
#ifndef MS_CMD_SESSION_TURN_H
#define MS_CMD_SESSION_TURN_H

#include "base/strbuf.h"
#include "proc/process/tracer.h"

/*
 * If another memstate traces the process, wait until it has finished. After half a
 * second, print a message that names the other memstate. Return early if a signal asks
 * memstate to stop. All waits of a run take at most 3 seconds together. Return false if
 * the other memstate has not finished.
 */
bool turn_await(const struct procfs *fs, int pid);

/*
 * Return true if the caller should try again to read the process or to attach to it. The
 * last of `tries` attempts failed with `error`: -EBUSY if another memstate attached
 * first, or -EAGAIN if a thread could not be stopped. Before returning true, the function
 * waits for a while, or until the other memstate has finished. After -EAGAIN, it allows
 * only few attempts, because each of them pauses the process.
 */
bool turn_may_retry(const struct procfs *fs, int pid, int error, unsigned int tries);

/*
 * Append "process PID (NAME)". For another memstate, NAME is the beginning of its
 * command line.
 */
void turn_add_tracer(const struct procfs *fs, const struct tracer_process *tracer,
		     struct strbuf *out);

#endif
