/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/tmpfs_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compat.h"
#include "base/key_lines.h"
#include "base/num.h"
#include "base/strbuf.h"

#define FDINFO_SIZE_MAX ((size_t)64 << 10)
#define BLOCK_BYTES 512
#define MEMFD "/memfd:"

static bool is_writable(const struct procfs *fs, int pid, const char *number)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *value;
	unsigned long flags;
	char file[32];

	snprintf(file, sizeof(file), "fdinfo/%.20s", number);
	if (procfs_read_file(fs, pid, file, FDINFO_SIZE_MAX, &text) < 0)
		return false;
	value = key_lines_find(strbuf_text(&text), "flags:");
	flags = value ? strtoul(value, NULL, 8) : 0;
	return (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
}

/*
 * Return true if the file is on tmpfs. A memfd is recognized by its name, because
 * mountinfo does not list the file system of memfds, which is not mounted.
 */
static bool is_on_tmpfs(const struct procfs *fs, struct tmpfs_devices *devices, int pid,
			const struct tmpfs_file *file)
{
	return file->major == 0 &&
	       (strncmp(file->path, MEMFD, strlen(MEMFD)) == 0 ||
		proc_mounts_is_tmpfs(devices, fs, pid, file->major, file->minor));
}

static bool read_file(int dir_fd, const char *number, struct tmpfs_file *ret)
{
	struct statx st;

	if (statx(dir_fd, number, AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME,
		  &st) < 0 ||
	    !S_ISREG(st.stx_mode))
		return false;
	ret->major = st.stx_dev_major;
	ret->minor = st.stx_dev_minor;
	ret->inode = st.stx_ino;
	ret->bytes = st.stx_blocks * BLOCK_BYTES;
	ret->born_unix_ms = st.stx_mask & STATX_BTIME && st.stx_btime.tv_sec > 0
				    ? (uint64_t)st.stx_btime.tv_sec * 1000 +
					      st.stx_btime.tv_nsec / 1000000
				    : 0;
	return true;
}

int proc_tmpfs_files_for_each(const struct procfs *fs, struct tmpfs_devices *devices,
			      int pid, size_t *left,
			      int (*fn)(void *context, const struct tmpfs_file *file),
			      void *context)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int fd = procfs_open_file(fs, pid, "fd"), r = 0;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOTDIR;
	}
	while (r == 0 && *left > 0 && (entry = readdir(dir))) {
		struct tmpfs_file file = { 0 };
		char link[PATH_MAX];
		uint64_t number;
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (n <= 0 || num_parse_u64(entry->d_name, &number) < 0)
			continue;
		(*left)--;
		link[n] = '\0';
		file.path = link;
		if (link[0] == '/' && is_writable(fs, pid, entry->d_name) &&
		    read_file(dirfd(dir), entry->d_name, &file) &&
		    is_on_tmpfs(fs, devices, pid, &file))
			r = fn(context, &file);
	}
	return r;
}
