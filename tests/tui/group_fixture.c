/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "group_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "sample/process/sampler.h"
#include "ui/state.h"

struct made_level {
	const char *path;
	uint64_t usage_bytes, limit_bytes, peak_bytes, high_bytes, max_count, kill_count;
};

static const struct made_level limited[] = {
	{ "/shop/worker", 150 * MIB, CGROUP_NO_LIMIT, 160 * MIB, BYTES_UNKNOWN, 0, 1 },
	{ "/shop", 180 * MIB, 256 * MIB, 256 * MIB, BYTES_UNKNOWN, 6904, 0 },
	{ "/", 3000 * MIB, CGROUP_NO_LIMIT, 3500 * MIB, BYTES_UNKNOWN, 0, 0 },
};

#define POD \
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod4a163a05_1111.slice"

static const struct made_level container[] = {
	{ POD "/cri-containerd-0123456789abcdef0123456789abcdef.scope", 200 * MIB,
	  256 * MIB, 210 * MIB, 240 * MIB, 12, 0 },
	{ POD, 201 * MIB, 512 * MIB, 220 * MIB, CGROUP_NO_LIMIT, 0, 0 },
	{ "/kubepods.slice/kubepods-burstable.slice", 900 * MIB, CGROUP_NO_LIMIT,
	  1000 * MIB, CGROUP_NO_LIMIT, 0, 0 },
	{ "/kubepods.slice", 950 * MIB, 4096 * MIB, 1000 * MIB, CGROUP_NO_LIMIT, 0, 3 },
	{ "/", BYTES_UNKNOWN, CGROUP_NO_LIMIT, BYTES_UNKNOWN, BYTES_UNKNOWN,
	  COUNT_UNKNOWN, COUNT_UNKNOWN },
};

static const struct made_level unlimited[] = {
	{ "/", 3000 * MIB, CGROUP_NO_LIMIT, 3500 * MIB, BYTES_UNKNOWN, 0, 0 },
};

static void set_levels(struct cgroup *c, const struct made_level *made, size_t count)
{
	c->levels = xcalloc(count, sizeof(*c->levels));
	c->level_count = count;
	c->tightest = SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		struct cgroup_level *level = &c->levels[i];

		memset(level, 0xff, sizeof(*level));
		level->is_oom_group = level->is_kill_disabled = false;
		level->path = xstrdup(made[i].path);
		level->usage_bytes = made[i].usage_bytes;
		level->limit_bytes = made[i].limit_bytes;
		level->peak_bytes = made[i].peak_bytes;
		level->high_bytes = made[i].high_bytes;
		level->max_count = made[i].max_count;
		level->oom_kill_count = made[i].kill_count;
		if (c->tightest == SIZE_MAX && made[i].limit_bytes != CGROUP_NO_LIMIT)
			c->tightest = i;
	}
}

static void add_pids(struct cgroup *c, const struct snapshot *processes)
{
	c->pids =
		xgrow(c->pids, &c->pid_capacity, processes->count + 1, sizeof(*c->pids));
	for (size_t i = 0; i < processes->count; i++)
		c->pids[c->pid_count++] = processes->usages[i].process.pid;
}

/*
 * Fill in a group of version 1, which does not split the kernel's
 * memory and has no slab figure.
 */
static void fill_v1(struct cgroup *c)
{
	c->version = CGROUP_V1;
	c->stat.anon_bytes = 130 * MIB;
	c->stat.file_bytes = 40 * MIB;
	c->stat.shmem_bytes = 12 * MIB;
	c->stat.kernel_bytes = 10 * MIB;
	c->stat.inactive_file_bytes = 20 * MIB;
	c->stat.active_file_bytes = 10 * MIB;
	c->stat.file_mapped_bytes = 8 * MIB;
}

static void fill_v2(struct cgroup *c)
{
	fill_v1(c);
	c->version = CGROUP_V2;
	c->stat.slab_reclaimable_bytes = 4 * MIB;
	c->stat.sock_bytes = MIB;
	c->stat.inactive_file_bytes = 70 * MIB;
	c->has_pressure = true;
	c->pressure.some_avg10_percent_x100 = 125;
	c->names[CGROUP_NAME_RUNTIME] = xstrdup("containerd");
	c->names[CGROUP_NAME_CONTAINER_ID] = xstrdup("0123456789abcdef0123456789abcdef");
	c->names[CGROUP_NAME_CONTAINER] = xstrdup("app");
	c->names[CGROUP_NAME_POD_UID] = xstrdup("4a163a05-1111");
	c->names[CGROUP_NAME_POD] = xstrdup("web-0");
	c->names[CGROUP_NAME_NAMESPACE] = xstrdup("shop");
	c->names[CGROUP_NAME_QOS] = xstrdup("burstable");
}

