/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/cgroup_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/*
 * Maximum number of samples for a cgroup, and of additional samples for the parts
 * of its memory.
 */
#define CGROUP_SERIES 13
#define PART_SERIES 8

struct cgroup_page {
	struct exposition *e;
	const struct exporter_look *look;
	struct shown_cgroup {
		const struct named_cgroup *cgroup;
		char *labels;
		bool has_parts;
	} * items;
	size_t count;
	struct strbuf labels; /* labels of the sample that is being written */
};

void cgroup_metrics_add_labels(struct strbuf *labels, const struct group_name *name)
{
	exposition_add_label(labels, "group", name->group);
	if (name->namespace_name)
		exposition_add_label(labels, "namespace", name->namespace_name);
	if (name->pod)
		exposition_add_label(labels, "pod", name->pod);
	if (name->container)
		exposition_add_label(labels, "container", name->container);
}

/*
 * Return the importance of a cgroup: 2 after an OOM kill, otherwise its memory need as a
 * share of its limit, or 0 if the share is unknown.
 */
static double weight(const struct named_cgroup *c)
{
	double limit = (double)c->figures.limit_bytes;

	if (bytes_or_0(c->counts.values[CGROUP_COUNT_KILLS]) > 0)
		return 2;
	if (!c->has_figures || c->figures.limit_bytes == CGROUP_NO_LIMIT)
		return 0;
	return (double)bytes_or_0(c->figures.need_bytes) / (limit > 0 ? limit : 1);
}

static int compare_weights(const void *a, const void *b)
{
	const struct named_cgroup *cgroup_a = ((const struct shown_cgroup *)a)->cgroup;
	const struct named_cgroup *cgroup_b = ((const struct shown_cgroup *)b)->cgroup;
	double weight_a = weight(cgroup_a), weight_b = weight(cgroup_b);

	if (weight_a != weight_b)
		return weight_a < weight_b ? 1 : -1;
	return strcmp(cgroup_a->name.group, cgroup_b->name.group);
}

static uint64_t usage_of(const struct named_cgroup *c)
{
	return c->has_figures ? bytes_or_0(c->figures.usage_bytes) : 0;
}

static int compare_usages(const void *a, const void *b)
{
	const struct named_cgroup *cgroup_a = ((const struct shown_cgroup *)a)->cgroup;
	const struct named_cgroup *cgroup_b = ((const struct shown_cgroup *)b)->cgroup;

	if (usage_of(cgroup_a) != usage_of(cgroup_b))
		return usage_of(cgroup_a) < usage_of(cgroup_b) ? 1 : -1;
	return strcmp(cgroup_a->name.group, cgroup_b->name.group);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct shown_cgroup *)a)->cgroup->name.group,
		      ((const struct shown_cgroup *)b)->cgroup->name.group);
}

/* Choose the cgroups to show. Return the number of samples that are left out. */
static size_t choose(struct cgroup_page *p, size_t series_max, size_t top)
{
	const struct named_cgroups *all = &p->look->cgroups;
	struct strbuf labels = STRBUF_INIT;
	size_t room = series_max / CGROUP_SERIES, parts;

	p->items = xcalloc(all->count + 1, sizeof(*p->items));
	for (size_t i = 0; i < all->count; i++)
		p->items[i].cgroup = all->items[i];
	qsort(p->items, all->count, sizeof(*p->items), compare_weights);
	p->count = all->count < room ? all->count : room;
	parts = (series_max - p->count * CGROUP_SERIES) / PART_SERIES;
	parts = parts < top ? parts : top;
	qsort(p->items, p->count, sizeof(*p->items), compare_usages);
	for (size_t i = 0; i < p->count && i < parts; i++)
		p->items[i].has_parts = true;
	qsort(p->items, p->count, sizeof(*p->items), compare_names);
	for (size_t i = 0; i < p->count; i++) {
		cgroup_metrics_add_labels(&labels, &p->items[i].cgroup->name);
		p->items[i].labels = strbuf_take(&labels);
	}
	return (all->count - p->count) * CGROUP_SERIES;
}

/*
 * For each cgroup, add a sample with the value at `offset` in struct oom_figures. Skip
 * cgroups for which the value is unknown, or is a limit that is not set.
 */
static void add_each(struct cgroup_page *p, enum metric metric, size_t offset)
{
	exposition_begin_family(p->e, metric);
	for (size_t i = 0; i < p->count; i++) {
		const struct named_cgroup *c = p->items[i].cgroup;
		uint64_t bytes;

		memcpy(&bytes, (const char *)&c->figures + offset, sizeof(bytes));
		if (c->has_figures && bytes_known(bytes) && bytes != CGROUP_NO_LIMIT)
			exposition_add(p->e, p->items[i].labels, bytes);
	}
}

static void add_parts_of(struct cgroup_page *p, const struct shown_cgroup *shown)
{
	const struct oom_figures *f = &shown->cgroup->figures;
	const struct {
		const char *name;
		uint64_t bytes;
	} parts[] = {
		{ "live_anon", f->live_anon_bytes },
		{ "shmem", f->shmem_bytes },
		{ "kernel", f->kernel_bytes },
		{ "sock", f->sock_bytes },
		{ "lazyfree", f->lazyfree_bytes },
		{ "file", f->file_bytes },
		{ "slab_reclaimable", f->slab_reclaimable_bytes },
	};

	for (size_t i = 0; i <= sizeof(parts) / sizeof(parts[0]); i++) {
		bool is_last = i == sizeof(parts) / sizeof(parts[0]);

		strbuf_clear(&p->labels);
		strbuf_add_text(&p->labels, shown->labels);
		exposition_add_label(&p->labels, "part",
				     is_last ? "unexplained" : parts[i].name);
		if (is_last)
			exposition_add_signed(p->e, strbuf_text(&p->labels),
					      f->unexplained_bytes);
		else if (bytes_known(parts[i].bytes))
			exposition_add(p->e, strbuf_text(&p->labels), parts[i].bytes);
	}
}

