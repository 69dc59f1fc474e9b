/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/growth/last_rise.h"
#include "sample/oom/evidence.h"

/* Minimum growth to report. */
#define GROWTH_MIN_BYTES MIB

/*
 * Maximum number of samples read to measure growth. They are evenly spaced and include
 * the last sample.
 */
#define READS_MAX 2000

/*
 * Upper bound on the number of roles. Successive processes with the same name in the same
 * cgroup share a role.
 */
#define ROLES_MAX 4096

#define NAMELESS "anonymous memory"

/* A process, or successive processes with the same name in the same cgroup. */
struct role {
	struct process process; /* the most recent of these processes */
	/* notes about the process, or NULL if none were recorded */
	const struct oom_note *note;
	struct rise_series series;
	bool is_there; /* true if the process is in the current sample */
	bool is_new, is_restarted;
};

struct grower_search {
	const struct past_end *end;
	struct role *roles;
	size_t count, capacity;
	size_t read_count; /* number of samples read so far */
	uint64_t begin_ns, end_ns;
};

/*
 * Return the unreclaimable memory charged for a process: anonymous memory, including
 * swapped-out pages, and dirty pages, including shared memory, but not clean file pages.
 */
static uint64_t charged_bytes(const struct usage *u)
{
	const uint64_t *total = u->total.bytes;
	uint64_t dirty = bytes_add(total[SMAPS_SHARED_DIRTY], total[SMAPS_PRIVATE_DIRTY]);
	uint64_t live =
		bytes_sub(total[SMAPS_ANONYMOUS], bytes_or_0(usage_droppable_bytes(u)));
	uint64_t anon_dirty = bytes_sub(total[SMAPS_ANONYMOUS], total[SMAPS_LAZYFREE]);
	uint64_t other_dirty = 0;

	if (!bytes_known(live))
		return oom_past_need_of(u);
	if (bytes_known(dirty) && bytes_known(anon_dirty) && dirty > anon_dirty)
		other_dirty = dirty - anon_dirty;
	return live + other_dirty + bytes_or_0(total[SMAPS_SWAP]);
}

static bool is_same_place(const struct oom_note *a, const struct oom_note *b)
{
	return strcmp(a ? a->place.group : "", b ? b->place.group : "") == 0;
}

static struct role *find_role(struct grower_search *s, const struct process *p,
			      size_t hint)
{
	for (size_t n = 0; n < s->count; n++) {
		struct role *role = &s->roles[(hint + n) % s->count];

		if (process_is_same(&role->process, p))
			return role;
	}
	return NULL;
}

static bool is_in(const struct snapshot *processes, const struct process *p)
{
	const struct usage *u = snapshot_find(processes, p->pid);

	return u && process_is_same(&u->process, p) && process_has_memory(&u->process);
}

/*
 * Find the ended process that p replaces, which had the same name and cgroup. Return its
 * role, or NULL if no such process is found.
 */
static struct role *find_ended(struct grower_search *s, const struct snapshot *processes,
			       const struct process *p, const struct oom_note *note)
{
	for (size_t i = 0; i < s->count; i++) {
		struct role *role = &s->roles[i];

		if (!role->is_there && strcmp(role->process.comm, p->comm) == 0 &&
		    is_same_place(role->note, note) && !is_in(processes, &role->process))
			return role;
	}
	return NULL;
}

static struct role *add_role(struct grower_search *s, const struct oom_note *note)
{
	struct role *role;

	if (s->count == ROLES_MAX)
		return NULL;
	s->roles = xgrow(s->roles, &s->capacity, s->count + 1, sizeof(*s->roles));
	role = &s->roles[s->count++];
	*role = (struct role){ .note = note, .is_new = s->read_count > 0 };
	rise_series_init(&role->series, s->begin_ns, s->end_ns);
	if (role->is_new)
		rise_series_add(&role->series, s->begin_ns, 0);
	return role;
}

