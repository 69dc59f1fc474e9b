/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg/oom.h"

/* Kinds of events, as documented in memstate-recording(5). */
#define EVENT_REPORT "oom_kill"
#define EVENT_MARK "victim"

struct reader {
	struct oom_past *past;
	struct cgroup cgroup;
	struct snapshot processes;
	struct past_process *alive; /* processes in the previous sample, sorted by pid */
	size_t alive_count;
};

uint64_t oom_past_need_of(const struct usage *u)
{
	uint64_t droppable_bytes = usage_droppable_bytes(u);

	return bytes_sub(u->total.bytes[SMAPS_RSS],
			 bytes_known(droppable_bytes) ? droppable_bytes : 0);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = &((const struct past_process *)a)->process;
	const struct process *y = &((const struct past_process *)b)->process;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start_ticks > y->start_ticks) - (x->start_ticks < y->start_ticks);
}

static void add_ended(struct oom_past *past, const struct past_process *process)
{
	past->processes = xgrow(past->processes, &past->process_capacity,
				past->process_count + 1, sizeof(*past->processes));
	past->processes[past->process_count++] = *process;
}

/*
 * Replace the processes of the previous sample with those of the current sample.
 * Processes that are missing from the current sample have ended.
 */
static void follow_processes(struct reader *r, size_t index)
{
	size_t count = 0, old = 0;
	struct past_process *now = xcalloc(r->processes.count + 1, sizeof(*now));

	for (size_t i = 0; i < r->processes.count; i++) {
		const struct usage *u = &r->processes.usages[i];

		if (!process_has_memory(&u->process))
			continue;
		now[count++] = (struct past_process){ u->process, index, index,
						      u->total.bytes[SMAPS_RSS],
						      usage_droppable_bytes(u) };
	}
	qsort(now, count, sizeof(*now), compare_processes);
	for (size_t i = 0; i < count; i++) {
		while (old < r->alive_count &&
		       compare_processes(&r->alive[old], &now[i]) < 0)
			add_ended(r->past, &r->alive[old++]);
		if (old < r->alive_count &&
		    compare_processes(&r->alive[old], &now[i]) == 0)
			now[i].first = r->alive[old++].first;
	}
	while (old < r->alive_count)
		add_ended(r->past, &r->alive[old++]);
	free(r->alive);
	r->alive = now;
	r->alive_count = count;
}

/*
 * Scale a part of a process's anonymous memory to its Pss. Forked processes may share
 * pages, and scaling ensures that the sum over all processes counts every page only once.
 */
static uint64_t scale_to_pss(const struct usage *u, uint64_t bytes)
{
	uint64_t anon = u->total.bytes[SMAPS_ANONYMOUS], pss = u->total.bytes[SMAPS_PSS];

	if (!bytes_known(anon) || !bytes_known(pss) || pss >= anon)
		return bytes;
	return (uint64_t)((double)bytes / (double)anon * (double)pss);
}

/*
 * Return the sum of live heap memory, or BYTES_UNKNOWN if a large part of it may be in
 * heaps that were not read.
 */
static uint64_t sum_live(const struct snapshot *processes)
{
	uint64_t live_bytes = 0, unread_bytes = 0;

	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *u = &processes->usages[i];
		uint64_t bytes = matrix_owner_bytes(&u->matrix, OWNER_LIVE);
		uint64_t need_bytes = oom_past_need_of(u);

		if (bytes_known(bytes))
			live_bytes += scale_to_pss(u, bytes);
		else if (bytes_known(need_bytes))
			unread_bytes += need_bytes;
	}
	return live_bytes == 0 || unread_bytes > live_bytes / 4 ? BYTES_UNKNOWN
								: live_bytes;
}

static void set_totals(const struct snapshot *processes, struct past_sample *s)
{
	s->live_bytes = sum_live(processes);
	s->shared_lazyfree_bytes = s->private_bytes = s->huge_bytes = s->thread_count = 0;
	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *u = &processes->usages[i];
		uint64_t shared_bytes = bytes_sub(u->total.bytes[SMAPS_LAZYFREE],
						  usage_droppable_bytes(u));

		s->shared_lazyfree_bytes += bytes_or_0(shared_bytes);
		s->private_bytes += scale_to_pss(
			u, bytes_or_0(bytes_sub(u->total.bytes[SMAPS_ANONYMOUS],
						bytes_or_0(usage_droppable_bytes(u)))));
		s->huge_bytes += bytes_or_0(u->total.bytes[SMAPS_ANON_HUGE]);
		s->thread_count += u->process.thread_count;
	}
}

static void set_counts(const struct cgroup *cgroup, struct past_sample *s)
{
	const struct cgroup_level *limit = cgroup_tightest(cgroup);

	s->kill_count = cgroup->levels[0].oom_kill_count;
	s->max_count = cgroup->levels[0].max_count;
	s->all_kill_count = 0;
	for (size_t i = 0; i < cgroup->level_count; i++)
		if (cgroup->levels[i].oom_kill_count != COUNT_UNKNOWN)
			s->all_kill_count += cgroup->levels[i].oom_kill_count;
	if (s->kill_count == COUNT_UNKNOWN)
		s->all_kill_count = COUNT_UNKNOWN;
	s->swap_fail_count = limit ? limit->swap_fail_count : COUNT_UNKNOWN;
}

