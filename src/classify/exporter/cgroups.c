/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/cgroups.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"

/*
 * Minimum time in ns until the growth of a cgroup is determined again, and maximum number
 * of cgroups per snapshot whose growth is determined. Both values limit the CPU time.
 */
#define GROWTH_INTERVAL_NS (60 * NS_PER_S)
#define GROWTHS_PER_LOOK 8

/*
 * Maximum number of points in the series of each cgroup's memory need. A point takes 16
 * bytes.
 */
#define POINTS_MAX 512

static void named_cgroup_free(struct named_cgroup *cgroup)
{
	group_name_release(&cgroup->name);
	growth_series_release(&cgroup->needs);
	free(cgroup);
}

void named_cgroups_release(struct named_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->count; i++)
		named_cgroup_free(cgroups->items[i]);
	free(cgroups->items);
	*cgroups = (struct named_cgroups)NAMED_CGROUPS_INIT;
}

static void add_counts(struct cgroup_counts *to, const struct cgroup_counts *from)
{
	for (int i = 0; i < CGROUP_COUNT_COUNT_; i++)
		to->values[i] = from->values[i] == COUNT_UNKNOWN
					? to->values[i]
					: bytes_or_0(to->values[i]) + from->values[i];
}

static void clear_counts(struct cgroup_counts *counts)
{
	for (int i = 0; i < CGROUP_COUNT_COUNT_; i++)
		counts->values[i] = COUNT_UNKNOWN;
}

struct cgroup_counts cgroup_counts_sub(const struct cgroup_counts *now,
				       const struct cgroup_counts *before)
{
	struct cgroup_counts increase;

	for (int i = 0; i < CGROUP_COUNT_COUNT_; i++) {
		uint64_t then = bytes_or_0(before->values[i]), value = now->values[i];

		increase.values[i] =
			value == COUNT_UNKNOWN || value < then ? value : value - then;
	}
	return increase;
}

void named_cgroups_begin(struct named_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->count; i++) {
		struct named_cgroup *c = cgroups->items[i];

		c->has_figures = false;
		add_counts(&c->counts, &c->pending);
		clear_counts(&c->pending);
	}
}

static size_t find_place(const struct named_cgroups *cgroups, const char *name)
{
	return SEARCH_FIRST(cgroups->count, i,
			    strcmp(cgroups->items[i]->name.group, name) >= 0);
}

struct named_cgroup *named_cgroups_find(const struct named_cgroups *cgroups,
					const char *name)
{
	size_t place = find_place(cgroups, name);

	return place < cgroups->count &&
			       strcmp(cgroups->items[place]->name.group, name) == 0
		       ? cgroups->items[place]
		       : NULL;
}

static struct named_cgroup *find_or_insert(struct named_cgroups *cgroups,
					   const struct group_name *name)
{
	struct named_cgroup *cgroup = named_cgroups_find(cgroups, name->group);
	size_t place;

	if (cgroup)
		return cgroup;
	place = find_place(cgroups, name->group);
	cgroup = xcalloc(1, sizeof(*cgroup));
	group_name_copy(&cgroup->name, name);
	clear_counts(&cgroup->counts);
	clear_counts(&cgroup->pending);
	cgroup->needs.count_max = POINTS_MAX;
	cgroups->items = xgrow(cgroups->items, &cgroups->capacity, cgroups->count + 1,
			       sizeof(*cgroups->items));
	memmove(cgroups->items + place + 1, cgroups->items + place,
		(cgroups->count - place) * sizeof(*cgroups->items));
	cgroups->items[place] = cgroup;
	cgroups->count++;
	return cgroup;
}

/*
 * Return true if a is closer to its limit than b. Any cgroup with a limit is closer than
 * a cgroup without one; two cgroups without a limit are compared by their usage.
 */
static bool is_nearer(const struct oom_figures *a, const struct oom_figures *b)
{
	if (a->limit_bytes == CGROUP_NO_LIMIT || b->limit_bytes == CGROUP_NO_LIMIT)
		return a->limit_bytes != b->limit_bytes
			       ? a->limit_bytes != CGROUP_NO_LIMIT
			       : bytes_or_0(a->usage_bytes) > bytes_or_0(b->usage_bytes);
	return (double)a->need_bytes * (double)b->limit_bytes >
	       (double)b->need_bytes * (double)a->limit_bytes;
}

