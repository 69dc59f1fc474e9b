/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/process/series.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/session/groups.h"
#include "cmd/session/heaps.h"
#include "cmd/session/recordings.h"
#include "cmd/session/session.h"
#include "render/table/output.h"

/* Maximum time that a sample waits for heap walks: 1/PATIENCE_PART of the interval. */
#define PATIENCE_PART 4

struct series {
	struct session *session;
	struct column_list columns;
	struct sort_key sort;
	bool has_sort;
	bool has_begun;
	/* true to write rows while processes are read, without storing the sample */
	bool is_streamed;
	int stream_error; /* error from writing a row, or 0 */
	/* processes missing from the first sample; set only if is_streamed is set */
	struct missing missing;
	struct recorder *recorder; /* destination of samples; NULL: nothing is recorded */
	int record_error;	   /* error from recording the last sample */
	unsigned int needs;
	struct schedule schedule;
	uint64_t start_ns, first_ns; /* start of the schedule; time of the first sample */
	struct snapshot snapshot;
	const struct usage **order; /* the readable processes of the sample, sorted */
	size_t order_capacity;
	struct strbuf text;
	/* interval if govern() has lengthened it; 0: it is the requested interval */
	uint64_t stretched_ns;
	uint64_t sample_count;
	/* number of processes in the last nonempty sample, and the first process in it */
	size_t last_count;
	struct process last;
	int status;
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct series *series = context;
	const struct process_row row_a = { &series->snapshot,
					   *(const struct usage *const *)a };
	const struct process_row row_b = { &series->snapshot,
					   *(const struct usage *const *)b };
	int order = sort_key_compare(&series->sort, &row_a, &row_b);

	return order ? order : (row_a.usage > row_b.usage) - (row_a.usage < row_b.usage);
}

static size_t order_rows(struct series *series)
{
	const struct snapshot *snapshot = &series->snapshot;
	size_t count = 0;

	series->order = xgrow(series->order, &series->order_capacity, snapshot->count + 1,
			      sizeof(*series->order));
	for (size_t i = 0; i < snapshot->count; i++)
		if (!snapshot->usages[i].error)
			series->order[count++] = &snapshot->usages[i];
	if (series->has_sort)
		qsort_r(series->order, count, sizeof(*series->order), compare_rows,
			series);
	return count;
}

/*
 * Size in bytes of the chunks in which rows are written. Chunks keep the memory usage of
 * memstate small, regardless of the number of processes.
 */
#define CSV_PART_BYTES 4096

static int write_row(struct series *series, const struct usage *u)
{
	const struct process_row row = { &series->snapshot, u };

	csv_add_row(&series->text, &series->columns, &row);
	return series->text.length < CSV_PART_BYTES ? 0 : stream_write(&series->text);
}

static int write_csv(struct series *series, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = write_row(series, series->order[i]);
	return r < 0 ? r : stream_write(&series->text);
}

static int write_json(struct series *series, size_t count)
{
	const struct snapshot *snapshot = &series->snapshot;
	struct json j = json_begin_report(&series->text, "series");
	char utc[CLOCK_TEXT_SIZE];

	json_add_string(&j, "time", clock_format_utc(snapshot->unix_ms, utc));
	json_add_seconds_ms(&j, "elapsed_s", snapshot->elapsed_ns);
	json_add_number(&j, "unreadable", snapshot->unreadable_count);
	json_begin_array(&j, "processes");
	for (size_t i = 0; i < count; i++) {
		const struct process_row row = { snapshot, series->order[i] };

		json_add_row(&j, NULL, &series->columns, &row);
	}
	json_end_array(&j);
	json_end_report(&j);
	return stream_write(&series->text);
}

/*
 * Lengthen the interval so that reading the most expensive target takes at most the share
 * of the time that the user set with --max-share.
 */
static void govern(struct series *series, uint64_t now_ns)
{
	const struct options *o = series->session->options;
	char read_text[UNITS_TEXT_SIZE], interval_text[UNITS_TEXT_SIZE];
	uint64_t interval_ns = o->interval_ns;
	uint64_t min_ns;
	int pid = 0;

	if (o->max_share_per_mille >= 1000 || !series->session->fs.is_live ||
	    o->sample_count == 1)
		return;
	min_ns = sampler_min_interval_ns(series->session->sampler, o->max_share_per_mille,
					 &pid);
	if (min_ns > interval_ns)
		interval_ns = min_ns;
	/* ignore small changes of the interval, because the measured cost is noisy */
	if (interval_ns > series->schedule.interval_ns ||
	    interval_ns < series->schedule.interval_ns / 2) {
		schedule_set_interval(&series->schedule, now_ns, interval_ns);
		if (interval_ns > o->interval_ns && series->stretched_ns == 0)
			message("interval increased to %s: reading process %d takes "
				"%s, and --max-share limits that to %u.%u%% of the time",
				units_format_duration(interval_ns, interval_text), pid,
				units_format_duration(min_ns * o->max_share_per_mille /
							      1000,
						      read_text),
				o->max_share_per_mille / 10, o->max_share_per_mille % 10);
		series->stretched_ns = interval_ns > o->interval_ns ? interval_ns : 0;
	}
}

