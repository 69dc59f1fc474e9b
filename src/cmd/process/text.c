/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/process/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/process_conclusion.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/heaps.h"
#include "cmd/session/next.h"
#include "cmd/session/peak.h"
#include "cmd/session/recordings.h"
#include "cmd/session/session.h"
#include "render/process/growth_words.h"
#include "render/process/text_report.h"
#include "render/table/conclusion.h"
#include "sample/oom/trend_reader.h"

/* Maximum time that a sample waits for heap walks: 1/PATIENCE_PART of the interval. */
#define PATIENCE_PART 4

struct text {
	struct session *session;
	struct column_list columns;
	struct sort_key sort;
	bool has_sort;
	struct table_options options;
	struct snapshot snapshot;
	struct strbuf out;
	struct conclusion conclusion; /* for a single process, only `next` is set */
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct text *text = context;
	const struct process_row *row_a = *(const struct process_row *const *)a;
	const struct process_row *row_b = *(const struct process_row *const *)b;
	int order = sort_key_compare(&text->sort, row_a, row_b);

	return order ? order : row_a->usage->process.pid - row_b->usage->process.pid;
}

/*
 * Append the sums over the processes. Pss and Uss can be summed; a sum of Rss would count
 * shared pages several times.
 */
static void add_sums(struct text *text, const void *const *rows, size_t count)
{
	struct {
		const char *name;
		uint64_t bytes;
	} sums[] = { { "Pss", 0 }, { "Uss", 0 }, { "Swap", 0 } };

	for (size_t i = 0; i < count; i++) {
		const struct usage *u = ((const struct process_row *)rows[i])->usage;

		sums[0].bytes = bytes_add(sums[0].bytes, u->total.bytes[SMAPS_PSS]);
		sums[1].bytes = bytes_add(sums[1].bytes, usage_uss_bytes(u));
		sums[2].bytes = bytes_add(sums[2].bytes, u->total.bytes[SMAPS_SWAP]);
	}
	strbuf_addf(&text->out, "%zu processes:", count);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		char buf[UNITS_TEXT_SIZE];

		strbuf_addf(&text->out, "%s %s ", i > 0 ? "," : "", sums[i].name);
		if (text->options.exact_bytes && bytes_known(sums[i].bytes))
			strbuf_add_u64(&text->out, sums[i].bytes);
		else
			strbuf_add_text(&text->out,
					units_format_bytes(sums[i].bytes, buf));
	}
	strbuf_add_char(&text->out, '\n');
}

/*
 * Append the sentence about the largest process of the table, and suggest the
 * next command.
 */
static void add_opening(struct text *text, const void *const *rows, size_t count)
{
	const struct usage **usages = xcalloc(count, sizeof(*usages));
	struct next next;

	for (size_t i = 0; i < count; i++)
		usages[i] = ((const struct process_row *)rows[i])->usage;
	next_begin(&next, text->session);
	processes_conclude(&text->conclusion, usages, count, &next.place);
	next_end(&next);
	conclusion_add_opening(&text->out, &text->conclusion, &text->options);
	if (text->conclusion.text.length > 0)
		strbuf_add_char(&text->out, '\n');
	free(usages);
}

/*
 * Append a table of all readable processes in the snapshot. If several processes are
 * shown with the default columns, add an opening sentence and sums.
 */
static void add_table(struct text *text, const struct snapshot *snapshot)
{
	const struct options *o = text->session->options;
	struct process_row *rows = xcalloc(snapshot->count, sizeof(*rows));
	const void **order = xcalloc(snapshot->count, sizeof(*order));
	size_t count = 0;
	bool is_report;

	for (size_t i = 0; i < snapshot->count; i++) {
		if (snapshot->usages[i].error)
			continue;
		rows[count] = (struct process_row){ snapshot, &snapshot->usages[i] };
		order[count] = &rows[count];
		count++;
	}
	if (text->has_sort)
		qsort_r(order, count, sizeof(*order), compare_rows, text);
	is_report = count > 1 && !o->output && !o->output_all && !o->no_headings;
	if (is_report)
		add_opening(text, order, count);
	table_add(&text->out, &text->columns, order, count, &text->options);
	if (is_report)
		add_sums(text, order, count);
	free(rows);
	free(order);
}

