/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sample/exporter/cgroup_turns.h"
#include "sample/exporter/cpu_budget.h"
#include "sample/exporter/heap_turns.h"
#include "sample/exporter/kills.h"
#include "sample/exporter/owner_turns.h"
#include "sample/exporter/places.h"
#include "sample/process/watch.h"

/*
 * Maximum age of the heap figures of a process. If they are older, the figures without
 * the heap are used.
 */
#define HEAP_AGE_MAX_NS (300 * NS_PER_S)

/*
 * Age at which the figures of a process are read again even if the process
 * has not changed.
 */
#define OLD_NS (60 * NS_PER_S)

struct collector {
	struct collector_setup setup;
	struct targets targets; /* all processes */
	struct watch *watch;
	struct cpu_budget old_budget; /* CPU budget for updating old figures */
	struct places places;
	struct cgroup_turns turns;
	struct kills kills;
	/* state for reading mappings, or NULL if none are read */
	struct owner_turns *owners;
	/* state for reading heaps, or NULL if none are read */
	struct heap_turns *heaps;
	struct exporter_look look;
	/*
	 * For each process in the watch's snapshot: its cgroup, its group, and whether
	 * to read its mappings.
	 */
	const struct process_cgroup **cgroups;
	struct group **groups; /* group of each process, or NULL for "(rest)" */
	bool *is_wanted;
	size_t cgroup_capacity, group_capacity, wanted_capacity;
};

struct collector *collector_new(const struct collector_setup *setup)
{
	struct collector *c = xcalloc(1, sizeof(*c));

	c->setup = *setup;
	c->watch = watch_new(setup->sampler, &c->targets, setup->max_share_per_mille);
	cpu_budget_init(&c->old_budget, setup->turns_cpu_share, clock_now_ns());
	places_init(&c->places, setup->fs, setup->grouping);
	c->places.patterns = setup->patterns;
	c->places.pattern_count = setup->pattern_count;
	exporter_look_init(&c->look);
	c->look.has_owners = setup->has_owners;
	if (c->places.has_mount)
		c->look.cgroup_version = (int)c->places.mount.version;
	if (setup->heap_pattern)
		c->heaps = heap_turns_new(setup->fs, setup->sampler, setup->heap_pattern,
					  setup->max_pause_ns);
	if (setup->has_owners)
		c->owners = owner_turns_new(setup->sampler, setup->turns_cpu_share,
					    setup->max_share_per_mille);
	c->look.has_heaps = c->heaps != NULL;
	c->kills.fd = -EOPNOTSUPP;
	if (setup->reads_log)
		kills_open(&c->kills);
	c->kills.recorder = setup->recorder;
	c->look.is_log_readable = c->kills.fd >= 0;
	return c;
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	heap_turns_free(c->heaps);
	owner_turns_free(c->owners);
	watch_free(c->watch);
	cgroup_turns_release(&c->turns);
	places_release(&c->places);
	kills_close(&c->kills);
	exporter_look_release(&c->look);
	free(c->cgroups);
	free(c->groups);
	free(c->is_wanted);
	free(c);
}

struct stage_timer {
	uint64_t wall_ns, cpu_ns;
};

static struct stage_timer begin_stage(void)
{
	return (struct stage_timer){ clock_now_ns(), clock_thread_cpu_ns() };
}

static void end_stage(struct collector *c, enum look_stage stage,
		      const struct stage_timer *timer)
{
	c->look.costs[stage].wall_ns = clock_now_ns() - timer->wall_ns;
	c->look.costs[stage].cpu_ns += clock_thread_cpu_ns() - timer->cpu_ns;
}

/* Read the processes, and add up the time for which reading held their mmap locks. */
static int read_processes(struct collector *c, uint64_t limit_ns)
{
	unsigned int needs = NEED_ROLLUP;
	struct stage_timer timer = begin_stage();
	const struct snapshot *s;
	int r;

	if (c->setup.grouping == GROUPING_USER)
		needs |= NEED_UID;
	if (c->setup.recorder) {
		needs |= RECORDER_NEEDS;
		recorder_begin(c->setup.recorder);
	}
	watch_set_refresh_limit(c->watch, limit_ns);
	cpu_budget_earn(&c->old_budget, timer.wall_ns);
	watch_set_old_limits(c->watch, OLD_NS, cpu_budget_credit_ns(&c->old_budget));
	r = watch_refresh(c->watch, needs, NULL, 0);
	cpu_budget_use(&c->old_budget, watch_old_cpu_ns(c->watch));
	if (r == 0 && c->setup.recorder)
		(void)recorder_end(c->setup.recorder, watch_snapshot(c->watch), NULL);
	end_stage(c, LOOK_PROCESSES, &timer);
	if (r < 0)
		return r;
	s = watch_snapshot(c->watch);
	for (size_t i = 0; i < s->count; i++)
		if (s->usages[i].taken_ns >= timer.wall_ns)
			c->look.locked_ns += bytes_or_0(s->usages[i].read_ns);
	return 0;
}

static void read_heaps(struct collector *c)
{
	struct stage_timer timer = begin_stage();

	heap_turns_take(c->heaps, watch_snapshot(c->watch), &c->look.pauses);
	end_stage(c, LOOK_HEAPS, &timer);
}

static bool has_figures(const struct usage *u)
{
	return !u->error && u->source != SOURCE_NONE && u->source != SOURCE_STAT;
}