/*
 * When a counter first appears, export it as 0. Export its real value from the next
 * snapshot on, so that Prometheus sees the first increase.
 */
static void add_increase(struct named_cgroup *cgroup,
			 const struct cgroup_counts *increase)
{
	for (int i = 0; i < CGROUP_COUNT_COUNT_; i++) {
		uint64_t *count = &cgroup->counts.values[i];

		if (increase->values[i] == COUNT_UNKNOWN)
			continue;
		if (*count != COUNT_UNKNOWN) {
			*count += increase->values[i];
			continue;
		}
		*count = 0;
		cgroup->pending.values[i] = increase->values[i];
	}
}

void named_cgroups_add(struct named_cgroups *cgroups, const struct group_name *name,
		       const struct oom_figures *figures,
		       const struct cgroup_counts *increase, uint64_t now_ns)
{
	struct named_cgroup *cgroup = find_or_insert(cgroups, name);

	if (!cgroup->has_figures || is_nearer(figures, &cgroup->figures))
		cgroup->figures = *figures;
	cgroup->has_figures = true;
	cgroup->seen_ns = now_ns;
	add_increase(cgroup, increase);
}

void named_cgroups_add_kill(struct named_cgroups *cgroups, const struct group_name *name,
			    enum oom_verdict verdict, uint64_t unix_ms, uint64_t now_ns)
{
	struct named_cgroup *cgroup = find_or_insert(cgroups, name);

	cgroup->log_kills++;
	cgroup->last_kill_unix_ms = unix_ms;
	cgroup->last_verdict = verdict;
	cgroup->seen_ns = now_ns;
}

static void find_growth(struct named_cgroup *cgroup, uint64_t now_ns)
{
	cgroup->growth_due_ns = now_ns + GROWTH_INTERVAL_NS;
	cgroup->growth_taken_ns = now_ns;
	growth_find(cgroup->needs.points, cgroup->needs.count, &cgroup->growth);
	cgroup->has_time = cgroup->figures.limit_bytes != CGROUP_NO_LIMIT &&
			   growth_time_to(&cgroup->growth, cgroup->figures.limit_bytes,
					  &cgroup->time);
}

/*
 * Also count the kills that only the kernel log reports. If the count is exported for the
 * first time, export 0, as add_increase() does, and add these kills at the next snapshot.
 */
static void add_log_kills(struct named_cgroup *cgroup)
{
	uint64_t *shown = &cgroup->counts.values[CGROUP_COUNT_KILLS];
	uint64_t *pending = &cgroup->pending.values[CGROUP_COUNT_KILLS];

	if (*shown == COUNT_UNKNOWN) {
		*shown = 0;
		return;
	}
	if (*shown + bytes_or_0(*pending) >= cgroup->log_kills)
		return;
	if (*pending == COUNT_UNKNOWN)
		*shown = cgroup->log_kills;
	else
		*pending = cgroup->log_kills - *shown;
}

static bool is_over(const struct named_cgroup *cgroup, uint64_t now_ns)
{
	return !cgroup->has_figures && now_ns - cgroup->seen_ns >= CGROUPS_KEEP_NS;
}

/*
 * Determine the growth of a few cgroups, starting after the last cgroup whose growth was
 * determined. Skip cgroups whose growth was determined less than GROWTH_INTERVAL_NS ago.
 */
static void find_growths(struct named_cgroups *cgroups, uint64_t now_ns)
{
	size_t left = GROWTHS_PER_LOOK, start = cgroups->next_growth;

	for (size_t k = 0; k < cgroups->count && left > 0; k++) {
		size_t i = (start + k) % cgroups->count;
		struct named_cgroup *c = cgroups->items[i];

		if (!c->has_figures || now_ns < c->growth_due_ns)
			continue;
		find_growth(c, now_ns);
		cgroups->next_growth = i + 1;
		left--;
	}
}

void named_cgroups_end(struct named_cgroups *cgroups, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < cgroups->count; i++) {
		struct named_cgroup *c = cgroups->items[i];

		if (is_over(c, now_ns)) {
			named_cgroup_free(c);
			continue;
		}
		cgroups->items[kept++] = c;
		if (c->log_kills > 0)
			add_log_kills(c);
		if (c->has_figures)
			growth_series_add(&c->needs, now_ns, c->figures.need_bytes);
	}
	cgroups->count = kept;
	find_growths(cgroups, now_ns);
}
