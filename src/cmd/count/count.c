/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/compare/compare.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/count/options.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/count/attached.h"
#include "cmd/count/profile.h"
#include "cmd/count/runs.h"
#include "cmd/count/scale.h"
#include "cmd/count/show.h"
#include "cmd/run/count_child.h"
#include "cmd/run/count_families.h"
#include "cmd/run/program.h"
#include "cmd/run/variants.h"
#include "cmd/session/next.h"
#include "cmd/session/session.h"
#include "render/profile/count_report.h"
#include "render/profile/report.h"

struct counting {
	struct options *options;
	struct count_child counted;
	/* allocator from --preload; empty without the option */
	struct variants allocators;
	struct column_list columns;
	struct strbuf out, stack_mode;
	struct count_report report;
	struct schedule schedule;
	/* true if the terminal shows a status line, which the next output overwrites */
	bool has_line;
	struct count_sums line_sums;
	uint64_t line_ns;
	/* name of the command's own allocator if it cannot be counted, or NULL */
	const char *uncovered;
};

static bool is_series(const struct options *o)
{
	return o->has_interval && (o->format == FORMAT_CSV || o->format == FORMAT_JSON);
}

/*
 * Return true if standard output is machine-readable, so it must contain only one kind
 * of data.
 */
static bool is_machine_read(const struct options *o)
{
	return o->format == FORMAT_CSV || o->format == FORMAT_JSON ||
	       !count_show_has_report(o);
}

