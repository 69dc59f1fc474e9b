/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/moment_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "classify/compare/moment_rows.h"

const char *const moment_part_names[PART_COUNT_] = {
	[PART_TOTAL] = "total",	    [PART_STATE] = "state",	[PART_OWNER] = "owner",
	[PART_GROUP] = "group",	    [PART_PROCESS] = "process", [PART_HEAP] = "heap",
	[PART_MAPPING] = "mapping",
};

void moment_mappings_set(struct moment_mappings *m, const struct usage *usage,
			 uint64_t read_unix_ms)
{
	m->read_unix_ms = read_unix_ms;
	for (int o = 0; o < OWNER_COUNT_; o++)
		m->owner_bytes[o] = matrix_owner_bytes(&usage->matrix, (enum owner)o);
	memcpy(m->heaps, usage->heaps, sizeof(m->heaps));
	m->heap_count = usage->heap_count;
}

void moment_init(struct moment *moment)
{
	memset(moment, 0, sizeof(*moment));
	snapshot_init(&moment->processes);
}

void moment_release(struct moment *moment)
{
	for (size_t i = 0; moment->mappings && i < moment->processes.count; i++)
		mapping_list_release(&moment->mappings[i].list);
	free(moment->mappings);
	free(moment->group_path);
	snapshot_release(&moment->processes);
	moment_init(moment);
}

void moment_diff_release(struct moment_diff *diff)
{
	free(diff->items);
	memset(diff, 0, sizeof(*diff));
}

static int64_t to_signed(uint64_t bytes)
{
	return bytes_known(bytes) && bytes <= (uint64_t)INT64_MAX ? (int64_t)bytes : 0;
}

int64_t moment_change_bytes(const struct moment_change *change)
{
	return to_signed(change->after) - to_signed(change->before);
}

struct moment_change *moment_row_add(struct moment_diff *diff, enum moment_part part,
				     const char *name)
{
	struct moment_change *change;

	diff->items = xgrow(diff->items, &diff->capacity, diff->count + 1,
			    sizeof(*diff->items));
	change = &diff->items[diff->count++];
	*change = (struct moment_change){ .part = part,
					  .name = name,
					  .owner = OWNER_COUNT_ };
	return change;
}

/*
 * Return the sum of a figure over all processes for which the figure is known. Return
 * BYTES_UNKNOWN if the figure is unknown for every process.
 */

static uint64_t sum(const struct moment *moment,
		    uint64_t (*get)(const struct moment *moment, size_t process, int arg),
		    int arg)
{
	uint64_t bytes = BYTES_UNKNOWN;

	for (size_t i = 0; i < moment->processes.count; i++) {
		uint64_t one = get(moment, i, arg);

		if (bytes_known(one))
			bytes = bytes_known(bytes) ? bytes_add(bytes, one) : one;
	}
	return bytes;
}

enum {
	TOTAL_RSS,
	TOTAL_PSS,
	TOTAL_USS,
	TOTAL_SWAP,
	TOTAL_COUNT
};

static const char *const total_names[TOTAL_COUNT] = { "rss", "pss", "uss", "swap" };

static uint64_t get_total(const struct moment *moment, size_t process, int arg)
{
	const struct usage *u = &moment->processes.usages[process];
	const uint64_t totals[TOTAL_COUNT] = {
		[TOTAL_RSS] = u->total.bytes[SMAPS_RSS],
		[TOTAL_PSS] = u->total.bytes[SMAPS_PSS],
		[TOTAL_USS] = usage_uss_bytes(u),
		[TOTAL_SWAP] = u->total.bytes[SMAPS_SWAP],
	};

	return totals[arg];
}

static uint64_t get_state(const struct moment *moment, size_t process, int arg)
{
	return moment->processes.usages[process].state_bytes[arg];
}

static void add_sums(struct moment_diff *diff, const struct moment *before,
		     const struct moment *after)
{
	for (int i = 0; i < TOTAL_COUNT; i++) {
		struct moment_change *change =
			moment_row_add(diff, PART_TOTAL, total_names[i]);

		change->before = sum(before, get_total, i);
		change->after = sum(after, get_total, i);
	}
	for (int i = 0; i < STATE_COUNT_; i++) {
		struct moment_change *change =
			moment_row_add(diff, PART_STATE, page_state_names[i]);

		change->before = sum(before, get_state, i);
		change->after = sum(after, get_state, i);
	}
}

/*
 * Indices of one process in the snapshots of the two moments. SIZE_MAX: the snapshot does
 * not contain the process.
 */
