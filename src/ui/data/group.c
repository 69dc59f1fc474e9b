/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/recording/replay.h"
#include "ui/data/data.h"
#include "ui/data/data.h"
#include "ui/data/feed.h"
#include "ui/data/options.h"
#include "ui/data/replay.h"

/*
 * Limits that keep the user from waiting long while the history of a cgroup is read.
 * replay.c has similar limits.
 */
#define GROWTH_SAMPLES 1000
#define GROWTH_SAMPLES_MIN 64
#define PATIENCE_NS (150 * NS_PER_MS)

#define SAME_TIME_NS (10 * NS_PER_S)

void data_group_init(struct data_group *g)
{
	*g = (struct data_group){ .error = 0 };
	cgroup_init(&g->cgroup);
}

static void forget(struct data_group *g)
{
	for (size_t i = 0; i < g->member_count; i++)
		seen_growth_release(&g->members[i].need);
	free(g->members);
	seen_growth_release(&g->need);
	cgroup_release(&g->cgroup);
	data_group_init(g);
}

void data_group_release(struct data_group *g)
{
	forget(g);
}

static struct group_member *find_member(const struct data_group *g,
					const struct process *p)
{
	for (size_t i = 0; i < g->member_count; i++)
		if (g->members[i].pid == p->pid &&
		    g->members[i].start_ticks == p->start_ticks)
			return &g->members[i];
	return NULL;
}

static struct group_member *add_member(struct data_group *g, const struct process *p)
{
	struct group_member *m;

	g->members = xgrow(g->members, &g->member_capacity, g->member_count + 1,
			   sizeof(*g->members));
	m = &g->members[g->member_count++];
	*m = (struct group_member){ .pid = p->pid, .start_ticks = p->start_ticks };
	return m;
}

/*
 * Remove the members of the cgroup that have ended. Return the number of
 * remaining members.
 */
static size_t drop_members(struct data_group *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->member_count; i++) {
		if (g->members[i].is_there)
			g->members[kept++] = g->members[i];
		else
			seen_growth_release(&g->members[i].need);
	}
	g->member_count = kept;
	return kept;
}

static void follow_members(struct data_group *g)
{
	const struct snapshot *s = g->processes;
	bool had_members = g->member_count > 0;
	size_t stayed;

	for (size_t i = 0; i < g->member_count; i++)
		g->members[i].is_there = false;
	for (size_t i = 0; i < s->count; i++) {
		struct group_member *m = find_member(g, &s->usages[i].process);

		if (m)
			m->is_there = true;
	}
	stayed = drop_members(g);
	/*
	 * If all processes of the cgroup were replaced, the cgroup was restarted. Forget
	 * the earlier memory need, so that the memory need of the new processes does not
	 * count as a decrease followed by growth.
	 */
	if (had_members && stayed == 0 && s->count > 0)
		seen_growth_clear(&g->need);
	for (size_t i = 0; i < s->count; i++) {
		const struct usage *u = &s->usages[i];
		struct group_member *m = find_member(g, &u->process);

		if (!m)
			m = add_member(g, &u->process);
		/* repeat the previous amount if the usage was not read again */
		seen_growth_add(&m->need, g->taken_ns, usage_need_bytes(u));
	}
}

/* Update *g after g->cgroup has been read. `processes` is borrowed. */
static void data_group_update(struct data_group *g, const struct snapshot *processes)
{
	g->processes = processes;
	g->is_read = true;
	g->taken_ns = g->cgroup.taken_ns;
	oom_figures_find(&g->cgroup, processes, &g->figures);
	follow_members(g);
	seen_growth_add(&g->need, g->taken_ns, g->figures.need_bytes);
}

static bool is_same(const struct data_group *g, const struct cgroup *c)
{
	return g->is_read && strcmp(g->cgroup.levels[0].path, c->levels[0].path) == 0;
}

