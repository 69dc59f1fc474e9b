/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status - values in the status of a process or thread, see proc_pid_status(5).
 * process_fd and task_fd are as in dir.h.
 */
#ifndef MS_PROC_PROCESS_STATUS_H
#define MS_PROC_PROCESS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Append the status of a process. Returns 0 or -errno. */
int proc_status_read(int process_fd, struct strbuf *out);

/* Find the effective user id in a status. */
bool proc_status_find_uid(const char *text, uint32_t *ret);

/*
 * Return the number of the process or thread in its own pid namespace, or 0 if the
 * status does not have it (before Linux 4.1).
 */
uint32_t proc_status_find_own_number(const char *text);

/* Read that number for a thread, or for the process if tid is 0. Returns 0 on failure. */
uint32_t proc_status_read_own_number(int process_fd, int tid);

/*
 * Return the tid, in memstate's pid namespace, of the thread that has this number in its
 * own; 0 if there is none.
 */
int proc_status_find_thread(int process_fd, uint32_t own_number);

/*
 * Read the state letter of a thread and the tid of its tracer (0: none). Returns 0,
 * -ESRCH, -EBADMSG or another -errno.
 */
int proc_status_read_state(int task_fd, int tid, char *ret_state, int *ret_tracer);

#endif
