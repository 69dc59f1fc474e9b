/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "store/capture/writer.h"

struct dir_data {
	char *path;
	char *temporary; /* path of the unfinished capture; NULL after the rename */
	int fd;
};

/*
 * Check the destination before any process is read, so that an unusable destination does
 * not make rename() fail after the user has waited for the whole capture.
 */
static int check_destination(const char *path)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(st.st_mode))
		return -EEXIST;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return -ENOTEMPTY;
	return 0;
}

static char *without_trailing_slashes(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return xstrndup(path, length);
}

static void dir_free(struct dir_data *data)
{
	if (data->fd >= 0)
		close(data->fd);
	free(data->path);
	free(data->temporary);
	free(data);
}

static int dir_begin(const char *path, void **ret_data)
{
	struct dir_data *data = xcalloc(1, sizeof(*data));
	struct strbuf name = STRBUF_INIT;
	int r;

	data->fd = -1;
	data->path = without_trailing_slashes(path);
	strbuf_addf(&name, "%s.XXXXXX", data->path);
	data->temporary = strbuf_take(&name);
	r = check_destination(data->path);
	if (r == 0 && !mkdtemp(data->temporary))
		r = -errno;
	if (r < 0) {
		dir_free(data);
		return r;
	}
	data->fd = open(data->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (data->fd < 0) {
		r = -errno;
		rmdir(data->temporary);
		dir_free(data);
		return r;
	}
	*ret_data = data;
	return 0;
}

static int make_parents(int fd, const char *path)
{
	char parent[PROCFS_PATH_SIZE];

	for (const char *slash = strchr(path, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
		if (mkdirat(fd, parent, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int dir_add(void *context, const struct capture_file *file)
{
	struct dir_data *data = context;
	int fd, r;

	r = make_parents(data->fd, file->path);
	if (r < 0)
		return r;
	fd = openat(data->fd, file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = io_write_all(fd, file->bytes.text, file->bytes.length);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

static int dir_finish(void *context)
{
	struct dir_data *data = context;

	if (rename(data->temporary, data->path) < 0)
		return -errno;
	free(data->temporary);
	data->temporary = NULL;
	return 0;
}

/*
 * Remove a tree, depth first. A capture has three levels, so the recursion is not deep.
 */
static void remove_tree(int parent_fd, const char *name)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0)
			remove_tree(fd, entry->d_name);
	}
	unlinkat(parent_fd, name, AT_REMOVEDIR);
}

static void dir_abandon(void *context)
{
	struct dir_data *data = context;

	if (data->temporary)
		remove_tree(AT_FDCWD, data->temporary);
	dir_free(data);
}

const struct capture_writer capture_dir_writer = {
	.begin = dir_begin,
	.add = dir_add,
	.finish = dir_finish,
	.abandon = dir_abandon,
};
