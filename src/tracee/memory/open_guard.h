/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open_guard - make a process open only regular files for reading, whichever library asks.
 *
 * libdw opens debug files itself, by paths that stand in foreign files (.gnu_debuglink,
 * .gnu_debugaltlink, DW_AT_dwo_name). A seccomp filter hands each open(2) and openat(2) to a
 * signal handler, which examines the file with O_PATH before it opens it without blocking, as
 * foreign_file does. Opens for writing are not examined: only the cache of debug files that were
 * downloaded is written to, and its path is the user's own.
 */
#ifndef MS_TRACEE_MEMORY_OPEN_GUARD_H
#define MS_TRACEE_MEMORY_OPEN_GUARD_H

/*
 * Install it in this process, for good: for a child made for this purpose. Returns 0, -EOPNOTSUPP
 * on a machine or kernel without it, or -errno.
 */
int open_guard_install(void);

#endif
