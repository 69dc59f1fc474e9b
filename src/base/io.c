/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* number of attempts to find an unused name for a temporary file */
#define NAME_TRIES 100

int io_write_all(int fd, const void *bytes, size_t length)
{
	const char *p = bytes;

	while (length > 0) {
		ssize_t n = write(fd, p, length);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += n;
		length -= (size_t)n;
	}
	return 0;
}

int io_read_all(int fd, size_t limit, struct strbuf *out)
{
	size_t before = out->length;
	char block[4096];

	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));
		int r = -errno;

		if (n == 0)
			return 0;
		if (n < 0 && r == -EINTR)
			continue;
		if (n > 0 && out->length - before + (size_t)n > limit)
			r = -EFBIG;
		else if (n > 0)
			r = 0;
		if (r < 0) {
			strbuf_truncate(out, before);
			return r;
		}
		strbuf_add(out, block, (size_t)n);
	}
}

int io_read_file_at(int dir_fd, const char *path, size_t limit, struct strbuf *out)
{
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return io_read_all(fd, limit, out);
}

static int write_and_sync(int fd, const void *bytes, size_t length)
{
	int r = io_write_all(fd, bytes, length);

	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

/*
 * Create a file with an unused name in the same directory as path, which is relative to
 * dir_fd. The kernel applies the umask to mode. memstate cannot apply the umask itself,
 * because a process can read its umask only by changing it for all threads.
 */
static int create_temporary(int dir_fd, const char *path, mode_t mode,
			    struct strbuf *ret_name)
{
	for (int tries = 0; tries < NAME_TRIES; tries++) {
		uint64_t number;
		int fd;

		if (getrandom(&number, sizeof(number), 0) < 0)
			return -errno;
		strbuf_clear(ret_name);
		strbuf_addf(ret_name, "%s.%016" PRIx64, path, number);
		fd = openat(dir_fd, ret_name->text,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

void io_sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = NULL;
	_cleanup_close_ int fd = -1;

	if (slash)
		parent = xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
	fd = open(parent ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)fsync(fd);
}

/* Replace a file whose path is relative to dir_fd. The directory is not synced. */
static int replace_file_at(int dir_fd, const char *path, const void *bytes, size_t length,
			   mode_t mode)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	int fd, r;

	fd = create_temporary(dir_fd, path, mode, &name);
	if (fd < 0)
		return fd;
	r = write_and_sync(fd, bytes, length);
	if (r == 0 && renameat(dir_fd, strbuf_text(&name), dir_fd, path) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir_fd, strbuf_text(&name), 0);
	return r;
}

static int replace_file(const char *path, const void *bytes, size_t length, mode_t mode)
{
	int r = replace_file_at(AT_FDCWD, path, bytes, length, mode);

	if (r == 0)
		io_sync_parent(path);
	return r;
}

int io_replace_file_at(int dir_fd, const char *name, const struct strbuf *text,
		       mode_t mode)
{
	int r = replace_file_at(dir_fd, name, text->text, text->length, mode);

	if (r == 0)
		(void)fsync(dir_fd);
	return r;
}

static int write_in_place(const char *path, const void *bytes, size_t length)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : io_write_all(fd, bytes, length);
}

int io_write_file_atomic(const char *path, const void *bytes, size_t length, mode_t mode)
{
	_cleanup_free_ char *real_path = realpath(path, NULL);
	int err = errno;
	struct stat st;

	/*
	 * Fail if path cannot be resolved, unless the file does not exist yet. A dangling
	 * symlink is an error.
	 */
	if (!real_path && (err != ENOENT || lstat(path, &st) == 0))
		return -err;
	if (!real_path)
		return replace_file(path, bytes, length, mode);
	if (stat(real_path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return write_in_place(real_path, bytes, length);
	return replace_file(real_path, bytes, length, mode);
}

int io_read_at(int fd, void *to, size_t length, uint64_t offset_bytes)
{
	size_t done = 0;

	if (offset_bytes > INT64_MAX - length)
		return -EBADMSG;
	while (done < length) {
		ssize_t n = pread(fd, (char *)to + done, length - done,
				  (off_t)(offset_bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		done += (size_t)n;
	}
	return 0;
}
