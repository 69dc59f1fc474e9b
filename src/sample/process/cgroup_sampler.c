/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/cgroup_sampler.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "classify/cgroup/container_names.h"
#include "proc/system/kernel_files.h"
#include "sample/process/container_files.h"

/*
 * Number of charged pages that a CPU may hold in reserve for a cgroup, and number of
 * cgroups for which it does so: MEMCG_CHARGE_BATCH and NR_MEMCG_STOCK in Linux 6.18.
 */
#define PAGES_PER_CPU 64
#define GROUPS_PER_CPU 7

struct cgroup_sampler {
	const struct procfs *fs;
	struct sampler *sampler;
	struct cgroup_reader *reader;
	struct targets targets;
	size_t pid_capacity;
	/* true if a query about a pipe has hung, so pipes are no longer queried */
	bool has_pipe_hung;
};

int cgroup_sampler_open(const struct procfs *fs, struct sampler *sampler,
			const struct cgroup_target *target, struct cgroup_sampler **ret)
{
	struct cgroup_reader *reader = NULL;
	int r = cgroup_target_open(fs, target, &reader);

	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->fs = fs;
	(*ret)->sampler = sampler;
	(*ret)->reader = reader;
	return 0;
}

void cgroup_sampler_free(struct cgroup_sampler *s)
{
	if (!s)
		return;
	cgroup_reader_free(s->reader);
	free(s->targets.pids);
	free(s);
}

static void set_targets(struct cgroup_sampler *s, const struct cgroup *cgroup)
{
	struct targets *t = &s->targets;

	t->pids = xgrow(t->pids, &s->pid_capacity, cgroup->pid_count, sizeof(*t->pids));
	t->pid_count = cgroup->pid_count;
	for (size_t i = 0; i < t->pid_count; i++)
		t->pids[i] = (struct target_pid){ .pid = cgroup->pids[i] };
}

uint64_t cgroup_sampler_slack_bytes(const struct cgroup *cgroup)
{
	uint64_t groups = cgroup->group_count > 0 ? cgroup->group_count : 1;

	if (groups > GROUPS_PER_CPU)
		groups = GROUPS_PER_CPU;
	return (1 + groups) * PAGES_PER_CPU * (uint64_t)sysconf(_SC_PAGESIZE) *
	       (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/*
 * Find the names of the container and the pod, which do not change while the
 * cgroup exists.
 */
static void find_names(const struct cgroup_sampler *s, struct cgroup *cgroup)
{
	const char *path = cgroup_reader_full_path(s->reader);
	char **names = cgroup->names;
	_cleanup_close_ int root_fd = -1;

	container_names_find(path, names);
	if (!names[CGROUP_NAME_CONTAINER_ID] && !names[CGROUP_NAME_POD_UID])
		return;
	root_fd = container_files_open_root(s->fs);
	if (root_fd >= 0)
		container_files_find(root_fd, path, names);
	if (cgroup->pid_count > 0)
		container_files_find_pod(s->fs, cgroup->pids[0], names);
}

static bool has_names(const struct cgroup *cgroup)
{
	for (size_t i = 0; i < CGROUP_NAME_COUNT_; i++)
		if (cgroup->names[i])
			return true;
	return false;
}

int cgroup_sampler_read(struct cgroup_sampler *s, struct cgroup *ret)
{
	int r = cgroup_reader_read(s->reader, CGROUP_ALL, ret);

	if (r < 0)
		return r;
	ret->slack_bytes = cgroup_sampler_slack_bytes(ret);
	if (!has_names(ret))
		find_names(s, ret);
	set_targets(s, ret);
	return 0;
}

/*
 * Return NULL if the cgroup is empty, because targets without a pid select every process.
 */
struct targets *cgroup_sampler_targets(struct cgroup_sampler *s)
{
	return s->targets.pid_count > 0 ? &s->targets : NULL;
}

int cgroup_sampler_take(struct cgroup_sampler *s, unsigned int needs,
			struct cgroup *ret_cgroup, struct snapshot *ret_processes)
{
	int r = cgroup_sampler_read(s, ret_cgroup);

	if (r < 0)
		return r;
	snapshot_clear(ret_processes);
	if (cgroup_sampler_targets(s))
		r = sampler_take(s->sampler, &s->targets, needs, ret_processes);
	/* the cgroup and its processes form one sample with a single timestamp */
	ret_processes->taken_ns = ret_cgroup->taken_ns;
	ret_processes->unix_ms = ret_cgroup->unix_ms;
	return r;
}

void cgroup_sampler_find_kernel(struct cgroup_sampler *s, struct cgroup *cgroup)
{
	struct cgroup_kernel *k = &cgroup->kernel;

	memset(k, 0xff, sizeof(*k));
	if (cgroup->version != CGROUP_V1)
		return;
	cgroup_reader_read_kernel(s->reader, cgroup);
	if (!s->has_pipe_hung &&
	    proc_kernel_files_read(s->fs, cgroup->pids, cgroup->pid_count, k) < 0)
		s->has_pipe_hung = true;
}
