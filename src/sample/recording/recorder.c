/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sample/process/process_notes.h"
#include "sample/process/shmem_writers.h"

/*
 * The schedule for reading the mappings of a process: the sample in which they were last
 * read, and the time at which they are to be read again (due_ns).
 */
struct turn {
	int pid;
	uint64_t start_ticks, due_ns;
	/* last sample for which the mappings of the process were read */
	uint64_t sample;
};

struct recorder {
	struct recording *recording;
	struct sampler *sampler;
	/* notes about processes, or NULL if notes are not recorded */
	struct process_notes *notes;
	/* tmpfs files to which processes write, or NULL if these are not recorded */
	struct shmem_writers *writers;
	struct snapshot own; /* sample being taken by recorder_take() */
	uint64_t longest_read_ns;
	bool has_ended;
	bool is_begun;
	/*
	 * Maximum share of each process's time for reading its mappings. If it is 0, the
	 * mappings are read only once.
	 */
	unsigned int share_per_million;
	uint64_t start_ns; /* time of the first sample */
	uint64_t sample;   /* number of the current sample, starting at 1 */
	int error;	   /* first error in the current sample, or 0 */
	struct turn *turns;
	size_t turn_count, turn_capacity;
};

static struct turn *find_turn(struct recorder *r, const struct process *p)
{
	for (size_t i = 0; i < r->turn_count; i++)
		if (r->turns[i].pid == p->pid &&
		    r->turns[i].start_ticks == p->start_ticks)
			return &r->turns[i];
	return NULL;
}

static bool wants_mappings(void *context, const struct process *process)
{
	struct recorder *r = context;
	const struct turn *turn = find_turn(r, process);

	return r->is_begun && (!turn || clock_now_ns() >= turn->due_ns);
}

static void record_mappings(void *context, const struct usage *u,
			    const struct mapping_list *mappings)
{
	struct recorder *r = context;
	struct turn *turn = find_turn(r, &u->process);

	if (!turn) {
		r->turns = xgrow(r->turns, &r->turn_capacity, r->turn_count + 1,
				 sizeof(*r->turns));
		turn = &r->turns[r->turn_count++];
		*turn = (struct turn){ .pid = u->process.pid,
				       .start_ticks = u->process.start_ticks };
	}
	turn->due_ns =
		r->share_per_million > 0
			? u->taken_ns + u->read_ns * 1000 / r->share_per_million * 1000
			: UINT64_MAX;
	if (r->error < 0)
		return;
	turn->sample = r->sample;
	r->error = recording_add_mappings(r->recording, u, mappings);
}

int recorder_open(const char *path, const struct recording_bounds *bounds,
		  unsigned int share_per_mille, struct sampler *sampler,
		  struct recorder **ret)
{
	struct recording *recording;
	struct mapping_sink sink = { .wants = wants_mappings, .take = record_mappings };
	int r = recording_open(path, bounds, &recording);

	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->recording = recording;
	(*ret)->sampler = sampler;
	snapshot_init(&(*ret)->own);
	(*ret)->share_per_million = share_per_mille > 0 ? share_per_mille * 1000
							: 1000000;
	sink.context = *ret;
	sampler_set_mapping_sink(sampler, &sink);
	return 0;
}

void recorder_set_share(struct recorder *r, unsigned int share_per_million)
{
	r->share_per_million = share_per_million;
}

void recorder_set_notes(struct recorder *r, const struct procfs *fs)
{
	process_notes_free(r->notes);
	shmem_writers_free(r->writers);
	r->notes = process_notes_new(fs);
	r->writers = shmem_writers_new(fs);
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	process_notes_free(r->notes);
	shmem_writers_free(r->writers);
	sampler_set_mapping_sink(r->sampler, NULL);
	recording_close(r->recording);
	snapshot_release(&r->own);
	free(r->turns);
	free(r);
}

void recorder_begin(struct recorder *r)
{
	r->sample++;
	r->is_begun = true;
	r->error = recording_begin(r->recording);
}

