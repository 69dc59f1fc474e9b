/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io - read and write files, retrying after EINTR and after short reads and writes. */
#ifndef MS_BASE_IO_H
#define MS_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * Write all bytes to a file descriptor. Return 0 or -errno (-EPIPE, -ENOSPC …). On
 * failure, some of the bytes may have been written.
 */
int io_write_all(int fd, const void *bytes, size_t length);

/*
 * Append the remainder of the file to *out, at most `limit` bytes. Return 0, -EFBIG if
 * more than `limit` bytes remain, or -errno. On failure *out is unchanged.
 */
int io_read_all(int fd, size_t limit, struct strbuf *out);

/* Open `path` relative to dir_fd and append its contents, as io_read_all() does. */
int io_read_file_at(int dir_fd, const char *path, size_t limit, struct strbuf *out);

/*
 * Read `length` bytes at the given offset. Return 0, -EBADMSG if the file ends earlier,
 * or -errno. On failure *to may have been modified.
 */
int io_read_at(int fd, void *to, size_t length, uint64_t offset_bytes);

/*
 * Replace a file atomically: write a temporary file in the same directory, sync it,
 * rename it to path, and sync the directory. The new file's permissions are mode
 * without the bits of the umask. Symlinks are followed. Devices and pipes are
 * written to directly. Return 0 or -errno. On failure a regular file is unchanged,
 * and no temporary file remains.
 */
int io_write_file_atomic(const char *path, const void *bytes, size_t length, mode_t mode);

/*
 * Replace a file in an open directory atomically, as io_write_file_atomic() does. The
 * name must not contain a slash. A symlink with this name is replaced, not followed.
 */
int io_replace_file_at(int dir_fd, const char *name, const struct strbuf *text,
		       mode_t mode);

/*
 * Sync the directory that contains path, so that a rename to path survives a power loss.
 * Best effort: some file systems cannot sync a directory, and the user may lack the
 * permission to read the directory.
 */
void io_sync_parent(const char *path);

#endif
