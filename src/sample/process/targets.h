/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * targets - the selected processes, and whether they are still the same ones.
 */
#ifndef MS_SAMPLE_PROCESS_TARGETS_H
#define MS_SAMPLE_PROCESS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"
#include "proc/system/procfs.h"

struct group_processes;

/* A selection of processes. If everything is empty, every process is selected. */
struct targets {
	struct target_pid {
		int pid;
		/* 0 until seen; afterwards detects reuse of the pid */
		uint64_t start_ticks;
		bool had_memory; /* once set, a zombie with this pid has ended */
		bool is_gone;
	} * pids;
	size_t pid_count;
	const char **names; /* comm, exact match; borrowed */
	size_t name_count;
	/* processes of this group; borrowed. NULL: no group */
	struct group_processes *group;
	bool with_children; /* and all their descendants */
};

static inline bool targets_are_all(const struct targets *t)
{
	return t->pid_count == 0 && t->name_count == 0 && !t->group;
}

/*
 * Whether the empty sample of the targets is their last one. A group may get processes
 * again until it is removed.
 */
bool targets_have_ended(const struct targets *targets, const struct snapshot *sample);

/*
 * List the existing targets as usages of which only the process is known. A pid that is
 * gone is marked and counted. Returns 0 or -errno.
 */
int targets_list(const struct procfs *fs, struct targets *targets, struct snapshot *ret);

/* List every process; flags are those of proc_list_read(). */
int targets_list_all(const struct procfs *fs, unsigned int flags, struct snapshot *ret);

#endif
