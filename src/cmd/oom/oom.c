/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/recording/page.h"
#include "cmd/session/groups.h"
#include "cmd/session/next.h"
#include "cmd/session/recordings.h"
#include "cmd/session/session.h"
#include "render/oom/report.h"
#include "sample/oom/trend_reader.h"
#include "sample/process/cgroup_sampler.h"

/*
 * Figures to read for each process. LazyFree is read per mapping, because part of it may
 * be shared.
 */
#define NEEDS (NEED_STAT | NEED_ROLLUP | NEED_STATES)

struct oom {
	struct session *session;
	/* source of live samples; NULL: a recording is shown */
	struct cgroup_sampler *sampler;
	/* destination of samples; NULL: nothing is recorded */
	struct recorder *recorder;
	/* error from writing standard output, or 0 */
	int stream_error;
	int record_error;
	struct column_list columns;
	struct cgroup cgroup;
	struct snapshot processes;
	struct oom_figures figures;
	/* trend of the memory need over the recorded samples up to the displayed one */
	struct trend need;
	struct oom_report report;
	/* only next.place is used: how the suggested command can access the cgroup */
	struct next next;
	struct strbuf out;
	uint64_t start_ns; /* start of the sampling schedule */
	uint64_t first_ns; /* time of the first sample */
};

static bool is_series(const struct options *o)
{
	return (o->has_interval || o->sample_count > 0) &&
	       (o->format == FORMAT_CSV || o->format == FORMAT_JSON);
}