struct pair {
	size_t before, after;
};

struct pairs {
	struct pair *items;
	size_t count;
};

enum same {
	SAME_PROCESS,
	SAME_COMMAND,
	SAME_NAME,
	SAME_COUNT
};

static bool is_same(enum same how, const struct usage *a, const struct usage *b)
{
	if (how == SAME_PROCESS)
		return process_is_same(&a->process, &b->process);
	if (how == SAME_COMMAND &&
	    (!a->command || !b->command || strcmp(a->command, b->command) != 0))
		return false;
	return strcmp(a->process.comm, b->process.comm) == 0;
}

static void find_pairs(const struct moment *before, const struct moment *after,
		       struct pairs *ret)
{
	size_t count = after->processes.count;
	bool *is_taken = xcalloc(count + 1, sizeof(*is_taken));

	ret->items = xcalloc(before->processes.count + count + 1, sizeof(*ret->items));
	ret->count = before->processes.count;
	for (size_t b = 0; b < ret->count; b++)
		ret->items[b] = (struct pair){ b, SIZE_MAX };
	for (int how = 0; how < SAME_COUNT; how++)
		for (size_t b = 0; b < before->processes.count; b++)
			for (size_t a = 0; a < count && ret->items[b].after == SIZE_MAX;
			     a++)
				if (!is_taken[a] &&
				    is_same((enum same)how, &before->processes.usages[b],
					    &after->processes.usages[a])) {
					ret->items[b].after = a;
					is_taken[a] = true;
				}
	for (size_t a = 0; a < count; a++)
		if (!is_taken[a])
			ret->items[ret->count++] = (struct pair){ SIZE_MAX, a };
	free(is_taken);
}

static const struct usage *usage_of(const struct moment *moment, size_t process)
{
	return process == SIZE_MAX ? NULL : &moment->processes.usages[process];
}

static const struct moment_mappings *mappings_of(const struct moment *moment,
						 size_t process)
{
	return process == SIZE_MAX ? NULL : &moment->mappings[process];
}

struct moment_change *moment_row_add_process(struct moment_diff *diff,
					     enum moment_part part,
					     const struct usage *before,
					     const struct usage *after)
{
	const char *name = after ? after->process.comm : before->process.comm;
	struct moment_change *change = moment_row_add(diff, part, name);

	change->before_process = before ? &before->process : NULL;
	change->after_process = after ? &after->process : NULL;
	return change;
}

static bool has_heap(const struct moment_mappings *m)
{
	return moment_mappings_are_read(m) && bytes_known(m->owner_bytes[OWNER_LIVE]);
}

/*
 * Add the Rss of one process, by owner, to `sums`. If with_heap is false, count heap
 * memory as anon, because the heap was read at only one of the moments.
 */
static void add_owners(const struct moment_mappings *m, bool with_heap, uint64_t *sums)
{
	for (int o = 0; o < OWNER_COUNT_; o++) {
		bool is_heap = o >= OWNER_HEAP_FIRST && o <= OWNER_HEAP_LAST;
		int to = is_heap && !with_heap ? OWNER_ANON : o;
		uint64_t bytes = m->owner_bytes[o];

		if (bytes_known(bytes))
			sums[to] = bytes_known(sums[to]) ? bytes_add(sums[to], bytes)
							 : bytes;
	}
}

/*
 * Add one row per owner. Skip processes whose mappings were read at
 * only one of the two moments.
 */
static void add_owner_sums(struct moment_diff *diff, const struct moment *before,
			   const struct moment *after, const struct pairs *pairs)
{
	uint64_t sums[2][OWNER_COUNT_];

	memset(sums, 0xff, sizeof(sums));
	for (size_t i = 0; i < pairs->count; i++) {
		const struct moment_mappings *b =
			mappings_of(before, pairs->items[i].before);
		const struct moment_mappings *a =
			mappings_of(after, pairs->items[i].after);
		bool with_heap = (!b || has_heap(b)) && (!a || has_heap(a));

		if ((b && !moment_mappings_are_read(b)) ||
		    (a && !moment_mappings_are_read(a)))
			continue;
		if (b)
			add_owners(b, with_heap, sums[0]);
		if (a)
			add_owners(a, with_heap, sums[1]);
	}
	for (int o = 0; o < OWNER_COUNT_; o++) {
		struct moment_change *change =
			moment_row_add(diff, PART_OWNER, owner_names[o]);

		change->before = sums[0][o];
		change->after = sums[1][o];
	}
}

