/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "render/exporter/cgroup_metrics.h"

/*
 * Upper bounds on the number of time series: for one group of processes, for the memory
 * of one group by owner, and for everything except groups and cgroups.
 */
#define GROUP_SERIES (STATE_COUNT_ + 7)
#define GROUP_OWNER_SERIES (OWNER_COUNT_ + 6)
#define FIXED_SERIES (OOM_VERDICT_COUNT_ + 60)

/* A group of processes to show, and its labels. */
struct shown_group {
	char *labels;
	const struct group_sums *sums;
};

struct page {
	struct exposition e;
	const struct exporter_look *look;
	struct shown_group *groups;
	size_t group_count;
	struct strbuf labels; /* labels of the sample that is being written */
};

static size_t group_series(const struct exporter_look *look)
{
	return GROUP_SERIES + (look->has_owners ? GROUP_OWNER_SERIES : 0);
}

size_t metrics_groups_max(const struct metric_limits *limits,
			  const struct exporter_look *look)
{
	size_t each = group_series(look), room = limits->series_max;
	size_t groups;

	room -= room < FIXED_SERIES ? room : FIXED_SERIES;
	/* reserve at least half of the series for cgroups */
	groups = room / 2 / each;
	groups = groups > 0 ? groups - 1 : 0;
	return groups < limits->top ? groups : limits->top;
}

static const char *with(struct page *p, const struct shown_group *group, const char *name,
			const char *value)
{
	strbuf_clear(&p->labels);
	strbuf_add_text(&p->labels, group->labels);
	exposition_add_label(&p->labels, name, value);
	return strbuf_text(&p->labels);
}

static void find_groups(struct page *p)
{
	const struct named_groups *groups = &p->look->groups;
	struct strbuf labels = STRBUF_INIT;

	p->groups = xcalloc(groups->count + 1, sizeof(*p->groups));
	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = groups->items[i];

		if (!group->is_shown)
			continue;
		cgroup_metrics_add_labels(&labels, &group->name);
		p->groups[p->group_count++] =
			(struct shown_group){ strbuf_take(&labels), &group->sums };
	}
	exposition_add_label(&labels, "group", GROUP_NAME_REST);
	p->groups[p->group_count++] =
		(struct shown_group){ strbuf_take(&labels), &groups->rest };
}

static void release(struct page *p)
{
	for (size_t i = 0; i < p->group_count; i++)
		free(p->groups[i].labels);
	free(p->groups);
	strbuf_release(&p->labels);
}

static void add_resident(struct page *p)
{
	exposition_begin_family(&p->e, METRIC_GROUP_RESIDENT);
	for (size_t i = 0; i < p->group_count; i++)
		for (int s = 0; s < STATE_COUNT_; s++)
			exposition_add(
				&p->e,
				with(p, &p->groups[i], "state", page_state_names[s]),
				p->groups[i].sums->state_bytes[s]);
}

static void add_owners(struct page *p)
{
	int first = p->look->has_heaps ? 0 : OWNER_HEAP_LAST + 1;

	exposition_begin_family(&p->e, METRIC_GROUP_OWNER);
	for (size_t i = 0; i < p->group_count; i++) {
		const struct shown_group *group = &p->groups[i];

		for (int o = first; o < OWNER_COUNT_; o++)
			exposition_add(&p->e,
				       with(p, group, "memory_owner", owner_names[o]),
				       group->sums->owner_bytes[o]);
		exposition_add_signed(&p->e, with(p, group, "memory_owner", "unknown"),
				      group_sums_unknown_bytes(group->sums));
	}
}

/*
 * Add a sample for each group. The figure is the member at the given offset in
 * struct group_sums.
 */
static void add_each(struct page *p, enum metric metric, size_t offset)
{
	_Static_assert(sizeof(size_t) <= sizeof(uint64_t), "counts fit");
	exposition_begin_family(&p->e, metric);
	for (size_t i = 0; i < p->group_count; i++) {
		const char *at = (const char *)p->groups[i].sums + offset;
		uint64_t value;

		memcpy(&value, at, sizeof(value));
		exposition_add(&p->e, p->groups[i].labels, value);
	}
}

