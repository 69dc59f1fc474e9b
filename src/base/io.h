/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io - complete reads and writes; EINTR and short counts are handled.
 */
#ifndef MS_BASE_IO_H
#define MS_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * Write all bytes. Returns 0 or -errno (-EPIPE, -ENOSPC …); part of the bytes may
 * have been written.
 */
int io_write_all(int fd, const void *bytes, size_t length);

/*
 * Append the rest of a file, at most `limit` bytes. Returns 0, -EFBIG if the file is
 * longer, or -errno. *out is unchanged on failure.
 */
int io_read_all(int fd, size_t limit, struct strbuf *out);

/* Like io_read_all(), for the file `path` relative to dir_fd. */
int io_read_file_at(int dir_fd, const char *path, size_t limit, struct strbuf *out);

/*
 * Read `length` bytes from the given offset. Returns 0, -EBADMSG if the file ends
 * earlier, or -errno. *to may have been modified on failure.
 */
int io_read_at(int fd, void *to, size_t length, uint64_t offset_bytes);

/*
 * Replace a file atomically: write a temporary file in the same directory, sync it, and
 * rename it over path, and sync the directory. The permissions are mode without the bits
 * of the umask. Symlinks are followed. Devices and pipes are written to directly. Returns
 * 0 or -errno. On failure a regular file is unchanged, and no temporary file is left
 * behind.
 */
int io_write_file_atomic(const char *path, const void *bytes, size_t length, mode_t mode);

/*
 * Sync the directory that contains path, so that a rename to path survives a power loss.
 * Best effort: some file systems cannot sync a directory, and the user may lack the
 * permission to read the directory.
 */
void io_sync_parent(const char *path);

#endif
