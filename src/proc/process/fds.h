/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fds - search the open files of a process. */
#ifndef MS_PROC_PROCESS_FDS_H
#define MS_PROC_PROCESS_FDS_H

#include "proc/process/file.h"

/*
 * Return 1 if the process has opened this file of any process in /proc, 0 if not, or
 * -errno. process_fd is the directory of the process.
 */
int proc_fds_find(int process_fd, enum proc_file file);

#endif