int data_group_open(struct data *d, const struct cgroup_target *target)
{
	const struct feed_kind *kind = d->feed->kind;
	const struct snapshot *processes = NULL;
	struct cgroup cgroup;
	int r = kind->open_group(d->feed, target);

	if (r < 0)
		return r;
	if (data_is_replayed(d)) {
		d->group.is_open = true;
		data_group_refresh(d);
		return 0;
	}
	cgroup_init(&cgroup);
	r = kind->read_group(d->feed, &cgroup, &processes);
	/* keep the history if the new cgroup is the same as the previous one */
	if (r < 0 || !is_same(&d->group, &cgroup))
		forget(&d->group);
	cgroup_release(&d->group.cgroup);
	d->group.cgroup = cgroup;
	d->group.is_open = true;
	d->group.is_gone = r == -ESRCH;
	d->group.error = d->group.is_gone ? 0 : r;
	if (r == 0)
		data_group_update(&d->group, processes);
	return 0;
}

/* Read sample i of the recording, and add it to the history of the cgroup. */
static int follow(struct data *d, size_t i)
{
	struct data_group *g = &d->group;
	const struct snapshot *processes = NULL;
	int r;

	d->feed->index = i;
	r = d->feed->kind->read_group(d->feed, &g->cgroup, &processes);
	g->index = i;
	g->error = r;
	if (r == 0)
		data_group_update(g, processes);
	else
		g->is_read = false;
	return r;
}

/*
 * Read the samples up to the sample on the screen, and compute the growth of the cgroup
 * from them. If reading takes too long, later calls read fewer samples.
 */
static void replay(struct data *d)
{
	struct data_group *g = &d->group;
	size_t shown = d->feed->index, first = g->index + 1;
	size_t max = g->growth_samples > 0 ? g->growth_samples : GROWTH_SAMPLES;
	uint64_t began_ns = clock_now_ns();

	if (!g->is_read || shown < first || shown - first > max) {
		forget(g);
		g->is_open = true;
		first = shown > max ? shown - max : 0;
	}
	replay_scan(d->options->replay, true);
	while (first < shown)
		(void)follow(d, first++);
	replay_scan(d->options->replay, false);
	(void)follow(d, shown);
	d->feed->index = shown;
	if (clock_now_ns() - began_ns > PATIENCE_NS)
		max = max / 2 > GROWTH_SAMPLES_MIN ? max / 2 : GROWTH_SAMPLES_MIN;
	g->growth_samples = max;
}

static void read_now(struct data *d)
{
	struct data_group *g = &d->group;
	const struct snapshot *processes = NULL;
	int r = d->feed->kind->read_group(d->feed, &g->cgroup, &processes);

	g->is_gone = r == -ESRCH;
	g->error = g->is_gone ? 0 : r;
	if (r == 0)
		data_group_update(g, processes);
}

void data_group_refresh(struct data *d)
{
	struct data_group *g = &d->group;
	uint64_t began_ns = clock_now_ns();

	if (!g->is_open || g->is_gone)
		return;
	if (!data_is_replayed(d))
		read_now(d);
	else if (!g->is_read || g->index != d->feed->index)
		replay(d);
	g->cost_ns = clock_now_ns() - began_ns;
}

const struct growth *data_group_growth_of(const struct data_group *g,
					  const struct process *p)
{
	static const struct growth unknown = { .kind = GROWTH_TOO_SHORT };
	struct group_member *m = find_member(g, p);

	return m ? seen_growth_find(&m->need) : &unknown;
}

uint64_t data_group_limit_of(const struct data_group *g, const struct usage *u)
{
	if (!g->is_read || g->is_gone || !find_member(g, &u->process) ||
	    g->taken_ns > u->taken_ns + SAME_TIME_NS ||
	    u->taken_ns > g->taken_ns + SAME_TIME_NS)
		return BYTES_UNKNOWN;
	return bytes_add(usage_need_bytes(u), g->figures.headroom_bytes);
}
