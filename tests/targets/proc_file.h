/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_file - open files of processes in /proc, without code of memstate.
 */
#ifndef MS_TESTS_PROC_FILE_H
#define MS_TESTS_PROC_FILE_H

#include <fcntl.h>
#include <stdio.h>

/* Open /proc/PID/FILE for reading. Returns a descriptor, or -1 with errno set. */
static inline int open_proc_file(int pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

#endif