static void add_usage(struct grower_search *s, const struct snapshot *processes,
		      const struct usage *u, size_t hint)
{
	const struct oom_note *note = oom_notes_find(&s->end->past->notes, &u->process);
	struct role *role = find_role(s, &u->process, hint);
	uint64_t bytes = charged_bytes(u);
	bool is_first = !role;

	if (!bytes_known(bytes) || !oom_scope_has(&s->end->scope, note))
		return;
	if (!role) {
		role = find_ended(s, processes, &u->process, note);
		if (role) {
			role->is_restarted = true;
			role->is_new = false;
		} else {
			role = add_role(s, note);
		}
	}
	if (!role)
		return;
	role->process = u->process;
	role->note = note;
	role->is_there = true;
	if (is_first && s->read_count > 0)
		rise_series_jump(&role->series, processes->elapsed_ns, bytes);
	else
		rise_series_add(&role->series, processes->elapsed_ns, bytes);
}

static void add_sample(struct grower_search *s, const struct snapshot *processes)
{
	for (size_t i = 0; i < s->count; i++)
		s->roles[i].is_there = false;
	for (size_t i = 0; i < processes->count; i++)
		if (process_has_memory(&processes->usages[i].process))
			add_usage(s, processes, &processes->usages[i], i);
	for (size_t i = 0; i < s->count; i++)
		if (!s->roles[i].is_there)
			rise_series_jump(&s->roles[i].series, processes->elapsed_ns, 0);
	s->read_count++;
}

static int read_samples(struct grower_search *s, struct replay *replay, size_t last)
{
	static const struct targets all;
	size_t first = s->end->first, step = (last - first) / READS_MAX + 1;
	struct snapshot processes;
	int r = 0;

	snapshot_init(&processes);
	replay_scan(replay, true);
	for (size_t i = first; r == 0; i = last - i < step ? last : i + step) {
		r = replay_read(replay, i, &all, &processes);
		if (r == 0) {
			processes.elapsed_ns = s->end->past->samples[i].elapsed_ns;
			add_sample(s, &processes);
		}
		if (i == last)
			break;
	}
	replay_scan(replay, false);
	snapshot_release(&processes);
	return r;
}

static const struct role *find_grown(const struct grower_search *s, struct rise *ret)
{
	const struct role *best = NULL;
	uint64_t max_bytes = GROWTH_MIN_BYTES;

	for (size_t i = 0; i < s->count; i++) {
		struct rise rise;

		rise_find(&s->roles[i].series, &rise);
		if (!s->roles[i].is_there || rise.to_bytes - rise.from_bytes < max_bytes)
			continue;
		max_bytes = rise.to_bytes - rise.from_bytes;
		best = &s->roles[i];
		*ret = rise;
	}
	return best;
}

/* All mappings with the same name, and their sizes before and after the growth. */
struct kind {
	const char *name;
	uint64_t from_bytes, to_bytes;
	bool is_shmem;
};

static int compare_kinds(const void *a, const void *b)
{
	return strcmp(((const struct kind *)a)->name, ((const struct kind *)b)->name);
}

/*
 * Return the unreclaimable memory of one mapping: anonymous pages, including swapped-out
 * pages, and dirty pages, but not clean file pages.
 */
static uint64_t charged_bytes_of_mapping(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;
	uint64_t anon =
		bytes_sub(bytes[SMAPS_ANONYMOUS], bytes_or_0(bytes[SMAPS_LAZYFREE]));
	uint64_t dirty = bytes_add(bytes[SMAPS_SHARED_DIRTY], bytes[SMAPS_PRIVATE_DIRTY]);

	if (!bytes_known(anon) || !bytes_known(dirty))
		return bytes_or_0(bytes[SMAPS_RSS]);
	return (dirty > anon ? dirty : anon) + bytes_or_0(bytes[SMAPS_SWAP]);
}

static size_t add_kinds(const struct mapping_list *mappings, bool is_after,
			struct kind *kinds)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *name = mapping_group_name(&mappings->items[i]);
		uint64_t bytes = charged_bytes_of_mapping(&mappings->items[i]);

		kinds[i] = (struct kind){ name[0] != '\0' ? name : NAMELESS,
					  is_after ? 0 : bytes, is_after ? bytes : 0,
					  mappings->items[i].owner == OWNER_SHMEM };
	}
	return mappings->count;
}