/*
 * For each group, add a sample with one of the group's process counts. These counts have
 * the type size_t, which may be narrower than uint64_t, so add_each() cannot read them.
 */
static void add_counts(struct page *p, enum metric metric)
{
	exposition_begin_family(&p->e, metric);
	for (size_t i = 0; i < p->group_count; i++) {
		const struct group_sums *sums = p->groups[i].sums;

		exposition_add(&p->e, p->groups[i].labels,
			       metric == METRIC_GROUP_UNREADABLE ? sums->unreadable_count
			       : metric == METRIC_GROUP_OWNERS_KNOWN ? sums->owners_count
			       : metric == METRIC_GROUP_HEAP_KNOWN   ? sums->heap_count
								   : sums->process_count);
	}
}

static void add_starts(struct page *p)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	exposition_begin_family(&p->e, METRIC_GROUP_OLDEST_START);
	for (size_t i = 0; i < p->group_count; i++) {
		uint64_t ticks = p->groups[i].sums->oldest_start_ticks;

		if (ticks != UINT64_MAX)
			exposition_add_ms(&p->e, p->groups[i].labels,
					  p->look->boot_unix_ms + ticks * 1000 / hz);
	}
}

static void add_ages(struct page *p)
{
	exposition_begin_family(&p->e, METRIC_GROUP_AGE);
	for (size_t i = 0; i < p->group_count; i++) {
		uint64_t taken_ns = p->groups[i].sums->oldest_taken_ns;

		if (taken_ns != UINT64_MAX)
			exposition_add_ns(&p->e, p->groups[i].labels,
					  bytes_sub(p->look->taken_ns, taken_ns));
	}
}

static void add_groups(struct page *p)
{
	add_resident(p);
	add_each(p, METRIC_GROUP_PSS, offsetof(struct group_sums, pss_bytes));
	add_each(p, METRIC_GROUP_SWAP, offsetof(struct group_sums, swap_bytes));
	add_each(p, METRIC_GROUP_HUGE_PAGE, offsetof(struct group_sums, huge_page_bytes));
	add_counts(p, METRIC_GROUP_PROCESSES);
	add_counts(p, METRIC_GROUP_UNREADABLE);
	add_starts(p);
	add_ages(p);
	if (!p->look->has_owners)
		return;
	add_owners(p);
	add_counts(p, METRIC_GROUP_OWNERS_KNOWN);
	add_each(p, METRIC_GROUP_UNBACKED, offsetof(struct group_sums, unbacked_bytes));
	add_each(p, METRIC_GROUP_RESERVED, offsetof(struct group_sums, reserved_bytes));
	if (!p->look->has_heaps)
		return;
	add_each(p, METRIC_GROUP_TRIMMABLE, offsetof(struct group_sums, trimmable_bytes));
	add_counts(p, METRIC_GROUP_HEAP_KNOWN);
}

static void add_verdicts(struct page *p)
{
	exposition_begin_family(&p->e, METRIC_OOM_VERDICTS);
	for (int i = 0; i < OOM_VERDICT_COUNT_; i++) {
		const struct look_kill *kill = &p->look->verdict_kills[i];

		strbuf_clear(&p->labels);
		exposition_add_label(&p->labels, "verdict", oom_verdicts[i].name);
		exposition_add(&p->e, strbuf_text(&p->labels),
			       p->look->verdict_counts[i]);
		if (kill->pid == 0)
			continue;
		strbuf_clear(&p->labels);
		strbuf_addf(&p->labels, "pid=\"%d\"", kill->pid);
		exposition_add_label(&p->labels, "group", kill->group);
		exposition_add_exemplar(&p->e, strbuf_text(&p->labels), kill->unix_ms);
	}
}

