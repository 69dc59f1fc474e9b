/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/classify.h"
#include "classify/process/classify_heap.h"
#include "classify/process/uses.h"

/* The last classification of a process, as a cache for reading samples in order. */
struct classified {
	struct usage usage;
	/* mappings of the process, owned by the reader, or NULL if not recorded */
	const struct mapping_list *mappings;
	uint64_t version; /* version number of the classified mappings */
};

struct replay {
	struct recording_reader *reader;
	const struct recorded_sample *samples; /* owned by the reader */
	size_t count;
	struct snapshot all;  /* processes of the current sample */
	struct cgroup cgroup; /* cgroup of the current sample */
	struct snapshot processes;
	struct classified *classified;
	size_t classified_count, classified_capacity;
	size_t classified_next; /* index at which the next search begins */
};

int replay_open(const char *path, struct replay **ret)
{
	struct recording_reader *reader;
	int r = recording_reader_open(path, &reader);

	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->reader = reader;
	(*ret)->samples = recording_reader_samples(reader, &(*ret)->count);
	snapshot_init(&(*ret)->all);
	cgroup_init(&(*ret)->cgroup);
	snapshot_init(&(*ret)->processes);
	return 0;
}

static void forget_classified(struct replay *replay)
{
	for (size_t i = 0; i < replay->classified_count; i++)
		usage_release(&replay->classified[i].usage);
	free(replay->classified);
	replay->classified = NULL;
	replay->classified_count = replay->classified_capacity = 0;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	forget_classified(replay);
	recording_reader_close(replay->reader);
	snapshot_release(&replay->all);
	cgroup_release(&replay->cgroup);
	snapshot_release(&replay->processes);
	free(replay);
}

size_t replay_count(const struct replay *replay)
{
	return replay->count;
}

uint64_t replay_unix_ms(const struct replay *replay, size_t index)
{
	return replay->samples[index].moment.unix_ms;
}

/* Return the last sample taken at or before unix_ms, or else the first sample. */
static size_t replay_find(const struct replay *replay, uint64_t unix_ms)
{
	for (size_t i = replay->count; i-- > 0;)
		if (replay->samples[i].moment.unix_ms <= unix_ms)
			return i;
	return 0;
}

/* Return the time between two samples. Across sessions, use the wall clock. */
static uint64_t passed_ns(const struct recorded_sample *before,
			  const struct recorded_sample *sample)
{
	const struct recording_moment *a = &before->moment, *b = &sample->moment;

	if (before->session == sample->session)
		return b->elapsed_ns > a->elapsed_ns ? b->elapsed_ns - a->elapsed_ns : 0;
	return b->unix_ms > a->unix_ms ? (b->unix_ms - a->unix_ms) * NS_PER_MS : 0;
}

/* Return the last sample taken at most `ns` nanoseconds after the first sample. */
static size_t find_elapsed(const struct replay *replay, uint64_t ns,
			   uint64_t *ret_whole_ns)
{
	uint64_t elapsed = 0;
	size_t found = 0;

	for (size_t i = 1; i < replay->count; i++) {
		elapsed += passed_ns(&replay->samples[i - 1], &replay->samples[i]);
		if (elapsed <= ns)
			found = i;
	}
	*ret_whole_ns = elapsed;
	return found;
}

int replay_find_moment(const struct replay *replay, const char *text, size_t *ret_index)
{
	uint64_t ns, whole_ns, unix_ms;

	if (strcmp(text, "first") == 0 || strcmp(text, "last") == 0)
		text = text[0] == 'f' ? "+0" : "-0";
	if (text[0] != '+' && text[0] != '-') {
		if (clock_parse_utc(text, &unix_ms) < 0)
			return -EINVAL;
		*ret_index = replay_find(replay, unix_ms);
		return 0;
	}
	if (units_parse_duration(text + 1, &ns) < 0)
		return -EINVAL;
	*ret_index = find_elapsed(replay, ns, &whole_ns);
	if (text[0] == '-')
		*ret_index = find_elapsed(replay, whole_ns > ns ? whole_ns - ns : 0, &ns);
	return 0;
}

