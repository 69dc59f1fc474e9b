/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_sampler - one sample of a group: its memory, and that of its processes.
 */
#ifndef MS_SAMPLE_CGROUP_SAMPLER_H
#define MS_SAMPLE_CGROUP_SAMPLER_H

#include "model/cgroup.h"
#include "sample/group_processes.h"
#include "sample/sampler.h"

struct cgroup_sampler;

/*
 * The sampler is borrowed for as long as it lives. Returns 0 or -errno of
 * cgroup_target_open().
 */
int cgroup_sampler_open(const struct procfs *fs, struct sampler *sampler,
			const struct cgroup_target *target, struct cgroup_sampler **ret);
void cgroup_sampler_free(struct cgroup_sampler *s);

/* All of the group, and which processes are in it, but nothing of them. Returns as below. */
int cgroup_sampler_read(struct cgroup_sampler *s, struct cgroup *ret);

/* The processes that it read; NULL if there is none. Borrowed until the next read. */
struct targets *cgroup_sampler_targets(struct cgroup_sampler *s);

/*
 * All of the group, and the processes in it and below as sampler_take() with these needs.
 * Returns 0, -ESRCH if the group was removed, or -errno; the results are then as they
 * were.
 */
int cgroup_sampler_take(struct cgroup_sampler *s, unsigned int needs, struct cgroup *ret_cgroup,
			struct snapshot *ret_processes);

/*
 * Version 1: after one of these, what is known of the kernel's memory of the group. It costs a
 * look at each descriptor of its processes.
 */
void cgroup_sampler_find_kernel(struct cgroup_sampler *s, struct cgroup *cgroup);

#endif