/*
 * Return true if the one-page report on a single process is possible: no columns were
 * requested, and the targets may be a single process.
 */
static bool wants_page(const struct text *text)
{
	const struct options *o = text->session->options;

	return !o->output && !o->output_all && !o->targets.with_children &&
	       !o->targets.group &&
	       (o->command || text->session->replay || !targets_are_all(&o->targets));
}

static void add_page(struct text *text, const struct usage *u,
		     const struct mapping_list *mappings)
{
	const struct text_report_options options = {
		.width = text->options.max_width > 0 ? text->options.max_width : 100,
		.ascii = text->options.ascii,
		.colour = text->options.colour,
		.exact_bytes = text->options.exact_bytes,
	};
	struct next next;

	text_report_add(&text->out, u, mappings, &options);
	next_begin(&next, text->session);
	process_conclude_next(&text->conclusion, u, &next.place);
	next_end(&next);
}

/* Suggest counting the allocations of the command that has ended. */
static void set_next_count(struct text *text)
{
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;

	next_add_command(&command, text->session->options->command);
	conclusion_set_next(&text->conclusion, "memstate count --%s", command.text);
}

/*
 * Append one sentence about the growth of each process with at least min_count samples.
 * In the text of a series, these sentences precede the report on the last sample.
 */
static void add_growth(struct text *text, const struct trends *trends, uint64_t min_count)
{
	const struct growth_words_options options = {
		.width = text->options.max_width > 0 ? (size_t)text->options.max_width
						     : 100,
		.ascii = text->options.ascii,
	};
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	struct process_trend trend;

	for (size_t i = 0; i < trends_process_count(trends); i++) {
		trends_find_process(trends, i, &trend);
		if (trend.need.sample_count >= min_count)
			growth_add_process(&lines, &trend, &options);
	}
	if (lines.length > 0)
		strbuf_addf(&text->out, "%s\n", lines.text);
}

static unsigned int table_needs(const struct text *text)
{
	unsigned int needs = column_list_needs(&text->columns) | NEED_STAT;

	return text->has_sort ? needs | text->sort.column->needs : needs;
}

static int report_missing(const struct text *text)
{
	int status = session_report_missing(text->session, &text->snapshot);
	int heaps_status = EXIT_DONE;

	if (status != EXIT_FAILED)
		heaps_status = heaps_report_missing(text->session, &text->snapshot);
	return status == EXIT_DONE ? heaps_status : status;
}

/* Take a sample, and record it if requested. */
static int take_sample(struct text *text, unsigned int needs)
{
	struct session *session = text->session;
	struct targets *targets = &session->options->targets;
	int r;

	if (!session->recorder)
		return sampler_take(session->sampler, targets, needs, &text->snapshot);
	recorder_begin(session->recorder);
	r = sampler_take(session->sampler, targets, needs | RECORDER_NEEDS,
			 &text->snapshot);
	if (r == 0)
		(void)recorder_end(session->recorder, &text->snapshot, NULL);
	return r;
}

static int show_table(struct text *text)
{
	struct session *session = text->session;
	int r;

	if (!session->replay) {
		r = take_sample(text, table_needs(text));
		if (r < 0) {
			message_error(session->options->procfs_root, r);
			return EXIT_FAILED;
		}
	}
	r = report_missing(text);
	if (r != EXIT_FAILED)
		add_table(text, &text->snapshot);
	return r;
}

static void record_page(struct text *text, const struct mapping_list *mappings)
{
	struct recorder *recorder = text->session->recorder;
	const struct usage *u = &text->snapshot.usages[0];

	if (!recorder)
		return;
	recorder_begin(recorder);
	if (u->source == SOURCE_SMAPS)
		recorder_add(recorder, u, mappings);
	(void)recorder_end(recorder, &text->snapshot, NULL);
}

