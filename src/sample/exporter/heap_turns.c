/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/heap_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

/*
 * Maximum share of one CPU that reading heaps may use, and maximum share of its time for
 * which each process may be paused.
 */
#define SHARE_PER_MILLE 20

/* Maximum number of heaps to read per round, and maximum time to wait for each walk. */
#define READS_PER_LOOK 8
#define PATIENCE_NS (100 * NS_PER_MS)

struct heap_turns {
	struct heap_keeper *keeper;
	const regex_t *pattern;
	/* the latest usage of each process that includes heap figures, unordered */
	struct snapshot known;
	int next_pid; /* pid at which the next round begins */
};

struct heap_turns *heap_turns_new(const struct procfs *fs, struct sampler *sampler,
				  const regex_t *pattern, uint64_t max_pause_ns)
{
	struct heap_turns *turns = xcalloc(1, sizeof(*turns));

	turns->keeper =
		heap_keeper_new(fs, sampler, STOPS_SHORT, max_pause_ns, SHARE_PER_MILLE);
	heap_keeper_set_patience(turns->keeper, PATIENCE_NS);
	turns->pattern = pattern;
	snapshot_init(&turns->known);
	return turns;
}

static void ignore_left(void *context, int pid, const char *what)
{
	(void)context;
	(void)pid;
	(void)what;
}

void heap_turns_free(struct heap_turns *turns)
{
	if (!turns)
		return;
	heap_keeper_free(turns->keeper, ignore_left, NULL);
	snapshot_release(&turns->known);
	free(turns);
}

static struct usage *find(const struct heap_turns *turns, const struct process *process)
{
	for (size_t i = 0; i < turns->known.count; i++)
		if (process_is_same(&turns->known.usages[i].process, process))
			return &turns->known.usages[i];
	return NULL;
}

const struct usage *heap_turns_find(const struct heap_turns *turns,
				    const struct process *process)
{
	return find(turns, process);
}

static void add_pause(struct look_pauses *pauses, uint64_t ns)
{
	size_t i = 0;

	while (i < LOOK_PAUSE_BUCKETS - 1 && ns > look_pause_limits_ns[i])
		i++;
	pauses->counts[i]++;
	pauses->sum_ns += ns;
}

static void read_process(struct heap_turns *turns, const struct process *process,
			 struct look_pauses *pauses)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct usage *known = find(turns, process);
	uint64_t taken_ns = known ? known->heap_taken_ns : 0;
	struct usage u;

	usage_init(&u);
	u.process = *process;
	if (heap_keeper_read(turns->keeper, &u, &mappings) == 0 &&
	    u.heap_quality != QUALITY_UNKNOWN) {
		if (!known)
			known = snapshot_add(&turns->known);
		usage_release(known);
		*known = u;
		if (u.heap_taken_ns != taken_ns && u.heap_pause_ns > 0)
			add_pause(pauses, u.heap_pause_ns);
	} else {
		usage_release(&u);
	}
	mapping_list_release(&mappings);
}

static void forget_ended(struct heap_turns *turns, const struct snapshot *processes)
{
	struct snapshot *known = &turns->known;
	size_t kept = 0;

	for (size_t i = 0; i < known->count; i++) {
		const struct usage *now =
			snapshot_find(processes, known->usages[i].process.pid);

		if (now && process_is_same(&now->process, &known->usages[i].process))
			known->usages[kept++] = known->usages[i];
		else
			usage_release(&known->usages[i]);
	}
	known->count = kept;
}

static bool is_matched(const struct heap_turns *turns, const struct usage *u)
{
	return !u->error && process_has_memory(&u->process) &&
	       regexec(turns->pattern, u->process.comm, 0, NULL, 0) == 0;
}

void heap_turns_take(struct heap_turns *turns, const struct snapshot *processes,
		     struct look_pauses *pauses)
{
	size_t left = READS_PER_LOOK, start = 0;

	forget_ended(turns, processes);
	while (start < processes->count &&
	       processes->usages[start].process.pid < turns->next_pid)
		start++;
	for (size_t k = 0; k < processes->count && left > 0; k++) {
		const struct usage *u =
			&processes->usages[(start + k) % processes->count];

		if (!is_matched(turns, u))
			continue;
		read_process(turns, &u->process, pauses);
		turns->next_pid = u->process.pid + 1;
		left--;
	}
}
