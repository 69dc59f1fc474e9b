/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/soft_dirty_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proc/process/dir.h"
#include "proc/process/fds.h"
#include "tracee/memory/soft_dirty.h"

static int refuse(const char **ret_problem, const char *problem)
{
	*ret_problem = problem;
	return -EFBIG;
}

/*
 * Return true if the process has mapped the Boehm garbage collector, which can use
 * soft-dirty bits (its virtual dirty bits).
 */
static bool has_collector(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *slash = strrchr(mappings->items[i].name, '/');

		if (slash && strncmp(slash, "/libgc.so", strlen("/libgc.so")) == 0)
			return true;
	}
	return false;
}

int soft_dirty_gate_check(const struct procfs *fs, int pid,
			  const struct mapping_list *mappings, const char **ret_problem)
{
	_cleanup_close_ int process_fd = proc_dir_open(fs, pid);
	int r = soft_dirty_check_support();

	if (r == -EPERM)
		return refuse(ret_problem,
			      "soft-dirty bits require CAP_SYS_ADMIN, without "
			      "which memstate cannot detect moved memory");
	if (r < 0)
		return refuse(ret_problem, "this kernel has no soft-dirty bits "
					   "(CONFIG_MEM_SOFT_DIRTY)");
	if (process_fd < 0)
		return refuse(ret_problem, "it cannot be read");
	if (has_collector(mappings))
		return refuse(ret_problem,
			      "its garbage collector (libgc) may use soft-dirty bits");
	r = proc_fds_find(process_fd, PROC_CLEAR_REFS);
	if (r == 0)
		r = proc_fds_find(process_fd, PROC_PAGEMAP);
	if (r != 0)
		return refuse(ret_problem,
			      r < 0 ? "its open files cannot be listed"
				    : "it has opened clear_refs or pagemap, so it may "
				      "use soft-dirty bits");
	return 0;
}

int soft_dirty_gate_open(const struct procfs *fs, int pid, struct write_tracker *ret,
			 const char **ret_problem)
{
	_cleanup_close_ int process_fd = proc_dir_open(fs, pid);
	int fd = process_fd < 0
			 ? process_fd
			 : proc_dir_open_file(process_fd, PROC_CLEAR_REFS, O_WRONLY);
	int r = fd < 0 ? fd : soft_dirty_open(ret, fd);

	if (r < 0 && fd >= 0)
		close(fd);
	if (r < 0)
		*ret_problem = r == -EBUSY ? "another memstate uses its soft-dirty bits"
					   : "its soft-dirty bits cannot be cleared";
	return r;
}
