/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

struct recording_file {
	int fd;
	dev_t dev;
	ino_t inode;
	char *path, *wal_path;
	bool is_created; /* true if recording_file_open() created the file */
	/*
	 * false after recording_file_close(); fd then stays open if closing it would
	 * release the locks of another recording_file on the same file
	 */
	bool is_in_use;
	struct recording_file *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct recording_file *files;

static void add(struct recording_file *file)
{
	pthread_mutex_lock(&mutex);
	file->next = files;
	files = file;
	pthread_mutex_unlock(&mutex);
}

static char *make_wal_path(const char *path)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s-wal", path);
	return strbuf_take(&text);
}

/*
 * Open path as open(2) does. Set *ret_is_created to true if this call created the file at
 * `path` and did not create it through a dangling symlink.
 */
static int open_or_create(const char *path, int flags, bool *ret_is_created)
{
	int fd = -1;

	flags |= O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	if (flags & O_CREAT)
		fd = open(path, flags | O_EXCL, 0600);
	*ret_is_created = fd >= 0;
	return fd >= 0 ? fd : open(path, flags, 0600);
}

int recording_file_open(const char *path, int flags, struct recording_file **ret)
{
	struct recording_file *file;
	struct stat st;
	bool is_created;
	int fd = open_or_create(path, flags, &is_created);

	if (fd < 0)
		return errno == EISDIR || errno == ENXIO ? -EEXIST : -errno;
	if (fstat(fd, &st) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return -EEXIST;
	}
	file = xcalloc(1, sizeof(*file));
	*file = (struct recording_file){ .fd = fd,
					 .dev = st.st_dev,
					 .inode = st.st_ino,
					 .path = xstrdup(path),
					 .wal_path = make_wal_path(path),
					 .is_created = is_created,
					 .is_in_use = true };
	add(file);
	*ret = file;
	return 0;
}

int recording_file_fd(const struct recording_file *file)
{
	return file->fd;
}

uint64_t recording_file_bytes(const struct recording_file *file)
{
	struct stat st;
	uint64_t bytes = 0;

	if (fstat(file->fd, &st) == 0)
		bytes = (uint64_t)st.st_size;
	if (stat(file->wal_path, &st) == 0 && S_ISREG(st.st_mode))
		bytes += (uint64_t)st.st_size;
	return bytes;
}

int64_t recording_file_wal_bytes(const char *path)
{
	_cleanup_free_ char *wal_path = make_wal_path(path);
	struct stat st;

	return lstat(wal_path, &st) == 0 ? st.st_size : -1;
}

void recording_file_remove_created(const struct recording_file *file)
{
	static const char *const endings[] = { "", "-journal", "-wal", "-shm" };
	struct stat st;

	if (!file || !file->is_created || lstat(file->path, &st) < 0 ||
	    st.st_dev != file->dev || st.st_ino != file->inode)
		return;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

		strbuf_addf(&path, "%s%s", file->path, endings[i]);
		unlink(strbuf_text(&path));
	}
}

static bool is_same_inode(const struct recording_file *a, const struct recording_file *b)
{
	return a->dev == b->dev && a->inode == b->inode;
}

static bool is_inode_in_use(const struct recording_file *file)
{
	for (const struct recording_file *other = files; other; other = other->next)
		if (other->is_in_use && is_same_inode(other, file))
			return true;
	return false;
}

/*
 * Close all descriptors of a file, unless a recording_file for its inode is still in use.
 */
static void release_inode(dev_t dev, ino_t inode)
{
	struct recording_file **at = &files;

	while (*at) {
		struct recording_file *file = *at;

		if (file->dev != dev || file->inode != inode) {
			at = &file->next;
			continue;
		}
		*at = file->next;
		close(file->fd);
		free(file->path);
		free(file->wal_path);
		free(file);
	}
}

void recording_file_close(struct recording_file *file)
{
	if (!file)
		return;
	pthread_mutex_lock(&mutex);
	file->is_in_use = false;
	if (!is_inode_in_use(file))
		release_inode(file->dev, file->inode);
	pthread_mutex_unlock(&mutex);
}
