/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"

/*
 * Length of the period before the end in which memstate looks for a sudden cause: a burst
 * of the memory need, or pages on the kernel's file lists (hidden_bytes).
 */
#define WINDOW_NS (5 * NS_PER_S)

/*
 * A rise of the memory need counts as a jump, even if it looks steady, if at least
 * JUMP_PER_MILLE thousandths of it occurred in the last JUMP_NS before the end.
 */
#define JUMP_NS NS_PER_S
#define JUMP_PER_MILLE 800

/* Number of samples before the end that determine the typical sampling interval. */
#define INTERVAL_SAMPLES 10

/* Maximum number of processes whose mappings are read to find thread stacks. */
#define STACKS_PROCESSES_MAX 200

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Return the last sample that contains the victim. It may be missing from the last sample
 * before the end: within a sample, the cgroup's figures may be read before the kill and
 * its processes after the kill.
 */
static size_t last_seen(const struct past_end *end)
{
	return end->victim && end->victim->last < end->last &&
			       end->victim->last >= end->first
		       ? end->victim->last
		       : end->last;
}

/* Return the index of the first sample taken at most WINDOW_NS before end->last. */
static size_t find_window(const struct past_end *end)
{
	const struct past_sample *samples = end->past->samples;
	size_t i = end->last;

	while (i > end->first &&
	       samples[end->last].elapsed_ns - samples[i - 1].elapsed_ns <= WINDOW_NS)
		i--;
	return i;
}

static void set_window(const struct past_end *end, size_t window, struct oom_evidence *e)
{
	const struct past_sample *samples = end->samples, *last = &samples[end->last];
	size_t count;

	e->hidden_bytes = last->hidden_bytes;
	e->hidden_working_set_bytes = last->working_set_bytes;
	e->low_bytes = last->need_bytes;
	e->shared_lazyfree_bytes = last->shared_lazyfree_bytes;
	e->huge_bytes = last->huge_bytes;
	e->thread_count = last->thread_count;
	for (size_t i = window; i < end->last; i++) {
		e->shared_lazyfree_bytes = larger(e->shared_lazyfree_bytes,
						  samples[i].shared_lazyfree_bytes);
		e->huge_bytes = larger(e->huge_bytes, samples[i].huge_bytes);
		e->thread_count = larger(e->thread_count, samples[i].thread_count);
		if (bytes_known(samples[i].hidden_bytes) &&
		    samples[i].hidden_bytes > bytes_or_0(e->hidden_bytes)) {
			e->hidden_bytes = samples[i].hidden_bytes;
			e->hidden_working_set_bytes = samples[i].working_set_bytes;
		}
		if (bytes_known(samples[i].need_bytes) &&
		    samples[i].need_bytes <= e->low_bytes) {
			e->low_bytes = samples[i].need_bytes;
			e->low_age_ns = last->elapsed_ns - samples[i].elapsed_ns;
		}
	}
	count = end->last < INTERVAL_SAMPLES ? end->last : INTERVAL_SAMPLES;
	if (count > 0)
		e->interval_ns =
			(last->elapsed_ns - samples[end->last - count].elapsed_ns) /
			count;
}

static int compare_points(const void *a, const void *b)
{
	uint64_t x = ((const struct growth_point *)a)->bytes;
	uint64_t y = ((const struct growth_point *)b)->bytes;

	return (x > y) - (x < y);
}

/*
 * Return the median of the memory need. Samples are weighted by the time that they cover,
 * because they may be closer together near the end.
 */
static uint64_t find_typical(const struct growth_point *points, size_t count)
{
	struct growth_point *lasting = xcalloc(count + 1, sizeof(*lasting));
	uint64_t all_ns = 0, before_ns = 0, typical_bytes = BYTES_UNKNOWN;

	for (size_t i = 0; i + 1 < count; i++) {
		lasting[i].bytes = points[i].bytes;
		lasting[i].time_ns = points[i + 1].time_ns - points[i].time_ns;
		all_ns += lasting[i].time_ns;
	}
	qsort(lasting, count > 0 ? count - 1 : 0, sizeof(*lasting), compare_points);
	for (size_t i = 0; i + 1 < count && !bytes_known(typical_bytes); i++) {
		before_ns += lasting[i].time_ns;
		if (before_ns >= all_ns / 2)
			typical_bytes = lasting[i].bytes;
	}
	free(lasting);
	return typical_bytes;
}

static size_t add_points(const struct past_end *end, size_t stop, bool is_live,
			 struct growth_point *points)
{
	size_t count = 0;