/*
 * Find the kind of mapping that accounts for more than half of the process's growth, both
 * between the samples and between the readings of the mappings.
 */
static void find_kind(struct kind *kinds, size_t count, struct oom_grower *ret)
{
	uint64_t max_bytes = (ret->to_bytes - ret->from_bytes) / 2, read_bytes;

	for (size_t i = 0; i < count; i++) {
		ret->mappings_from_bytes += kinds[i].from_bytes;
		ret->mappings_to_bytes += kinds[i].to_bytes;
	}
	read_bytes = bytes_sub(ret->mappings_to_bytes, ret->mappings_from_bytes) / 2;
	if (read_bytes > max_bytes)
		max_bytes = read_bytes;
	qsort(kinds, count, sizeof(*kinds), compare_kinds);
	for (size_t i = 0, next; i < count; i = next) {
		struct kind sum = kinds[i];

		for (next = i + 1; next < count && compare_kinds(&kinds[next], &sum) == 0;
		     next++) {
			sum.from_bytes += kinds[next].from_bytes;
			sum.to_bytes += kinds[next].to_bytes;
			sum.is_shmem |= kinds[next].is_shmem;
		}
		if (bytes_sub(sum.to_bytes, sum.from_bytes) <= max_bytes)
			continue;
		max_bytes = sum.to_bytes - sum.from_bytes;
		text_copy(ret->mapping, sizeof(ret->mapping), sum.name);
		ret->mapping_from_bytes = sum.from_bytes;
		ret->mapping_to_bytes = sum.to_bytes;
		ret->is_shmem = sum.is_shmem;
	}
}

/*
 * Return the index of the sample at which the growth began: the earliest sample taken at
 * most `ns` nanoseconds before the sample `last`.
 */
static size_t find_begin(const struct past_end *end, size_t last, uint64_t ns)
{
	const struct past_sample *samples = end->past->samples;
	size_t i = last;

	while (i > end->first &&
	       samples[last].elapsed_ns - samples[i - 1].elapsed_ns <= ns)
		i--;
	return i;
}

/*
 * Find the mapping that grew. Mappings are read rarely, so the two compared readings may
 * be older than the samples.
 */
static int find_mapping(const struct grower_search *s, struct replay *replay, size_t last,
			const struct process *process, struct oom_grower *ret)
{
	size_t first = find_begin(s->end, last, ret->ns);
	struct mapping_list before = MAPPING_LIST_INIT, after = MAPPING_LIST_INIT;
	bool has_before = !ret->is_new && !ret->is_restarted;
	int r = replay_read_mappings(replay, last, process, &after);

	if (r == 0 && has_before)
		r = replay_read_mappings(replay, first, process, &before);
	if (r == 0 && after.count > 0 && (before.count > 0 || !has_before)) {
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

/*
 * Return true if shared memory and files on tmpfs grew more than any process. Set *ret to
 * the growth of memory that no process maps.
 */
static bool find_unmapped(const struct grower_search *s, size_t last,
			  struct oom_grower *ret)
{
	const struct past_end *end = s->end;
	struct rise_series series;
	struct rise rise;

	rise_series_init(&series, s->begin_ns, s->end_ns);
	for (size_t i = end->first; i <= last; i++)
		if (bytes_known(end->samples[i].shmem_bytes))
			rise_series_add(&series, end->samples[i].elapsed_ns,
					end->samples[i].shmem_bytes);
	rise_find(&series, &rise);
	if (rise.to_bytes - rise.from_bytes < GROWTH_MIN_BYTES ||
	    rise.to_bytes - rise.from_bytes <= ret->to_bytes - ret->from_bytes)
		return false;
	*ret = (struct oom_grower){ .from_bytes = rise.from_bytes,
				    .to_bytes = rise.to_bytes,
				    .ns = rise.ns,
				    .is_shmem = true };
	return true;
}

/* Return the growth of the file in bytes between from_ms and to_ms. */
static uint64_t grown_bytes(const struct oom_note *note, const char *file,
			    uint64_t from_ms, uint64_t to_ms)
{
	const struct oom_written *begin = NULL, *end = NULL;

	for (size_t i = 0; i < note->written_count; i++) {
		const struct oom_written *w = &note->written[i];

		if (w->unix_ms > to_ms || strcmp(w->file, file) != 0)
			continue;
		if (!end || w->unix_ms > end->unix_ms)
			end = w;
		/*
		 * Set `begin` to the last note before the period of growth or, without
		 * such a note, to the first note within the period.
		 */
		if (!begin || (w->unix_ms <= from_ms ? begin->unix_ms > from_ms ||
							       w->unix_ms > begin->unix_ms
						     : w->unix_ms < begin->unix_ms))
			begin = w;
	}
	return end && end->bytes > begin->bytes ? end->bytes - begin->bytes : 0;
}

/*
 * Return the file, written by the process, that accounts for more than half of the
 * growth, or NULL.
 */
static const char *find_file(const struct oom_note *note, const struct oom_grower *g,
			     uint64_t end_ms)
{
	uint64_t grown = g->to_bytes - g->from_bytes, ms = g->ns / NS_PER_MS;

	for (size_t i = 0; i < note->written_count; i++)
		if (grown_bytes(note, note->written[i].file,
				end_ms > ms ? end_ms - ms : 0, end_ms) > grown / 2)
			return note->written[i].file;
	return NULL;
}

static bool is_in_last_sample(const struct grower_search *s,
			      const struct process *process)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->roles[i].is_there &&
		    process_is_same(&s->roles[i].process, process))
			return true;
	return false;
}

