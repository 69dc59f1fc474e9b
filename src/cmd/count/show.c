/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/show.h"

#include <string.h>

#include "base/io.h"
#include "base/strbuf.h"
#include "classify/profile/transform.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/count/options.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/count/flame_file.h"
#include "cmd/count/rules.h"
#include "cmd/session/session.h"
#include "render/profile/folded.h"
#include "render/profile/report.h"
#include "render/profile/speedscope.h"

/* default of --min in text reports: 1 % of the total */
#define MIN_DEFAULT (PROFILE_MIN_UNIT / 100)
/* default width of a report that is not on a terminal; C++ names can be longer */
#define WIDTH_DEFAULT 120

/* number of files that can be written in addition to the report */
enum {
	FILE_COUNT = 2
};

struct file {
	/* path of the file; NULL: the user requested none; "-": standard output */
	const char *path;
	void (*add)(struct strbuf *out, const struct profile *profile,
		    enum profile_metric metric);
};

static void list_files(const struct options *o, struct file ret[FILE_COUNT])
{
	const struct file files[FILE_COUNT] = {
		{ count_options(o)->folded, folded_add },
		{ count_options(o)->speedscope, speedscope_add },
	};

	memcpy(ret, files, sizeof(files));
}

static bool is_output(const struct file *file)
{
	return file->path && strcmp(file->path, "-") == 0;
}

static bool has_file_as_output(const struct file *files)
{
	for (size_t i = 0; i < FILE_COUNT; i++)
		if (is_output(&files[i]))
			return true;
	return false;
}

bool count_show_has_report(const struct options *o)
{
	struct file files[FILE_COUNT];

	list_files(o, files);
	return !has_file_as_output(files);
}

