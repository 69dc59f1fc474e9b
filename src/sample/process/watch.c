/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/stat.h"
#include "sample/process/watch_list.h"

/*
 * Maximum age of the figures of visible processes that have not changed. Even an idle
 * process may gain or lose Pss, because other processes start or stop sharing its pages.
 */
#define VISIBLE_AGE_MAX_NS (10 * NS_PER_S)

/*
 * Maximum time for which a refresh reads processes, because the screen must respond. The
 * time for listing the processes does not count: on a slow machine, it could leave no
 * time for reading.
 */
#define REFRESH_LIMIT_NS (200 * NS_PER_MS)

/* Reasons to read the memory of a process, the most urgent first. */
enum reason {
	REASON_VISIBLE,
	REASON_NEW,
	REASON_CHANGED,
	REASON_TURN,
	REASON_OLD,
	REASON_COUNT_
};

/* Maximum number of processes that a refresh reads for each reason. */
static const size_t reads_max[REASON_COUNT_] = {
	[REASON_VISIBLE] = SIZE_MAX, [REASON_NEW] = SIZE_MAX, [REASON_CHANGED] = 64,
	[REASON_TURN] = 8,	     [REASON_OLD] = SIZE_MAX,
};

/* Maximum number of invisible processes that a refresh looks up in statm. */
#define CHECKS_MAX 256

/* Additional data for the usage with the same index. */
struct entry {
	/* contents of the process's stat file at the last attempt to read its memory */
	struct process then;
	/* time of the last attempt to read the memory, or 0 before the first attempt */
	uint64_t tried_ns;
	/* Rss in statm at the last attempt to read the memory, and at the last look-up */
	uint64_t then_rss_bytes, rss_bytes;
	unsigned int needs; /* needs at the last attempt to read the memory */
	bool is_visible;
	bool is_left_out;
};

struct watch {
	struct sampler *sampler;
	struct targets *targets;
	struct watch_list list;
	unsigned int max_share_per_mille;
	uint64_t refresh_limit_ns;
	/* time when the last refresh finished listing the processes */
	uint64_t read_begin_ns;
	struct snapshot now; /* usages in ascending order of pid */
	struct entry *entries;
	size_t entry_capacity;
	/*
	 * buffers for the previous snapshot, reused by each refresh; empty
	 * between refreshes
	 */
	struct snapshot before;
	struct entry *entries_before;
	size_t entry_before_capacity;
	/* pid at which the next refresh resumes looking up Rss in statm */
	int next_check_pid;
	/*
	 * for each reason to read processes: the pid at which the next refresh
	 * resumes reading
	 */
	int next_pid[REASON_COUNT_];
	size_t read_count;
	/*
	 * age at which the figures of a process are updated, and maximum CPU time for
	 * this per refresh
	 */
	uint64_t old_age_ns, old_cpu_max_ns;
	/* CPU time that the last refresh used for updating old figures */
	uint64_t old_cpu_ns;
};

struct watch *watch_new(struct sampler *sampler, struct targets *targets,
			unsigned int max_share_per_mille)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->sampler = sampler;
	w->targets = targets;
	w->max_share_per_mille = max_share_per_mille;
	w->refresh_limit_ns = REFRESH_LIMIT_NS;
	watch_list_init(&w->list, sampler, targets);
	snapshot_init(&w->now);
	snapshot_init(&w->before);
	return w;
}

void watch_set_refresh_limit(struct watch *w, uint64_t limit_ns)
{
	w->refresh_limit_ns = limit_ns;
}

void watch_set_old_limits(struct watch *w, uint64_t age_ns, uint64_t cpu_ns)
{
	w->old_age_ns = age_ns;
	w->old_cpu_max_ns = cpu_ns;
}

uint64_t watch_old_cpu_ns(const struct watch *w)
{
	return w->old_cpu_ns;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	watch_list_release(&w->list);
	snapshot_release(&w->now);
	snapshot_release(&w->before);
	free(w->entries);
	free(w->entries_before);
	free(w);
}

static void swap_generations(struct watch *w)
{
	struct snapshot snapshot = w->now;
	struct entry *entries = w->entries;
	size_t capacity = w->entry_capacity;

	w->now = w->before;
	w->entries = w->entries_before;
	w->entry_capacity = w->entry_before_capacity;
	w->before = snapshot;
	w->entries_before = entries;
	w->entry_before_capacity = capacity;
}

static int compare_pids(const void *a, const void *b)
{
	const struct usage *usage_a = a, *usage_b = b;

	return usage_a->process.pid - usage_b->process.pid;
}

/*
 * Sort by pid, because the list of a capture may be unsorted, unlike that of a
 * live /proc.
 */
static void sort_by_pid(struct snapshot *s)
{
	for (size_t i = 1; i < s->count; i++) {
		if (compare_pids(&s->usages[i - 1], &s->usages[i]) > 0) {
			qsort(s->usages, s->count, sizeof(*s->usages), compare_pids);
			return;
		}
	}
}