static int write_sample(struct series *series)
{
	size_t count = order_rows(series);

	return series->session->options->format == FORMAT_JSON ? write_json(series, count)
							       : write_csv(series, count);
}

static void add_header(struct series *series)
{
	const struct options *o = series->session->options;

	if (o->format == FORMAT_CSV && !o->no_headings)
		csv_add_header(&series->text, &series->columns);
}

/* Record the sample. A failure is reported once, and the series continues. */
static void record(struct series *series)
{
	int r = series->recorder ? recorder_end(series->recorder, &series->snapshot,
						groups_read(series->session))
				 : 0;

	if (r < 0 && series->record_error == 0)
		message_error(series->session->options->recording.record, r);
	series->record_error = r;
}

static void count_sample(struct series *series)
{
	series->sample_count++;
	if (series->snapshot.count == 0)
		return;
	series->last_count = series->snapshot.count;
	series->last = series->snapshot.usages[0].process;
}

/* Report why the series ends before the requested number of samples. */
static void report_end(const struct series *series)
{
	const struct options *o = series->session->options;
	/* do not count the last, empty sample */
	uint64_t taken = series->sample_count - 1;
	char count[64];

	/* series_run() reports how a command that memstate runs has ended */
	if (series->session->child.pid > 0)
		return;
	snprintf(count, sizeof(count), "%" PRIu64 " sample%s %s", taken,
		 taken == 1 ? " was" : "s were", series->recorder ? "recorded" : "taken");
	if (o->targets.group)
		message("%s: the cgroup was removed; %s", o->cgroup, count);
	else if (series->last_count == 1)
		message("process %d (%s) has ended; %s", series->last.pid,
			series->last.comm, count);
	else
		message("all %zu processes have ended; %s", series->last_count, count);
}

/* Set the time since the first sample. A replay of the recording shows the same time. */
static void set_elapsed(struct series *series)
{
	if (!series->has_begun)
		series->first_ns = series->snapshot.taken_ns;
	series->snapshot.elapsed_ns = series->snapshot.taken_ns - series->first_ns;
}

/*
 * Read a sample of the targets, and record it if there is a recorder. Return 0, or
 * print a message and return -errno.
 */
static int sample(struct series *series)
{
	struct session *session = series->session;
	int r;

	if (series->recorder)
		recorder_begin(series->recorder);
	r = sampler_take(session->sampler, &session->options->targets, series->needs,
			 &series->snapshot);
	if (r < 0) {
		message_error(session->options->procfs_root, r);
		return r;
	}
	set_elapsed(series);
	record(series);
	count_sample(series);
	return 0;
}

static int stream_usage(void *context, const struct usage *u)
{
	struct series *series = context;

	set_elapsed(series);
	if (!series->has_begun)
		missing_add(&series->missing, series->session, u);
	if (!u->error)
		series->stream_error = write_row(series, u);
	return series->stream_error;
}

/*
 * Read a sample of the targets, and write its rows in chunks. The last chunk stays in the
 * buffer. Return 0, or print a message and return -errno.
 */
static int sample_streamed(struct series *series)
{
	struct session *session = series->session;
	int r;

	r = sampler_take_each(session->sampler, series->needs, stream_usage, series,
			      &series->snapshot);
	if (r < 0 && !series->stream_error)
		message_error(session->options->procfs_root, r);
	return r;
}

/*
 * Take a sample and write it. Return 1 to continue, 0 at the end of the series,
 * or -errno.
 */
static int take_sample(struct series *series)
{
	uint64_t now = clock_now_ns();
	int r;

	schedule_advance(&series->schedule, now);
	if (series->is_streamed) {
		r = sample_streamed(series);
		if (r == 0)
			r = stream_write(&series->text);
	} else {
		r = sample(series);
		if (r < 0)
			return r;
		if (targets_have_ended(&series->session->options->targets,
				       &series->snapshot)) {
			report_end(series);
			return 0;
		}
		r = write_sample(series);
	}
	if (r < 0)
		return r;
	govern(series, now);
	return 1;
}

/*
 * Take the first sample, which shows whether the targets exist at all. Return the same
 * values as take_sample().
 */
static int begin_whole(struct series *series)
{
	struct session *session = series->session;
	int r = sample(series);

	if (r < 0)
		return r;
	if (session->child.pid == 0) {
		series->status = session_report_missing(session, &series->snapshot);
		if (series->status == EXIT_FAILED)
			return 0;
		if (series->status == EXIT_DONE)
			series->status = heaps_report_missing(session, &series->snapshot);
	}
	heaps_set_patience(session, session->options->interval_ns / PATIENCE_PART);
	add_header(series);
	r = write_sample(series);
	return r < 0 ? r : 1;
}

/*
 * Take the first sample of a series whose rows are written while processes are read. If
 * no process can be read, the header stays in the buffer, and is never written. Return
 * the same values as take_sample().
 */
