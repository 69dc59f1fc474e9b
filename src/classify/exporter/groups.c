/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/xalloc.h"

static const struct group_sums no_sums = {
	.oldest_start_ticks = UINT64_MAX,
	.oldest_taken_ns = UINT64_MAX,
};

static void group_free(struct group *group)
{
	group_name_release(&group->name);
	free(group);
}

void named_groups_release(struct named_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		group_free(groups->items[i]);
	free(groups->items);
	*groups = (struct named_groups)NAMED_GROUPS_INIT;
}

void named_groups_begin(struct named_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		groups->items[i]->sums = no_sums;
	groups->rest = no_sums;
}

static size_t find_place(const struct named_groups *groups, const char *name)
{
	return SEARCH_FIRST(groups->count, i,
			    strcmp(groups->items[i]->name.group, name) >= 0);
}

struct group *named_groups_find(const struct named_groups *groups, const char *name)
{
	size_t place = find_place(groups, name);

	return place < groups->count &&
			       strcmp(groups->items[place]->name.group, name) == 0
		       ? groups->items[place]
		       : NULL;
}

static struct group *insert(struct named_groups *groups, const struct group_name *name)
{
	size_t place = find_place(groups, name->group);
	struct group *group = xcalloc(1, sizeof(*group));

	group_name_copy(&group->name, name);
	group->sums = no_sums;
	groups->items = xgrow(groups->items, &groups->capacity, groups->count + 1,
			      sizeof(*groups->items));
	memmove(groups->items + place + 1, groups->items + place,
		(groups->count - place) * sizeof(*groups->items));
	groups->items[place] = group;
	groups->count++;
	return group;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void add_figures(struct group_sums *sums, const struct usage *u)
{
	sums->process_count++;
	sums->rss_bytes += bytes_or_0(u->total.bytes[SMAPS_RSS]);
	for (int s = 0; s < STATE_COUNT_; s++)
		sums->state_bytes[s] += bytes_or_0(u->state_bytes[s]);
	sums->pss_bytes += bytes_or_0(u->total.bytes[SMAPS_PSS]);
	sums->swap_bytes += bytes_or_0(u->total.bytes[SMAPS_SWAP]);
	sums->huge_page_bytes += bytes_or_0(usage_thp_bytes(u));
	sums->oldest_taken_ns = min(sums->oldest_taken_ns, u->taken_ns);
}

struct group *named_groups_add(struct named_groups *groups, const struct group_name *name,
			       const struct usage *usage)
{
	struct group_sums *sums = &groups->rest;
	struct group *group = NULL;

	/*
	 * a process may be named "(rest)" too, so do not create a second group with
	 * this name
	 */
	if (strcmp(name->group, GROUP_NAME_REST) != 0) {
		group = named_groups_find(groups, name->group);
		if (!group)
			group = insert(groups, name);
		sums = &group->sums;
	}
	sums->oldest_start_ticks =
		min(sums->oldest_start_ticks, usage->process.start_ticks);
	if (usage->error)
		sums->unreadable_count++;
	else if (usage->source == SOURCE_NONE || usage->source == SOURCE_STAT)
		sums->late_count++;
	else
		add_figures(sums, usage);
	return group;
}

void owner_figures_of(const struct usage *u, struct owner_figures *ret)
{
	ret->taken_ns = u->taken_ns;
	for (int o = 0; o < OWNER_COUNT_; o++)
		ret->bytes[o] = bytes_or_0(u->matrix.owner_rss_bytes[o]);
	ret->unbacked_bytes = bytes_or_0(u->unbacked_bytes);
	ret->reserved_bytes = bytes_or_0(u->reserved_bytes);
	ret->trimmable_bytes = bytes_or_0(u->trimmable_bytes);
	ret->has_heap = u->heap_quality != QUALITY_UNKNOWN;
}

void named_groups_add_owners(struct named_groups *groups, struct group *group,
			     const struct owner_figures *owners)
{
	struct group_sums *sums = group && group->is_shown ? &group->sums : &groups->rest;

	for (int o = 0; o < OWNER_COUNT_; o++)
		sums->owner_bytes[o] += owners->bytes[o];
	sums->unbacked_bytes += owners->unbacked_bytes;
	sums->reserved_bytes += owners->reserved_bytes;
	sums->trimmable_bytes += owners->trimmable_bytes;
	sums->owners_count++;
	sums->heap_count += owners->has_heap;
	sums->oldest_taken_ns = min(sums->oldest_taken_ns, owners->taken_ns);
}

int64_t group_sums_unknown_bytes(const struct group_sums *sums)
{
	uint64_t unknown = 0; /* modulo 2^64 */

	for (int s = 0; s < STATE_COUNT_; s++)
		unknown += sums->state_bytes[s];
	for (int o = 0; o < OWNER_COUNT_; o++)
		unknown -= sums->owner_bytes[o];
	return (int64_t)unknown;
}

static void add_sums(struct group_sums *to, const struct group_sums *from)
{
	to->rss_bytes += from->rss_bytes;
	for (int s = 0; s < STATE_COUNT_; s++)
		to->state_bytes[s] += from->state_bytes[s];
	for (int o = 0; o < OWNER_COUNT_; o++)
		to->owner_bytes[o] += from->owner_bytes[o];
	to->unbacked_bytes += from->unbacked_bytes;
	to->reserved_bytes += from->reserved_bytes;
	to->trimmable_bytes += from->trimmable_bytes;
	to->owners_count += from->owners_count;
	to->pss_bytes += from->pss_bytes;
	to->swap_bytes += from->swap_bytes;
	to->huge_page_bytes += from->huge_page_bytes;
	to->process_count += from->process_count;
	to->unreadable_count += from->unreadable_count;
	to->late_count += from->late_count;
	to->heap_count += from->heap_count;
	to->oldest_start_ticks = min(to->oldest_start_ticks, from->oldest_start_ticks);
	to->oldest_taken_ns = min(to->oldest_taken_ns, from->oldest_taken_ns);
}

static void drop_empty(struct named_groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		if (groups->items[i]->sums.oldest_start_ticks == UINT64_MAX)
			group_free(groups->items[i]);
		else
			groups->items[kept++] = groups->items[i];
	}
	groups->count = kept;
}