/* Show a one-page report if the targets are a single process, otherwise a table. */
static int show_page(struct text *text)
{
	struct session *session = text->session;
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct usage *u;
	int status;

	status = session_list(session, NEED_STAT, &text->snapshot);
	if (status != EXIT_DONE)
		return status;
	if (text->snapshot.count > 1)
		return show_table(text);
	u = text->snapshot.usages;
	if (text->snapshot.count == 1) {
		if (heaps_read(session, u, &mappings) < 0)
			text->snapshot.unreadable_count = 1;
		record_page(text, &mappings);
	}
	status = report_missing(text);
	if (status != EXIT_FAILED)
		add_page(text, u, &mappings);
	mapping_list_release(&mappings);
	return status;
}

/*
 * Show the largest sample of a command, because the command cannot be read after it
 * has ended.
 */
static int show_peak(struct text *text)
{
	struct session *session = text->session;
	const char *name = session->options->command[0];
	const struct child_setup setup = { .input_fd = -1,
					   .output_fd = STDERR_FILENO,
					   .error_fd = -1 };
	bool is_page = wants_page(text);
	char elapsed[UNITS_TEXT_SIZE];
	struct peak peak;
	int status, r;

	status = session_start_command(session, &setup);
	if (status != EXIT_DONE)
		return status;
	r = peak_find(session, is_page, table_needs(text) | NEED_ROLLUP, &peak);
	child_wait(&session->child);
	child_report(&session->child, name);
	if (r == 0 && peak.sample_count == 0) {
		message("%s: exited before it could be read", name);
		r = -ESRCH;
	}
	if (r == 0) {
		strbuf_addf(&text->out, "At its largest of %" PRIu64 " sample%s, ",
			    peak.sample_count, peak.sample_count == 1 ? "" : "s");
		if (peak.snapshot.elapsed_ns < NS_PER_MS)
			strbuf_add_text(&text->out, "at its start:\n");
		else
			strbuf_addf(
				&text->out, "%s after its start:\n",
				units_format_duration(peak.snapshot.elapsed_ns, elapsed));
		if (is_page)
			add_page(text, &peak.snapshot.usages[0], &peak.mappings);
		else
			add_table(text, &peak.snapshot);
		set_next_count(text);
		status = heaps_report_missing(session, &peak.snapshot);
	}
	peak_release(&peak);
	return r < 0 ? EXIT_FAILED : status;
}

/*
 * Read the selected sample of the recording, or the last earlier sample that contains a
 * target. For the one-page report, continue backwards to a sample that contains mappings.
 */
static int read_replay(struct text *text)
{
	struct session *session = text->session;
	const struct targets *targets = &session->options->targets;
	size_t i = session->replay_index;
	char utc[CLOCK_TEXT_SIZE];
	int r = replay_find_last(session->replay, targets, &i);

	if (r < 0 && r != -ENOENT)
		return r;
	clock_format_utc(replay_unix_ms(session->replay, session->replay_index), utc);
	if (i < session->replay_index)
		strbuf_addf(&text->out, "%s processes had ended by %s. Last sample:\n",
			    targets_are_all(targets) ? "All" : "The selected", utc);
	do {
		r = replay_read(session->replay, i, targets, &text->snapshot);
		session->replay_index = i;
	} while (r == 0 && wants_page(text) && text->snapshot.count == 1 &&
		 text->snapshot.usages[0].source == SOURCE_ROLLUP && i-- > 0);
	return r;
}

/* Show one sample of a recording: the one-page report on a single process, or a table. */
static int show_replay(struct text *text)
{
	struct session *session = text->session;
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct trend_reader reader;
	char utc[CLOCK_TEXT_SIZE];
	int r = read_replay(text);
	bool is_page = r == 0 && wants_page(text) && text->snapshot.count == 1 &&
		       text->snapshot.usages[0].source == SOURCE_SMAPS;

	if (is_page)
		r = replay_read_mappings(session->replay, session->replay_index,
					 &text->snapshot.usages[0].process, &mappings);
	if (r < 0) {
		recordings_report(session->options->recording.replay, r);
		return EXIT_FAILED;
	}
	strbuf_addf(&text->out, "At %s:\n",
		    clock_format_utc(text->snapshot.unix_ms, utc));
	if (!is_page)
		return show_table(text);
	trend_reader_init(&reader);
	if (trend_reader_add_past(&reader, session->replay, session->replay_index,
				  &session->options->targets) == 0)
		add_growth(text, reader.trends, GROWTH_FLOORS_MIN);
	trend_reader_release(&reader);
	add_page(text, &text->snapshot.usages[0], &mappings);
	mapping_list_release(&mappings);
	return EXIT_DONE;
}

