/* SPDX-License-Identifier: GPL-2.0-or-later */
/* send_signal - send a signal to exactly the process that is on the screen. */
#ifndef MS_UI_DATA_SEND_SIGNAL_H
#define MS_UI_DATA_SEND_SIGNAL_H

#include "base/strbuf.h"
#include "model/process.h"
#include "proc/system/procfs.h"

/*
 * Parse a signal name, such as "TERM" or "sigterm", or a signal number. Return 0
 * or -EINVAL.
 */
int signal_parse(const char *text, int *ret_number);

/* Append the name of a signal, such as "SIGTERM", or "signal 40". */
void signal_add_name(struct strbuf *out, int number);

/* Append the signal names that signal_parse() accepts, separated by spaces. */
void signal_add_names(struct strbuf *out);

/*
 * Send a signal through a pidfd, which cannot refer to another process that has reused
 * the pid. Return 0; -ESRCH if the process has ended; -EPERM; -EOPNOTSUPP if fs is NULL
 * or is not the live /proc, because its pids may belong to a capture or to another pid
 * namespace; -ENOSYS before Linux 5.3; or another -errno.
 */
int send_signal(const struct procfs *fs, const struct process *p, int number);

#endif