static void sample_init(struct past_sample *s)
{
	*s = (struct past_sample){ .need_bytes = BYTES_UNKNOWN,
				   .shared_lazyfree_bytes = BYTES_UNKNOWN,
				   .huge_bytes = BYTES_UNKNOWN,
				   .thread_count = COUNT_UNKNOWN,
				   .private_bytes = BYTES_UNKNOWN,
				   .live_bytes = BYTES_UNKNOWN,
				   .hidden_bytes = BYTES_UNKNOWN,
				   .working_set_bytes = BYTES_UNKNOWN,
				   .kill_count = COUNT_UNKNOWN,
				   .all_kill_count = COUNT_UNKNOWN,
				   .max_count = COUNT_UNKNOWN,
				   .swap_fail_count = COUNT_UNKNOWN,
				   .shmem_bytes = BYTES_UNKNOWN };
}

static int read_sample(struct replay *replay, struct reader *r, size_t index)
{
	static const struct targets all;
	struct past_sample *s = &r->past->samples[index];
	struct oom_figures figures;
	int error = replay_read(replay, index, &all, &r->processes);
	int no_group;

	if (error < 0)
		return error;
	sample_init(s);
	s->unix_ms = replay_unix_ms(replay, index);
	s->elapsed_ns = r->processes.elapsed_ns;
	/*
	 * the times decrease if the clock was set back between sessions, or if another
	 * program wrote the file
	 */
	if (index > 0 && s->elapsed_ns < s[-1].elapsed_ns)
		s->elapsed_ns = s[-1].elapsed_ns;
	set_totals(&r->processes, s);
	follow_processes(r, index);
	no_group = replay_read_cgroup(replay, index, &r->cgroup);
	if (no_group == -ENOENT) {
		s->need_bytes = s->private_bytes;
		return 0;
	}
	if (no_group < 0)
		return no_group;
	r->past->has_group = true;
	set_counts(&r->cgroup, s);
	oom_figures_find(&r->cgroup, &r->processes, &figures);
	s->need_bytes = figures.need_bytes;
	s->shmem_bytes = figures.shmem_bytes;
	s->hidden_bytes = figures.hidden_bytes;
	s->working_set_bytes = figures.working_set_bytes;
	return 0;
}

static int add_event(void *context, const struct recorded_event *event)
{
	struct oom_past *past = context;
	bool is_report = strcmp(event->kind, EVENT_REPORT) == 0 && event->text;

	if (!is_report && strcmp(event->kind, EVENT_MARK) != 0)
		return 0;
	past->events = xgrow(past->events, &past->event_capacity, past->event_count + 1,
			     sizeof(*past->events));
	past->events[past->event_count++] =
		(struct past_event){ event->unix_ms, event->pid, is_report,
				     is_report ? xstrdup(event->text) : NULL };
	return 0;
}

/*
 * Parse the kernel's reports in the recording. A report is stored either as a single
 * event or as one event per line.
 */
static void parse_reports(struct oom_past *past)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < past->event_count; i++)
		if (past->events[i].is_report)
			strbuf_addf(&text, "%s\n", past->events[i].text);
	kmsg_oom_parse(strbuf_text(&text), text.length, &past->reports);
}

int oom_past_read(struct replay *replay, struct oom_past *ret)
{
	struct oom_past past = { .sample_count = replay_count(replay) };
	struct reader r = { .past = &past };
	int error = 0;

	past.samples = xcalloc(past.sample_count, sizeof(*past.samples));
	cgroup_init(&r.cgroup);
	snapshot_init(&r.processes);
	replay_scan(replay, true);
	for (size_t i = 0; i < past.sample_count && error == 0; i++)
		error = read_sample(replay, &r, i);
	replay_scan(replay, false);
	for (size_t a = 0; a < r.alive_count; a++)
		add_ended(&past, &r.alive[a]);
	free(r.alive);
	cgroup_release(&r.cgroup);
	snapshot_release(&r.processes);
	if (error == 0)
		error = oom_notes_read(replay, &past.notes);
	if (error == 0)
		error = replay_for_each_event(replay, add_event, &past);
	if (error < 0) {
		oom_past_release(&past);
		return error;
	}
	parse_reports(&past);
	*ret = past;
	return 0;
}

int oom_past_read_scope(const struct oom_past *past, struct replay *replay,
			const struct oom_scope *scope, size_t first, size_t last,
			struct past_sample *ret)
{
	static const struct targets all;
	struct snapshot processes;
	int r = 0;

	snapshot_init(&processes);
	replay_scan(replay, true);
	for (size_t i = first; r == 0 && i <= last; i++) {
		sample_init(&ret[i]);
		ret[i].unix_ms = past->samples[i].unix_ms;
		ret[i].elapsed_ns = past->samples[i].elapsed_ns;
		if (scope->source == OOM_SCOPE_NOTHING)
			continue;
		r = replay_read(replay, i, &all, &processes);
		if (r < 0 || !oom_scope_keep(scope, &past->notes, &processes))
			continue;
		set_totals(&processes, &ret[i]);
		ret[i].need_bytes = ret[i].private_bytes;
	}
	replay_scan(replay, false);
	snapshot_release(&processes);
	return r;
}

void oom_past_release(struct oom_past *past)
{
	for (size_t i = 0; i < past->event_count; i++)
		free(past->events[i].text);
	free(past->events);
	free(past->samples);
	free(past->processes);
	oom_kill_list_release(&past->reports);
	oom_notes_release(&past->notes);
	*past = (struct oom_past){ 0 };
}

const struct past_process *oom_past_find_process(const struct oom_past *past, int pid,
						 const char *name)
{
	for (size_t i = past->process_count; i-- > 0;) {
		const struct process *p = &past->processes[i].process;

		if (p->pid == pid && (name[0] == '\0' || strcmp(p->comm, name) == 0))
			return &past->processes[i];
	}
	return NULL;
}
