/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fds - search the open files of a process. */
#ifndef MS_PROC_PROCESS_FDS_H
#define MS_PROC_PROCESS_FDS_H

#include "proc/process/file.h"

/*
 * Return 1 if the process has a file of this name open in the /proc directory of any
 * process, such as /proc/1/pagemap. Return 0 if not, or -errno. process_fd is the /proc
 * directory of the process whose open files are searched.
 */
int proc_fds_find(int process_fd, enum proc_file file);

#endif