	for (size_t i = end->first; i < stop; i++) {
		const struct past_sample *s = &end->samples[i];
		uint64_t bytes = is_live ? s->live_bytes : s->need_bytes;

		if (bytes_known(bytes))
			points[count++] = (struct growth_point){ s->elapsed_ns, bytes };
	}
	return count;
}

/*
 * Set the figures of live heap memory from the last sample that contains them, because
 * heaps are read less often than other figures.
 */
static void set_live(const struct past_end *end, size_t window, struct oom_evidence *e)
{
	for (size_t i = window; i <= end->last; i++) {
		const struct past_sample *s = &end->samples[i];

		if (!bytes_known(s->live_bytes))
			continue;
		e->live_bytes = s->live_bytes;
		e->private_bytes = s->private_bytes;
	}
}

static bool has_jumped(const struct growth_point *points, size_t count)
{
	const struct growth_point *last = &points[count - 1];
	uint64_t min_bytes = last->bytes, before_bytes = points[0].bytes;

	for (size_t i = 0; i < count; i++) {
		if (points[i].bytes < min_bytes)
			min_bytes = points[i].bytes;
		if (last->time_ns - points[i].time_ns >= JUMP_NS)
			before_bytes = points[i].bytes;
	}
	/* if all samples are from the last JUMP_NS, the whole rise is a jump */
	if (last->time_ns - points[0].time_ns < JUMP_NS)
		return true;
	return units_per_mille(bytes_sub(last->bytes, before_bytes),
			       last->bytes - min_bytes) >= JUMP_PER_MILLE;
}

/*
 * Determine how the memory need grew until the final seconds before the end (WINDOW_NS),
 * to distinguish growth from a burst. Use all samples if there are too few samples before
 * the final seconds, or if the memory need no longer grew at the end.
 */
static void set_growth(const struct past_end *end, size_t window, struct oom_evidence *e)
{
	size_t count = end->last - end->first + 1;
	struct growth_point *points = xcalloc(count, sizeof(*points));
	struct growth whole;

	count = add_points(end, window, false, points);
	growth_find(points, count, &e->growth);
	count = add_points(end, end->last + 1, false, points);
	e->typical_bytes = find_typical(points, count);
	growth_find(points, count, &whole);
	if (whole.kind == GROWTH_STEADY && has_jumped(points, count))
		whole.kind = GROWTH_STEP;
	if (e->growth.kind == GROWTH_TOO_SHORT || whole.kind == GROWTH_PLATEAU)
		e->growth = whole;
	count = add_points(end, end->last + 1, true, points);
	growth_find(points, count, &e->live_growth);
	free(points);
	e->sample_count = end->last - end->first + 1;
	e->span_ns =
		end->samples[end->last].elapsed_ns - end->samples[end->first].elapsed_ns;
	set_live(end, window, e);
}

static void set_time(const struct past_end *end, struct oom_evidence *e)
{
	const struct past_sample *last = &end->past->samples[end->last];
	bool has_next = end->last + 1 < end->past->sample_count;

	e->last_unix_ms = e->unix_ms = last->unix_ms;
	if (end->kind == OOM_END_NONE) {
		e->age_ns = 0;
	} else if (end->unix_ms >= last->unix_ms &&
		   !(has_next && end->unix_ms > last[1].unix_ms)) {
		e->unix_ms = end->unix_ms;
		e->age_ns = (end->unix_ms - last->unix_ms) * NS_PER_MS;
	} else if (has_next) {
		/* memstate may read the kernel log's line only after the next sample */
		e->unix_ms = last[1].unix_ms;
		e->age_ns = last[1].elapsed_ns - last->elapsed_ns;
	}
}

/* Add the size of a process's thread stacks, if known, to e->stack_bytes. */
static int add_stacks(const struct past_end *end, struct replay *replay,
		      const struct process *process, struct oom_evidence *e)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	int r = replay_read_mappings(replay, last_seen(end), process, &mappings);

	for (size_t i = 0; i < mappings.count && r == 0; i++) {
		const struct mapping *m = &mappings.items[i];

		if (m->owner == OWNER_STACK)
			e->stack_bytes = bytes_add(bytes_or_0(e->stack_bytes),
						   m->counters.bytes[SMAPS_RSS]);
	}
	mapping_list_release(&mappings);
	return r;
}

static void add_process(const struct usage *u, struct oom_evidence *e)
{
	const uint64_t *total = u->total.bytes;
	uint64_t pss_bytes = bytes_or_0(total[SMAPS_PSS]);

	e->process_count++;
	e->process_bytes = bytes_or_0(e->process_bytes) + pss_bytes;
	if (e->process_count == 1 || pss_bytes > e->largest_bytes)
		e->largest_bytes = pss_bytes;
	e->locked_bytes = bytes_or_0(e->locked_bytes) + bytes_or_0(total[SMAPS_LOCKED]);
	e->hugetlb_bytes =
		bytes_or_0(e->hugetlb_bytes) + bytes_or_0(usage_hugetlb_bytes(u));
}