static void grow(struct cgroup *c, unsigned int number, struct snapshot *processes)
{
	uint64_t more_bytes = number * MIB / 2;

	c->stat.anon_bytes += more_bytes;
	c->levels[0].usage_bytes += more_bytes;
	if (processes->count > 0)
		processes->usages[0].total.bytes[SMAPS_ANONYMOUS] += more_bytes;
}

/*
 * Drop the unreadable processes: the hidden amount of a process is
 * unknown if it cannot be read.
 */
static void drop_unreadable(struct snapshot *processes)
{
	size_t kept = 0;

	for (size_t i = 0; i < processes->count; i++) {
		if (processes->usages[i].error)
			usage_release(&processes->usages[i]);
		else
			processes->usages[kept++] = processes->usages[i];
	}
	processes->count = kept;
}

int group_fixture_make(const char *name, unsigned int number, struct cgroup *ret,
		       struct snapshot *processes)
{
	cgroup_release(ret);
	cgroup_init(ret);
	ret->slack_bytes = 2 * MIB;
	ret->group_count = 1;
	ret->hidden_limit_bytes = CGROUP_NO_LIMIT;
	if (strcmp(name, "removed") == 0 && number >= 3)
		return -ESRCH;
	if (strcmp(name, "hidden") == 0 || strcmp(name, "growing") == 0) {
		set_levels(ret, container, sizeof(container) / sizeof(container[0]));
		fill_v2(ret);
	} else if (strcmp(name, "unlimited") == 0) {
		set_levels(ret, unlimited, 1);
		fill_v1(ret);
	} else if (strcmp(name, "limited") == 0 || strcmp(name, "empty") == 0 ||
		   strcmp(name, "removed") == 0) {
		set_levels(ret, limited, sizeof(limited) / sizeof(limited[0]));
		fill_v1(ret);
	} else {
		return -EINVAL;
	}
	if (strcmp(name, "empty") == 0)
		snapshot_clear(processes);
	if (strcmp(name, "hidden") == 0)
		drop_unreadable(processes);
	if (strcmp(name, "growing") == 0)
		grow(ret, number, processes);
	add_pids(ret, processes);
	ret->limit_stat = ret->stat;
	return 0;
}

static struct made_group *made; /* a feed has no pointer to it */

static int open_made_group(struct feed *feed, const struct cgroup_target *target)
{
	(void)feed;
	(void)target;
	made->read_count = 0;
	return 0;
}

static int read_made_group(struct feed *feed, struct cgroup *ret,
			   const struct snapshot **ret_processes)
{
	struct targets all = { .pid_count = 0 };
	int r = sampler_take(made->sampler, &all, NEED_STAT | NEED_ROLLUP | NEED_STATES,
			     &made->processes);

	(void)feed;
	if (r == 0)
		r = group_fixture_make(made->name, made->read_count, ret,
				       &made->processes);
	ret->taken_ns = made->first_ns + made->read_count * NS_PER_S;
	for (size_t i = 0; i < made->processes.count; i++)
		made->processes.usages[i].taken_ns = ret->taken_ns;
	made->read_count++;
	*ret_processes = &made->processes;
	return r;
}

/* Make the single process grow with each read, too. */
static int read_growing_process(struct feed *feed, struct target_pid *target,
				struct snapshot *ret, struct mapping_list *ret_mappings)
{
	int r = made->before->read_process(feed, target, ret, ret_mappings);

	if (r < 0)
		return r;
	ret->usages[0].total.bytes[SMAPS_ANONYMOUS] += made->process_read_count * MIB / 2;
	ret->usages[0].taken_ns = made->first_ns + made->process_read_count * NS_PER_S;
	made->process_read_count++;
	return 0;
}

void made_group_begin(struct made_group *group, const char *name, struct data *d,
		      uint64_t first_ns)
{
	*group = (struct made_group){ .name = name,
				      .first_ns = first_ns,
				      .sampler = d->options->sampler,
				      .kind = *d->feed->kind };
	snapshot_init(&group->processes);
	group->kind.open_group = open_made_group;
	group->kind.read_group = read_made_group;
	group->before = d->feed->kind;
	if (strcmp(name, "growing") == 0)
		group->kind.read_process = read_growing_process;
	d->feed->kind = &group->kind;
	made = group;
}

void made_group_release(struct made_group *group)
{
	if (group->name)
		snapshot_release(&group->processes);
	group->name = NULL;
}
