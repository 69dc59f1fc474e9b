/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open_guard - make a process open only regular files for reading,
 * whichever library opens them.
 *
 * libdw opens debug files on its own. Their paths come from untrusted files
 * (.gnu_debuglink, .gnu_debugaltlink, DW_AT_dwo_name). A seccomp filter redirects
 * each open(2) and openat(2) to a signal handler. The handler uses O_PATH to check the
 * type of the file, and then opens the file without blocking (see foreign_file.h).
 * Opens for writing are not checked: the process writes only to the cache of
 * downloaded debug files, whose path the user chooses.
 */
#ifndef MS_TRACEE_MEMORY_OPEN_GUARD_H
#define MS_TRACEE_MEMORY_OPEN_GUARD_H

/*
 * Install the guard in this process. It cannot be removed, so use it only in a child
 * process made for this purpose. Return 0, -EOPNOTSUPP if the machine or the kernel does
 * not support the guard, or another -errno.
 */
int open_guard_install(void);

#endif