static int add_processes(const struct past_end *end, struct replay *replay,
			 const struct snapshot *processes, struct oom_evidence *e)
{
	int r = 0;

	if (processes->count == 0)
		e->process_bytes = e->largest_bytes = 0;
	for (size_t i = 0; i < processes->count && r == 0; i++) {
		const struct usage *u = &processes->usages[i];

		if (u->error || !process_has_memory(&u->process))
			continue;
		add_process(u, e);
		if (u->process.thread_count > 1 && i < STACKS_PROCESSES_MAX)
			r = add_stacks(end, replay, &u->process, e);
	}
	return r;
}

/*
 * Return true if the limit counts as reached: the headroom is at most slack_bytes, the
 * uncertainty of the kernel's figures.
 */
static bool is_full(const struct cgroup_level *level, uint64_t slack_bytes)
{
	return bytes_known(level->usage_bytes) && bytes_known(slack_bytes) &&
	       level->usage_bytes + slack_bytes >= level->limit_bytes;
}

/*
 * Set e->swap_fail_count to the number of failed swap-out attempts between the first
 * sample and the first sample after the end.
 */
static void set_swap_fails(const struct past_end *end, struct oom_evidence *e)
{
	const struct past_sample *first = &end->past->samples[end->first];
	const struct past_sample *last = &end->past->samples[end->last];
	bool has_next = end->last + 1 < end->past->sample_count;

	if (first->swap_fail_count != COUNT_UNKNOWN &&
	    last->swap_fail_count != COUNT_UNKNOWN)
		e->swap_fail_count =
			bytes_sub((has_next ? &last[1] : last)->swap_fail_count,
				  first->swap_fail_count);
}

/*
 * Set the facts that follow from comparing the counters of the last sample before the end
 * with those of the next sample: the kill counters, and the counter of how often the
 * limit was reached.
 */
static void set_counts(const struct past_end *end, const struct cgroup *cgroup,
		       struct oom_evidence *e)
{
	const struct past_sample *last = &end->past->samples[end->last], *next = last + 1;
	bool has_next = end->last + 1 < end->past->sample_count;
	bool has_kill_counts = has_next && next->kill_count != COUNT_UNKNOWN &&
			       last->kill_count != COUNT_UNKNOWN;

	if (!has_kill_counts)
		return;
	/*
	 * for a cgroup with child cgroups, the counters show only whether its own limit
	 * was reached
	 */
	e->is_kernel_excluded =
		next->all_kill_count == last->all_kill_count &&
		(cgroup->group_count == 1 ||
		 (cgroup->tightest == 0 && next->max_count == last->max_count));
	if (next->kill_count == last->kill_count)
		return;
	text_copy(e->victim_path, sizeof(e->victim_path), cgroup->levels[0].path);
	e->is_limit_above =
		cgroup->hidden_limit_bytes != CGROUP_NO_LIMIT ||
		(cgroup->tightest == 0 && next->max_count == last->max_count &&
		 !is_full(&cgroup->levels[0], cgroup->slack_bytes));
	if (e->is_limit_above)
		e->limit_path[0] = '\0';
}

/* Set the figures of the cgroup whose limit was reached, if they were recorded. */
static void set_group(const struct past_end *end, const struct cgroup *cgroup,
		      const struct snapshot *processes, struct oom_evidence *e)
{
	const struct cgroup_level *limit = cgroup_tightest(cgroup);
	const struct cgroup_stat *stat = &cgroup->limit_stat;

	if (end->scope.source != OOM_SCOPE_AMOUNTS)
		return;
	oom_figures_find(cgroup, processes, &e->last);
	e->at = e->last;
	e->unevictable_bytes = stat->unevictable_bytes;
	e->dirty_bytes = bytes_add(stat->file_dirty_bytes, stat->file_writeback_bytes);
	if (limit) {
		e->swap_bytes = limit->swap_bytes;
		e->swap_limit_bytes = limit->swap_limit_bytes;
	}
	set_swap_fails(end, e);
}

/*
 * Set the victim's figures from the last sample in which its memory is intact. The memory
 * shrinks while the victim exits.
 */
static void set_victim(const struct past_end *end, const struct snapshot *processes,
		       struct oom_evidence *e)
{
	const struct past_process *p = end->victim;
	const struct usage *u = p ? snapshot_find(processes, p->process.pid) : NULL;

