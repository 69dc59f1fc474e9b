/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign_file - open a file whose path, or whose folder, somebody else controls.
 *
 * A symlink may point anywhere, a FIFO blocks whoever opens it, and opening a device can have
 * effects. A foreign file is therefore looked up below a root that no symlink or ".." leaves, and
 * without following the kernel's magic links; it is examined before it is opened, and opened
 * without blocking. Only regular files that are not part of a kernel file system (proc, sysfs …)
 * and are not larger than the caller's limit are opened at all.
 *
 * A lookup in a directory of FUSE, or examining a file there, lasts as long as the server likes.
 * Where a path leads from the root's mount to another, or is below the root of another process,
 * only local file systems are asked anything (local_mount.h).
 *
 * Errors: -EBADMSG if it is not such a regular file, -EFBIG if it is larger than the limit, -ELOOP
 * for a magic link or too many symlinks, -EREMOTE if the file system may never answer, -ENOTDIR if a directory was expected, or -errno.
 */
#ifndef MS_BASE_FOREIGN_FILE_H
#define MS_BASE_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* For root_fd: memstate's own root directory. */
#define FOREIGN_OWN_ROOT (-1000)

/* The same: the root directory of the process whose directory in /proc is process_fd. */
#define FOREIGN_ROOT_OF(process_fd) (-2000 - (process_fd))

/* The limit for ELF files and debug files: larger than any program's. */
#define FOREIGN_ELF_BYTES_MAX (UINT64_C(16) << 30)

/*
 * Open path below root_fd for reading; slashes at its start are ignored. root_fd is a directory,
 * O_PATH or not, that the caller trusts, or one of the above. Returns a descriptor that the caller closes, or -errno as above.
 */
int foreign_file_open(int root_fd, const char *path, uint64_t bytes_max);

/*
 * As foreign_file_open(), for an entry of dir_fd that must not be a symlink (-ELOOP): where two
 * names of one file would count it twice.
 */
int foreign_file_open_entry(int dir_fd, const char *name, uint64_t bytes_max);

/* Append the whole file, at most `bytes_max`. Returns 0, or -errno with *out unchanged. */
int foreign_file_read(int root_fd, const char *path, size_t bytes_max,
		      struct strbuf *out);

/* Open a directory for reading its entries. Returns a descriptor or -errno as above. */
int foreign_file_open_dir(int root_fd, const char *path);

/*
 * Find a file of any kind without opening it: a descriptor with O_PATH, for fstat(2). With
 * is_link, a symlink at the end of path is found itself. Returns a descriptor or -errno as above.
 */
int foreign_file_find(int root_fd, const char *path, bool is_link);

/*
 * As foreign_file_open(), for a magic link of the kernel's own /proc, such as map_files/ADDRESSES
 * or exe, in the directory of a process there: the link can be trusted, but not the file.
 */
int foreign_file_open_link(int process_fd, const char *link, uint64_t bytes_max);

#endif
