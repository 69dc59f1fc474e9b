/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_turns - read the memory files of the named cgroups within a time limit. If there
 * is no time for all cgroups, the next call begins with the first cgroup that was not
 * read. Cgroups that were not read keep their figures from an earlier call.
 */
#ifndef MS_SAMPLE_EXPORTER_CGROUP_TURNS_H
#define MS_SAMPLE_EXPORTER_CGROUP_TURNS_H

#include "classify/exporter/cgroups.h"
#include "model/usage.h"
#include "sample/exporter/places.h"

struct cgroup_turns {
	/* index of the cgroup with which the next round begins */
	size_t next;
	/* usages of the processes in one cgroup with a limit; borrowed */
	struct snapshot members;
	/* Figures of the cgroups whose limits apply, as read in this round. */
	struct known_limit {
		char *path;
		struct oom_figures figures;
	} * limits;
	size_t limit_count, limit_capacity;
};

struct cgroup_turns_input {
	struct places *places;
	const struct snapshot *processes;
	/*
	 * the cgroup of each process, or NULL if it is unknown; the array may be NULL if
	 * there are no processes
	 */
	const struct process_cgroup *const *cgroups;
};

void cgroup_turns_release(struct cgroup_turns *turns);

/*
 * Read cgroups for at most limit_ns, but at least one cgroup. Add all cgroups with their
 * latest figures to *ret.
 */
void cgroup_turns_take(struct cgroup_turns *turns, const struct cgroup_turns_input *input,
		       uint64_t limit_ns, struct named_cgroups *ret);

#endif
