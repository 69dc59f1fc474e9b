/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/proc_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "proc/proc_pids.h"
#include "proc/proc_stat.h"

static int read_entry(const struct procfs *fs, int pid, unsigned int wants, struct process *ret)
{
	int r = wants ? proc_stat_read(fs, pid, ret) : 0;

	/* with hidepid=1 that there is such a process is all that others may know */
	if (wants && r != -EACCES && r != -EPERM)
		return r;
	*ret = (struct process){ .pid = pid, .uid = UINT32_MAX };
	return 0;
}

static int read_directory(const struct procfs *fs, unsigned int wants, process_fn fn,
			  void *context)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int fd = openat(fs->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		close(fd);
		return r;
	}
	while ((errno = 0, entry = readdir(dir))) {
		struct process p;
		int pid, r;

		if (num_parse_pid(entry->d_name, &pid) < 0)
			continue;
		r = read_entry(fs, pid, wants, &p);
		if (r == -ESRCH || r == -EOPNOTSUPP)
			continue;
		if (r == 0)
			r = fn(context, &p);
		if (r < 0)
			return r;
	}
	return -errno;
}

#if HAVE_LIBPROC2
struct with_uid {
	const struct procfs *fs;
	process_fn fn;
	void *context;
};

static int add_uid(void *context, const struct process *p)
{
	const struct with_uid *with = context;
	struct process owned = *p;

	owned.uid = proc_stat_read_uid(with->fs, p->pid);
	return with->fn(with->context, &owned);
}
#endif

int proc_list_read(const struct procfs *fs, unsigned int wants, process_fn fn, void *context)
{
#if HAVE_LIBPROC2
	struct with_uid with = { fs, fn, context };

	if (fs->is_live && wants & LIST_UID)
		return proc_pids_read(fs, add_uid, &with);
	if (fs->is_live && wants)
		return proc_pids_read(fs, fn, context);
#endif
	return read_directory(fs, wants, fn, context);
}

int proc_list_read_one(const struct procfs *fs, int pid, struct process *ret)
{
	return proc_stat_read(fs, pid, ret);
}
