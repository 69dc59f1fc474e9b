/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/owner_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "base/xalloc.h"
#include "sample/exporter/cpu_budget.h"

/* Age at which figures are read again even if the process has not changed. */
#define TURN_NS (OWNER_TURNS_KEEP_NS / 4)

/* Reasons to read a process, the most urgent first. */
enum reason {
	REASON_NEW,
	REASON_CHANGED,
	REASON_TURN,
	REASON_COUNT_
};

struct owner_entry {
	int pid;
	uint64_t start_ticks;
	uint64_t tried_ns; /* time of the last attempt to read, or 0 */
	uint64_t read_ns;  /* duration of the last reading */
	bool is_known;	   /* true if the last attempt succeeded */
	/* Rss and number of page faults at the last reading */
	uint64_t rss_bytes, minor_fault_count;
	struct owner_figures figures;
	const struct usage *now; /* the process in the current snapshot, borrowed */
};

struct owner_turns {
	struct sampler *sampler;
	struct cpu_budget budget;
	unsigned int max_share_per_mille;
	/*
	 * the processes selected in this call and in the last call, in ascending
	 * order of pid
	 */
	struct owner_entry *entries, *before;
	size_t count, capacity, before_capacity;
	/*
	 * for each reason to read processes: the pid at which the next call
	 * resumes reading
	 */
	int next_pid[REASON_COUNT_];
};

struct owner_turns *owner_turns_new(struct sampler *sampler, uint64_t cpu_share,
				    unsigned int max_share_per_mille)
{
	struct owner_turns *turns = xcalloc(1, sizeof(*turns));

	turns->sampler = sampler;
	turns->max_share_per_mille = max_share_per_mille;
	cpu_budget_init(&turns->budget, cpu_share, clock_now_ns());
	return turns;
}

void owner_turns_free(struct owner_turns *turns)
{
	if (!turns)
		return;
	free(turns->entries);
	free(turns->before);
	free(turns);
}

/*
 * Swap the current entries with those of the last call, and empty the current ones.
 * Return the number of entries of the last call.
 */
static size_t swap_generations(struct owner_turns *turns)
{
	struct owner_entry *entries = turns->entries;
	size_t count = turns->count, capacity = turns->capacity;

	turns->entries = turns->before;
	turns->capacity = turns->before_capacity;
	turns->count = 0;
	turns->before = entries;
	turns->before_capacity = capacity;
	return count;
}

/*
 * Create an entry for each selected process. If the last call selected the process too,
 * copy the known data from the entry of that call.
 */
static void merge(struct owner_turns *turns, const struct snapshot *processes,
		  const bool *is_wanted)
{
	size_t before_count = swap_generations(turns), old = 0;

	turns->entries = xgrow(turns->entries, &turns->capacity, processes->count + 1,
			       sizeof(*turns->entries));
	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *now = &processes->usages[i];
		const struct process *p = &now->process;
		struct owner_entry *e = &turns->entries[turns->count];

		if (!is_wanted[i])
			continue;
		while (old < before_count && turns->before[old].pid < p->pid)
			old++;
		if (old < before_count && turns->before[old].pid == p->pid &&
		    turns->before[old].start_ticks == p->start_ticks)
			*e = turns->before[old];
		else
			*e = (struct owner_entry){ .pid = p->pid,
						   .start_ticks = p->start_ticks };
		e->now = now;
		turns->count++;
	}
}

static bool has_changed(const struct owner_entry *e)
{
	return e->now->total.bytes[SMAPS_RSS] != e->rss_bytes ||
	       e->now->process.minor_fault_count != e->minor_fault_count;
}

static bool is_reason(const struct owner_entry *e, enum reason reason, uint64_t now_ns)
{
	switch (reason) {
	case REASON_NEW: return e->tried_ns == 0;
	case REASON_CHANGED:
		/*
		 * the figures of the process in the snapshot may be older than the last
		 * reading of its mappings
		 */
		return e->now->taken_ns > e->tried_ns && has_changed(e);
	default: return now_ns - e->tried_ns >= TURN_NS;
	}
}

