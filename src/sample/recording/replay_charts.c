/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/replay_charts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg/kmsg.h"

/* Indexes of the charts in the array of charts. */
enum {
	PLACE_GROUP,
	PLACE_OWNERS,
	PLACE_STATES,
	PLACE_PROCESSES,
	PLACE_FIRST_PROCESS
};

struct reading {
	struct replay *replay;
	const struct targets *targets;
	struct timeline_charts *charts;
	struct process largest[CHARTED_PROCESSES_MAX];
	size_t largest_count;
	struct snapshot snapshot;
	struct cgroup cgroup;
};

static void add_row(struct reading *r, size_t place, const struct timeline_row *row)
{
	if (bytes_known(row->total_bytes))
		timeline_add(&r->charts->charts[place].timeline, row);
}

static void init_row(struct timeline_row *row, uint64_t unix_ms)
{
	/* set all bits, which makes every value unknown */
	memset(row, 0xff, sizeof(*row));
	row->unix_ms = unix_ms;
}

/* Add a value to a sum. The sum is known if at least one of its values is known. */
static void add_known(uint64_t *sum, uint64_t bytes)
{
	if (bytes_known(bytes))
		*sum = bytes_known(*sum) ? bytes_add(*sum, bytes) : bytes;
}

static void set_owners(struct reading *r, size_t index, const struct usage *u,
		       struct timeline_row *row)
{
	uint64_t owners[OWNER_COUNT_];

	row->total_bytes = u->total.bytes[SMAPS_RSS];
	row->values[OWNERS_PSS] = u->total.bytes[SMAPS_PSS];
	row->values[OWNERS_SWAP] = u->total.bytes[SMAPS_SWAP];
	row->values[OWNERS_LAZYFREE] = u->total.bytes[SMAPS_LAZYFREE];
	if (replay_read_owners(r->replay, index, u, owners) == 0)
		memcpy(row->values, owners, sizeof(owners));
}

/*
 * Return the index of the process's chart, or CHARTED_PROCESSES_MAX if the process has no
 * chart of its own.
 */
static size_t find_largest(const struct reading *r, const struct process *process)
{
	for (size_t i = 0; i < r->largest_count; i++)
		if (process_is_same(&r->largest[i], process))
			return i;
	return CHARTED_PROCESSES_MAX;
}

static void set_heaps(struct timeline_chart *chart, const struct usage *u,
		      uint64_t unix_ms)
{
	if (u->heap_count == 0)
		return;
	memcpy(chart->heaps, u->heaps, sizeof(chart->heaps));
	chart->heap_count = u->heap_count;
	chart->heaps_unix_ms = unix_ms;
}

static void add_processes(struct reading *r, size_t index)
{
	uint64_t unix_ms = r->snapshot.unix_ms;
	struct timeline_row all, states, processes;

	init_row(&all, unix_ms);
	init_row(&states, unix_ms);
	init_row(&processes, unix_ms);
	for (size_t i = 0; i < r->snapshot.count; i++) {
		const struct usage *u = &r->snapshot.usages[i];
		size_t place = find_largest(r, &u->process);
		struct timeline_row one;

		init_row(&one, unix_ms);
		set_owners(r, index, u, &one);
		if (place < CHARTED_PROCESSES_MAX) {
			add_row(r, PLACE_FIRST_PROCESS + place, &one);
			set_heaps(&r->charts->charts[PLACE_FIRST_PROCESS + place], u,
				  unix_ms);
		}
		add_known(&all.total_bytes, one.total_bytes);
		for (size_t v = 0; v < OWNERS_VALUE_COUNT_; v++)
			add_known(&all.values[v], one.values[v]);
		for (size_t s = 0; s < STATE_COUNT_; s++)
			add_known(&states.values[s], u->state_bytes[s]);
		add_known(&processes.values[place], one.total_bytes);
	}
	states.total_bytes = processes.total_bytes = all.total_bytes;
	add_row(r, PLACE_OWNERS, &all);
	add_row(r, PLACE_STATES, &states);
	add_row(r, PLACE_PROCESSES, &processes);
}

