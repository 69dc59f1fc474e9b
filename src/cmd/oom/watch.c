/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/oom/arm.h"
#include "cmd/session/groups.h"
#include "cmd/session/recordings.h"
#include "cmd/session/session.h"
#include "proc/process/own.h"
#include "render/table/style.h"
#include "sample/oom/flight.h"

struct watch {
	struct session *session;
	struct cgroup_sampler *group;
	struct recorder *recorder;
	struct flight *flight;
	struct oom_arm *arm; /* changed settings of the cgroup, or NULL */
	/* last reported error from writing the recording */
	int reported_error;
	/*
	 * time at which the cgroup began to exceed memory.high; 0: the cgroup
	 * does not exceed it
	 */
	uint64_t slowed_ns;
	bool has_announced_kill; /* true if the first kill has been reported */
	struct strbuf out;
};

struct watch_options {
	struct options common;
	enum arm_mode arm;
	const char *arm_name; /* argument of --arm */
	bool is_agreed;
};

static const struct watch_options *own_options(const struct options *o)
{
	return (const struct watch_options *)o;
}

/* Maximum time in ns for which memory.high may slow down the processes of a cgroup. */
#define SLOW_NS (5 * NS_PER_S)

static int check_usage(const struct options *o)
{
	if (groups_check_options(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (o->recording.record)
		return EXIT_DONE;
	message_usage(o->verb, "no recording given; use --record FILE");
	return EXIT_BAD_USAGE;
}

/*
 * Report which sources of events are unavailable, and what memstate cannot
 * report without them.
 */
static void report_sources(const struct watch *w)
{
	static const struct {
		const char *what, *loss;
	} sources[OOM_SOURCE_COUNT_] = {
		[OOM_SOURCE_EVENTS] = { "cannot wait for events of the cgroup",
					"memstate checks it at intervals instead" },
		[OOM_SOURCE_MARKS] = { "cannot wait for the kernel to choose a victim",
				       "the recording shows only the last sample of a victim; waiting "
				       "requires root and a mounted tracefs" },
		[OOM_SOURCE_LOG] = { "the kernel's log cannot be read",
				     "kills are counted, but their victims are unknown; only root "
				     "may read the log" },
	};

	for (int i = 0; i < OOM_SOURCE_COUNT_; i++) {
		int error = flight_source_error(w->flight, (enum oom_source)i);

		if (error < 0)
			message("%s (%s): %s", sources[i].what, strerror(-error),
				sources[i].loss);
	}
}

static void report_processes(struct watch *w)
{
	const struct flight_summary *s = flight_summarize(w->flight);
	char limit[UNITS_TEXT_SIZE], need[UNITS_TEXT_SIZE];

	strbuf_addf(&w->out, "watching %s: need %s, limit %s\n",
		    s->cgroup->levels[0].path,
		    units_format_bytes(s->figures->need_bytes, need),
		    s->figures->limit_bytes == CGROUP_NO_LIMIT
			    ? "none"
			    : units_format_bytes(s->figures->limit_bytes, limit));

	if (s->figures->unreadable_count > 0)
		message("%zu of %zu processes cannot be read%s%s; the figure "
			"for 'need' includes their LazyFree pages",
			s->figures->unreadable_count, s->cgroup->pid_count,
			s->figures->unreadable_error ? ": " : "",
			s->figures->unreadable_error
				? strerror(-s->figures->unreadable_error)
				: "");
	if (s->figures->limit_bytes == CGROUP_NO_LIMIT)
		message("%s has no limit%s; samples are taken at a fixed interval",
			s->cgroup->levels[0].path,
			s->cgroup->is_cut ? " that is visible here" : "");
	for (size_t i = 0; i < s->cgroup->pid_count; i++)
		if (s->cgroup->pids[i] == getpid())
			message("memstate itself is running in this cgroup: its memory is "
				"charged to the cgroup, and the kernel may kill it");
}

/*
 * Lock memstate's memory, so that memstate never waits for its own pages to be read back.
 * Raise its priority, and exempt it from the OOM killer.
 */
static void protect_self(void)
{
	int r = own_disable_oom_kill();

	own_raise_priority();
	if (r < 0)
		message("the kernel may kill memstate, too, if the machine or its own "
			"cgroup runs out of memory (oom_score_adj: %s)",
			strerror(-r));
	r = own_lock_memory();
	if (r < 0)
		message("memstate's own memory may be swapped out, which delays samples "
			"(mlockall: %s)",
			strerror(-r));
}

/*
 * Print an event as one line. For a kernel report, print only that the recording
 * contains it.
 */
static void print_event(void *context, const struct recorded_event *event)
{
	struct watch *w = context;
	char time[CLOCK_TEXT_SIZE];

	strbuf_addf(&w->out, "%s  %s", clock_format_utc(event->unix_ms, time),
		    event->kind);
	if (event->pid > 0)
		strbuf_addf(&w->out, " %d", event->pid);
	if (strcmp(event->kind, "oom_kill") == 0) {
		strbuf_add_text(&w->out,
				event->text
					? ": the kernel's report is in the recording"
					: ": the kernel counted a kill in the cgroup");
		if (!w->has_announced_kill && w->session->options->sample_count == 0)
			message("hint: the watch continues until the cgroup is removed; "
				"^C ends it");
		w->has_announced_kill = true;
	} else if (event->text) {
		strbuf_add_text(&w->out, ": ");
		text_add_printable(&w->out, event->text, strlen(event->text), false);
	}
	strbuf_add_char(&w->out, '\n');
}

static void add_kill(struct strbuf *out, const struct flight_kill *kill)
{
	char time[CLOCK_TEXT_SIZE], rss[UNITS_TEXT_SIZE], age[UNITS_TEXT_SIZE],
		late[UNITS_TEXT_SIZE];
	struct table_options options = { 0 };
	size_t begin = out->length;

	terminal_fit(&options);
	strbuf_add_text(out, "killed   ");
	if (kill->pid > 0)
		strbuf_addf(out, "%d ", kill->pid);
	if (kill->comm[0])
		text_add_printable(out, kill->comm, strlen(kill->comm), false);
	else
		strbuf_add_text(out, "a process");
	strbuf_addf(out, " at %s", clock_format_utc(kill->unix_ms, time));
	if (bytes_known(kill->rss_bytes))
		strbuf_addf(out, ", Rss %s", units_format_bytes(kill->rss_bytes, rss));
	if (kill->late_ns != BYTES_UNKNOWN)
		strbuf_addf(out, ": its memory was read %s after the kernel chose it",
			    units_format_duration(kill->late_ns, late));
	if (kill->sample_age_ns != BYTES_UNKNOWN)
		strbuf_addf(out, "; the last sample was %s old",
			    units_format_duration(kill->sample_age_ns, age));
	strbuf_add_char(out, '\n');
	style_mark_line(out, begin, STYLE_PROBLEM, options.colour);
}

static void summarize(struct watch *w)
{
	const struct flight_summary *s = flight_summarize(w->flight);
	uint64_t count = s->kills.count;
	uint64_t first = count > FLIGHT_KILLS_MAX ? count - FLIGHT_KILLS_MAX : 0;
	char elapsed[UNITS_TEXT_SIZE], shortest[UNITS_TEXT_SIZE],
		longest[UNITS_TEXT_SIZE];
	char need[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE], time[CLOCK_TEXT_SIZE];

	strbuf_addf(&w->out, "\n%s: %" PRIu64 " samples in %s, every %s to %s\n",
		    s->cgroup->levels[0].path, s->sample_count,
		    units_format_duration(s->elapsed_ns, elapsed),
		    units_format_duration(s->shortest_ns, shortest),
		    units_format_duration(w->session->options->interval_ns, longest));
	strbuf_addf(&w->out, "need     at most %s",
		    units_format_bytes(s->peak_need_bytes, need));
	if (s->figures->limit_bytes != CGROUP_NO_LIMIT)
		strbuf_addf(&w->out, " of the limit of %s",
			    units_format_bytes(s->figures->limit_bytes, limit));
	strbuf_addf(&w->out, ", at %s\n", clock_format_utc(s->peak_unix_ms, time));
	for (uint64_t i = first; i < count; i++)
		add_kill(&w->out, &s->kills.items[i % FLIGHT_KILLS_MAX]);
	if (s->is_end_unclear)
		strbuf_add_text(
			&w->out,
			"removed  after the last sample; the kernel killed a process "
			"in the meantime, but it is unknown whether it was in this "
			"cgroup\n");
	else if (count == 0)
		strbuf_add_text(&w->out, "no process was killed\n");
}

static void note(struct watch *w, const char *kind, int pid, const char *text)
{
	const struct recorded_event event = { clock_unix_ms(), kind, text, pid };

	flight_record_event(w->flight, &event);
}

/* Restore the settings of the cgroup. Report and record the result. */
static void disarm(struct watch *w, const char *why)
{
	const struct recorded_event event = { clock_unix_ms(), "disarmed", why, 0 };
	int r;

	if (!w->arm)
		return;
	r = oom_arm_end(w->arm);
	w->arm = NULL;
	if (r < 0)
		message("--arm %s: could not restore the setting: %s",
			own_options(w->session->options)->arm_name, strerror(-r));
	else
		flight_record_event(w->flight, &event);
}

static void resume_group(void *context)
{
	disarm(context, "it was paused until all of it had been read");
}

/* Restore the settings when the cgroup has been slowed down for longer than SLOW_NS. */
static void check_slowed(struct watch *w)
{
	const struct cgroup *cgroup = flight_summarize(w->flight)->cgroup;
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	uint64_t now = clock_now_ns();

	if (!owner || owner->usage_bytes < owner->high_bytes)
		w->slowed_ns = 0;
	else if (w->slowed_ns == 0)
		w->slowed_ns = now;
	else if (now > w->slowed_ns + SLOW_NS)
		disarm(w, "it has been slowed down for the maximum time");
}

/*
 * Handle messages from the guard process: read processes that are stopped at their exit,
 * and resume them. Detect the end of the guard process.
 */
static void handle_arm_messages(struct watch *w)
{
	int pid;

	oom_arm_beat(w->arm, flight_summarize(w->flight)->cgroup);
	while (oom_arm_mode(w->arm) == ARM_TRACE &&
	       (pid = oom_arm_next_dying(w->arm)) > 0) {
		(void)flight_sample_process(w->flight, pid);
		oom_arm_release(w->arm, pid);
		note(w, "exit", pid, "killed; it was paused until it had been read");
	}
	if (w->arm && !oom_arm_is_armed(w->arm))
		disarm(w, "its guard process has exited");
	if (oom_arm_mode(w->arm) == ARM_HIGH)
		check_slowed(w);
}

/*
 * Wait until an event occurs, or until the next sample or message to the
 * guard process is due.
 */
static void wait_for_next(struct watch *w)
{
	size_t count;
	struct pollfd *polled = flight_polled(w->flight, oom_arm_fd(w->arm), &count);
	uint64_t due = flight_due_ns(w->flight), beat = clock_now_ns() + ARM_BEAT_NS;

	signals_poll(polled, count, w->arm && beat < due ? beat : due);
}

/*
 * Report an error from writing the recording, such as a full disk, as soon as it occurs.
 * Each kind of error is reported once.
 */
static void report_record_error(struct watch *w)
{
	int error = flight_summarize(w->flight)->record_error;

	if (error == 0 || error == w->reported_error)
		return;
	w->reported_error = error;
	message_error(w->session->options->recording.record, error);
}

/* Watch the cgroup until the end condition in the options is met. Return 0 or -errno. */
static int watch(struct watch *w)
{
	const struct options *o = w->session->options;
	int r = 0;

	while (r == 0 && signals_stop_count() == 0) {
		if (w->out.length > 0 && stream_write(&w->out) < 0)
			return -EPIPE;
		wait_for_next(w);
		r = flight_handle_events(w->flight);
		report_record_error(w);
		if (w->arm)
			handle_arm_messages(w);
		if (o->sample_count > 0 &&
		    flight_summarize(w->flight)->sample_count >= o->sample_count)
			break;
	}
	return r;
}

static int arm(struct watch *w)
{
	const struct watch_options *own = own_options(w->session->options);
	int status;

	if (own->arm == ARM_NONE)
		return EXIT_DONE;
	status = oom_arm_begin(own->arm, own->is_agreed, &w->session->fs,
			       flight_summarize(w->flight)->cgroup, &w->arm);
	if (status == EXIT_DONE)
		note(w, "armed", 0, own->arm_name);
	return status;
}

static int run(struct watch *w)
{
	const struct options *o = w->session->options;
	struct flight_setup setup = {
		.fs = &w->session->fs,
		.sampler = w->session->sampler,
		.longest_ns = o->interval_ns,
		.share_per_mille = o->max_share_per_mille,
		.report = print_event,
		.resume_group = own_options(o)->arm == ARM_FREEZE ? resume_group : NULL,
		.context = w,
	};
	int status = groups_open(w->session, &w->group), r;

	if (status == EXIT_DONE)
		status = recordings_begin(o, w->session->sampler, &w->recorder);
	if (status != EXIT_DONE)
		return status;
	recorder_set_notes(w->recorder, &w->session->fs);
	setup.group = w->group;
	setup.recorder = w->recorder;
	protect_self();
	signals_begin();
	r = flight_open(&setup, &w->flight);
	if (r < 0) {
		message_error("the cgroup", r);
		return EXIT_FAILED;
	}
	report_record_error(w);
	report_sources(w);
	report_processes(w);
	status = arm(w);
	if (status != EXIT_DONE)
		return status;
	r = watch(w);
	disarm(w, "memstate ends");
	if (r == -EPIPE)
		stream_die_of_pipe();
	flight_finish(w->flight, r == -ESRCH);
	if (r == -ESRCH)
		note(w, "removed", 0, "the group was removed");
	summarize(w);
	report_record_error(w);
	if (flight_summarize(w->flight)->kills.count > 0)
		return EXIT_ABOVE_LIMIT;
	return flight_summarize(w->flight)->record_error < 0 ||
			       flight_summarize(w->flight)->is_end_unclear
		       ? EXIT_PARTIAL
		       : EXIT_DONE;
}

static int watch_run(struct options *o)
{
	struct session session;
	struct watch w = { .session = &session };
	int status = check_usage(o);

	if (status == EXIT_DONE)
		status = session_begin(&session, o);
	if (status != EXIT_DONE)
		return status;
	status = stream_finish(&w.out, run(&w));
	flight_close(w.flight);
	recorder_close(w.recorder);
	cgroup_sampler_free(w.group);
	session_end(&session);
	strbuf_release(&w.out);
	return status;
}

static int set_arm(const struct option_row *row, char *arg, struct options *o)
{
	struct watch_options *own = (struct watch_options *)o;

	(void)row;
	own->arm_name = arg;
	return oom_arm_parse(arg, &own->arm);
}

static const struct option_row own_rows[] = {
	{ 0, "arm", "high|freeze|trace",
	  "slow down, freeze or trace a victim, so that it can be read",
	  .group = OPTIONS_LIMITS, .set = set_arm, .want = "high, freeze or trace" },
	{ 0, "yes", NULL, "do not ask for confirmation of --arm", .group = OPTIONS_LIMITS,
	  .flag = offsetof(struct watch_options, is_agreed), .needs = "arm" },
	{ 0 },
};

/* The exit status is EXIT_ABOVE_LIMIT if the kernel has killed a process. */
const struct cmd cmd_oom_watch = {
	.name = "oom watch",
	.args = "[-p PID | --cgroup PATH|ID] --record FILE [OPTIONS]",
	.summary = "record a cgroup and its OOM kills until it is removed",
	.shared = "pid cgroup text interval samples max-share procfs record "
		  "keep",
	.own = own_rows,
	.options_size = sizeof(struct watch_options),
	.run = watch_run,
};