	if (!p)
		return;
	e->victim = (struct oom_process){
		.pid = p->process.pid,
		.rss_bytes = u ? u->total.bytes[SMAPS_RSS] : p->rss_bytes,
		.lazyfree_bytes = u ? usage_droppable_bytes(u) : p->lazyfree_bytes,
	};
	text_copy(e->victim.name, sizeof(e->victim.name), p->process.comm);
}

/*
 * Set the facts that the last sample before the end contains. cgroup is NULL if only
 * processes were recorded.
 */
static int read_last(const struct past_end *end, struct replay *replay,
		     const struct cgroup *cgroup, struct oom_evidence *e)
{
	static const struct targets all;
	struct snapshot processes;
	bool are_known = true;
	int r;

	snapshot_init(&processes);
	r = replay_read(replay, last_seen(end), &all, &processes);
	if (r == 0)
		set_victim(end, &processes, e);
	if (r == 0 && end->scope.source != OOM_SCOPE_AMOUNTS)
		are_known = oom_scope_keep(&end->scope, &end->past->notes, &processes) &&
			    end->scope.source == OOM_SCOPE_PROCESSES;
	if (r == 0)
		oom_runtime_find(end, replay, last_seen(end), &processes, e);
	if (r == 0 && are_known)
		r = add_processes(end, replay, &processes, e);
	if (r == 0 && cgroup)
		set_group(end, cgroup, &processes, e);
	snapshot_release(&processes);
	return r;
}

/* Determine which cgroup's limit was reached, as far as the recording shows. */
static void set_limit(const struct past_end *end, const struct cgroup *cgroup,
		      struct oom_evidence *e)
{
	const struct cgroup_level *limit = cgroup_tightest(cgroup);

	e->constraint = end->kind == OOM_END_KILLED ? OOM_CGROUP : OOM_UNKNOWN;
	if (limit)
		text_copy(e->limit_path, sizeof(e->limit_path), limit->path);
	if (cgroup->group_count == 1)
		text_copy(e->victim_path, sizeof(e->victim_path), cgroup->levels[0].path);
	set_counts(end, cgroup, e);
}

/* Find the cgroup whose limit was reached, and the samples that describe this cgroup. */
static int set_scope(struct past_end *end, struct replay *replay,
		     const struct cgroup *cgroup, struct oom_evidence *e)
{
	oom_scope_find(&end->past->notes, end->report, cgroup, e->limit_path,
		       &end->scope);
	if (end->scope.source == OOM_SCOPE_AMOUNTS)
		return 0;
	e->is_need_private = true;
	end->scope_samples = xcalloc(end->last + 1, sizeof(*end->scope_samples));
	end->samples = end->scope_samples;
	return oom_past_read_scope(end->past, replay, &end->scope, end->first, end->last,
				   end->scope_samples);
}

static int collect(struct past_end *end, struct replay *replay,
		   const struct cgroup *cgroup, struct oom_evidence *e)
{
	size_t window = find_window(end);
	int r;

	if (cgroup)
		set_limit(end, cgroup, e);
	r = set_scope(end, replay, cgroup, e);
	if (r < 0)
		return r;
	set_window(end, window, e);
	set_growth(end, window, e);
	set_time(end, e);
	r = read_last(end, replay, cgroup, e);
	return r < 0 ? r : oom_grower_find(end, replay, last_seen(end), &e->grower);
}

/*
 * Set the cgroup and container of the victim, and those of the process whose allocation
 * reached the limit.
 */
static void set_places(const struct past_end *end, struct oom_evidence *e)
{
	const struct oom_notes *notes = &end->past->notes;
	const struct past_process *invoker = NULL;

	if (end->victim)
		e->victim_place = oom_notes_place(notes, &end->victim->process);
	if (end->report && end->report->invoker_pid != 0)
		invoker = oom_past_find_process(end->past, end->report->invoker_pid, "");
	if (invoker)
		e->invoker_place = oom_notes_place(notes, &invoker->process);
}

int oom_evidence_read(struct past_end *end, struct replay *replay,
		      struct oom_evidence *ret)
{
	struct oom_evidence e;
	struct cgroup cgroup;
	int r;

	oom_evidence_init(&e);
	e.end = end->kind;
	e.has_sample = true;
	end->samples = end->past->samples;
	cgroup_init(&cgroup);
	r = replay_read_cgroup(replay, end->last, &cgroup);
	if (r == 0 || r == -ENOENT)
		r = collect(end, replay, r == 0 ? &cgroup : NULL, &e);
	if (r == 0) {
		if (end->report)
			oom_evidence_set_kill(&e, end->report);
		set_places(end, &e);
		*ret = e;
	}
	free(end->scope_samples);
	end->samples = end->scope_samples = NULL;
	cgroup_release(&cgroup);
	return r;
}
