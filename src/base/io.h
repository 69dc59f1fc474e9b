/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io - whole reads and whole writes, with EINTR and short counts handled.
 */
#ifndef MS_BASE_IO_H
#define MS_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

/* Write all bytes. Returns 0 or -errno (-EPIPE, -ENOSPC …); some bytes may have been written. */
int io_write_all(int fd, const void *bytes, size_t length);

/*
 * Append the whole of a file, at most `limit` bytes. Returns 0, -errno, or -EFBIG. On
 * failure *out is as it was.
 */
int io_read_all(int fd, size_t limit, struct strbuf *out);

/* As above, from dir_fd/path. */
int io_read_file_at(int dir_fd, const char *path, size_t limit, struct strbuf *out);

/*
 * Read so many bytes, from that place on. Returns 0, -EBADMSG if the file ends before, or
 * -errno; *to may have been written to.
 */
int io_read_at(int fd, void *to, size_t length, uint64_t offset_bytes);

/*
 * Put bytes into path whole: written beside it under a temporary name, synced, then
 * renamed over it; permissions are those of mode that the umask leaves. A link's file is
 * meant, not the link. Returns 0 or
 * -errno; on failure path is as it was and no temporary file is left. What is there and no regular file (a device,
 * a pipe) is written to as it is.
 */
int io_write_file_atomic(const char *path, const void *bytes, size_t length, mode_t mode);

#endif
