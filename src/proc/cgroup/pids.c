/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/pids.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#define FILE_BYTES_MAX (4 << 20)
#define GROUPS_MAX 10000
#define PIDS_MAX 1000000

static void add_pids(struct cgroup *cgroup, const char *text)
{
	for (const char *at = text; *at && cgroup->pid_count < PIDS_MAX;) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at)
			return;
		at = end + (*end == '\n');
		/* cgroup.procs lists processes outside memstate's pid namespace as 0 */
		if (pid <= 0 || pid > INT32_MAX)
			continue;
		cgroup->pids = xgrow(cgroup->pids, &cgroup->pid_capacity,
				     cgroup->pid_count + 1, sizeof(*cgroup->pids));
		cgroup->pids[cgroup->pid_count++] = (int)pid;
	}
}

static void read_pids(int parent_fd, const char *name, struct cgroup *cgroup,
		      size_t *left)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct dirent *entry;

	if (!dir || *left == 0) {
		if (fd >= 0 && !dir)
			close(fd);
		return;
	}
	--*left;
	cgroup->group_count++;
	if (io_read_file_at(fd, "cgroup.procs", FILE_BYTES_MAX, &text) == 0)
		add_pids(cgroup, strbuf_text(&text));
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			read_pids(fd, entry->d_name, cgroup, left);
}

static int compare_pids(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

void cgroup_pids_read(int dir_fd, struct cgroup *ret)
{
	size_t left = GROUPS_MAX;

	ret->pid_count = ret->group_count = 0;
	read_pids(dir_fd, ".", ret, &left);
	if (ret->pid_count > 0)
		qsort(ret->pids, ret->pid_count, sizeof(*ret->pids), compare_pids);
}