static int store_kill(void *context, const struct recorded_event *event)
{
	uint64_t *unix_ms = context;

	if (event->kind && strcmp(event->kind, "oom_kill") == 0)
		*unix_ms = event->unix_ms;
	return 0;
}

bool replay_find_kill(struct replay *replay, size_t *ret_index)
{
	uint64_t unix_ms = UINT64_MAX;

	if (replay_for_each_event(replay, store_kill, &unix_ms) < 0 ||
	    unix_ms == UINT64_MAX)
		return false;
	*ret_index = replay_find(replay, unix_ms);
	return true;
}

/* Return the time since the first sample. Across sessions, use the wall clock. */
static uint64_t elapsed_ns(const struct replay *replay, size_t index)
{
	const struct recorded_sample *first = &replay->samples[0],
				     *own = &replay->samples[index];

	if (own->session == first->session)
		return own->moment.elapsed_ns - first->moment.elapsed_ns;
	return own->moment.unix_ms > first->moment.unix_ms
		       ? (own->moment.unix_ms - first->moment.unix_ms) * NS_PER_MS
		       : 0;
}

/*
 * Classify the mappings: determine their owners. Set the totals in *u, and its sums by
 * state and by owner.
 */
static void classify(struct usage *u, struct mapping_list *mappings)
{
	struct classifier classifier;
	_cleanup_free_ uint64_t *stacks = xcalloc(mappings->count + 1, sizeof(*stacks));
	size_t stack_count = 0;

	classifier_begin(&classifier, u);
	for (size_t i = 0; i < mappings->count; i++) {
		struct mapping *m = &mappings->items[i];

		if (m->owner == OWNER_STACK)
			stacks[stack_count++] = m->start_addr;
		m->owner = classifier_add(&classifier, m);
	}
	classifier_end(&classifier, stacks, stack_count, NULL, NULL);
	classifier_release(&classifier);
	for (size_t i = 0, s = 0; i < mappings->count && s < stack_count; i++)
		if (mappings->items[i].start_addr == stacks[s]) {
			mappings->items[i].owner = OWNER_STACK;
			s++;
		}
	classify_uses(u, mappings, NULL, 0);
}

/* Divide LazyFree into shared and private pages, which the totals do not distinguish. */
static void separate_lazyfree(struct usage *u)
{
	const uint64_t *total = u->total.bytes;
	uint64_t shared = bytes_sub(total[SMAPS_LAZYFREE], u->recorded_droppable_bytes);

	if (!bytes_known(u->recorded_droppable_bytes))
		return;
	u->state_bytes[STATE_PRIVATE_CLEAN] =
		bytes_sub(total[SMAPS_PRIVATE_CLEAN], u->recorded_droppable_bytes);
	u->state_bytes[STATE_SHARED_CLEAN] = bytes_sub(total[SMAPS_SHARED_CLEAN], shared);
}

/* Copy the results of classifying a process's mappings. */
static void copy_classified(const struct usage *from, struct usage *to)
{
	to->total = from->total;
	memcpy(to->state_bytes, from->state_bytes, sizeof(to->state_bytes));
	to->matrix = from->matrix;
	to->unbacked_bytes = from->unbacked_bytes;
	to->reserved_bytes = from->reserved_bytes;
	to->trimmable_bytes = from->trimmable_bytes;
	to->mapping_count = from->mapping_count;
	to->allocator = from->allocator;
	to->uses = from->uses;
}

static struct classified *find_classified(struct replay *replay,
					  const struct process *process)
{
	struct classified *found;

	/* the order of the processes rarely changes, so the next entry usually matches */
	for (size_t n = 0; n < replay->classified_count; n++) {
		size_t i = (replay->classified_next + n) % replay->classified_count;

		if (process_is_same(&replay->classified[i].usage.process, process)) {
			replay->classified_next = i + 1;
			return &replay->classified[i];
		}
	}
	replay->classified = xgrow(replay->classified, &replay->classified_capacity,
				   replay->classified_count + 1,
				   sizeof(*replay->classified));
	found = &replay->classified[replay->classified_count++];
	usage_init(&found->usage);
	found->usage.process = *process;
	found->mappings = NULL;
	return found;
}

