/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * targets - which processes are meant, and whether they are still the same ones.
 */
#ifndef MS_SAMPLE_TARGETS_H
#define MS_SAMPLE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"
#include "proc/procfs.h"

struct group_processes;

/* Which processes. All empty: every process. */
struct targets {
	struct target_pid {
		int pid;
		uint64_t start_ticks; /* 0 until seen: then another process of that pid is not it */
		bool had_memory;      /* once seen so, a zombie of it has ended */
		bool is_gone;
	} *pids;
	size_t pid_count;
	const char **names; /* comm, exactly; borrowed */
	size_t name_count;
	struct group_processes *group; /* and who is in it; borrowed. NULL: none is meant */
	bool with_children; /* and all their descendants */
};

static inline bool targets_are_all(const struct targets *t)
{
	return t->pid_count == 0 && t->name_count == 0 && !t->group;
}

/*
 * True if the sample of them, which is empty, is the last one: of a group, there may be
 * processes again until it was removed.
 */
bool targets_have_ended(const struct targets *targets, const struct snapshot *sample);

/*
 * Those of them that are there, as usages of which only the process is known. A pid that
 * is gone is marked so, and counted. Returns 0 or -errno.
 */
int targets_list(const struct procfs *fs, struct targets *targets, struct snapshot *ret);

/* Every process; flags as of proc_list_read(). */
int targets_list_all(const struct procfs *fs, unsigned int flags, struct snapshot *ret);

#endif
