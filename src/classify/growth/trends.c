/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/trends.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "classify/growth/series.h"

const char *const growth_cause_names[GROWTH_CAUSE_COUNT_] = {
	[GROWTH_CAUSE_UNKNOWN] = "unknown",
	[GROWTH_CAUSE_LEAK] = "leak",
	[GROWTH_CAUSE_KEPT] = "kept",
};

struct process_series {
	struct process process;
	struct growth_series need, live;
	uint64_t first_need_bytes, first_live_bytes;
	/*
	 * time of the heap reading that produced the heap figures of the last sample; 0:
	 * unknown
	 */
	uint64_t heap_taken_ns;
	/* free memory that the allocator retained at the last sample */
	uint64_t last_free_bytes;
	/* true if the sample being added contains the process */
	bool is_taken;
};

struct trends {
	char *path; /* path of the cgroup; NULL: no sample contained a cgroup yet */
	struct growth_series need;
	uint64_t first_bytes;
	size_t restart_count;
	/*
	 * one series per process, in the order of the last sample that contained
	 * any processes
	 */
	struct process_series *items;
	size_t count;
};

struct trends *trends_new(void)
{
	return xcalloc(1, sizeof(struct trends));
}

static void release_item(struct process_series *item)
{
	growth_series_release(&item->need);
	growth_series_release(&item->live);
}

void trends_free(struct trends *trends)
{
	if (!trends)
		return;
	for (size_t i = 0; i < trends->count; i++)
		release_item(&trends->items[i]);
	free(trends->items);
	growth_series_release(&trends->need);
	free(trends->path);
	free(trends);
}

/*
 * Find the series of a process, starting at index `hint`. Most processes keep their index
 * from one sample to the next.
 */
static struct process_series *find_item(struct trends *trends, const struct process *p,
					size_t hint)
{
	for (size_t n = 0; n < trends->count; n++) {
		struct process_series *item = &trends->items[(hint + n) % trends->count];

		if (process_is_same(&item->process, p))
			return item;
	}
	return NULL;
}

/*
 * Return true if the heap was read for this sample. Other samples only repeat the live
 * bytes of the last reading; if they were added to the series, it would seem to have a
 * plateau.
 *
 * Recordings do not store the time of the reading. In recordings, a change in the live
 * bytes, or in the free bytes that the allocator retains, shows that the heap was read
 * again.
 */
static bool is_new_reading(const struct process_series *item, const struct usage *u,
			   uint64_t live, uint64_t free_bytes)
{
	if (u->heap_taken_ns > 0)
		return u->heap_taken_ns != item->heap_taken_ns;
	return live != item->live.last.bytes || free_bytes != item->last_free_bytes;
}

static void add_process(struct process_series *item, const struct usage *u,
			uint64_t time_ns)
{
	uint64_t need = usage_need_bytes(u);
	uint64_t live = matrix_owner_bytes(&u->matrix, OWNER_LIVE);
	uint64_t free_bytes =
		bytes_add(matrix_owner_bytes(&u->matrix, OWNER_POOL_PAGES),
			  matrix_owner_bytes(&u->matrix, OWNER_POOL_FRAGMENTS));

	if (item->need.added_count == 0)
		item->first_need_bytes = need;
	if (item->live.added_count == 0)
		item->first_live_bytes = live;
	if (is_new_reading(item, u, live, free_bytes))
		growth_series_add(&item->live, time_ns, live);
	item->heap_taken_ns = u->heap_taken_ns;
	item->last_free_bytes = free_bytes;
	/* update the name, because a process can change its name */
	item->process = u->process;
	growth_series_add(&item->need, time_ns, need);
}

/*
 * Add the processes of a sample. Return true if the previous sample contained any of
 * these processes, or if it was empty.
 */
static bool add_processes(struct trends *trends, const struct snapshot *processes,
			  uint64_t time_ns)
{
	struct process_series *items = xcalloc(processes->count + 1, sizeof(*items));
	bool is_same = trends->count == 0;

	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *u = &processes->usages[i];
		struct process_series *before = find_item(trends, &u->process, i);

		if (before && !before->is_taken) {
			items[i] = *before;
			before->is_taken = true;
			is_same = true;
		}
		add_process(&items[i], u, time_ns);
	}
	for (size_t i = 0; i < trends->count; i++)
		if (!trends->items[i].is_taken)
			release_item(&trends->items[i]);
	free(trends->items);
	trends->items = items;
	trends->count = processes->count;
	return is_same;
}

static void restart_trends(struct trends *trends, const char *path)
{
	trends->restart_count += trends->need.count > 0;
	growth_series_clear(&trends->need);
	free(trends->path);
	trends->path = xstrdup(path);
}

void trends_add(struct trends *trends, const struct trends_sample *sample)
{
	const char *path = sample->cgroup && sample->cgroup->level_count > 0
				   ? sample->cgroup->levels[0].path
				   : "";
	bool is_same = true;

	if (sample->processes->count > 0)
		is_same = add_processes(trends, sample->processes, sample->time_ns);
	if (!sample->figures)
		return;
	if (!is_same || !trends->path || strcmp(trends->path, path) != 0)
		restart_trends(trends, path);
	if (trends->need.added_count == 0)
		trends->first_bytes = sample->figures->need_bytes;
	growth_series_add(&trends->need, sample->time_ns, sample->figures->need_bytes);
}

static void find_trend(const struct growth_series *series, uint64_t first_bytes,
		       struct trend *ret)
{
	*ret = (struct trend){ .bytes = BYTES_UNKNOWN, .first_bytes = first_bytes };
	growth_find(series->points, series->count, &ret->growth);
	ret->sample_count = series->added_count;
	if (series->count == 0)
		return;
	ret->bytes = series->last.bytes;
	ret->span_ns = series->last.time_ns - series->points[0].time_ns;
}

void trends_find_group(const struct trends *trends, struct trend *ret)
{
	find_trend(&trends->need, trends->first_bytes, ret);
}

size_t trends_restart_count(const struct trends *trends)
{
	return trends->restart_count;
}

size_t trends_process_count(const struct trends *trends)
{
	return trends->count;
}

void trends_find_process(const struct trends *trends, size_t index,
			 struct process_trend *ret)
{
	const struct process_series *item = &trends->items[index];

	ret->process = item->process;
	find_trend(&item->need, item->first_need_bytes, &ret->need);
	find_trend(&item->live, item->first_live_bytes, &ret->live);
}

enum growth_cause process_trend_cause(const struct process_trend *trend)
{
	const struct growth *need = &trend->need.growth, *live = &trend->live.growth;

	if (need->kind != GROWTH_STEADY || live->kind == GROWTH_TOO_SHORT)
		return GROWTH_CAUSE_UNKNOWN;
	return (live->kind == GROWTH_STEADY || live->kind == GROWTH_SLOW ||
		live->kind == GROWTH_BRIEF) &&
			       live->rate_bytes >= need->rate_bytes / 2
		       ? GROWTH_CAUSE_LEAK
		       : GROWTH_CAUSE_KEPT;
}