/* Copy the mappings but borrow their names. The caller must free the array of items. */
static struct mapping_list copy_mappings(const struct mapping_list *from)
{
	struct mapping_list copy = { .items = xcalloc(from->count + 1,
						      sizeof(*copy.items)),
				     .count = from->count };

	if (copy.count > 0)
		memcpy(copy.items, from->items, copy.count * sizeof(*copy.items));
	return copy;
}

/* Classify the mappings of a process. Reuse the last result if they are unchanged. */
static void classify_changed(struct classified *known,
			     const struct mapping_list *mappings, uint64_t version)
{
	struct mapping_list copy;

	if (known->mappings == mappings && known->version == version)
		return;
	copy = copy_mappings(mappings);
	classify(&known->usage, &copy);
	free(copy.items);
	known->mappings = mappings;
	known->version = version;
}

static int complete_scanned(struct replay *replay, size_t index, struct usage *u)
{
	const struct mapping_list *mappings = NULL;
	struct mapping_list copy;
	struct heap_sums heap;
	uint64_t version = 0;
	int r = recording_reader_scan_mappings(replay->reader, index, &u->process,
					       &mappings, &version);

	if (r < 0)
		return r;
	r = recording_reader_read_heap(replay->reader, index, &u->process, &heap);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == -ENOENT) {
		struct classified *known = find_classified(replay, &u->process);

		classify_changed(known, mappings, version);
		copy_classified(&known->usage, u);
		return 0;
	}
	copy = copy_mappings(mappings);
	classify(u, &copy);
	classify_heap_sums(u, &copy, &heap);
	free(copy.items);
	return 0;
}

static int complete(struct replay *replay, size_t index, struct usage *u)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct heap_sums heap;
	int r;

	if (u->error || u->source < SOURCE_ROLLUP)
		return 0;
	if (u->source == SOURCE_ROLLUP) {
		classify_rollup(u, &u->total);
		separate_lazyfree(u);
		return 0;
	}
	if (recording_reader_is_scanning(replay->reader))
		return complete_scanned(replay, index, u);
	r = recording_reader_read_mappings(replay->reader, index, &u->process, &mappings);
	if (r == 0)
		classify(u, &mappings);
	if (r == 0)
		r = recording_reader_read_heap(replay->reader, index, &u->process, &heap);
	if (r == 0)
		classify_heap_sums(u, &mappings, &heap);
	mapping_list_release(&mappings);
	return r == -ENOENT ? 0 : r;
}

static void move_usage(struct snapshot *to, struct usage *from)
{
	*snapshot_add(to) = *from;
	from->command = NULL;
}

/* Move the targets and, if requested, their descendants to *ret. */
static void select_targets(struct snapshot *all, const struct targets *targets,
			   struct snapshot *ret)
{
	size_t before;

	for (size_t i = 0; i < all->count; i++)
		if (targets_contain(targets, &all->usages[i].process,
				    all->usages[i].command))
			move_usage(ret, &all->usages[i]);
	if (!targets->with_children)
		return;
	do {
		before = ret->count;
		for (size_t i = 0; i < all->count; i++)
			if (snapshot_find(ret, all->usages[i].process.ppid) &&
			    !snapshot_find(ret, all->usages[i].process.pid))
				move_usage(ret, &all->usages[i]);
	} while (ret->count > before);
}

int replay_read(struct replay *replay, size_t index, const struct targets *targets,
		struct snapshot *ret)
{
	struct snapshot *all = &replay->all;
	int r = recording_reader_read(replay->reader, index, all);

