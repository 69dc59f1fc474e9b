/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_sampler - one sample of a group: its memory and that of its processes.
 */
#ifndef MS_SAMPLE_PROCESS_CGROUP_SAMPLER_H
#define MS_SAMPLE_PROCESS_CGROUP_SAMPLER_H

#include "model/cgroup.h"
#include "sample/process/group_processes.h"
#include "sample/process/sampler.h"

struct cgroup_sampler;

/*
 * Open a sampler for the group of the target. `sampler` is borrowed and must outlive
 * *ret. Returns 0 or -errno from cgroup_target_open().
 */
int cgroup_sampler_open(const struct procfs *fs, struct sampler *sampler,
			const struct cgroup_target *target, struct cgroup_sampler **ret);
void cgroup_sampler_free(struct cgroup_sampler *s);

/*
 * Read all figures of the group and the pids in it, but nothing about the processes.
 * Returns like cgroup_sampler_take().
 */
int cgroup_sampler_read(struct cgroup_sampler *s, struct cgroup *ret);

/*
 * Return the processes whose pids were read; NULL if the group has no process. Borrowed
 * until the next read.
 */
struct targets *cgroup_sampler_targets(struct cgroup_sampler *s);

/*
 * Read all figures of the group, and sample the processes in it and in the groups below
 * it, as sampler_take() does for these needs. Returns 0; -ESRCH if the group was removed;
 * or another -errno. On failure the results are unchanged.
 */
int cgroup_sampler_take(struct cgroup_sampler *s, unsigned int needs,
			struct cgroup *ret_cgroup, struct snapshot *ret_processes);

/*
 * Version 1 only, after one of the two functions above: determine what is known about the
 * group's kernel memory. Examines each descriptor of its processes, which takes time.
 */
void cgroup_sampler_find_kernel(struct cgroup_sampler *s, struct cgroup *cgroup);

#endif
