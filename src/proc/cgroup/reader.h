/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - the open files of a cgroup and of its ancestors. Internal to proc/cgroup:
 * open.c opens and closes the files, cgroup.c reads them.
 */
#ifndef MS_PROC_CGROUP_READER_H
#define MS_PROC_CGROUP_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "proc/cgroup/cgroup.h"

#define LEVELS_MAX 64

enum group_file {
	FILE_USAGE,
	FILE_LIMIT,
	FILE_HIGH,
	FILE_PEAK,
	FILE_SWAP,	 /* v1: usage of memory plus swap */
	FILE_SWAP_LIMIT, /* v1: limit of memory plus swap */
	FILE_FAILCNT,
	FILE_EVENTS,
	/* counts that include descendants, for kernels without memory.events.local */
	FILE_EVENTS_OF_ALL,
	FILE_SWAP_EVENTS,
	FILE_OOM_GROUP,
	FILE_STAT,
	FILE_KERNEL,
	FILE_SOCK,
	FILE_SOCK_LIMIT,
	FILE_SLABS,
	FILE_PRESSURE,
	FILE_COUNT_
};

#define FD_NOT_YET (-1)
#define FD_NONE (-2)

struct level_reader {
	char *path;
	int dir_fd;
	bool is_real_root;
	/*
	 * v2: true if the memory controller is on; if it is off, the kernel
	 * charges an ancestor
	 */
	bool is_charged;
	int fds[FILE_COUNT_];
};

struct cgroup_reader {
	enum cgroup_version version;
	struct level_reader levels[LEVELS_MAX];
	size_t level_count;
	/*
	 * Descriptor of the requested cgroup's directory. `levels` does not contain this
	 * cgroup if the kernel charges its memory to an ancestor.
	 */
	int own_fd;
	bool is_cut;
	struct strbuf full_path;
	struct strbuf text; /* content of the file that was read last */
};

/* Return true if the cgroup still exists. The files of a removed cgroup disappear. */
bool cgroup_reader_exists(const struct cgroup_reader *reader);

#endif