static void add_group(struct moment_diff *diff, const struct moment *before,
		      const struct moment *after)
{
	static const struct {
		const char *name;
		size_t offset;
	} figures[] = {
		{ "limit", offsetof(struct oom_figures, limit_bytes) },
		{ "usage", offsetof(struct oom_figures, usage_bytes) },
		{ "need", offsetof(struct oom_figures, need_bytes) },
		{ "live_anon", offsetof(struct oom_figures, live_anon_bytes) },
		{ "shmem", offsetof(struct oom_figures, shmem_bytes) },
		{ "kernel", offsetof(struct oom_figures, kernel_bytes) },
		{ "sock", offsetof(struct oom_figures, sock_bytes) },
		{ "lazyfree", offsetof(struct oom_figures, lazyfree_bytes) },
		{ "file", offsetof(struct oom_figures, file_bytes) },
		{ "slab_reclaimable",
		  offsetof(struct oom_figures, slab_reclaimable_bytes) },
		{ "headroom", offsetof(struct oom_figures, headroom_bytes) },
		{ "working_set", offsetof(struct oom_figures, working_set_bytes) },
		{ "hidden", offsetof(struct oom_figures, hidden_bytes) },
		{ "swap", offsetof(struct oom_figures, swap_bytes) },
	};

	if (!before->has_group || !after->has_group)
		return;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		struct moment_change *change =
			moment_row_add(diff, PART_GROUP, figures[i].name);

		memcpy(&change->before, (const char *)&before->group + figures[i].offset,
		       sizeof(change->before));
		memcpy(&change->after, (const char *)&after->group + figures[i].offset,
		       sizeof(change->after));
		if (change->before == CGROUP_NO_LIMIT)
			change->before = BYTES_UNKNOWN;
		if (change->after == CGROUP_NO_LIMIT)
			change->after = BYTES_UNKNOWN;
	}
}

static uint64_t rss_of(const struct usage *u)
{
	return u ? u->total.bytes[SMAPS_RSS] : 0;
}

static uint64_t size_of_change(const struct moment_change *change)
{
	int64_t bytes = moment_change_bytes(change);

	return bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes;
}

/* Compare rows by the size of their change, for sorting the largest first. */
static int compare_changes(const void *a, const void *b)
{
	const struct moment_change *one = a, *other = b;
	uint64_t size = size_of_change(one), other_size = size_of_change(other);

	if (size != other_size)
		return size > other_size ? -1 : 1;
	if (strcmp(one->name, other->name) != 0)
		return strcmp(one->name, other->name);
	if (one->owner != other->owner)
		return one->owner < other->owner ? -1 : 1;
	return one->start_addr < other->start_addr ? -1
						   : one->start_addr > other->start_addr;
}

static void sort_from(struct moment_diff *diff, size_t first)
{
	if (diff->count > first)
		qsort(diff->items + first, diff->count - first, sizeof(*diff->items),
		      compare_changes);
}

/*
 * Call add() for each process to add its rows, and sort the rows by the size
 * of their change.
 */
static void add_rows(struct moment_diff *diff, const struct moment *before,
		     const struct moment *after, const struct pairs *pairs,
		     void (*add)(struct moment_diff *diff,
				 const struct moment_process *before,
				 const struct moment_process *after))
{
	size_t first = diff->count;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->items[i];
		const struct moment_process b = {
			usage_of(before, pair->before),
			mappings_of(before, pair->before),
		};
		const struct moment_process a = {
			usage_of(after, pair->after),
			mappings_of(after, pair->after),
		};

		add(diff, &b, &a);
	}
	sort_from(diff, first);
}

void moment_diff_make(const struct moment *before, const struct moment *after,
		      struct moment_diff *ret)
{
	struct pairs pairs;
	size_t first;

	memset(ret, 0, sizeof(*ret));
	find_pairs(before, after, &pairs);
	add_sums(ret, before, after);
	add_owner_sums(ret, before, after, &pairs);
	add_group(ret, before, after);
	first = ret->count;
	for (size_t i = 0; i < pairs.count; i++) {
		const struct usage *b = usage_of(before, pairs.items[i].before);
		const struct usage *a = usage_of(after, pairs.items[i].after);
		struct moment_change *change =
			moment_row_add_process(ret, PART_PROCESS, b, a);

		change->before = rss_of(b);
		change->after = rss_of(a);
	}
	sort_from(ret, first);
	add_rows(ret, before, after, &pairs, moment_rows_add_heaps);
	add_rows(ret, before, after, &pairs, moment_rows_add_mappings);
	free(pairs.items);
}