/* Return the index of the first usage whose pid is at least the given pid. */
static size_t find_place(const struct snapshot *s, int pid)
{
	return SEARCH_FIRST(s->count, i, s->usages[i].process.pid >= pid);
}

/* Move the known figures of a process to its entry in the new snapshot. */
static void keep_figures(struct usage *to, struct usage *from)
{
	struct process process = to->process;

	*to = *from;
	to->process = process;
	from->command = NULL;
}

static void merge(struct watch *w)
{
	size_t old = 0;

	w->entries = xgrow(w->entries, &w->entry_capacity, w->now.count + 1,
			   sizeof(*w->entries));
	for (size_t i = 0; i < w->now.count; i++) {
		struct usage *u = &w->now.usages[i];

		w->entries[i] = (struct entry){ .tried_ns = 0 };
		u->source = SOURCE_STAT;
		while (old < w->before.count &&
		       w->before.usages[old].process.pid < u->process.pid)
			old++;
		if (old == w->before.count ||
		    !process_is_same(&w->before.usages[old].process, &u->process))
			continue;
		keep_figures(u, &w->before.usages[old]);
		w->entries[i] = w->entries_before[old];
	}
	snapshot_clear(&w->before);
}

/*
 * Drop the processes whose is_left_out is set: those that have ended since they were
 * listed, and those without memory.
 */
static void drop_left_out(struct watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->now.count; i++) {
		if (w->entries[i].is_left_out) {
			usage_release(&w->now.usages[i]);
			continue;
		}
		if (kept != i) {
			w->now.usages[kept] = w->now.usages[i];
			w->entries[kept] = w->entries[i];
		}
		kept++;
	}
	w->now.count = kept;
}

static void leave_out_without_memory(struct watch *w)
{
	if (!targets_are_all(w->targets))
		return;
	for (size_t i = 0; i < w->now.count; i++)
		w->entries[i].is_left_out =
			!process_has_memory(&w->now.usages[i].process);
	drop_left_out(w);
}

static void mark_visible(struct watch *w, const int *pids, size_t count)
{
	for (size_t i = 0; i < w->now.count; i++)
		w->entries[i].is_visible = false;
	for (size_t i = 0; i < count; i++) {
		size_t place = find_place(&w->now, pids[i]);

		if (place < w->now.count && w->now.usages[place].process.pid == pids[i])
			w->entries[place].is_visible = true;
	}
}

/*
 * Return true if Rss has changed. Compare the figures from statm if they are known,
 * because stat may miss a change of a few dozen pages.
 */
static bool has_rss_changed(const struct entry *e, const struct process *p)
{
	if (bytes_known(e->then_rss_bytes) && bytes_known(e->rss_bytes))
		return e->then_rss_bytes != e->rss_bytes;
	return e->then.stat_rss_bytes != p->stat_rss_bytes;
}

/*
 * Return true if the process has changed. exec(2) preserves the pid and the start time,
 * but changes comm. New pages cause page faults; released pages lower the Rss.
 */
static bool has_changed(const struct entry *e, const struct usage *u)
{
	const struct process *then = &e->then, *p = &u->process;

	return strcmp(then->comm, p->comm) != 0 ||
	       process_has_memory(then) != process_has_memory(p) ||
	       (!u->error && (has_rss_changed(e, p) ||
			      then->minor_fault_count != p->minor_fault_count));
}

/*
 * Return true if the figures were read for different needs, or if the process has changed
 * since then.
 */
static bool is_outdated(const struct watch *w, size_t i, unsigned int needs)
{
	const struct entry *e = &w->entries[i];

	return needs & ~e->needs || has_changed(e, &w->now.usages[i]);
}

static bool is_reason(const struct watch *w, size_t i, enum reason reason,
		      unsigned int needs)
{
	const struct entry *e = &w->entries[i];

	switch (reason) {
	case REASON_VISIBLE:
		return e->is_visible &&
		       (is_outdated(w, i, needs) ||
			w->now.taken_ns - e->tried_ns >= VISIBLE_AGE_MAX_NS);
	case REASON_NEW: return e->tried_ns == 0;
	case REASON_CHANGED: return is_outdated(w, i, needs);
	case REASON_OLD: return w->now.taken_ns - e->tried_ns >= w->old_age_ns;
	default: return !e->is_visible;
	}
}

/*
 * Return true if the process was last read long enough ago that reading it again keeps
 * within max_share.
 */
static bool may_be_read(const struct watch *w, size_t i)
{
	const struct entry *e = &w->entries[i];
	uint64_t rest_ns;

	if (e->tried_ns == w->now.taken_ns)
		return false;
	if (w->max_share_per_mille == 0 || w->max_share_per_mille >= 1000)
		return true;
	rest_ns = w->now.usages[i].read_ns / w->max_share_per_mille * 1000;
	return w->now.taken_ns - e->tried_ns >= rest_ns;
}

static uint64_t read_rss(struct watch *w, size_t i)
{
	const struct process *p = &w->now.usages[i].process;
	uint64_t bytes;

	if (!process_has_memory(p))
		return BYTES_UNKNOWN;
	if (w->list.has_rss)
		return p->state == '\0' ? BYTES_UNKNOWN : p->stat_rss_bytes;
	if (proc_stat_read_rss(sampler_procfs(w->sampler), p->pid, &bytes) < 0)
		return BYTES_UNKNOWN;
	return bytes;
}

