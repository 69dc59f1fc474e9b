/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"
#include "proc/process/pids.h"
#include "proc/process/stat.h"

static int read_entry(const struct procfs *fs, int pid, unsigned int wants,
		      struct process *ret)
{
	int r = wants ? proc_stat_read(fs, pid, ret) : 0;

	/*
	 * report only the pid if the process's stat file is hidden (hidepid=1) or corrupt
	 * (in a capture)
	 */
	if (wants && r != -EACCES && r != -EPERM && r != -EBADMSG)
		return r;
	*ret = (struct process){ .pid = pid, .uid = UINT32_MAX };
	return 0;
}

struct pid_list {
	int *items;
	size_t count;
	size_t capacity;
};

static int compare_pids(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * List the pids in ascending order, as in a live /proc. readdir(3) may return the
 * directories of a captured tree in any order.
 */
static int list_pids(const struct procfs *fs, struct pid_list *ret)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int fd = openat(fs->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int pid;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		close(fd);
		return r;
	}
	while ((errno = 0, entry = readdir(dir))) {
		if (num_parse_pid(entry->d_name, &pid) < 0)
			continue;
		ret->items =
			xgrow(ret->items, &ret->capacity, ret->count + 1, sizeof(pid));
		ret->items[ret->count++] = pid;
	}
	if (errno)
		return -errno;
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(pid), compare_pids);
	return 0;
}

static int read_directory(const struct procfs *fs, unsigned int wants, process_fn fn,
			  void *context)
{
	struct pid_list pids = { NULL, 0, 0 };
	int r = list_pids(fs, &pids);

	for (size_t i = 0; r == 0 && i < pids.count; i++) {
		struct process p;

		r = read_entry(fs, pids.items[i], wants, &p);
		if (r == 0)
			r = fn(context, &p);
		else if (r == -ESRCH || r == -EOPNOTSUPP)
			r = 0;
	}
	free(pids.items);
	return r;
}

int proc_list_read(const struct procfs *fs, unsigned int wants, process_fn fn,
		   void *context)
{
#if HAVE_LIBPROC2
	if (fs->is_live && wants)
		return proc_pids_read(fs, fn, context);
#endif
	return read_directory(fs, wants, fn, context);
}

int proc_list_read_one(const struct procfs *fs, int pid, struct process *ret)
{
	return read_entry(fs, pid, LIST_STAT, ret);
}
