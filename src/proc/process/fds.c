/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/fds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proc/process/dir.h"

/* Return true if the path ends with "/" and the name. */
static bool is_named(const char *path, size_t length, const char *name)
{
	size_t name_length = strlen(name);

	return length > name_length && path[length - name_length - 1] == '/' &&
	       memcmp(path + length - name_length, name, name_length) == 0;
}

int proc_fds_find(int process_fd, enum proc_file file)
{
	int list_fd = proc_dir_open_file(process_fd, PROC_FDS, O_RDONLY | O_DIRECTORY);
	_cleanup_closedir_ DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
	struct dirent *entry;
	char path[PATH_MAX];

	if (!list) {
		if (list_fd >= 0)
			close(list_fd);
		return list_fd < 0 ? list_fd : -ENOMEM;
	}
	while ((entry = readdir(list))) {
		ssize_t length =
			readlinkat(dirfd(list), entry->d_name, path, sizeof(path));

		if (length > 0 && is_named(path, (size_t)length, proc_file_name(file)))
			return 1;
	}
	return 0;
}