static void set_figures(const struct oom_figures *f, struct timeline_row *row)
{
	const uint64_t values[GROUP_VALUE_COUNT_] = {
		[GROUP_LIVE_ANON] = f->live_anon_bytes,
		[GROUP_SHMEM] = f->shmem_bytes,
		[GROUP_KERNEL] = f->kernel_bytes,
		[GROUP_SOCK] = f->sock_bytes,
		[GROUP_LAZYFREE] = f->lazyfree_bytes,
		[GROUP_SLAB_RECLAIMABLE] = f->slab_reclaimable_bytes,
		[GROUP_FILE] = f->file_bytes,
		[GROUP_LIMIT] = f->limit_bytes == CGROUP_NO_LIMIT ? BYTES_UNKNOWN
								  : f->limit_bytes,
		[GROUP_NEED] = f->need_bytes,
		[GROUP_HIDDEN] = f->hidden_bytes,
		[GROUP_WORKING_SET] = f->working_set_bytes,
		[GROUP_SWAP] = f->swap_bytes,
	};

	row->total_bytes = f->usage_bytes;
	memcpy(row->values, values, sizeof(values));
}

/*
 * Return the names of a cgroup, such as "container app of pod shop/web-0", or NULL if no
 * name is known. The caller must free the result.
 */
static char *make_names(char *const names[CGROUP_NAME_COUNT_])
{
	const char *container = names[CGROUP_NAME_CONTAINER],
		   *pod = names[CGROUP_NAME_POD];
	const char *namespace = names[CGROUP_NAME_NAMESPACE],
		   *unit = names[CGROUP_NAME_UNIT];
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!container)
		container = names[CGROUP_NAME_CONTAINER_ID];
	if (container)
		strbuf_addf(&text, "container %s", container);
	if (pod)
		strbuf_addf(&text, "%spod %s%s%s", container ? " of " : "",
			    namespace ? namespace : "", namespace ? "/" : "", pod);
	if (unit && text.length == 0)
		strbuf_addf(&text, "unit %s", unit);
	return text.length > 0 ? strbuf_take(&text) : NULL;
}

/*
 * Add a row for the cgroup. The figures are computed from all processes of the cgroup
 * instead of only the targets.
 */
static int add_group(struct reading *r, size_t index)
{
	struct oom_figures figures = { 0 };
	struct timeline_row row;
	int error = replay_read_cgroup(r->replay, index, &r->cgroup);

	if (error == -ENOENT)
		return 0;
	if (error == 0 && !targets_are_all(r->targets))
		error = replay_read_figures(r->replay, index, &figures);
	else if (error == 0)
		oom_figures_find(&r->cgroup, &r->snapshot, &figures);
	if (error < 0)
		return error;
	if (!r->charts->group_path) {
		r->charts->group_path = xstrdup(r->cgroup.levels[0].path);
		r->charts->group_names = make_names(r->cgroup.names);
	}
	init_row(&row, r->snapshot.unix_ms);
	set_figures(&figures, &row);
	add_row(r, PLACE_GROUP, &row);
	return 0;
}

static void add_gaps(struct reading *r, uint64_t unix_ms)
{
	for (size_t i = 0; i < r->charts->chart_count; i++)
		timeline_add_gap(&r->charts->charts[i].timeline, unix_ms);
}

static int read_samples(struct reading *r, bool (*is_stopped)(void))
{
	size_t count = replay_count(r->replay);
	int error = 0;

	for (size_t i = 0; i < count && error == 0 && !is_stopped(); i++) {
		if (i > 0 && replay_begins_session(r->replay, i))
			add_gaps(r, replay_unix_ms(r->replay, i - 1));
		error = replay_read(r->replay, i, r->targets, &r->snapshot);
		if (error < 0)
			break;
		add_processes(r, i);
		error = add_group(r, i);
		r->charts->sample_count++;
	}
	for (size_t i = 0; i < r->charts->chart_count; i++)
		timeline_end(&r->charts->charts[i].timeline);
	return error;
}