/*
 * Return the latest usage of the process that includes its heap, or NULL if the heap was
 * not read recently.
 */
static const struct usage *find_heap(const struct collector *c, const struct usage *u)
{
	const struct usage *known = c->heaps ? heap_turns_find(c->heaps, &u->process)
					     : NULL;

	return known && c->look.taken_ns < known->taken_ns + HEAP_AGE_MAX_NS ? known
									     : NULL;
}

/*
 * Select the processes whose mappings are to be read: the processes of the shown groups,
 * except those whose memory was already assigned to owners when their mappings or heaps
 * were read.
 */
static void select_processes(struct collector *c)
{
	const struct snapshot *s = watch_snapshot(c->watch);

	c->is_wanted = xgrow(c->is_wanted, &c->wanted_capacity, s->count + 1,
			     sizeof(*c->is_wanted));
	for (size_t i = 0; i < s->count; i++)
		c->is_wanted[i] = c->groups[i] && c->groups[i]->is_shown &&
				  has_figures(&s->usages[i]) &&
				  s->usages[i].source != SOURCE_SMAPS &&
				  !find_heap(c, &s->usages[i]);
}

/*
 * If the owners of the process's memory are known, add its memory by owner to the
 * process's group.
 */
static void add_owners(struct collector *c, const struct usage *u, struct group *group)
{
	const struct usage *heap = find_heap(c, u);
	const struct owner_figures *known =
		owner_turns_find(c->owners, &u->process, c->look.taken_ns);
	struct owner_figures figures;

	if (!has_figures(u))
		return;
	if (heap || u->source == SOURCE_SMAPS) {
		owner_figures_of(heap ? heap : u, &figures);
		known = &figures;
	}
	if (known)
		named_groups_add_owners(&c->look.groups, group, known);
}

static void read_owners(struct collector *c, uint64_t limit_ns)
{
	const struct snapshot *s = watch_snapshot(c->watch);
	struct stage_timer timer = begin_stage();

	select_processes(c);
	c->look.locked_ns += owner_turns_take(c->owners, s, c->is_wanted, limit_ns);
	for (size_t i = 0; i < s->count; i++)
		add_owners(c, &s->usages[i], c->groups[i]);
	end_stage(c, LOOK_OWNERS, &timer);
}

static void add_groups(struct collector *c, size_t top, size_t shown_max)
{
	const struct snapshot *s = watch_snapshot(c->watch);
	struct stage_timer timer = begin_stage();

	c->cgroups =
		xgrow(c->cgroups, &c->cgroup_capacity, s->count + 1, sizeof(*c->cgroups));
	c->groups = xgrow(c->groups, &c->group_capacity, s->count + 1,
			  sizeof(struct group *));
	places_begin(&c->places, s->taken_ns);
	named_groups_begin(&c->look.groups);
	c->look.late_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct usage *u = &s->usages[i];
		const struct group_name *name =
			places_find(&c->places, &u->process, &c->cgroups[i]);

		c->groups[i] = named_groups_add(&c->look.groups, name, u);
		c->look.late_count += !u->error && u->source == SOURCE_STAT;
	}
	named_groups_end(&c->look.groups, top, shown_max, s->taken_ns);
	end_stage(c, LOOK_GROUPS, &timer);
}

static void read_cgroups(struct collector *c, uint64_t limit_ns)
{
	struct stage_timer timer = begin_stage();
	const struct cgroup_turns_input input = {
		.places = &c->places,
		.processes = watch_snapshot(c->watch),
		.cgroups = c->cgroups,
	};

	named_cgroups_begin(&c->look.cgroups);
	cgroup_turns_take(&c->turns, &input, limit_ns, &c->look.cgroups);
	named_cgroups_end(&c->look.cgroups, clock_now_ns());
	end_stage(c, LOOK_CGROUPS, &timer);
}

/*
 * Set the time of the boot. Keep the previous value unless the clock was set, so that the
 * start times of processes remain the same from round to round.
 */
static void set_boot_time(struct exporter_look *look)
{
	uint64_t boot_ms = look->unix_ms - clock_boot_ns() / NS_PER_MS;
	uint64_t before_ms = look->boot_unix_ms;

	if (boot_ms > before_ms + 1000 || before_ms > boot_ms + 1000)
		look->boot_unix_ms = boot_ms;
}

int collector_take(struct collector *c, uint64_t limit_ns, size_t top, size_t shown_max)
{
	int r = read_processes(c, limit_ns);

	c->look.taken_ns = clock_now_ns();
	c->look.unix_ms = clock_unix_ms();
	set_boot_time(&c->look);
	c->look.is_success = r == 0;
	if (r < 0)
		return r;
	if (c->heaps)
		read_heaps(c);
	add_groups(c, top, shown_max);
	if (c->owners)
		read_owners(c, limit_ns);
	if (c->places.has_mount)
		read_cgroups(c, limit_ns);
	places_end(&c->places);
	return 0;
}

struct exporter_look *collector_look(struct collector *c)
{
	return &c->look;
}

int collector_log_fd(const struct collector *c)
{
	return c->kills.fd;
}

bool collector_read_log(struct collector *c)
{
	return kills_read(&c->kills, &c->places, &c->look);
}

uint64_t collector_log_due_ns(const struct collector *c)
{
	return kills_due_ns(&c->kills);
}
