/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroup_sampler - take samples of a cgroup: its memory and its processes' memory. */
#ifndef MS_SAMPLE_PROCESS_CGROUP_SAMPLER_H
#define MS_SAMPLE_PROCESS_CGROUP_SAMPLER_H

#include "model/cgroup.h"
#include "sample/process/group_processes.h"
#include "sample/process/sampler.h"

struct cgroup_sampler;

/*
 * Open a sampler for the target's cgroup. `sampler` is borrowed and must outlive *ret.
 * Return 0 or -errno from cgroup_target_open().
 */
int cgroup_sampler_open(const struct procfs *fs, struct sampler *sampler,
			const struct cgroup_target *target, struct cgroup_sampler **ret);
void cgroup_sampler_free(struct cgroup_sampler *s);

/*
 * Read all figures of the cgroup and the pids in it, but not the memory of its processes.
 * Return the same values as cgroup_sampler_take().
 */
int cgroup_sampler_read(struct cgroup_sampler *s, struct cgroup *ret);

/*
 * Return the processes whose pids were read, borrowed until the next read, or NULL if the
 * cgroup is empty.
 */
struct targets *cgroup_sampler_targets(struct cgroup_sampler *s);

/*
 * Read all figures of the cgroup, and sample the processes in it and in the cgroups below
 * it. The needs are those of sampler_take(). Return 0; -ESRCH if the cgroup was removed;
 * or another -errno. On failure, the results are unchanged.
 */
int cgroup_sampler_take(struct cgroup_sampler *s, unsigned int needs,
			struct cgroup *ret_cgroup, struct snapshot *ret_processes);

/*
 * Return an upper bound on the error of the cgroup's figures, in bytes: changes that the
 * CPUs have not yet added to memory.stat, and pages that the CPUs keep charged in reserve
 * for the cgroup and for cgroups below it. cgroup->group_count must be set.
 */
uint64_t cgroup_sampler_slack_bytes(const struct cgroup *cgroup);

/*
 * Determine as many parts as possible of the kernel memory of a version 1 cgroup. Do
 * nothing for version 2. Call this function after cgroup_sampler_read() or
 * cgroup_sampler_take(). This function is slow, because it examines every descriptor of
 * the cgroup's processes.
 */
void cgroup_sampler_find_kernel(struct cgroup_sampler *s, struct cgroup *cgroup);

#endif
