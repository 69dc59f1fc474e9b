/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/oom/evidence.h"

/*
 * Maximum time until a killed process vanishes. The kernel's OOM reaper starts after 2 s.
 */
#define DYING_NS_MAX (5 * NS_PER_S)

/* Maximum time for which the memory of a victim may stay intact after its selection. */
#define INTACT_MS 50

struct finder {
	struct replay *replay;
	const struct oom_past *past;
	const struct targets *targets;
	/*
	 * paths of the cgroup and of the owner of its limit in the last sample; may
	 * be NULL
	 */
	char *own_path, *limit_path;
	struct past_end *ends;
	size_t count, capacity;
};

static void add_end(struct finder *f, const struct past_end *end)
{
	f->ends = xgrow(f->ends, &f->capacity, f->count + 1, sizeof(*f->ends));
	f->ends[f->count++] = *end;
}

static void read_paths(struct finder *f)
{
	struct cgroup cgroup;

	cgroup_init(&cgroup);
	for (size_t i = f->past->sample_count; i-- > 0 && !f->own_path;) {
		const struct cgroup_level *limit;

		if (replay_read_cgroup(f->replay, i, &cgroup) < 0)
			break;
		limit = cgroup_tightest(&cgroup);
		f->own_path = xstrdup(cgroup.levels[0].path);
		f->limit_path = xstrdup(limit ? limit->path : cgroup.levels[0].path);
	}
	cgroup_release(&cgroup);
}

/*
 * Return true if path is the cgroup itself or a descendant, such as a container of a
 * recorded pod.
 */