static int begin_streamed(struct series *series)
{
	int r;

	add_header(series);
	r = sample_streamed(series);
	if (r < 0)
		return r;
	series->status = missing_report(&series->missing, series->session);
	if (series->status == EXIT_FAILED)
		return 0;
	r = stream_write(&series->text);
	return r < 0 ? r : 1;
}

static int take_first_sample(struct series *series)
{
	int r = series->is_streamed ? begin_streamed(series) : begin_whole(series);

	series->has_begun = true;
	if (r == 1)
		govern(series, series->start_ns);
	return r;
}

/* Wait until the next sample is due. Return false if the series has ended. */
static bool wait_for_next(struct series *series)
{
	struct child *child = &series->session->child;
	uint64_t due = schedule_due_ns(&series->schedule);
	int stops = signals_stop_count();

	/* wait even if the sample is due, because signals arrive only during a wait */
	do {
		signals_wait_until(due);
		child_poll(child);
	} while (clock_now_ns() < due && signals_stop_count() == stops &&
		 !child->has_ended);
	if (signals_stop_count() == stops)
		return !child->has_ended;
	/*
	 * forward signals and give the command time to end; do not forward SIGINT, which
	 * the terminal also sends to the command
	 */
	if (child->pid > 0 && signals_last_stop() != SIGINT)
		child_signal(child, signals_last_stop());
	return child->pid > 0 && signals_stop_count() == 1;
}

static int run_samples(struct series *series)
{
	uint64_t taken = 1;
	int r;

	series->start_ns = clock_now_ns();
	schedule_init(&series->schedule, series->start_ns,
		      series->session->options->interval_ns);
	series->schedule.next = 1;
	r = take_first_sample(series);
	while (r == 1 && taken != series->session->options->sample_count) {
		if (!series->session->fs.is_live) {
			message("a capture contains only one sample");
			break;
		}
		if (!wait_for_next(series))
			break;
		r = take_sample(series);
		taken++;
	}
	return r;
}

/* Write the recorded samples one after another, or only the sample that --at selects. */
static int run_replay(struct series *series)
{
	struct session *session = series->session;
	const struct options *o = session->options;
	size_t first = o->recording.at ? session->replay_index : 0;
	size_t end = o->recording.at ? first + 1 : replay_count(session->replay);
	int r = 0;

	if (o->sample_count > 0 && o->sample_count < end - first)
		end = first + (size_t)o->sample_count;
	add_header(series);
	replay_scan(session->replay, end > first + 1);
	for (size_t i = first; i < end && r == 0 && signals_stop_count() == 0; i++) {
		r = replay_read(session->replay, i, &o->targets, &series->snapshot);
		if (r < 0)
			recordings_report(o->recording.replay, r);
		else
			r = write_sample(series);
	}
	return r;
}

static void release(struct series *series)
{
	recorder_close(series->recorder);
	column_list_release(&series->columns);
	snapshot_release(&series->snapshot);
	strbuf_release(&series->text);
	free(series->order);
}

int series_run(struct session *session)
{
	const struct options *o = session->options;
	const struct child_setup setup = { .input_fd = -1,
					   .output_fd = STDERR_FILENO,
					   .error_fd = -1 };
	struct series series = { .session = session };
	int r;

	heaps_begin(session);
	heaps_keep_copies(session);
	r = session_columns(o, &process_columns, process_columns.csv_default,
			    &series.columns);
	if (r == EXIT_DONE)
		r = session_sort_key(o, &process_columns, NULL, &series.sort,
				     &series.has_sort);
	if (r == EXIT_DONE)
		r = session_start_command(session, &setup);
	if (r != EXIT_DONE) {
		release(&series);
		return r;
	}
	series.needs = column_list_needs(&series.columns);
	if (series.has_sort)
		series.needs |= series.sort.column->needs;
	if (o->recording.record) {
		series.needs |= RECORDER_NEEDS;
		series.status = recordings_begin(o, session->sampler, &series.recorder);
		if (series.status != EXIT_DONE) {
			release(&series);
			return series.status;
		}
	}
	series.is_streamed = o->format == FORMAT_CSV && !series.has_sort &&
			     !series.recorder && targets_are_all(&o->targets);
	snapshot_init(&series.snapshot);
	r = session->replay ? run_replay(&series) : run_samples(&series);
	session_end_reading(session);
	if (series.schedule.missed_count > 0)
		message("%" PRIu64 " %s missed: memstate was late by at least one "
			"interval",
			series.schedule.missed_count,
			series.schedule.missed_count == 1 ? "sample was"
							  : "samples were");
	release(&series);
	if (session->child.pid > 0) {
		child_wait(&session->child);
		child_report(&session->child, o->command[0]);
	}
	if (r == -EPIPE)
		stream_die_of_pipe();
	if (r < 0)
		return EXIT_FAILED;
	return series.record_error < 0 && series.status == EXIT_DONE ? EXIT_PARTIAL
								     : series.status;
}