static void add_build(struct page *p)
{
	struct utsname kernel;
	char version[4];

	strbuf_clear(&p->labels);
	exposition_add_label(&p->labels, "version", PACKAGE_VERSION);
	exposition_add_label(&p->labels, "kernel",
			     uname(&kernel) == 0 ? kernel.release : "");
	snprintf(version, sizeof(version), "%d", p->look->cgroup_version & 7);
	exposition_add_label(&p->labels, "cgroup_version", version);
	exposition_begin_family(&p->e, METRIC_BUILD);
	exposition_add(&p->e, strbuf_text(&p->labels), 1);
}

static void add_costs(struct page *p)
{
	int count = p->look->has_heaps	  ? LOOK_STAGE_COUNT_
		    : p->look->has_owners ? LOOK_HEAPS
					  : LOOK_OWNERS;

	exposition_begin_family(&p->e, METRIC_COLLECT_DURATION);
	for (int i = 0; i < 2 * count; i++) {
		const struct look_cost *cost = &p->look->costs[i % count];
		bool is_cpu = i >= count;

		if (i == count)
			exposition_begin_family(&p->e, METRIC_COLLECT_CPU);
		strbuf_clear(&p->labels);
		exposition_add_label(&p->labels, "stage", look_stage_names[i % count]);
		exposition_add_ns(&p->e, strbuf_text(&p->labels),
				  is_cpu ? cost->cpu_ns : cost->wall_ns);
	}
	exposition_begin_family(&p->e, METRIC_TARGET_LOCKED);
	exposition_add_ns(&p->e, "", p->look->locked_ns);
	exposition_begin_family(&p->e, METRIC_HEAP_PAUSE);
	if (p->look->has_heaps)
		exposition_add_histogram(&p->e, look_pause_limits_ns,
					 p->look->pauses.counts, LOOK_PAUSE_BUCKETS,
					 p->look->pauses.sum_ns);
}

static void add_one(struct page *p, enum metric metric, uint64_t value)
{
	exposition_begin_family(&p->e, metric);
	if (bytes_known(value))
		exposition_add(&p->e, "", value);
}

static void add_self(struct page *p, size_t left_out)
{
	const struct look_self *self = &p->look->self;

	add_one(p, METRIC_SERIES_LEFT_OUT, left_out);
	add_one(p, METRIC_TARGETS_LATE, p->look->late_count);
	add_one(p, METRIC_COLLECT_SUCCESS, p->look->is_success);
	exposition_begin_family(&p->e, METRIC_LOOK_TIMESTAMP);
	exposition_add_ms(&p->e, "", p->look->unix_ms);
	if (self->has_web_file) {
		add_one(p, METRIC_WEB_FILE_OK, self->is_web_ok);
		add_one(p, METRIC_WEB_FILE_FAILURES, self->web_failure_count);
	}
	exposition_begin_family(&p->e, METRIC_PROCESS_CPU);
	if (bytes_known(self->cpu_ns))
		exposition_add_ns(&p->e, "", self->cpu_ns);
	add_one(p, METRIC_PROCESS_RESIDENT, self->resident_bytes);
	exposition_begin_family(&p->e, METRIC_PROCESS_START);
	exposition_add_ms(&p->e, "", self->start_unix_ms);
	add_one(p, METRIC_PROCESS_OPEN_FDS, self->open_fds);
	add_one(p, METRIC_PROCESS_MAX_FDS, self->max_fds);
}

size_t metrics_add(struct strbuf *out, enum exposition_format format,
		   const struct exporter_look *look, const struct metric_limits *limits)
{
	struct page p = { .look = look };
	size_t left_out, room = limits->series_max;

	exposition_begin(&p.e, format, out);
	find_groups(&p);
	add_groups(&p);
	room -= room < FIXED_SERIES ? room : FIXED_SERIES;
	left_out = cgroup_metrics_add(
		&p.e, look, room - (room < p.e.sample_count ? room : p.e.sample_count),
		limits->top);
	add_verdicts(&p);
	add_build(&p);
	add_costs(&p);
	add_self(&p, left_out);
	exposition_end(&p.e);
	release(&p);
	return p.e.sample_count;
}