/*
 * Take samples until the requested number is reached, the targets have ended, or a
 * signal arrives.
 */
static int watch_trends(struct text *text, struct trends *trends)
{
	struct session *session = text->session;
	const struct options *o = session->options;
	unsigned int needs = NEED_STAT | NEED_ROLLUP | NEED_STATES;
	struct schedule schedule;
	int pid;

	if (session->heaps)
		needs |= NEED_SMAPS | NEED_HEAP;
	heaps_set_patience(session, o->interval_ns / PATIENCE_PART);
	schedule_init(&schedule, clock_now_ns(), o->interval_ns);
	for (uint64_t n = 1;; n++) {
		struct trends_sample sample = { .processes = &text->snapshot };
		uint64_t min_ns;
		int r = take_sample(text, needs);

		if (r < 0)
			return r;
		sample.time_ns = text->snapshot.taken_ns;
		trends_add(trends, &sample);
		if (n == o->sample_count || text->snapshot.count == 0)
			return 0;
		min_ns = sampler_min_interval_ns(session->sampler, o->max_share_per_mille,
						 &pid);
		if (o->max_share_per_mille < 1000 && min_ns > schedule.interval_ns)
			schedule_set_interval(&schedule, clock_now_ns(), min_ns);
		schedule_advance(&schedule, clock_now_ns());
		signals_wait_until(schedule_due_ns(&schedule));
		if (signals_stop_count() > 0)
			return 0;
	}
}

/*
 * Show whether the memory need has grown over the samples, then the report
 * on the last sample.
 */
static int show_growth(struct text *text)
{
	struct trends *trends = trends_new();
	int r = watch_trends(text, trends), status = EXIT_FAILED;

	if (r == 0)
		add_growth(text, trends, 1);
	if (r < 0) {
		message_error(text->session->options->procfs_root, r);
	} else if (text->snapshot.count == 0 && trends_process_count(trends) > 0) {
		message("all watched processes have exited");
		status = EXIT_PARTIAL;
	} else {
		status = wants_page(text) ? show_page(text) : show_table(text);
	}
	trends_free(trends);
	return status;
}

static int show(struct text *text)
{
	int status;

	if (text->session->replay)
		status = show_replay(text);
	else if (text->session->options->command)
		status = show_peak(text);
	else if (text->session->options->has_interval)
		status = show_growth(text);
	else
		status = wants_page(text) ? show_page(text) : show_table(text);
	if (status == EXIT_FAILED)
		return status;
	conclusion_add_next(&text->out, &text->conclusion);
	session_end_reading(text->session);
	return stream_finish(&text->out, status);
}

int text_run(struct session *session)
{
	const struct options *o = session->options;
	struct text text = { .session = session };
	int status;

	heaps_begin(session);
	terminal_fit(&text.options);
	text.options.no_headings = o->no_headings;
	text.options.exact_bytes = o->exact_bytes;
	text.options.may_omit_zeros = !o->output && !o->output_all;
	snapshot_init(&text.snapshot);
	status = session_columns(o, &process_columns, process_columns.table_default,
				 &text.columns);
	if (status == EXIT_DONE)
		status = session_sort_key(o, &process_columns,
					  process_columns.sort_default, &text.sort,
					  &text.has_sort);
	if (status == EXIT_DONE)
		status = show(&text);
	column_list_release(&text.columns);
	snapshot_release(&text.snapshot);
	strbuf_release(&text.out);
	conclusion_release(&text.conclusion);
	return status;
}
