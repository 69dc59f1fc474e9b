/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/oom_witness.h"

/* Less is not worth a word. */
#define GROWN_LEAST_BYTES MIB

/* Memory without a name of its own. */
#define NAMELESS "anonymous memory"

/* What was there of the same process before; NULL: it was not. */
static const struct usage *find_before(const struct snapshot *before, const struct process *p)
{
	const struct usage *u = snapshot_find(before, p->pid);

	return u && u->process.start_ticks == p->start_ticks ? u : NULL;
}

static void find_process(const struct snapshot *before, const struct snapshot *after,
			 struct oom_grower *ret)
{
	uint64_t most_bytes = GROWN_LEAST_BYTES;

	for (size_t i = 0; i < after->count; i++) {
		const struct process *p = &after->usages[i].process;
		const struct usage *old = find_before(before, p);
		uint64_t from_bytes = old ? bytes_or_0(oom_past_need_of(old)) : 0;
		uint64_t to_bytes = bytes_or_0(oom_past_need_of(&after->usages[i]));

		if (bytes_sub(to_bytes, from_bytes) < most_bytes)
			continue;
		most_bytes = to_bytes - from_bytes;
		*ret = (struct oom_grower){ .pid = p->pid, .from_bytes = from_bytes,
					    .to_bytes = to_bytes, .is_new = !old };
		text_copy(ret->name, sizeof(ret->name), p->comm);
	}
}

/* Mappings of one name, before and after. */
struct kind {
	const char *name;
	uint64_t from_bytes, to_bytes;
};

static int compare_kinds(const void *a, const void *b)
{
	return strcmp(((const struct kind *)a)->name, ((const struct kind *)b)->name);
}

static size_t add_kinds(const struct mapping_list *mappings, bool is_after, struct kind *kinds)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *name = mapping_group_name(&mappings->items[i]);
		uint64_t bytes = bytes_or_0(mappings->items[i].counters.bytes[SMAPS_RSS]);

		kinds[i] = (struct kind){ name[0] != '\0' ? name : NAMELESS, is_after ? 0 : bytes,
					  is_after ? bytes : 0 };
	}
	return mappings->count;
}

/* The one that has half of the process's growth, or more. */
static void find_kind(struct kind *kinds, size_t count, struct oom_grower *ret)
{
	uint64_t most_bytes = (ret->to_bytes - ret->from_bytes) / 2;

	qsort(kinds, count, sizeof(*kinds), compare_kinds);
	for (size_t i = 0, next; i < count; i = next) {
		struct kind sum = kinds[i];

		for (next = i + 1; next < count && compare_kinds(&kinds[next], &sum) == 0; next++) {
			sum.from_bytes += kinds[next].from_bytes;
			sum.to_bytes += kinds[next].to_bytes;
		}
		if (bytes_sub(sum.to_bytes, sum.from_bytes) <= most_bytes)
			continue;
		most_bytes = sum.to_bytes - sum.from_bytes;
		text_copy(ret->mapping, sizeof(ret->mapping), sum.name);
		ret->mapping_from_bytes = sum.from_bytes;
		ret->mapping_to_bytes = sum.to_bytes;
	}
}

/* Mappings are read seldom: what is said of them may be of some time before. */
static int find_mapping(struct replay *replay, size_t first, size_t last,
			const struct process *process, struct oom_grower *ret)
{
	struct mapping_list before = MAPPING_LIST_INIT, after = MAPPING_LIST_INIT;
	int r = replay_read_mappings(replay, last, process, &after);

	if (r == 0 && !ret->is_new)
		r = replay_read_mappings(replay, first, process, &before);
	if (r == 0 && after.count > 0 && (before.count > 0 || ret->is_new)) {
		struct kind *kinds = xcalloc(before.count + after.count, sizeof(*kinds));
		size_t count = add_kinds(&before, false, kinds);

		count += add_kinds(&after, true, kinds + count);
		find_kind(kinds, count, ret);
		free(kinds);
	}
	mapping_list_release(&before);
	mapping_list_release(&after);
	return r;
}

int oom_grower_find(struct replay *replay, size_t first, size_t last, struct oom_grower *ret)
{
	static const struct targets all;
	struct snapshot before, after;
	struct oom_grower grower = { 0 };
	const struct usage *u;
	int r;

	snapshot_init(&before);
	snapshot_init(&after);
	r = replay_read(replay, first, &all, &before);
	if (r == 0)
		r = replay_read(replay, last, &all, &after);
	if (r == 0)
		find_process(&before, &after, &grower);
	grower.ns = after.elapsed_ns - before.elapsed_ns;
	u = grower.pid != 0 ? snapshot_find(&after, grower.pid) : NULL;
	if (r == 0 && u)
		r = find_mapping(replay, first, last, &u->process, &grower);
	snapshot_release(&before);
	snapshot_release(&after);
	if (r == 0)
		*ret = grower;
	return r;
}