/*
 * Find the process that had the growing file open for writing. Leave *ret unchanged if
 * there is no such process or more than one.
 */
static void find_writer(const struct grower_search *s, size_t last,
			struct oom_grower *ret)
{
	const struct oom_notes *notes = &s->end->past->notes;
	const struct oom_note *writer = NULL;
	const char *written = NULL;

	for (size_t i = 0; i < notes->count; i++) {
		const struct oom_note *note = &notes->items[i];
		const char *file =
			find_file(note, ret, s->end->past->samples[last].unix_ms);

		if (!file || !oom_scope_has(&s->end->scope, note) ||
		    !is_in_last_sample(s, &note->process))
			continue;
		if (writer && !process_is_same(&writer->process, &note->process))
			return;
		writer = note;
		written = file;
	}
	if (!writer)
		return;
	ret->pid = writer->process.pid;
	ret->place = writer->place;
	text_copy(ret->name, sizeof(ret->name), writer->process.comm);
	written += strcspn(written, " ");
	text_copy(ret->file, sizeof(ret->file), written + strspn(written, " "));
}

static int find_grower(struct grower_search *s, struct replay *replay, size_t last,
		       struct oom_grower *ret)
{
	struct rise rise = { 0 };
	const struct role *grown = find_grown(s, &rise);

	*ret = (struct oom_grower){ .from_bytes = rise.from_bytes,
				    .to_bytes = rise.to_bytes,
				    .ns = rise.ns };
	if (find_unmapped(s, last, ret)) {
		find_writer(s, last, ret);
		return 0;
	}
	if (!grown)
		return 0;
	ret->pid = grown->process.pid;
	ret->is_new = grown->is_new;
	ret->is_restarted = grown->is_restarted;
	text_copy(ret->name, sizeof(ret->name), grown->process.comm);
	if (grown->note)
		ret->place = grown->note->place;
	return find_mapping(s, replay, last, &grown->process, ret);
}

int oom_grower_find(const struct past_end *end, struct replay *replay, size_t last,
		    struct oom_grower *ret)
{
	struct grower_search s = {
		.end = end,
		.begin_ns = end->past->samples[end->first].elapsed_ns,
		.end_ns = end->past->samples[last].elapsed_ns,
	};
	struct oom_grower grower;
	int r = read_samples(&s, replay, last);

	if (r == 0)
		r = find_grower(&s, replay, last, &grower);
	free(s.roles);
	if (r == 0)
		*ret = grower;
	return r;
}