static bool is_within(const char *path, const char *group)
{
	size_t length = strlen(group);

	return length > 1 && strncmp(path, group, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/');
}

static bool is_of_group(const struct finder *f, const struct oom_kill *kill)
{
	return f->own_path && (is_within(kill->victim_path, f->own_path) ||
			       strcmp(kill->limit_path, f->own_path) == 0 ||
			       strcmp(kill->limit_path, f->limit_path) == 0);
}

/*
 * Return the event for the kill of the process, or NULL if the recording does not contain
 * it. Prefer mark_victim events to events with a line of the kernel log, because
 * mark_victim events are recorded immediately.
 */
static const struct past_event *find_event(const struct oom_past *past, int pid)
{
	const struct past_event *found = NULL;
	char line[48];

	snprintf(line, sizeof(line), "Killed process %d (", pid);
	for (size_t i = 0; i < past->event_count; i++) {
		const struct past_event *event = &past->events[i];

		if (!event->is_report && event->pid == pid)
			return event;
		if (event->is_report && !found && strstr(event->text, line))
			found = event;
	}
	return found;
}

static size_t find_sample_before(const struct oom_past *past, uint64_t unix_ms)
{
	size_t i = past->sample_count - 1;

	while (i > 0 && past->samples[i].unix_ms > unix_ms)
		i--;
	return i;
}

/* Return how many kills the kernel has counted since the previous sample. */
static uint64_t count_rise(const struct oom_past *past, size_t index)
{
	uint64_t before = past->samples[index - 1].all_kill_count;
	uint64_t after = past->samples[index].all_kill_count;

	return before != COUNT_UNKNOWN && after != COUNT_UNKNOWN && after > before
		       ? after - before
		       : 0;
}

static bool counts_rose(const struct oom_past *past, size_t index)
{
	return count_rise(past, index) > 0;
}

/*
 * Return the last sample before the end of a victim that no sample contains: the sample
 * before the first rise of the kill counter that no other end explains, or else the last
 * sample of the recording.
 */
static size_t find_rise(const struct finder *f)
{
	for (size_t i = 1; i < f->past->sample_count; i++) {
		bool is_assigned = false;

		if (!counts_rose(f->past, i))
			continue;
		for (size_t e = 0; e < f->count; e++)
			is_assigned |= f->ends[e].last + 1 == i;
		if (!is_assigned)
			return i - 1;
	}
	return f->past->sample_count - 1;
}

/*
 * Return the last sample before the kill of a process. A killed process stays in the
 * samples until it has exited. Within a sample, either the cgroup's counters or its
 * processes may be read first, and the kill may happen in between.
 */
static size_t find_last(const struct oom_past *past, const struct past_process *p)
{
	const struct past_sample *samples = past->samples;
	size_t end = past->sample_count, seen = p->last;

	if (seen + 1 < end && counts_rose(past, seen + 1))
		return seen;
	for (size_t i = seen; i > p->first; i--) {
		if (samples[seen].elapsed_ns - samples[i].elapsed_ns > DYING_NS_MAX)
			break;
		if (counts_rose(past, i))
			return i - 1;
	}
	return seen + 2 < end && counts_rose(past, seen + 2) ? seen + 1 : seen;
}

static bool is_kill_reported(const struct finder *f, const struct oom_kill *kill)
{
	for (size_t e = 0; e < f->count; e++)
		if (f->ends[e].report &&
		    f->ends[e].report->victim.pid == kill->victim.pid &&
		    strcmp(f->ends[e].report->victim.name, kill->victim.name) == 0)
			return true;
	return false;
}

/*
 * Add the end of a process that a kernel report describes. is_own is true if the report
 * is part of the recording, and therefore concerns the recorded cgroup. Reports from a
 * kernel log may concern any cgroup of the machine.
 */
static void add_report(struct finder *f, const struct oom_kill *kill, bool is_own)
{
	bool is_ours = is_own || is_of_group(f, kill);
	const struct past_event *event = find_event(f->past, kill->victim.pid);
	struct past_end end = { .kind = OOM_END_KILLED,
				.report = kill,
				.unix_ms = event ? event->unix_ms : 0 };

	if (is_kill_reported(f, kill))
		return;
	if (kill->victim.pid != 0)
		end.victim = oom_past_find_process(f->past, kill->victim.pid,
						   kill->victim.name);
	/* the report may contain the name of a thread instead of the process */
	if (!end.victim && kill->victim.pid != 0 && is_ours)
		end.victim = oom_past_find_process(f->past, kill->victim.pid, "");
	if (!end.victim && !is_ours)
		return;
	if (end.victim)
		end.last = find_last(f->past, end.victim);
	else
		end.last = event ? find_sample_before(f->past, event->unix_ms)
				 : find_rise(f);
	add_end(f, &end);
}

static uint64_t count_kills(const struct past_end *end)
{
	return end->report->killed_count > 1 ? end->report->killed_count : 1;
}

/*
 * Assign the ends to samples in chronological order, and return true. The kernel's
 * reports and the rises of its kill counter are in the same order, so they match one to
 * one if both contain the same number of kills. Otherwise return false. If only_seen is
 * set, drop reports about victims that no sample contains, because such reports are from
 * a different time.
 */
static bool assign_in_order(struct finder *f, bool only_seen)
{
	uint64_t counted = 0, told = 0, left = 0;
	size_t kept = 0, i = 0;

	for (size_t s = 1; s < f->past->sample_count; s++)
		counted += count_rise(f->past, s);
	for (size_t e = 0; e < f->count; e++)
		told += only_seen && !f->ends[e].victim ? 0 : count_kills(&f->ends[e]);
	if (counted != told || told == 0)
		return false;
	for (size_t e = 0; e < f->count; e++) {
		struct past_end end = f->ends[e];

		if (only_seen && !end.victim)
			continue;
		while (left == 0)
			left = count_rise(f->past, ++i);
		end.last = i - 1;
		f->ends[kept++] = end;
		for (uint64_t n = count_kills(&end); n > 0; n--) {
			while (left == 0)
				left = count_rise(f->past, ++i);
			left--;
		}
	}
	f->count = kept;
	return true;
}

/*
 * Return the largest process that ended soon enough after sample `last` to be a victim.
 */
static const struct past_process *find_largest_ended(const struct oom_past *past,
						     size_t last)
{
	const struct past_process *found = NULL;

	for (size_t i = 0; i < past->process_count; i++) {
		const struct past_process *p = &past->processes[i];

		/*
		 * skip processes that are alive in the last sample or ended before sample
		 * `last`; find_last() checks the remaining processes
		 */
		if (p->last + 1 < last || p->last + 1 == past->sample_count ||
		    !bytes_known(p->rss_bytes) ||
		    (found && p->rss_bytes < found->rss_bytes))
			continue;
		if (find_last(past, p) == last)
			found = p;
	}
	return found;
}

/* Return true if one of the first `count` ends is assigned to the sample `last`. */
static bool has_end_at(const struct finder *f, size_t count, size_t last)
{
	for (size_t e = 0; e < count; e++)
		if (f->ends[e].last == last)
			return true;
	return false;
}

static void add_rises(struct finder *f)
{
	size_t told = f->count;

	for (size_t i = 1; i < f->past->sample_count; i++) {
		struct past_end end = { .kind = OOM_END_KILLED, .last = i - 1 };

		if (!counts_rose(f->past, i) || has_end_at(f, told, i - 1))
			continue;
		end.victim = find_largest_ended(f->past, i - 1);
		add_end(f, &end);
	}
}

/* Add ends for the victims that are known only from mark_victim events. */
static void add_marks(struct finder *f)
{
	for (size_t i = 0; i < f->past->event_count; i++) {
		const struct past_event *event = &f->past->events[i];
		struct past_end end = { .kind = OOM_END_KILLED,
					.unix_ms = event->unix_ms };
		bool is_assigned = event->is_report;

		for (size_t e = 0; e < f->count && !is_assigned; e++)
			is_assigned = (f->ends[e].report &&
				       f->ends[e].report->victim.pid == event->pid) ||
				      (f->ends[e].victim &&
				       f->ends[e].victim->process.pid == event->pid);
		if (is_assigned)
			continue;
		end.victim = oom_past_find_process(f->past, event->pid, "");
		end.last = end.victim ? find_last(f->past, end.victim)
				      : find_sample_before(f->past, event->unix_ms);
		add_end(f, &end);
	}
}

/*
 * Return true if a sample describes the time after the kill. The kernel starts to free a
 * victim's memory when it selects the victim, at kill_ms. A sample that was taken shortly
 * afterwards still shows the cause of the kill if the needed memory has not shrunk since
 * the previous sample.
 */
static bool is_after_kill(const struct oom_past *past, size_t index, uint64_t kill_ms)
{
	const struct past_sample *s = &past->samples[index];

	if (s->unix_ms <= kill_ms)
		return false;
	return index == 0 || s->unix_ms > kill_ms + INTACT_MS ||
	       !bytes_known(s[-1].need_bytes) || !bytes_known(s->need_bytes) ||
	       s->need_bytes < s[-1].need_bytes;
}

/*
 * If the last sample before an end was in fact taken after the kill, choose an earlier
 * sample, because the later sample does not show the cause of the kill.
 */
static void leave_out_later_samples(struct finder *f)
{
	const struct past_sample *samples = f->past->samples;

	for (size_t e = 0; e < f->count; e++) {
		struct past_end *end = &f->ends[e];
		size_t last = end->last;

		if (end->unix_ms == 0)
			continue;
		while (last > 0 && is_after_kill(f->past, last, end->unix_ms))
			last--;
		/*
		 * if the earlier sample is too far away, the wall clock was set, so keep
		 * the later one
		 */
		if (samples[end->last].elapsed_ns - samples[last].elapsed_ns <=
		    2 * DYING_NS_MAX)
			end->last = last;
	}
}

/* Return 1 if the process is one of the targets, 0 if it is not, or -errno. */
static int is_target(struct finder *f, const struct past_process *p)
{
	struct snapshot found;
	int r;

	if (targets_are_all(f->targets))
		return 1;
	snapshot_init(&found);
	r = replay_read(f->replay, p->last, f->targets, &found);
	if (r == 0)
		r = snapshot_find(&found, p->process.pid) != NULL;
	snapshot_release(&found);
	return r;
}

/*
 * Add an end for a recording without kills: the exit of the largest target or, if that
 * target is still alive, the end of the recording. Return 0 or -errno.
 */
static int add_end_without_kill(struct finder *f)
{
	struct past_end end = { .kind = OOM_END_NONE, .last = f->past->sample_count - 1 };
	const struct past_process *largest = NULL;

	for (size_t i = 0; i < f->past->process_count; i++) {
		const struct past_process *p = &f->past->processes[i];
		int r = is_target(f, p);

		if (r < 0)
			return r;
		if (r > 0 && bytes_known(p->rss_bytes) &&
		    (!largest || p->rss_bytes >= largest->rss_bytes))
			largest = p;
	}
	if (!largest && !targets_are_all(f->targets))
		return -ESRCH;
	if (largest && largest->last + 1 < f->past->sample_count) {
		end.kind = OOM_END_GONE;
		end.victim = largest;
		end.last = largest->last;
	}
	add_end(f, &end);
	return 0;
}

/* If targets were requested, drop the ends of other processes. Return 0 or -errno. */
static int keep_targets(struct finder *f)
{
	size_t kept = 0;

	for (size_t e = 0; e < f->count; e++) {
		int r = f->ends[e].victim ? is_target(f, f->ends[e].victim)
					  : targets_are_all(f->targets);

		if (r < 0)
			return r;
		if (r > 0)
			f->ends[kept++] = f->ends[e];
	}
	f->count = kept;
	return 0;
}

static int compare_ends(const void *a, const void *b)
{
	size_t x = ((const struct past_end *)a)->last,
	       y = ((const struct past_end *)b)->last;

	return (x > y) - (x < y);
}

static int find_ends(struct finder *f, const struct oom_kill_list *log)
{
	int r;

	read_paths(f);
	/*
	 * add the reports of the kernel log first, because the texts of recorded events
	 * may be truncated
	 */
	for (size_t i = 0; i < log->count; i++)
		add_report(f, &log->items[i], false);
	for (size_t i = 0; i < f->past->reports.count; i++)
		add_report(f, &f->past->reports.items[i], true);
	if (!assign_in_order(f, true))
		(void)assign_in_order(f, false);
	add_marks(f);
	add_rises(f);
	leave_out_later_samples(f);
	r = keep_targets(f);
	if (r == 0 && f->count == 0)
		r = add_end_without_kill(f);
	if (f->count > 0)
		qsort(f->ends, f->count, sizeof(*f->ends), compare_ends);
	return r;
}

static int add_evidence(struct finder *f, size_t e, struct oom_evidence *ret)
{
	struct past_end *end = &f->ends[e];

	end->past = f->past;
	if (e > 0 && f->ends[e - 1].last < end->last)
		end->first = f->ends[e - 1].last + 1;
	return oom_evidence_read(end, f->replay, ret);
}

int oom_ends_read(struct replay *replay, const struct oom_kill_list *log,
		  const struct targets *targets, struct oom_ends *ret)
{
	struct oom_ends ends = { 0 };
	struct finder f = { .replay = replay, .past = &ends.past, .targets = targets };
	int r = oom_past_read(replay, &ends.past);

	if (r == 0)
		r = find_ends(&f, log);
	if (r == 0)
		ends.items = xcalloc(f.count + 1, sizeof(*ends.items));
	for (; r == 0 && ends.count < f.count; ends.count++)
		r = add_evidence(&f, ends.count, &ends.items[ends.count]);
	free(f.ends);
	free(f.own_path);
	free(f.limit_path);
	if (r < 0)
		oom_ends_release(&ends);
	else
		*ret = ends;
	return r;
}

void oom_ends_release(struct oom_ends *ends)
{
	free(ends->items);
	oom_past_release(&ends->past);
	*ends = (struct oom_ends){ 0 };
}