static void add_parts(struct cgroup_page *p)
{
	exposition_begin_family(p->e, METRIC_CGROUP_MEMORY);
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].has_parts && p->items[i].cgroup->has_figures)
			add_parts_of(p, &p->items[i]);
}

/*
 * Return true if enough samples have been taken to determine whether the memory
 * need is growing.
 */
static bool is_growth_known(const struct named_cgroup *c)
{
	return c->has_figures && c->growth.kind != GROWTH_TOO_SHORT &&
	       c->growth.kind != GROWTH_BRIEF;
}

static void add_growths(struct cgroup_page *p)
{
	exposition_begin_family(p->e, METRIC_CGROUP_NEED_GROWTH);
	for (size_t i = 0; i < p->count; i++) {
		const struct named_cgroup *c = p->items[i].cgroup;
		bool is_steady = c->growth.kind == GROWTH_STEADY;

		if (is_growth_known(c))
			exposition_add_double(
				p->e, p->items[i].labels,
				is_steady ? (double)c->growth.rate_bytes / 3600 : 0);
	}
}

/*
 * For each growing cgroup, add a sample with the predicted time until the cgroup reaches
 * its limit, minus the time that has passed since the prediction.
 */
static void add_times(struct cgroup_page *p, bool is_soonest)
{
	exposition_begin_family(p->e, is_soonest ? METRIC_CGROUP_LIMIT_ETA_SOONEST
						 : METRIC_CGROUP_LIMIT_ETA);
	for (size_t i = 0; i < p->count; i++) {
		const struct named_cgroup *c = p->items[i].cgroup;
		uint64_t ns = is_soonest ? c->time.soonest_ns : c->time.ns;
		uint64_t past_ns = bytes_sub(p->look->taken_ns, c->growth_taken_ns);

		if (c->has_figures && c->has_time && c->growth.kind == GROWTH_STEADY &&
		    ns != UINT64_MAX)
			exposition_add_ns(p->e, p->items[i].labels,
					  bytes_sub(ns, past_ns));
	}
}

static void add_counts(struct cgroup_page *p, enum metric metric, enum cgroup_count count)
{
	bool is_time = count == CGROUP_COUNT_WAITING_NS ||
		       count == CGROUP_COUNT_STALLED_NS;

	exposition_begin_family(p->e, metric);
	for (size_t i = 0; i < p->count; i++) {
		uint64_t value = p->items[i].cgroup->counts.values[count];

		if (value == COUNT_UNKNOWN)
			continue;
		if (is_time)
			exposition_add_ns(p->e, p->items[i].labels, value);
		else
			exposition_add(p->e, p->items[i].labels, value);
	}
}

static void add_last_kills(struct cgroup_page *p)
{
	exposition_begin_family(p->e, METRIC_CGROUP_LAST_OOM_KILL);
	for (size_t i = 0; i < p->count; i++) {
		const struct named_cgroup *c = p->items[i].cgroup;

		if (c->last_kill_unix_ms == 0 ||
		    p->look->unix_ms > c->last_kill_unix_ms + CGROUPS_LAST_KILL_MS)
			continue;
		strbuf_clear(&p->labels);
		strbuf_add_text(&p->labels, p->items[i].labels);
		exposition_add_label(&p->labels, "verdict",
				     oom_verdicts[c->last_verdict].name);
		exposition_add_ms(p->e, strbuf_text(&p->labels), c->last_kill_unix_ms);
	}
}

size_t cgroup_metrics_add(struct exposition *e, const struct exporter_look *look,
			  size_t series_max, size_t top)
{
	struct cgroup_page p = { .e = e, .look = look };
	size_t left_out = choose(&p, series_max, top);

	add_each(&p, METRIC_CGROUP_LIMIT, offsetof(struct oom_figures, limit_bytes));
	add_each(&p, METRIC_CGROUP_USAGE, offsetof(struct oom_figures, usage_bytes));
	add_each(&p, METRIC_CGROUP_NEED, offsetof(struct oom_figures, need_bytes));
	add_each(&p, METRIC_CGROUP_WORKING_SET,
		 offsetof(struct oom_figures, working_set_bytes));
	add_each(&p, METRIC_CGROUP_HIDDEN, offsetof(struct oom_figures, hidden_bytes));
	add_parts(&p);
	add_growths(&p);
	add_times(&p, false);
	add_times(&p, true);
	add_counts(&p, METRIC_CGROUP_OOM_KILLS, CGROUP_COUNT_KILLS);
	add_counts(&p, METRIC_CGROUP_LIMIT_HITS, CGROUP_COUNT_LIMIT_HITS);
	add_counts(&p, METRIC_CGROUP_WAITING, CGROUP_COUNT_WAITING_NS);
	add_counts(&p, METRIC_CGROUP_STALLED, CGROUP_COUNT_STALLED_NS);
	add_last_kills(&p);
	for (size_t i = 0; i < p.count; i++)
		free(p.items[i].labels);
	free(p.items);
	strbuf_release(&p.labels);
	return left_out;
}
