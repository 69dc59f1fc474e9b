/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/runs.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/count/options.h"
#include "cmd/count/check.h"
#include "cmd/run/count_child.h"
#include "cmd/run/run_files.h"
#include "cmd/session/session.h"
#include "render/profile/count_report.h"
#include "render/profile/runs_report.h"

/*
 * Maximum time in ns until memstate checks again whether the command has ended. Normally,
 * SIGCHLD ends the wait earlier.
 */
#define WAIT_NS (60 * NS_PER_S)

bool count_runs_are_wanted(const struct options *o)
{
	return o->has_run_count || count_options(o)->check;
}

static int refuse(const char *what, const char *why)
{
	message_usage("count", "%s %s", what, why);
	return EXIT_BAD_USAGE;
}

int count_runs_check_usage(const struct options *o)
{
	const struct count_options *c = count_options(o);

	if (!count_runs_are_wanted(o)) {
		if (o->warm_up_count > 0 && !c->scale)
			return refuse("--warm-up", "requires --runs");
		return c->iterations > 1
			       ? refuse("--iterations", "requires --runs or --check")
			       : EXIT_DONE;
	}
	if (o->has_interval)
		return refuse("-i", "cannot be combined with counting several runs");
	return EXIT_DONE;
}

/*
 * Join the arguments of a command with spaces, for display. Arguments that contain spaces
 * are not quoted. The caller frees the string.
 */
static char *count_runs_join(char *const *words)
{
	struct strbuf joined = STRBUF_INIT;

	for (size_t i = 0; words[i]; i++)
		strbuf_addf(&joined, "%s%s", i > 0 ? " " : "", words[i]);
	return strbuf_take(&joined);
}

/* Sum the counts of all programs in the run. */
static void sum_programs(const struct count_child *child, struct count_program *ret)
{
	const struct count_list *list = &child->list;
	const char *slash = strrchr(child->command[0], '/');

	*ret = list->programs[0];
	if (list->count == 1)
		return;
	text_copy(ret->name, sizeof(ret->name), slash ? slash + 1 : child->command[0]);
	ret->pid = child->child.pid;
	ret->peak_live_bytes = ret->peak_error_bytes = BYTES_UNKNOWN;
	for (size_t i = 1; i < list->count; i++) {
		count_sums_add(&ret->sums, &list->programs[i].sums);
		ret->thread_count += list->programs[i].thread_count;
	}
}

static void add_run(struct count_runs *runs, const struct count_child *child,
		    bool with_children)
{
	struct count_run *run;

	runs->items = xgrow(runs->items, &runs->capacity, runs->count + 1,
			    sizeof(*runs->items));
	run = &runs->items[runs->count++];
	*run = (struct count_run){
		.number = (unsigned int)runs->count,
		.size = BYTES_UNKNOWN,
		.program_count = 1,
		.peak_rss_bytes = count_child_peak_rss(child),
		.unix_ms = clock_unix_ms(),
		.elapsed_ns = clock_now_ns() - child->start_ns,
	};
	if (child->own && !with_children) {
		run->program = *child->own;
	} else {
		sum_programs(child, &run->program);
		run->program_count = child->list.count;
	}
	run->program.threads = NULL;
	run->program.listed_count = run->program.thread_capacity = 0;
}

static void report_progress(const struct run_plan *plan, uint64_t number)
{
	if (isatty(STDERR_FILENO))
		message("run %" PRIu64 " of %" PRIu64, number + 1,
			plan->warm_up_count + plan->run_count);
}

/*
 * Report processes or threads that are missing from the figures. Return EXIT_DONE
 * or EXIT_NOT_COUNTED.
 */
static int check_complete(const struct count_child *child)
{
	const struct count_list *list = &child->list;
	uint64_t missing = list->unreadable_count, filtered = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct count_program *p = &list->programs[i];

		*(p->has_filter ? &filtered : &missing) +=
			p->lost_children + p->lost_threads;
	}
	if (missing > 0)
		message("%s: one of its processes or threads was not counted: %s: %s",
			child->command[0], child->folder.path,
			count_folder_problem(&child->folder));
	else if (filtered > 0)
		message("%s: one of its processes or threads was not counted: a "
			"seccomp filter restricts the program",
			child->command[0]);
	return missing + filtered > 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/*
 * Make one run, and add it to *runs if its figures are complete, because incomplete
 * figures cannot be compared. Return EXIT_DONE, or memstate's exit status.
 */