	if (r < 0)
		return r;
	snapshot_clear(ret);
	ret->taken_ns = all->taken_ns;
	ret->unix_ms = all->unix_ms;
	ret->cost_ns = all->cost_ns;
	ret->elapsed_ns = elapsed_ns(replay, index);
	select_targets(all, targets, ret);
	for (size_t i = 0; i < ret->count && r == 0; i++) {
		ret->unreadable_count += ret->usages[i].error != 0;
		r = complete(replay, index, &ret->usages[i]);
	}
	return r;
}

static bool is_target(const void *targets, const struct process *p, const char *command)
{
	return targets_contain(targets, p, command);
}

int replay_find_last(struct replay *replay, const struct targets *targets, size_t *index)
{
	return recording_reader_find_last(replay->reader, is_target, targets, index);
}

int replay_read_owners(struct replay *replay, size_t index, const struct usage *u,
		       uint64_t ret_bytes[OWNER_COUNT_])
{
	const struct matrix *matrix = &u->matrix;
	struct usage scanned;
	int r = 0;

	usage_init(&scanned);
	scanned.process = u->process;
	if (u->source == SOURCE_ROLLUP && recording_reader_is_scanning(replay->reader)) {
		r = complete_scanned(replay, index, &scanned);
		if (r == 0 && scanned.mapping_count > 0)
			matrix = &scanned.matrix;
	}
	for (int o = 0; o < OWNER_COUNT_ && r == 0; o++)
		ret_bytes[o] = matrix_owner_bytes(matrix, (enum owner)o);
	return r;
}

bool replay_begins_session(const struct replay *replay, size_t index)
{
	return index == 0 ||
	       replay->samples[index].session != replay->samples[index - 1].session;
}

struct largest {
	const struct targets *targets;
	struct process *items;
	size_t max, count;
};

/* Add a process, in order of peak Rss. A renamed process occurs several times. */
static int add_largest(void *context, const struct process *process, const char *command)
{
	struct largest *largest = context;

	if (!largest->targets->with_children &&
	    !targets_contain(largest->targets, process, command))
		return 0;
	for (size_t i = 0; i < largest->count; i++)
		if (process_is_same(&largest->items[i], process))
			return 0;
	largest->items[largest->count++] = *process;
	return largest->count == largest->max;
}

int replay_find_largest(struct replay *replay, const struct targets *targets,
			struct process *ret, size_t max, size_t *ret_count)
{
	struct largest largest = { targets, ret, max, 0 };
	int r = recording_reader_for_each_peak(replay->reader, add_largest, &largest);

	*ret_count = largest.count;
	return r < 0 ? r : 0;
}

int replay_read_mappings(struct replay *replay, size_t index,
			 const struct process *process, struct mapping_list *ret)
{
	struct usage unused;
	int r = recording_reader_read_mappings(replay->reader, index, process, ret);

	if (r < 0)
		return r;
	usage_init(&unused);
	classify(&unused, ret);
	usage_release(&unused);
	return 0;
}

int replay_read_cgroup(struct replay *replay, size_t index, struct cgroup *ret)
{
	return recording_reader_read_cgroup(replay->reader, index, ret);
}

int replay_read_figures(struct replay *replay, size_t index, struct oom_figures *ret)
{
	static const struct targets all;
	int r = replay_read_cgroup(replay, index, &replay->cgroup);

	if (r == 0)
		r = replay_read(replay, index, &all, &replay->processes);
	if (r == 0)
		oom_figures_find(&replay->cgroup, &replay->processes, ret);
	return r;
}

void replay_scan(struct replay *replay, bool is_on)
{
	forget_classified(replay);
	recording_reader_scan(replay->reader, is_on);
}

int replay_for_each_event(struct replay *replay,
			  int (*fn)(void *context, const struct recorded_event *event),
			  void *context)
{
	return recording_reader_for_each_event(replay->reader, fn, context);
}

int replay_for_each_note(struct replay *replay,
			 int (*fn)(void *context, const struct recorded_note *note),
			 void *context)
{
	return recording_reader_for_each_note(replay->reader, fn, context);
}