/* Compare groups for sorting by Rss, largest first, and then by name. */
static int compare_sizes(const void *a, const void *b)
{
	const struct group *group_a = *(struct group *const *)a;
	const struct group *group_b = *(struct group *const *)b;

	if (group_a->sums.rss_bytes != group_b->sums.rss_bytes)
		return group_a->sums.rss_bytes < group_b->sums.rss_bytes ? 1 : -1;
	return strcmp(group_a->name.group, group_b->name.group);
}

/* Decide whether a group is shown. The largest group has rank 0. */
static void decide(struct group *group, size_t rank, size_t top, uint64_t now_ns)
{
	group->large_looks = rank < top ? group->large_looks + 1 : 0;
	if (rank < 2 * top)
		group->small_since_ns = 0;
	else if (group->small_since_ns == 0)
		group->small_since_ns = now_ns;
	if (group->large_looks >= GROUPS_LOOKS_MIN)
		group->is_shown = true;
	if (group->small_since_ns > 0 && now_ns - group->small_since_ns >= GROUPS_REST_NS)
		group->is_shown = false;
}

void named_groups_end(struct named_groups *groups, size_t top, size_t shown_max,
		      uint64_t now_ns)
{
	_cleanup_free_ struct group **ranks = NULL;
	size_t shown_count = 0;

	drop_empty(groups);
	ranks = xcalloc(groups->count + 1, sizeof(*ranks));
	for (size_t i = 0; i < groups->count; i++)
		ranks[i] = groups->items[i];
	qsort(ranks, groups->count, sizeof(*ranks), compare_sizes);
	for (size_t i = 0; i < groups->count; i++) {
		decide(ranks[i], i, top, now_ns);
		if (groups->look_count == 0 && i < top)
			ranks[i]->is_shown = true;
		if (ranks[i]->is_shown && ++shown_count > shown_max)
			ranks[i]->is_shown = false;
	}
	groups->look_count++;
	for (size_t i = 0; i < groups->count; i++)
		if (!groups->items[i]->is_shown)
			add_sums(&groups->rest, &groups->items[i]->sums);
}

struct group_sums named_groups_total(const struct named_groups *groups)
{
	struct group_sums total = groups->rest;

	for (size_t i = 0; i < groups->count; i++)
		if (groups->items[i]->is_shown)
			add_sums(&total, &groups->items[i]->sums);
	return total;
}