/*
 * Return true if the process may be read now without exceeding the share of its time that
 * reading may take, and if the budget suffices to read the process again before its
 * figures are too old.
 */
static bool may_be_read(const struct owner_turns *turns, const struct owner_entry *e,
			uint64_t now_ns)
{
	uint64_t longest_ns = bytes_or_0(e->now->read_ns);

	if (longest_ns < e->read_ns)
		longest_ns = e->read_ns;
	if (longest_ns > cpu_budget_over(&turns->budget, OWNER_TURNS_KEEP_NS))
		return false;
	if (e->tried_ns == 0 || turns->max_share_per_mille == 0 ||
	    turns->max_share_per_mille >= 1000)
		return true;
	return now_ns - e->tried_ns >= e->read_ns / turns->max_share_per_mille * 1000;
}

static void read_entry(struct owner_turns *turns, struct owner_entry *e)
{
	struct usage u;

	usage_init(&u);
	u.process = e->now->process;
	e->tried_ns = clock_now_ns();
	e->minor_fault_count = u.process.minor_fault_count;
	e->is_known = sampler_read_usage(turns->sampler, &u, NEED_SMAPS) == 0 &&
		      u.source == SOURCE_SMAPS;
	if (e->is_known) {
		e->read_ns = bytes_or_0(u.read_ns);
		e->rss_bytes = u.total.bytes[SMAPS_RSS];
		owner_figures_of(&u, &e->figures);
	}
	usage_release(&u);
}

/*
 * Read the processes that are due for the given reason. Return the time for which reading
 * held mmap locks.
 */
static uint64_t read_for(struct owner_turns *turns, enum reason reason, uint64_t end_ns)
{
	size_t start = SEARCH_FIRST(turns->count, i,
				    turns->entries[i].pid >= turns->next_pid[reason]);
	uint64_t locked_ns = 0;

	for (size_t k = 0; k < turns->count; k++) {
		struct owner_entry *e = &turns->entries[(start + k) % turns->count];
		uint64_t now_ns = clock_now_ns(), cpu_ns;

		if (now_ns >= end_ns || !cpu_budget_has_credit(&turns->budget))
			break;
		if (!is_reason(e, reason, now_ns) || !may_be_read(turns, e, now_ns))
			continue;
		cpu_ns = clock_thread_cpu_ns();
		read_entry(turns, e);
		turns->next_pid[reason] = e->pid + 1;
		locked_ns += e->is_known ? e->read_ns : 0;
		cpu_budget_use(&turns->budget, clock_thread_cpu_ns() - cpu_ns);
	}
	return locked_ns;
}

uint64_t owner_turns_take(struct owner_turns *turns, const struct snapshot *processes,
			  const bool *is_wanted, uint64_t limit_ns)
{
	uint64_t now_ns = clock_now_ns(), locked_ns = 0;
	uint64_t end_ns = limit_ns < UINT64_MAX - now_ns ? now_ns + limit_ns : UINT64_MAX;

	merge(turns, processes, is_wanted);
	cpu_budget_earn(&turns->budget, now_ns);
	for (enum reason reason = 0; reason < REASON_COUNT_; reason++)
		locked_ns += read_for(turns, reason, end_ns);
	return locked_ns;
}

const struct owner_figures *owner_turns_find(const struct owner_turns *turns,
					     const struct process *process,
					     uint64_t now_ns)
{
	size_t i = SEARCH_FIRST(turns->count, k, turns->entries[k].pid >= process->pid);
	const struct owner_entry *e;

	if (i == turns->count)
		return NULL;
	e = &turns->entries[i];
	if (e->pid != process->pid || e->start_ticks != process->start_ticks ||
	    !e->is_known)
		return NULL;
	return now_ns < e->figures.taken_ns + OWNER_TURNS_KEEP_NS ? &e->figures : NULL;
}