static int make_one(const struct run_plan *plan, struct count_child *child,
		    struct count_runs *runs)
{
	int stops = signals_stop_count();
	int status;

	status = count_child_start(child);
	if (status != EXIT_DONE)
		return status;
	child_poll(&child->child);
	while (!child->child.has_ended && count_child_must_wait(child, &stops)) {
		signals_wait_until(clock_now_ns() + WAIT_NS);
		child_poll(&child->child);
	}
	if (signals_stop_count() > 0)
		return EXIT_BY_SIGNAL + signals_last_stop();
	status = count_child_read_end(child);
	if (status != EXIT_DONE)
		return status;
	status = check_complete(child);
	if (status == EXIT_DONE && runs)
		add_run(runs, child, plan->with_children);
	return status;
}

int count_runs_make(const struct run_plan *plan, struct count_runs *runs, int *ret_status)
{
	uint64_t count = plan->warm_up_count + plan->run_count;

	*ret_status = 0;
	for (uint64_t i = 0; i < count; i++) {
		_cleanup_close_ int input_fd = run_files_open_input();
		struct count_child child = COUNT_CHILD_INIT;
		int status;

		child.command = plan->command;
		child.allocator = plan->allocator;
		child.what.library = plan->calls_only ? COUNT_LIBRARY_CALLS
						      : COUNT_LIBRARY_BLOCKS;
		child.input_fd = input_fd;
		/* reserve standard output for the counts */
		child.output_fd = STDERR_FILENO;
		report_progress(plan, i);
		status = make_one(plan, &child, i < plan->warm_up_count ? NULL : runs);
		if (status == EXIT_DONE && plan->with_hints && i + 1 == count)
			count_child_hint(&child, plan->with_children);
		if (status == EXIT_DONE && *ret_status == 0)
			*ret_status = count_child_status(&child);
		count_child_release(&child);
		if (status != EXIT_DONE)
			return status;
	}
	return EXIT_DONE;
}

static int show(const struct options *o, const struct runs_report *report,
		const struct column_list *columns)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	switch (o->format) {
	case FORMAT_CSV:
		if (!o->no_headings)
			csv_add_header(&out, columns);
		runs_report_add_csv(&out, report, columns);
		break;
	case FORMAT_JSON: runs_report_add_json(&out, report, columns); break;
	default: runs_report_add_text(&out, report);
	}
	return stream_write(&out) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/*
 * Show the finished runs, and check them against the limits. command_status is the exit
 * status that count_runs_make() stored in *ret_status.
 */
static int show_and_check(const struct options *o, const struct count_runs *runs,
			  const struct column_list *columns, int command_status)
{
	_cleanup_free_ char *command = count_runs_join(o->command);
	struct count_check check = COUNT_CHECK_INIT;
	struct runs_report report = { .runs = runs, .command = command };
	struct count_stats stats;
	int status = EXIT_DONE, shown;

	count_stats_init(&stats, runs);
	report.stats = &stats;
	terminal_fit(&report.options);
	if (count_options(o)->check && command_status == 0) {
		status =
			count_check_begin(&check, o, runs->items[0].program.name, &stats);
		report.limits = check.limits;
		report.limit_count = check.limit_count;
	}
	shown = show(o, &report, columns);
	if (status == EXIT_DONE && count_options(o)->check && command_status == 0)
		status = count_check_end(&check, &stats);
	count_check_release(&check);
	if (shown != EXIT_DONE || status != EXIT_DONE || command_status == 0)
		return shown != EXIT_DONE ? shown : status;
	if (!count_options(o)->check)
		return command_status;
	message("%s: exited with status %d: the limits cannot be checked", o->command[0],
		command_status);
	return EXIT_NOT_COUNTED;
}

int count_runs_run(const struct options *o, const struct variant *allocator)
{
	const struct run_plan plan = {
		.command = o->command,
		.allocator = allocator,
		.calls_only = count_options(o)->calls_only,
		.with_children = o->targets.with_children,
		.run_count = o->run_count,
		.warm_up_count = o->warm_up_count,
		.with_hints = true,
	};
	struct count_runs runs = { .iterations = count_options(o)->iterations };
	struct column_list columns = COLUMN_LIST_INIT;
	int status, command_status;

	status = session_columns(o, &count_columns, runs_csv_default, &columns);
	if (status != EXIT_DONE)
		return status;
	status = count_runs_make(&plan, &runs, &command_status);
	if (status == EXIT_DONE)
		status = show_and_check(o, &runs, &columns, command_status);
	count_runs_release(&runs);
	column_list_release(&columns);
	return status;
}
