/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status - parse the status file of a process or thread, see proc_pid_status(5).
 * process_fd and task_fd are descriptors as described in dir.h.
 */
#ifndef MS_PROC_PROCESS_STATUS_H
#define MS_PROC_PROCESS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "proc/system/foreign_file.h"

/* Append the status file of a process. Return 0 or -errno. */
int proc_status_read(int process_fd, struct strbuf *out);

/* Find the effective user id in the text of a status file. */
bool proc_status_find_uid(const char *text, uint32_t *ret);

/*
 * Find the user and groups of a process in the text of a status file. The result has no
 * ids if one of the user ids is root's, or if the real, effective, saved and file system
 * ids differ. In these cases another user may have started a set-user-id program and
 * chosen its arguments. The caller releases *ret.
 */
void proc_status_find_reader(const char *text, struct foreign_reader *ret);

/*
 * Return the pid or tid in the process's own pid namespace, given the text of a status
 * file. Return 0 if the text has no NSpid line (before Linux 4.1).
 */
uint32_t proc_status_find_own_number(const char *text);

/*
 * Read the tid of a thread in its own pid namespace. If tid is 0, read the pid of the
 * process. Return 0 on failure.
 */
uint32_t proc_status_read_own_number(int process_fd, int tid);

/*
 * Find the thread whose tid in its own pid namespace is own_number. Return its tid in
 * memstate's pid namespace, or 0 if there is no such thread.
 */
int proc_status_find_thread(int process_fd, uint32_t own_number);

/*
 * Read the state letter of a thread and the tid of its tracer, which is 0 without a
 * tracer. Return 0, -ESRCH, -EBADMSG or another -errno.
 */
int proc_status_read_state(int task_fd, int tid, char *ret_state, int *ret_tracer);

#endif
