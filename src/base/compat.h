/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat - Linux system calls that older C libraries do not wrap: close_range() before
 * glibc 2.34, statx() before musl 1.2.5, and renameat2() before musl 1.2.5. Each
 * replacement has the contract of the wrapper: -1 and errno on failure.
 */
#ifndef MS_COMPAT_H
#define MS_COMPAT_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef HAVE_STATX
#	include <linux/stat.h>

static inline int statx(int dir_fd, const char *path, int flags, unsigned int mask,
			struct statx *ret)
{
	return (int)syscall(SYS_statx, dir_fd, path, flags, mask, ret);
}
#endif

#ifndef HAVE_CLOSE_RANGE
#	ifndef SYS_close_range
#		define SYS_close_range 436
#	endif

static inline int close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}
#endif

#ifndef RENAME_NOREPLACE
#	define RENAME_NOREPLACE 1
#endif

#ifndef HAVE_RENAMEAT2

static inline int renameat2(int old_dir_fd, const char *old, int new_dir_fd,
			    const char *new, unsigned int flags)
{
	return (int)syscall(SYS_renameat2, old_dir_fd, old, new_dir_fd, new, flags);
}
#endif

#endif