static bool has_line(const struct options *o)
{
	return o->format == FORMAT_AUTO && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

static int check_usage(const struct options *o)
{
	const struct count_options *own = count_options(o);
	const char *of_command = options_find_given(o, "preload runs warm-up check");
	bool is_attached = !targets_are_all(&o->targets);
	int source_count = (o->command != NULL) + (own->replay != NULL) +
			   (own->scale != NULL) + is_attached;
	bool has_rows = o->format == FORMAT_CSV || o->format == FORMAT_JSON;
	const char *problem = NULL;
	int status;

	if (is_attached && of_command && source_count == 1) {
		message_usage("count",
			      "--%s requires a command and cannot be combined "
			      "with -p",
			      of_command);
		return EXIT_BAD_USAGE;
	}
	if (count_profile_check_usage(o) != EXIT_DONE ||
	    count_scale_check_usage(o) != EXIT_DONE ||
	    count_runs_check_usage(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (source_count > 1)
		problem = "a command, -p, --scale and --replay are mutually exclusive";
	else if (source_count == 0)
		problem = "nothing to count; use -- COMMAND to run a program, or -p "
			  "PID|NAME";
	else if (!is_attached && options_find_given(o, "probe"))
		problem = "--probe requires -p";
	else if (!is_attached && o->sample_count > 0)
		problem = "-n requires -p";
	else if (compare_is_wanted(o))
		problem = "--preload accepts only one allocator when counting";
	else if (o->format == FORMAT_TEXT && o->has_interval)
		problem = "-i requires --csv, --json or a terminal: a report consists of "
			  "one sample";
	else if ((o->output || o->output_all) && !has_rows)
		problem = "-o requires --csv or --json";
	if (problem) {
		message_usage("count", "%s", problem);
		return EXIT_BAD_USAGE;
	}
	status = count_show_check(o);
	/* git bisect(1) would interpret status 1 as a bad revision */
	return status == EXIT_FAILED && o->command ? EXIT_NOT_COUNTED : status;
}

static void begin_report(struct counting *c)
{
	c->report.list = &c->counted.list;
	c->report.only = c->options->targets.with_children ? NULL : c->counted.own;
	c->report.unix_ms = clock_unix_ms();
	c->report.elapsed_ns = clock_now_ns() - c->counted.start_ns;
}

static void erase_line(struct counting *c)
{
	if (c->has_line)
		(void)io_write_all(STDERR_FILENO, "\r\033[K", 4);
	c->has_line = false;
}

static void show_line(struct counting *c)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	uint64_t now = clock_now_ns();

	terminal_fit(&c->report.options);
	/*
	 * leave the last column empty, so that the cursor does not wrap to the next line
	 */
	if (c->report.options.max_width > 0)
		c->report.options.max_width--;
	count_report_add_line(&line, &c->report, &c->line_sums, now - c->line_ns);
	count_report_sum(&c->report, &c->line_sums);
	c->line_ns = now;
	erase_line(c);
	(void)io_write_all(STDERR_FILENO, line.text, line.length);
	c->has_line = true;
}

static int write_rows(struct counting *c)
{
	if (c->options->format == FORMAT_JSON)
		count_report_add_json(&c->out, &c->report, &c->columns);
	else
		count_report_add_csv(&c->out, &c->report, &c->columns);
	return stream_write(&c->out);
}

/* Take a sample and show it. Return 0, or -errno if the output cannot be written. */
static int take_sample(struct counting *c)
{
	schedule_advance(&c->schedule, clock_now_ns());
	if (count_child_read(&c->counted) < 0)
		/*
		 * ignore the error, because the command is still starting;
		 * count_child_read_end() reports errors that persist
		 */
		return 0;
	begin_report(c);
	if (has_line(c->options))
		show_line(c);
	return is_series(c->options) ? write_rows(c) : 0;
}

/*
 * Wait until the command has ended. If samples were requested, take and show them while
 * waiting. Return 0 or -errno.
 */
static int watch(struct counting *c)
{
	bool is_watched = is_series(c->options) || has_line(c->options);
	int stops = signals_stop_count();
	int r = 0;

	schedule_init(&c->schedule, c->counted.start_ns, c->options->interval_ns);
	c->schedule.next = 1;
	c->line_ns = c->counted.start_ns;
	child_poll(&c->counted.child);
	while (r == 0 && !c->counted.child.has_ended &&
	       count_child_must_wait(&c->counted, &stops)) {
		uint64_t due = is_watched ? schedule_due_ns(&c->schedule)
					  : clock_now_ns() + 60 * NS_PER_S;

		signals_wait_until(due);
		child_poll(&c->counted.child);
		if (is_watched && !c->counted.child.has_ended && clock_now_ns() >= due)
			r = take_sample(c);
	}
	erase_line(c);
	if (r < 0)
		child_wait(&c->counted.child);
	return r;
}

static void report_missing(const struct counting *c)
{
	const struct count_list *list = &c->counted.list;
	uint64_t children = list->unreadable_count, threads = 0;
	uint64_t filtered_children = 0, filtered_threads = 0;

	if (c->uncovered)
		message("%s: " COUNT_UNCOVERED_FORMAT, c->options->command[0],
			c->uncovered);
	for (size_t i = 0; i < list->count; i++) {
		const struct count_program *p = &list->programs[i];

		*(p->has_filter ? &filtered_children : &children) += p->lost_children;
		*(p->has_filter ? &filtered_threads : &threads) += p->lost_threads;
	}
	if (children > 0)
		message("%llu %s not counted: %s: %s", (unsigned long long)children,
			children == 1 ? "process was" : "processes were",
			c->counted.folder.path, count_folder_problem(&c->counted.folder));
	if (threads > 0)
		message("%llu %s not counted: no space for their counts",
			(unsigned long long)threads,
			threads == 1 ? "thread was" : "threads were");
	if (filtered_children > 0)
		message("%llu forked %s not counted: a seccomp filter restricts the "
			"program",
			(unsigned long long)filtered_children,
			filtered_children == 1 ? "process was" : "processes were");
	if (filtered_threads > 0)
		message("%llu %s not counted: a seccomp filter restricts the program",
			(unsigned long long)filtered_threads,
			filtered_threads == 1 ? "thread was" : "threads were");
	count_child_hint(&c->counted, c->options->targets.with_children);
}

/*
 * Show the profile of the recorded stacks. Return EXIT_DONE, or print a message and
 * return EXIT_NOT_COUNTED.
 */
static int show_profile(const struct counting *c)
{
	const struct count_profile_origin origin = {
		.folder = &c->counted.folder,
		.list = &c->counted.list,
		.only = c->report.only,
		.command = c->options->command,
		.elapsed_ns = c->report.elapsed_ns,
	};

	return count_profile_show(c->options, &origin) == EXIT_DONE ? EXIT_DONE
								    : EXIT_NOT_COUNTED;
}

/* Append the options and the command, quoted for a shell. */
static void add_origin(struct strbuf *out, const struct options *o)
{
	if (o->preload) {
		strbuf_add_text(out, " --preload ");
		text_add_shell_word(out, o->preload);
	}
	strbuf_add_text(out, " --");
	next_add_command(out, o->command);
}

/*
 * Show the counts. Return EXIT_DONE, or print a message and return EXIT_NOT_COUNTED.
 */
static int show(struct counting *c)
{
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;
	const struct options *o = c->options;
	int status = count_child_read_end(&c->counted);

	if (status != EXIT_DONE)
		return status;
	begin_report(c);
	report_missing(c);
	if (count_records_stacks(o) && is_machine_read(o))
		/*
		 * standard output contains only the stacks, so do not write
		 * the counts there
		 */
		return EXIT_DONE;
	if (o->format == FORMAT_CSV || o->format == FORMAT_JSON)
		return write_rows(c) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
	terminal_fit(&c->report.options);
	add_origin(&command, o);
	c->report.origin.command = command.text;
	c->report.origin.has_stacks = count_records_stacks(o);
	count_report_add_text(&c->out, &c->report);
	if (count_records_stacks(o))
		strbuf_add_char(&c->out, '\n');
	return stream_write(&c->out) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/*
 * Check whether the program has allocation functions other than malloc, as Go programs
 * do. Print a message and return EXIT_PARTIAL if nothing that the program allocates can
 * be counted, or if limits would be checked against incomplete figures. Otherwise
 * return EXIT_DONE.
 */
static int check_covered(struct counting *c, const char *name)
{
	const struct options *o = c->options;
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
	bool is_static = false;

	if (count_options(o)->scale)
		return EXIT_DONE;
	c->uncovered = program_is_go(name, &is_static) ? count_uncovered_go
						       : program_find_entry_point(name);
	if (!c->uncovered)
		c->uncovered = program_find_linked_in(name);
	if (!c->uncovered)
		c->uncovered = count_families_find(name, NULL, &unused);
	if (!c->uncovered)
		return EXIT_DONE;
	if (!is_static && !count_runs_are_wanted(o))
		return EXIT_DONE;
	message("%s: " COUNT_UNCOVERED_FORMAT, name, c->uncovered);
	return EXIT_PARTIAL;
}

/*
 * Return the command's exit status. If the command has an allocator whose calls cannot be
 * counted, return EXIT_PARTIAL instead of 0.
 */
static int find_status(const struct counting *c)
{
	int status = count_child_status(&c->counted);

	return status == 0 && c->uncovered ? EXIT_PARTIAL : status;
}

static int run(struct counting *c)
{
	const struct options *o = c->options;
	const char *name = count_options(o)->scale ? count_scale_shell : o->command[0];
	const struct variant *allocator;
	int status;

	status = check_covered(c, name);
	if (status == EXIT_DONE)
		status = count_child_check(name);
	if (status == EXIT_DONE && o->preload &&
	    variants_prepare(o->preload, name, &c->allocators) != EXIT_DONE)
		status = EXIT_NOT_COUNTED;
	if (status != EXIT_DONE)
		return status;
	allocator = c->allocators.count > 0 ? &c->allocators.items[0] : NULL;
	if (count_options(o)->scale)
		return count_scale_run(o, allocator);
	if (count_runs_are_wanted(o))
		return count_runs_run(o, allocator);
	c->counted.command = o->command;
	c->counted.allocator = allocator;
	c->counted.what.library = count_options(o)->calls_only ? COUNT_LIBRARY_CALLS
							       : COUNT_LIBRARY_BLOCKS;
	if (count_records_stacks(o)) {
		c->counted.what.library = COUNT_LIBRARY_STACKS;
		count_profile_add_mode(o, &c->stack_mode);
		c->counted.what.stack_mode = strbuf_text(&c->stack_mode);
	}
	/* reserve standard output for the counts */
	c->counted.output_fd = STDERR_FILENO;
	status = count_child_start(&c->counted);
	if (status != EXIT_DONE)
		return status;
	if (o->format == FORMAT_CSV && !o->no_headings && !count_records_stacks(o)) {
		csv_add_header(&c->out, &c->columns);
		status = stream_write(&c->out) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
	}
	if (watch(c) < 0 || status != EXIT_DONE)
		return EXIT_NOT_COUNTED;
	status = show(c);
	if (status == EXIT_DONE && count_records_stacks(o))
		status = show_profile(c);
	return status == EXIT_DONE ? find_status(c) : status;
}

static int count_run(struct options *o)
{
	struct counting c = {
		.options = o,
		.counted = COUNT_CHILD_INIT,
		.report = {
			.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
			.options.exact_bytes = o->exact_bytes,
			.options.no_headings = o->no_headings,
		},
	};
	int status;

	status = check_usage(o);
	if (status == EXIT_DONE && count_options(o)->replay)
		return count_profile_replay(o);
	if (status == EXIT_DONE && !count_records_stacks(o))
		status = session_columns(o, &count_columns, count_columns.csv_default,
					 &c.columns);
	if (status == EXIT_DONE && !targets_are_all(&o->targets)) {
		status = count_attached_run(o, &c.columns);
	} else if (status == EXIT_DONE) {
		signals_begin();
		status = run(&c);
	}
	/* git bisect(1) would interpret these statuses as a bad revision */
	if (count_options(o)->check &&
	    (status == EXIT_NOT_FOUND || status == EXIT_NOT_EXECUTABLE || c.uncovered))
		status = EXIT_NOT_COUNTED;
	variants_release(&c.allocators);
	count_child_release(&c.counted);
	column_list_release(&c.columns);
	strbuf_release(&c.out);
	strbuf_release(&c.stack_mode);
	return status;
}

static const struct column_set *find_columns(const struct options *o)
{
	return count_has_stacks(o) ? &profile_columns : &count_columns;
}

const struct cmd cmd_count = {
	.name = "count",
	.args = "[OPTIONS] -- COMMAND | -p PID|NAME | --replay FILE",
	.summary = "count the malloc and free calls of a command or a process",
	.shared = "pid tree text csv json interval samples output output-all "
		  "list-columns no-headings bytes top metric transform "
		  "transforms flame-graph",
	.own = count_own_rows,
	.options_size = sizeof(count_defaults),
	.defaults = &count_defaults,
	.takes_command = true,
	.find_columns = find_columns,
	.run = count_run,
};