/*
 * Return the description of an event for users, or NULL. The caller must free the result.
 */
static char *make_event_text(const struct recorded_event *event)
{
	struct strbuf text = STRBUF_INIT;

	if (!event->text)
		return NULL;
	proc_kmsg_add_messages(event->text, &text);
	return strbuf_take(&text);
}

static int add_event(void *context, const struct recorded_event *event)
{
	struct timeline_charts *c = context;
	struct timeline_event *added;

	if (c->event_count == TIMELINE_EVENTS_MAX) {
		c->events_left_out++;
		return 0;
	}
	c->events = xgrow(c->events, &c->event_capacity, c->event_count + 1,
			  sizeof(*c->events));
	added = &c->events[c->event_count++];
	*added = (struct timeline_event){
		.unix_ms = event->unix_ms,
		.pid = event->pid,
		.kind = xstrdup(event->kind ? event->kind : ""),
		.text = make_event_text(event),
	};
	return 0;
}

static void begin_charts(struct reading *r)
{
	static const enum chart_kind kinds[] = {
		[PLACE_GROUP] = CHART_GROUP,
		[PLACE_OWNERS] = CHART_OWNERS,
		[PLACE_STATES] = CHART_STATES,
		[PLACE_PROCESSES] = CHART_PROCESSES,
	};
	struct timeline_charts *c = r->charts;

	c->chart_count = PLACE_FIRST_PROCESS + r->largest_count;
	c->charts = xcalloc(c->chart_count, sizeof(*c->charts));
	for (size_t i = 0; i < c->chart_count; i++) {
		struct strbuf title = STRBUF_INIT;

		timeline_init(&c->charts[i].timeline, c->begin_ms, c->end_ms);
		c->charts[i].kind = i < PLACE_FIRST_PROCESS ? kinds[i] : CHART_PROCESS;
		if (i < PLACE_FIRST_PROCESS)
			continue;
		strbuf_addf(&title, "%s (%d)", r->largest[i - PLACE_FIRST_PROCESS].comm,
			    r->largest[i - PLACE_FIRST_PROCESS].pid);
		c->charts[i].title = strbuf_take(&title);
		c->process_names[i - PLACE_FIRST_PROCESS] = xstrdup(c->charts[i].title);
	}
}

/*
 * Find the earliest and the latest time of all samples. The last sample may not be the
 * latest, because the wall clock may have been set during the recording.
 */
static void find_range(const struct replay *replay, struct timeline_charts *ret)
{
	ret->begin_ms = ret->end_ms = replay_unix_ms(replay, 0);
	for (size_t i = 0; i < replay_count(replay); i++) {
		uint64_t unix_ms = replay_unix_ms(replay, i);

		ret->end_ms = unix_ms > ret->end_ms ? unix_ms : ret->end_ms;
	}
}

int replay_read_charts(struct replay *replay, const struct targets *targets,
		       bool (*is_stopped)(void), struct timeline_charts *ret)
{
	struct reading r = { .replay = replay, .targets = targets, .charts = ret };
	int error;

	memset(ret, 0, sizeof(*ret));
	find_range(replay, ret);
	error = replay_find_largest(replay, targets, r.largest, CHARTED_PROCESSES_MAX,
				    &r.largest_count);
	if (error < 0)
		return error;
	begin_charts(&r);
	snapshot_init(&r.snapshot);
	cgroup_init(&r.cgroup);
	replay_scan(replay, true);
	error = read_samples(&r, is_stopped);
	replay_scan(replay, false);
	if (error == 0)
		error = replay_for_each_event(replay, add_event, ret);
	snapshot_release(&r.snapshot);
	cgroup_release(&r.cgroup);
	if (error < 0)
		timeline_charts_release(ret);
	return error;
}
