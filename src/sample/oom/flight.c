/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/oom/flight_private.h"

/*
 * Figures to read in each sample. NEED_STATES includes the LazyFree of every process. The
 * recorder decides how often to read mappings and thus the owners of memory.
 */
#define NEEDS (RECORDER_NEEDS | NEED_STATES)

#define SHORTEST_NS (5 * NS_PER_MS)
/* A sample that is late by at least this much counts as missed. */
#define GAP_NS NS_PER_S
/* Reading the cgroup's own files may take at most 1/GROUP_SHARE_PART of the time. */
#define GROUP_SHARE_PART 20
/* Minimum time between two messages about the same condition. */
#define REPEAT_NS (10 * NS_PER_S)
#define MAPPINGS_PART 4

void flight_record_event(struct flight *f, const struct recorded_event *event)
{
	int r = recorder_add_event(f->setup.recorder, event);

	if (r < 0 && f->summary.record_error == 0)
		f->summary.record_error = r;
	if (f->setup.report)
		f->setup.report(f->setup.context, event);
}

static void record_event_now(struct flight *f, const char *kind, const char *text)
{
	const struct recorded_event event = { .unix_ms = clock_unix_ms(),
					      .kind = kind,
					      .text = text };

	flight_record_event(f, &event);
}

static void report_step(struct flight *f)
{
	struct strbuf text = STRBUF_INIT;
	char need[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	strbuf_addf(&text, "need is %s, %u%% of the limit of %s",
		    units_format_bytes(f->figures.need_bytes, need),
		    units_per_mille(f->figures.need_bytes, f->figures.limit_bytes) / 10,
		    units_format_bytes(f->figures.limit_bytes, limit));
	record_event_now(f, "limit", text.text);
	strbuf_release(&text);
}

static void summarize(struct flight *f, uint64_t interval_ns)
{
	struct flight_summary *s = &f->summary;

	s->sample_count++;
	s->elapsed_ns = f->sampled_ns - f->start_ns;
	if (s->shortest_ns == 0 || interval_ns < s->shortest_ns)
		s->shortest_ns = interval_ns;
	if (f->figures.need_bytes >= s->peak_need_bytes) {
		s->peak_need_bytes = f->figures.need_bytes;
		s->peak_unix_ms = f->cgroup.unix_ms;
	}
}

/*
 * Compute the time of the next sample. The interval also limits the time spent on reading
 * the cgroup's own files, which takes long if the cgroup has many descendants.
 */
static void set_due(struct flight *f)
{
	const struct oom_pace_sample sample = {
		.taken_ns = f->sampled_ns,
		.need_bytes = f->figures.need_bytes,
		.limit_bytes = f->figures.limit_bytes,
		.slack_bytes = f->figures.slack_bytes,
	};
	uint64_t interval_ns = oom_pace_next(&f->pace, &sample);

	if (interval_ns < f->group_cost_ns * GROUP_SHARE_PART)
		interval_ns = f->group_cost_ns * GROUP_SHARE_PART;
	summarize(f, interval_ns);
	/*
	 * count from the time at which the sample was due, so that delays do
	 * not accumulate
	 */
	f->due_ns = f->sampled_ns - f->due_ns < interval_ns ? f->due_ns + interval_ns
							    : f->sampled_ns + interval_ns;
}

static void end_sample(struct flight *f, bool has_group)
{
	struct snapshot *known = &f->processes.known;
	int r;

	/* the cgroup and its processes form one sample with a single timestamp */
	known->taken_ns = has_group ? f->cgroup.taken_ns : f->sampled_ns;
	known->unix_ms = has_group ? f->cgroup.unix_ms : flight_unix_ms(f->sampled_ns);
	known->elapsed_ns = f->sampled_ns - f->start_ns;
	known->cost_ns = clock_now_ns() - f->sampled_ns;
	r = recorder_end(f->setup.recorder, known, has_group ? &f->cgroup : NULL);
	if (r < 0 && f->summary.record_error == 0)
		f->summary.record_error = r;
}

/*
 * Set the shares of time for reading processes and their mappings. Mappings take the most
 * time to read and the most space in the file, so they get only a quarter of the budget.
 */
static void set_shares(struct flight *f)
{
	size_t count = f->processes.known.count > 0 ? f->processes.known.count : 1;

	f->share_per_million =
		oom_pace_share_per_million(f->pace.interval_ns, f->setup.share_per_mille);
	recorder_set_share(f->setup.recorder,
			   (unsigned int)(f->share_per_million / MAPPINGS_PART / count));
}

static int read_group(struct flight *f)
{
	struct cgroup last = f->cgroup;
	int r = cgroup_sampler_read(f->setup.group, &f->next_cgroup);

	if (r == 0) {
		flight_left_add(&f->left, &last, &f->next_cgroup, clock_now_ns());
		f->cgroup = f->next_cgroup;
		f->next_cgroup = last;
	}
	return r;
}

/*
 * Take a sample. If pid is not 0, first read this process with all its mappings, and set
 * *ret_read to 0 or -errno.
 */
static int take_sample(struct flight *f, enum turns turns, int pid, int *ret_read)
{
	uint64_t read_ns;
	int r;

	f->sampled_ns = clock_now_ns();
	recorder_begin(f->setup.recorder);
	if (pid > 0) {
		bool was_paced = sampler_set_paced(f->setup.sampler, false);

		*ret_read = group_turns_read(&f->processes, pid);
		/*
		 * copy the usage, because the process may have left the cgroup by the end
		 * of the sample
		 */
		if (*ret_read == 0) {
			f->read = *snapshot_find(&f->processes.known, pid);
			f->read.command = NULL;
		}
		sampler_set_paced(f->setup.sampler, was_paced);
	}
	read_ns = clock_now_ns();
	r = read_group(f);
	if (r < 0) {
		end_sample(f, false);
		return r;
	}
	f->group_cost_ns = clock_now_ns() - read_ns;
	set_shares(f);
	group_turns_update(&f->processes, &f->cgroup, f->share_per_million, turns);
	oom_figures_find(&f->cgroup, &f->processes.known, &f->figures);
	flight_counts_add(&f->counts, &f->cgroup, f->sampled_ns);
	if (flight_source_error(f, OOM_SOURCE_LOG) < 0)
		flight_counts_read_machine(&f->counts, f->setup.fs);
	end_sample(f, true);
	oom_wakeups_set_group(f->wakeups, &f->cgroup);
	set_due(f);
	return 0;
}

static void report_gap(struct flight *f)
{
	uint64_t now = clock_now_ns();
	struct strbuf text = STRBUF_INIT;
	char duration[UNITS_TEXT_SIZE];

	if (now < f->due_ns + GAP_NS)
		return;
	strbuf_addf(&text, "no sample for %s",
		    units_format_duration(now - f->sampled_ns, duration));
	record_event_now(f, "gap", text.text);
	strbuf_release(&text);
}

/*
 * Take a sample. If the memory need has exceeded a threshold below the limit, read all
 * processes, regardless of the cost.
 */
static int sample(struct flight *f)
{
	int r = take_sample(f, f->summary.sample_count == 0 ? TURNS_ALL : TURNS_IN_TURN,
			    0, NULL);

	if (r < 0 ||
	    !oom_steps_pass(&f->steps, f->figures.need_bytes, f->figures.limit_bytes))
		return r;
	report_step(f);
	if (f->summary.sample_count == 1)
		return 0;
	/* close to the limit, there is no time to read mappings */
	return take_sample(f, f->steps.passed == 1 ? TURNS_MAPPINGS : TURNS_ALL, 0, NULL);
}

static void report_victim(struct flight *f, const struct flight_kill *kill,
			  int read_error)
{
	struct recorded_event event = { kill->unix_ms, "victim", NULL, kill->pid };
	struct strbuf text = STRBUF_INIT;

	flight_kill_describe(kill, read_error, &text);
	event.text = text.text;
	flight_record_event(f, &event);
	strbuf_release(&text);
}

/*
 * Handle a mark_victim event, which names the process that the kernel will kill. The
 * victim may exit within a few milliseconds, so read its memory before describing
 * the kill.
 */
static int handle_mark(struct flight *f, const struct oom_mark *mark)
{
	uint64_t unix_ms = flight_unix_ms(mark->marked_ns), sampled_ns = f->sampled_ns;
	struct flight_kill *kill;
	int read_error = -ESRCH, r;

	if (!flight_has_pid(f, mark->pid)) {
		r = read_group(f);
		if (r < 0 || !flight_has_pid(f, mark->pid))
			return r;
	}
	if (flight_kills_find(&f->summary.kills, mark->pid, unix_ms))
		return 0;
	kill = flight_kills_add(&f->summary.kills, mark->pid, unix_ms,
				snapshot_find(&f->processes.known, mark->pid));
	kill->sample_age_ns = mark->marked_ns > sampled_ns ? mark->marked_ns - sampled_ns
							   : 0;
	r = take_sample(f, TURNS_IN_TURN, mark->pid, &read_error);
	if (read_error == 0) {
		const struct usage *u = &f->read;

		memcpy(kill->comm, u->process.comm, sizeof(kill->comm));
		kill->rss_bytes = u->total.bytes[SMAPS_RSS];
		kill->late_ns = u->taken_ns - mark->marked_ns +
				(u->read_ns != BYTES_UNKNOWN ? u->read_ns : 0);
	}
	report_victim(f, kill, read_error);
	return r;
}

/*
 * Sample a cgroup that is out of memory, if it is paused until resume_group(), or if
 * mark_victim events are unavailable. Read the largest process first, because it is the
 * most likely victim. If the cgroup is paused, there is enough time to read everything.
 */
static int handle_out_of_memory(struct flight *f)
{
	const struct usage *largest = NULL;
	int read_error;

	for (size_t i = 0; i < f->processes.known.count; i++) {
		const struct usage *u = &f->processes.known.usages[i];

		if (bytes_known(u->total.bytes[SMAPS_RSS]) &&
		    (!largest ||
		     u->total.bytes[SMAPS_RSS] > largest->total.bytes[SMAPS_RSS]))
			largest = u;
	}
	return take_sample(f, f->setup.resume_group ? TURNS_MAPPINGS : TURNS_IN_TURN,
			   largest ? largest->process.pid : 0, &read_error);
}

static int handle_wake(struct flight *f, const struct oom_wake *wake)
{
	uint64_t now = clock_now_ns();
	int r = 0;

	/*
	 * handle every mark_victim event, even if the cgroup disappears in the meantime
	 */
	for (size_t i = 0; i < wake->mark_count; i++) {
		int error = handle_mark(f, &wake->marks[i]);

		r = r < 0 ? r : error;
	}
	if (r < 0)
		return r;
	if (wake->flags & OOM_WAKE_OOM && f->setup.resume_group) {
		r = handle_out_of_memory(f);
		/*
		 * do not resume after an error: the removal of the cgroup causes the
		 * same wake-up as an out-of-memory condition
		 */
		if (r == 0)
			f->setup.resume_group(f->setup.context);
		return r;
	}
	if (wake->flags & OOM_WAKE_OOM && wake->mark_count == 0)
		return flight_source_error(f, OOM_SOURCE_MARKS) < 0
			       ? handle_out_of_memory(f)
			       : sample(f);
	if (wake->flags & OOM_WAKE_PRESSURE &&
	    now > f->pressure_reported_ns + REPEAT_NS) {
		record_event_now(f, "pressure", "processes wait for memory reclaim");
		f->pressure_reported_ns = now;
	}
	/*
	 * Limit the rate of samples, because the limit and pressure counters of a cgroup
	 * full of file cache may rise constantly.
	 */
	if (wake->flags & (OOM_WAKE_LIMIT | OOM_WAKE_PRESSURE) &&
	    now > f->sampled_ns + SHORTEST_NS)
		return sample(f);
	return 0;
}

int flight_handle_events(struct flight *f)
{
	struct oom_wake wake;
	int r;

	oom_wakeups_collect(f->wakeups, &wake);
	r = handle_wake(f, &wake);
	flight_read_log(f);
	if (r == 0 && clock_now_ns() >= f->due_ns) {
		report_gap(f);
		r = sample(f);
	}
	return r;
}

int flight_sample_process(struct flight *f, int pid)
{
	int read_error;

	return take_sample(f, TURNS_IN_TURN, pid, &read_error);
}

int flight_open(const struct flight_setup *setup, struct flight **ret)
{
	struct flight *f = xcalloc(1, sizeof(*f));
	uint64_t shortest_ns = setup->longest_ns < SHORTEST_NS ? setup->longest_ns
							       : SHORTEST_NS;
	int r = oom_wakeups_open(setup->fs, &f->wakeups);

	f->setup = *setup;
	cgroup_init(&f->cgroup);
	cgroup_init(&f->next_cgroup);
	group_turns_init(&f->processes, setup->sampler, NEEDS);
	oom_pace_init(&f->pace, shortest_ns, setup->longest_ns);
	f->start_ns = f->due_ns = clock_now_ns();
	flight_counts_begin(&f->counts, setup->fs);
	if (r == 0)
		r = sample(f);
	if (r < 0) {
		flight_close(f);
		return r;
	}
	*ret = f;
	return 0;
}

void flight_close(struct flight *f)
{
	if (!f)
		return;
	oom_wakeups_close(f->wakeups);
	group_turns_release(&f->processes);
	cgroup_release(&f->cgroup);
	cgroup_release(&f->next_cgroup);
	flight_log_release(&f->log);
	free(f);
}

int flight_source_error(const struct flight *f, enum oom_source source)
{
	return oom_wakeups_error(f->wakeups, source);
}

struct pollfd *flight_polled(struct flight *f, int other_fd, size_t *ret_count)
{
	return oom_wakeups_polled(f->wakeups, other_fd, ret_count);
}

uint64_t flight_due_ns(const struct flight *f)
{
	uint64_t due = f->due_ns, log = flight_log_due_ns(&f->log);

	return log < due ? log : due;
}

const struct flight_summary *flight_summarize(struct flight *f)
{
	f->summary.cgroup = &f->cgroup;
	f->summary.figures = &f->figures;
	return &f->summary;
}