/* Forget the reading schedules of processes that no longer exist. */
static void forget_turns(struct recorder *r, const struct snapshot *snapshot)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->turn_count; i++) {
		const struct usage *u = snapshot_find(snapshot, r->turns[i].pid);

		if (u && u->process.start_ticks == r->turns[i].start_ticks)
			r->turns[kept++] = r->turns[i];
	}
	r->turn_count = kept;
}

int recorder_end(struct recorder *r, const struct snapshot *snapshot,
		 const struct cgroup *cgroup)
{
	struct recording_moment moment = { .unix_ms = snapshot->unix_ms,
					   .cost_ns = snapshot->cost_ns };

	if (r->start_ns == 0)
		r->start_ns = snapshot->taken_ns;
	moment.elapsed_ns = snapshot->taken_ns - r->start_ns;
	r->is_begun = false;
	for (size_t i = 0; i < snapshot->count && r->error == 0; i++) {
		const struct turn *turn = find_turn(r, &snapshot->usages[i].process);

		if (!turn || turn->sample != r->sample)
			r->error =
				recording_add_usage(r->recording, &snapshot->usages[i]);
	}
	if (r->error == 0 && cgroup)
		r->error = recording_add_cgroup(r->recording, cgroup);
	if (r->error == 0 && cgroup && r->notes)
		r->error = process_notes_add(r->notes, snapshot, r->recording);
	if (r->error == 0 && cgroup && r->writers)
		r->error = shmem_writers_add(r->writers, snapshot, cgroup, r->recording);
	if (r->error == 0)
		r->error = recording_end(r->recording, &moment);
	if (r->error < 0) {
		process_notes_forget(r->notes);
		shmem_writers_forget(r->writers);
	}
	forget_turns(r, snapshot);
	return r->error;
}

void recorder_add(struct recorder *r, const struct usage *u,
		  const struct mapping_list *mappings)
{
	record_mappings(r, u, mappings);
}

static bool is_same(const struct process *a, const struct process *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

/* Read one process and record it. Return false if the process has ended. */
static bool record_process(struct recorder *r, struct usage *u,
			   const struct recorder_known *known)
{
	if (known->usage && is_same(&known->usage->process, &u->process)) {
		recorder_add(r, known->usage, known->mappings);
		return true;
	}
	if (sampler_read_usage(r->sampler, u, RECORDER_NEEDS) == -ESRCH)
		return false;
	if (u->read_ns != BYTES_UNKNOWN && u->read_ns > r->longest_read_ns)
		r->longest_read_ns = u->read_ns;
	return true;
}

int recorder_take(struct recorder *r, struct targets *targets,
		  const struct recorder_known *known)
{
	struct snapshot *own = &r->own;
	bool is_all = targets_are_all(targets);
	size_t kept = 0;
	int error;

	recorder_begin(r);
	r->longest_read_ns = 0;
	error = sampler_list(r->sampler, targets, RECORDER_NEEDS, own);
	if (error < 0) {
		r->is_begun = false;
		return r->error = error;
	}
	r->has_ended = targets_have_ended(targets, own);
	for (size_t i = 0; i < own->count; i++) {
		struct usage *u = &own->usages[i];

		if ((is_all && !process_has_memory(&u->process)) ||
		    !record_process(r, u, known)) {
			usage_release(u);
			continue;
		}
		if (kept != i)
			own->usages[kept] = *u;
		kept++;
	}
	own->count = kept;
	own->cost_ns = clock_now_ns() - own->taken_ns;
	return recorder_end(r, own, known->cgroup);
}

bool recorder_has_ended(const struct recorder *r)
{
	return r->has_ended;
}

uint64_t recorder_min_interval_ns(const struct recorder *r, unsigned int per_mille)
{
	return per_mille > 0 ? r->longest_read_ns / per_mille * 1000 : 0;
}

int recorder_error(const struct recorder *r)
{
	return r->error;
}

int recorder_add_event(struct recorder *r, const struct recorded_event *event)
{
	return recording_add_event(r->recording, event);
}