/*
 * Look up the Rss of processes that show no other sign of change. Each look-up takes a
 * few microseconds, so a refresh looks up all visible processes, but at most CHECKS_MAX
 * invisible ones. The next refresh continues with the remaining ones. If the list of
 * processes already contains the Rss, look up all processes.
 */
static void find_changes(struct watch *w)
{
	size_t start = find_place(&w->now, w->next_check_pid);
	size_t left = w->list.has_rss ? SIZE_MAX : CHECKS_MAX;

	for (size_t k = 0; k < w->now.count; k++) {
		size_t i = (start + k) % w->now.count;
		struct entry *e = &w->entries[i];

		if (e->tried_ns == 0 || !bytes_known(e->then_rss_bytes) ||
		    has_changed(e, &w->now.usages[i]) || (!e->is_visible && left == 0))
			continue;
		e->rss_bytes = read_rss(w, i);
		if (e->is_visible)
			continue;
		left--;
		w->next_check_pid = w->now.usages[i].process.pid + 1;
	}
}

static void read_usage(struct watch *w, size_t i, unsigned int needs)
{
	struct entry *e = &w->entries[i];
	struct usage *u = &w->now.usages[i];

	e->then = u->process;
	e->tried_ns = w->now.taken_ns;
	e->needs = needs;
	e->then_rss_bytes = e->rss_bytes = read_rss(w, i);
	/* free the command line, too, because the process may have overwritten it */
	usage_release(u);
	if (sampler_read_usage(w->sampler, u, needs) == -ESRCH) {
		e->is_left_out = true;
		w->now.gone_count++;
	}
	w->read_count++;
}

/*
 * Read the processes that are due for the given reason. Begin after the process that was
 * last read for this reason, so that the limit on reads does not starve any process.
 */
static void read_for(struct watch *w, enum reason reason, unsigned int needs)
{
	size_t start = find_place(&w->now, w->next_pid[reason]);
	size_t left = reads_max[reason];
	bool has_read = false;
	uint64_t cpu_ns;

	for (size_t k = 0; k < w->now.count && left > 0; k++) {
		size_t i = (start + k) % w->now.count;

		if (!is_reason(w, i, reason, needs) || !may_be_read(w, i))
			continue;
		/*
		 * read at least one process, because a slow machine would otherwise never
		 * read any
		 */
		if (has_read && clock_now_ns() - w->read_begin_ns >= w->refresh_limit_ns)
			return;
		if (reason == REASON_OLD && w->old_cpu_ns >= w->old_cpu_max_ns)
			return;
		has_read = true;
		cpu_ns = clock_thread_cpu_ns();
		read_usage(w, i, needs);
		if (reason == REASON_OLD)
			w->old_cpu_ns += clock_thread_cpu_ns() - cpu_ns;
		w->next_pid[reason] = w->now.usages[i].process.pid + 1;
		left--;
	}
}

static void count_unreadable(struct snapshot *s)
{
	s->unreadable_count = 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->usages[i].error < 0)
			s->unreadable_count++;
}

/*
 * Show the Rss of processes whose memory cannot be read. Any user may read statm. It
 * reports 0 for a process that is ending, whose Rss remains unknown.
 */
static void set_unreadable_rss(struct watch *w)
{
	for (size_t i = 0; i < w->now.count; i++) {
		uint64_t bytes = w->entries[i].rss_bytes;

		if (w->now.usages[i].error < 0)
			w->now.usages[i].total.bytes[SMAPS_RSS] =
				bytes > 0 ? bytes : BYTES_UNKNOWN;
	}
}

int watch_refresh(struct watch *w, unsigned int needs, const int *visible_pids,
		  size_t visible_count)
{
	int r;

	r = watch_list_read(&w->list, needs | NEED_STAT, visible_pids, visible_count,
			    &w->before);
	if (r < 0) {
		snapshot_clear(&w->before);
		return r;
	}
	swap_generations(w);
	sort_by_pid(&w->now);
	merge(w);
	leave_out_without_memory(w);
	mark_visible(w, visible_pids, visible_count);
	find_changes(w);
	w->read_count = 0;
	w->old_cpu_ns = 0;
	w->read_begin_ns = clock_now_ns();
	needs = (needs | NEED_ROLLUP) & ~(unsigned int)NEED_HEAP;
	for (enum reason reason = 0; reason < REASON_COUNT_; reason++)
		read_for(w, reason, needs);
	drop_left_out(w);
	set_unreadable_rss(w);
	count_unreadable(&w->now);
	w->now.cost_ns = clock_now_ns() - w->now.taken_ns;
	return 0;
}

const struct snapshot *watch_snapshot(const struct watch *w)
{
	return &w->now;
}

void watch_counts(const struct watch *w, size_t *ret_read, size_t *ret_total)
{
	*ret_read = w->read_count;
	*ret_total = w->now.count;
}