static int check_files(const struct options *o)
{
	struct file files[FILE_COUNT];
	int count = 0;

	list_files(o, files);
	for (size_t i = 0; i < FILE_COUNT; i++)
		count += is_output(&files[i]);
	if (count > 1 || (count == 1 && o->format != FORMAT_AUTO)) {
		message_usage("count", "-: only one option can write to standard output");
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

int count_show_check(const struct options *o)
{
	struct column_list columns = COLUMN_LIST_INIT;
	const char *needless = options_find_given(
		o, "metric min transform transforms folded speedscope flame-graph");
	struct count_rules rules;
	int status;

	if (!count_has_stacks(o)) {
		if (!needless)
			return EXIT_DONE;
		message_usage("count",
			      "--%s requires stacks: use --stacks, --sample, --live or "
			      "--replay",
			      needless);
		return EXIT_BAD_USAGE;
	}
	status = check_files(o);
	if (status == EXIT_DONE && o->stacks.flame_graph)
		status = flame_file_check("count", o->stacks.flame_graph);
	if (status == EXIT_DONE)
		status = session_columns(o, &profile_columns, profile_columns.csv_default,
					 &columns);
	if (status == EXIT_DONE) {
		status = count_rules_load(o, &rules);
		count_rules_release(&rules);
	}
	column_list_release(&columns);
	return status;
}

static void add_known(struct strbuf *out, const struct profile *profile)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		if (profile->known & 1U << m)
			strbuf_addf(out, " %s", profile_metrics[m].name);
}

static enum profile_metric default_metric(const struct options *o,
					  const struct profile *profile)
{
	uint64_t sums[PROFILE_METRIC_COUNT_];

	profile_sum(profile, sums);
	if (count_options(o)->live)
		return sums[PROFILE_LIVE] > 0 ? PROFILE_LIVE : PROFILE_PEAK;
	/*
	 * in a sampled profile, few samples represent many small blocks, so the number of
	 * allocations is less accurate than the number of bytes
	 */
	return profile->sample_bytes > 0 ? PROFILE_BYTES : PROFILE_ALLOCATIONS;
}

/*
 * Choose the metric to show in the report. Return EXIT_DONE, or print a message and
 * return EXIT_FAILED.
 */
static int choose_metric(const struct options *o, const struct profile *profile,
			 enum profile_metric *ret)
{
	enum profile_metric metric = o->stacks.has_metric ? o->stacks.metric
							  : default_metric(o, profile);

	if (o->stacks.has_metric && !(profile->known & 1U << metric)) {
		_cleanup_strbuf_ struct strbuf known = STRBUF_INIT;

		add_known(&known, profile);
		message("--metric %s: not available; available metrics:%s",
			profile_metrics[metric].name, strbuf_text(&known));
		return EXIT_FAILED;
	}
	if (!(profile->known & 1U << metric))
		metric = PROFILE_ALLOCATIONS;
	while (!(profile->known & 1U << metric) && metric + 1 < PROFILE_METRIC_COUNT_)
		metric++;
	*ret = metric;
	return EXIT_DONE;
}

static int write_files(const struct options *o, const struct profile *profile,
		       enum profile_metric metric)
{
	struct file files[FILE_COUNT];
	int status = EXIT_DONE;

	list_files(o, files);
	for (size_t i = 0; i < FILE_COUNT; i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		int r;

		if (!files[i].path)
			continue;
		files[i].add(&out, profile, metric);
		if (is_output(&files[i])) {
			/* stream_write_file() prints a message on failure */
			r = stream_write_file(&out);
		} else {
			r = io_write_file_atomic(files[i].path, strbuf_text(&out),
						 out.length, 0666);
			if (r < 0)
				message_error(files[i].path, r);
		}
		if (r < 0)
			status = EXIT_FAILED;
	}
	return status;
}

static int show_report(const struct options *o, struct profile_report *report, int status)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct column_list columns = COLUMN_LIST_INIT;
	bool is_text = o->format == FORMAT_AUTO || o->format == FORMAT_TEXT;

	report->min = count_options(o)->has_min ? (unsigned int)count_options(o)->min
		      : is_text			? MIN_DEFAULT
						: 0;
	report->is_min_given = count_options(o)->has_min;
	report->top = o->top ? (size_t)o->top : is_text ? OPTIONS_TEXT_TOP : 0;
	report->options.exact_bytes = o->exact_bytes;
	report->options.no_headings = o->no_headings;
	if (session_columns(o, &profile_columns, profile_columns.csv_default, &columns) !=
	    EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (o->format == FORMAT_JSON) {
		profile_report_add_json(&out, report, &columns);
	} else if (o->format == FORMAT_CSV) {
		if (!o->no_headings)
			csv_add_header(&out, &columns);
		profile_report_add_csv(&out, report, &columns);
	} else {
		terminal_fit(&report->options);
		if (report->options.max_width == 0)
			report->options.max_width = WIDTH_DEFAULT;
		report->is_head_printed = count_records_stacks(o);
		profile_report_add_text(&out, report);
	}
	column_list_release(&columns);
	return stream_finish(&out, status);
}

/* The profile to show, with the rules applied, and the original profile. */
struct shown {
	const struct profile *profile, *original;
	const struct count_rules *rules;
};

/* Append a short title for the report. The full command is shown below the title. */
static void add_title(struct strbuf *out, const struct options *o,
		      const struct profile *profile)
{
	const char *command = profile->command;
	size_t length = command ? strcspn(command, " ") : 0;

	if (length == 0) {
		strbuf_addf(out, "Allocations in %s",
			    count_options(o)->replay ? count_options(o)->replay
						     : "a program");
		return;
	}
	for (size_t i = length; i-- > 0;)
		if (command[i] == '/') {
			command += i + 1;
			length -= i + 1;
			break;
		}
	strbuf_addf(out, "Allocations of %.*s", (int)length, command);
}

static int draw(const struct options *o, const struct shown *shown,
		enum profile_metric metric)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct flame_page page = {
		.metric = metric,
		.rules = &shown->rules->given,
		.sets = &shown->rules->sets,
	};

	add_title(&title, o, shown->original);
	page.title = title.text;
	return flame_file_write(o->stacks.flame_graph, shown->original, shown->profile,
				&page);
}

static int show(const struct options *o, const struct shown *shown)
{
	struct profile_report report = { .profile = shown->profile };
	struct file files[FILE_COUNT];
	uint64_t whole[PROFILE_METRIC_COUNT_];
	int status = choose_metric(o, shown->profile, &report.metric);

	if (status != EXIT_DONE)
		return status;
	if (shown->original != shown->profile) {
		profile_sum(shown->original, whole);
		report.whole = whole;
	}
	status = write_files(o, shown->profile, report.metric);
	if (o->stacks.flame_graph && draw(o, shown, report.metric) < 0)
		status = EXIT_FAILED;
	list_files(o, files);
	return has_file_as_output(files) ? status : show_report(o, &report, status);
}

static int show_changed(const struct options *o, const struct profile *profile,
			const struct count_rules *rules)
{
	struct transform_error error;
	struct profile changed;
	int status;

	if (profile_transform(profile, &rules->rules, &changed, &error) < 0) {
		message("%s", error.why);
		return EXIT_FAILED;
	}
	status = show(o, &(struct shown){ &changed, profile, rules });
	profile_release(&changed);
	return status;
}

int count_show_profile(const struct options *o, const struct profile *profile)
{
	struct count_rules rules;
	int status = count_rules_load(o, &rules);

	if (status == EXIT_DONE)
		status = rules.rules.count > 0
				 ? show_changed(o, profile, &rules)
				 : show(o, &(struct shown){ profile, profile, &rules });
	count_rules_release(&rules);
	return status;
}