static int check_usage(const struct options *o)
{
	bool has_rows = o->format == FORMAT_CSV || o->format == FORMAT_JSON;
	const char *problem = NULL;

	if (groups_check_options(o) != EXIT_DONE ||
	    recordings_check_options(o) != EXIT_DONE ||
	    recording_page_check_options(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (o->recording.record && !o->has_interval && o->sample_count == 0)
		problem = "--record requires a series: add -i or -n";
	else if (o->recording.replay && !targets_are_all(&o->targets))
		problem = "--replay shows the recorded cgroup and cannot be combined "
			  "with -p";
	else if ((o->has_interval || o->sample_count > 1) && !has_rows)
		problem = "-i and -n require --csv or --json: a report consists of one "
			  "sample";
	else if ((o->output || o->output_all) && !has_rows)
		problem = "-o requires --csv or --json";
	if (!problem)
		return EXIT_DONE;
	message_usage(o->verb, "%s", problem);
	return EXIT_BAD_USAGE;
}

/* Record the sample. A failure is reported once, and the series continues. */
static void record(struct oom *oom)
{
	int r = oom->recorder ? recorder_end(oom->recorder, &oom->processes, &oom->cgroup)
			      : 0;

	if (r < 0 && oom->record_error == 0)
		message_error(oom->session->options->recording.record, r);
	oom->record_error = r;
}

static int read_sample(struct oom *oom)
{
	unsigned int needs = NEEDS | (oom->recorder ? RECORDER_NEEDS : 0);
	int r;

	if (oom->recorder)
		recorder_begin(oom->recorder);
	r = cgroup_sampler_take(oom->sampler, needs, &oom->cgroup, &oom->processes);
	if (r < 0)
		return r;
	cgroup_sampler_find_kernel(oom->sampler, &oom->cgroup);
	record(oom);
	oom_figures_find(&oom->cgroup, &oom->processes, &oom->figures);
	/*
	 * count the time from the first sample, as a replay does, because a recording
	 * contains no earlier time
	 */
	if (oom->first_ns == 0)
		oom->first_ns = oom->cgroup.taken_ns;
	oom->report.row.elapsed_ns = oom->cgroup.taken_ns - oom->first_ns;
	return 0;
}

static void add_sample(struct oom *oom)
{
	enum format format = oom->session->options->format;

	if (format == FORMAT_CSV)
		csv_add_row(&oom->out, &oom->columns, &oom->report.row);
	else if (format == FORMAT_JSON)
		oom_report_add_json(&oom->out, &oom->report.row, &oom->columns);
	else
		oom_report_add_text(&oom->out, &oom->report);
}

/*
 * Report processes that cannot be read. Without them, the sum of LazyFree is too small,
 * and the memory need is too large.
 */
static int report_unreadable(const struct oom *oom)
{
	if (oom->figures.unreadable_count == 0)
		return EXIT_DONE;
	message("%zu of %zu processes could not be read%s%s; the figure for "
		"'need' includes their LazyFree pages",
		oom->figures.unreadable_count, oom->cgroup.pid_count,
		oom->figures.unreadable_error ? ": " : "",
		oom->figures.unreadable_error ? strerror(-oom->figures.unreadable_error)
					      : "");
	return EXIT_PARTIAL;
}

static int report_gone(const struct oom *oom, int error)
{
	if (error != -ESRCH) {
		message_error("the cgroup", error);
		return EXIT_FAILED;
	}
	message("%s: the cgroup was removed",
		oom->cgroup.level_count > 0 ? oom->cgroup.levels[0].path : "the cgroup");
	return EXIT_PARTIAL;
}

/* Read the sample at index from the recording. */
static int take_recorded(struct oom *oom, size_t index)
{
	static const struct targets all;
	struct replay *replay = oom->session->replay;
	int r = replay_read_cgroup(replay, index, &oom->cgroup);

	if (r == 0)
		r = replay_read(replay, index, &all, &oom->processes);
	if (r < 0)
		return r;
	oom_figures_find(&oom->cgroup, &oom->processes, &oom->figures);
	oom->report.row.elapsed_ns = oom->processes.elapsed_ns;
	return 0;
}

/*
 * Compute the trend of the memory need up to the sample at index, if the earlier samples
 * are readable.
 */
static void find_trend(struct oom *oom, size_t index)
{
	static const struct targets all;
	struct trend_reader reader;

	trend_reader_init(&reader);
	if (trend_reader_add_past(&reader, oom->session->replay, index, &all) == 0) {
		trends_find_group(reader.trends, &oom->need);
		if (oom->need.sample_count >= GROWTH_FLOORS_MIN)
			oom->report.need = &oom->need;
	}
	trend_reader_release(&reader);
}

/*
 * Write a sample of a series. A single sample is written at the end of the command, with
 * a pager if it is text. Return false if the sample could not be written.
 */
static bool write_sample(struct oom *oom)
{
	oom->stream_error = stream_write(&oom->out);
	return oom->stream_error == 0;
}

/*
 * Show all samples of the recording that contain the cgroup, or only the sample that --at
 * selects. A text report shows a single sample.
 */
static int run_replay(struct oom *oom)
{
	const struct options *o = oom->session->options;
	struct replay *replay = oom->session->replay;
	bool is_text = o->format != FORMAT_CSV && o->format != FORMAT_JSON;
	bool is_one = o->recording.at || is_text;
	size_t first = is_one ? oom->session->replay_index : 0;
	size_t end = is_one ? first + 1 : replay_count(replay);
	uint64_t shown = 0;

	if (recording_page_is_wanted(o))
		return recording_page_write(oom->session);
	if (is_text)
		find_trend(oom, first);
	replay_scan(replay, !is_one);
	for (size_t i = first; i < end && signals_stop_count() == 0; i++) {
		int r = take_recorded(oom, i);

		if (r == -ENOENT)
			continue;
		if (r < 0) {
			recordings_report(o->recording.replay, r);
			return EXIT_FAILED;
		}
		add_sample(oom);
		if (!is_one && !write_sample(oom))
			return EXIT_FAILED;
		if (++shown == o->sample_count)
			break;
	}
	if (shown > 0)
		return EXIT_DONE;
	message("%s: no cgroup was recorded %s", o->recording.replay,
		is_one ? "at that moment" : "in this file");
	return EXIT_FAILED;
}

/*
 * Take samples until the cgroup has been removed, the requested number is reached, or a
 * signal arrives.
 */
static int run_series(struct oom *oom)
{
	const struct options *o = oom->session->options;
	uint64_t wanted = is_series(o) ? o->sample_count : 1;
	struct schedule schedule;
	int status = EXIT_DONE;

	schedule_init(&schedule, oom->start_ns, o->interval_ns);
	for (uint64_t n = 1;; n++) {
		int r = read_sample(oom);

		if (r < 0)
			return report_gone(oom, r);
		add_sample(oom);
		if (n == 1)
			status = report_unreadable(oom);
		if (n == wanted && n == 1)
			return status;
		if (!write_sample(oom))
			return EXIT_FAILED;
		if (n == wanted)
			return status;
		schedule_advance(&schedule, clock_now_ns());
		signals_wait_until(schedule_due_ns(&schedule));
		if (signals_stop_count() > 0)
			return status;
	}
}

/* Set the members of the report that determine which command it suggests next. */
static void set_next(struct oom *oom)
{
	next_begin(&oom->next, oom->session);
	if (oom->next.place.is_live)
		oom->report.live_options = oom->next.place.options;
	oom->report.recording = oom->session->options->recording.replay;
}

static int run(struct oom *oom)
{
	const struct options *o = oom->session->options;
	int status = oom->session->replay ? EXIT_DONE
					  : groups_open(oom->session, &oom->sampler);

	if (status == EXIT_DONE && o->recording.record)
		status = recordings_begin(o, oom->session->sampler, &oom->recorder);
	if (status != EXIT_DONE)
		return status;
	if (oom->recorder)
		recorder_set_notes(oom->recorder, &oom->session->fs);
	set_next(oom);
	terminal_fit(&oom->report.options);
	if (o->format == FORMAT_CSV && !o->no_headings)
		csv_add_header(&oom->out, &oom->columns);
	oom->start_ns = clock_now_ns();
	signals_begin();
	status = oom->session->replay ? run_replay(oom) : run_series(oom);
	if (status == EXIT_DONE && oom->record_error < 0)
		status = EXIT_PARTIAL;
	/* release the recording before the pager, which may stay open for hours */
	recorder_close(oom->recorder);
	oom->recorder = NULL;
	return stream_finish(&oom->out, status);
}

static int oom_run(struct options *o)
{
	struct session session;
	struct oom oom = {
		.session = &session,
		.report = {
			.row = { .cgroup = &oom.cgroup, .figures = &oom.figures },
			.processes = &oom.processes,
			.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
			.options.exact_bytes = o->exact_bytes,
		},
	};
	int status;

	status = check_usage(o);
	if (status == EXIT_DONE)
		status = session_columns(o, &oom_columns, oom_columns.csv_default,
					 &oom.columns);
	if (status == EXIT_DONE)
		status = session_begin(&session, o);
	if (status != EXIT_DONE) {
		column_list_release(&oom.columns);
		return status;
	}
	cgroup_init(&oom.cgroup);
	snapshot_init(&oom.processes);
	status = run(&oom);
	recorder_close(oom.recorder);
	cgroup_sampler_free(oom.sampler);
	cgroup_release(&oom.cgroup);
	snapshot_release(&oom.processes);
	session_end(&session);
	column_list_release(&oom.columns);
	next_end(&oom.next);
	strbuf_release(&oom.out);
	if (oom.stream_error == -EPIPE)
		stream_die_of_pipe();
	return status;
}

static const struct option_row own_rows[] = {
	{ 0, "html", "FILE", "write the whole recording as an HTML page",
	  .group = OPTIONS_RECORDINGS, .is_rare = true, .set = option_set_word,
	  .value = offsetof(struct options, html), .needs = "replay" },
	{ 0 },
};

const struct cmd cmd_oom = {
	.name = "oom",
	.args = "[-p PID|NAME | --cgroup PATH|ID] [OPTIONS]",
	.summary = "show or record what uses the memory of a cgroup",
	.shared = "pid cgroup text csv json interval samples output output-all "
		  "list-columns no-headings bytes top procfs record keep replay "
		  "at",
	.own = own_rows,
	.columns = &oom_columns,
	.run = oom_run,
};
