/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/units.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/cmd_compare.h"
#include "cmd/count_profile.h"
#include "cmd/message.h"
#include "cmd/program.h"
#include "cmd/session.h"
#include "cmd/signals.h"
#include "cmd/stream.h"
#include "cmd/text.h"
#include "cmd/variants.h"
#include "probe/count.h"
#include "render/count_report.h"

/* As env(1) and timeout(1) end, where the command's own status cannot be had. */
enum {
	EXIT_NOT_COUNTED = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_BY_SIGNAL = 128, /* plus its number */
};

struct counting {
	struct options *options;
	struct count_folder folder;
	struct count_list list;
	struct variants allocators; /* of --preload: none, or one */
	struct child child;
	struct column_list columns;
	struct strbuf out;
	struct count_report report;
	struct schedule schedule;
	uint64_t start_ns;
	bool has_line; /* on the terminal, to be overwritten */
	struct count_sums line_sums;
	uint64_t line_ns;
};

static bool is_series(const struct options *o)
{
	return o->has_interval && (o->format == FORMAT_CSV || o->format == FORMAT_JSON);
}

static bool has_line(const struct options *o)
{
	return o->format == FORMAT_AUTO && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

static int check_usage(const struct options *o)
{
	if (o->count.replay && o->command) {
		message_usage("count", "--replay shows a file: no command goes with it");
		return EXIT_BAD_USAGE;
	}
	if (!o->command && !o->count.replay) {
		message_usage("count", "which command? It goes after --");
		return EXIT_BAD_USAGE;
	}
	if (compare_is_wanted(o)) {
		message_usage("count", "--preload: one allocator is counted at a time");
		return EXIT_BAD_USAGE;
	}
	if (o->format == FORMAT_TEXT && o->has_interval) {
		message_usage("count", "-i goes with --csv, --json or a terminal: a report is one "
				       "sample");
		return EXIT_BAD_USAGE;
	}
	if ((o->output || o->output_all) && o->format != FORMAT_CSV && o->format != FORMAT_JSON) {
		message_usage("count", "-o goes with --csv or --json");
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

/* Whether the library can be preloaded into the command. Returns EXIT_DONE or how to end. */
static int check_command(const char *name)
{
	struct machine own, machine;
	int r = program_check(name, &machine);

	if (r == -ENOENT)
		return EXIT_NOT_FOUND;
	if (r == -EACCES || r == -ENOEXEC)
		return EXIT_NOT_EXECUTABLE;
	if (r < 0)
		return EXIT_NOT_COUNTED;
	if (machine_read("/proc/self/exe", &own) == 0 && !machine_is_same(&own, &machine)) {
		message("%s: is a %s program for another machine than memstate itself: it cannot be "
			"counted",
			name, machine_bits(&machine));
		return EXIT_NOT_COUNTED;
	}
	return EXIT_DONE;
}

static int find_library(const struct counting *c, char **ret)
{
	const char *allocator = c->allocators.count > 0 ? c->allocators.items[0].library : NULL;
	bool with_new = allocator && machine_exports(allocator, "_Znwm");
	int r = count_find_library(c->options->count.calls_only, with_new, ret);

	if (r == -EOPNOTSUPP)
		message("this memstate was built without what runs in other programs: it cannot "
			"count in them");
	else if (r == -ENOENT)
		message("%s: is not installed: it is what counts", *ret);
	else if (r < 0)
		message("%s: cannot be preloaded: ld.so(8) takes ':' and blanks for ends of names",
			*ret);
	return r < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/*
 * The library comes first, then the allocator that was asked for, then what is preloaded
 * anyway.
 */
static char **make_environment(const struct counting *c, char *library)
{
	_cleanup_strbuf_ struct strbuf folder = STRBUF_INIT;
	char **base = environ, **made;

	strbuf_addf(&folder, "%s=%s", count_folder_variable, c->folder.path);
	if (c->allocators.count > 0)
		base = variant_environment(&c->allocators.items[0], environ);
	made = variant_environment(&(struct variant){ .library = library,
						       .settings = (char *[]){ folder.text, NULL } },
				   base);
	if (base != environ)
		environment_free(base);
	return made;
}

static int start(struct counting *c)
{
	/* standard output is for what was counted */
	struct child_setup setup = { .input_fd = -1, .output_fd = STDERR_FILENO, .error_fd = -1 };
	_cleanup_free_ char *library = NULL;
	const char *where = NULL;
	char **environment;
	int r = find_library(c, &library);

	if (r != EXIT_DONE)
		return r;
	r = count_folder_create(&c->folder, &where);
	if (r < 0) {
		message_error(where ? where : "a folder to count in", r);
		return EXIT_NOT_COUNTED;
	}
	environment = make_environment(c, library);
	setup.environment = environment;
	c->start_ns = clock_now_ns();
	r = child_start(&c->child, c->options->command, &setup);
	environment_free(environment);
	if (r == 0)
		return EXIT_DONE;
	message_error(c->options->command[0], r);
	return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* What the command's process is now: the last program that it ran. */
static const struct count_program *find_own(const struct counting *c)
{
	const struct count_program *found = NULL;

	for (size_t i = 0; i < c->list.count; i++)
		if (c->list.programs[i].pid == c->child.pid)
			found = &c->list.programs[i];
	return found;
}

/* Returns 0; -ENOENT: nothing was counted of the command (yet); or -errno. */
static int read_counts(struct counting *c)
{
	const struct count_program *own;
	int r = count_folder_read(&c->folder, &c->list);

	if (r < 0)
		return r;
	own = find_own(c);
	c->report.list = &c->list;
	c->report.only = c->options->targets.with_children ? NULL : own;
	c->report.unix_ms = clock_unix_ms();
	c->report.elapsed_ns = clock_now_ns() - c->start_ns;
	return own ? 0 : -ENOENT;
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

	text_fit_terminal(&c->report.options);
	/* the last column stays free: a cursor behind it would go to the next line */
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

/* Returns 0, or -errno where nothing more can be written. */
static int take_sample(struct counting *c)
{
	schedule_advance(&c->schedule, clock_now_ns());
	if (read_counts(c) < 0)
		return 0; /* it is just starting; what cannot be read is said at the end */
	if (has_line(c->options))
		show_line(c);
	return is_series(c->options) ? write_rows(c) : 0;
}

/* ^C reaches the command by itself, the others it gets from us. A second one ends the wait. */
static bool goes_on(struct counting *c, int *stops)
{
	if (signals_stop_count() == *stops)
		return true;
	*stops = signals_stop_count();
	if (signals_last_stop() != SIGINT)
		child_signal(&c->child, signals_last_stop());
	return *stops < 2;
}

/* Until the command has ended. */
static int watch(struct counting *c)
{
	bool is_watched = is_series(c->options) || has_line(c->options);
	int stops = signals_stop_count();
	int r = 0;

	schedule_init(&c->schedule, c->start_ns, c->options->interval_ns);
	c->schedule.next = 1;
	c->line_ns = c->start_ns;
	child_poll(&c->child);
	while (r == 0 && !c->child.has_ended && goes_on(c, &stops)) {
		uint64_t due = is_watched ? schedule_due_ns(&c->schedule)
					  : clock_now_ns() + 60 * NS_PER_S;

		signals_wait_until(due);
		child_poll(&c->child);
		if (is_watched && !c->child.has_ended && clock_now_ns() >= due)
			r = take_sample(c);
	}
	erase_line(c);
	if (r < 0)
		child_wait(&c->child);
	return r;
}

static void say_what_is_missing(const struct counting *c)
{
	const struct count_program *own = find_own(c);
	uint64_t children = c->list.unreadable_count, threads = 0;

	for (size_t i = 0; i < c->list.count; i++) {
		children += c->list.programs[i].lost_children;
		threads += c->list.programs[i].lost_threads;
	}
	if (children > 0)
		message("%llu %s not counted: no room in %s, or no right to write there",
			(unsigned long long)children,
			children == 1 ? "process was" : "processes were", c->folder.path);
	if (threads > 0)
		message("%llu %s not counted: there was no room for them",
			(unsigned long long)threads, threads == 1 ? "thread was" : "threads were");
	if (own->has_other_new)
		message("hint: C++'s new and delete are the allocator's own here, and not counted: "
			"with --preload %s they are", own->allocator);
	if (!c->options->targets.with_children && c->list.count > 1)
		message("hint: %zu other %s counted too, children or before an exec: -t shows them",
			c->list.count - 1, c->list.count == 2 ? "program was" : "programs were");
}

/* Returns EXIT_DONE, or EXIT_NOT_COUNTED after the message. */
static int show(struct counting *c)
{
	const struct options *o = c->options;
	int r = read_counts(c);

	if (r == -ENOENT) {
		message("%s: was not counted: the library could not be preloaded, or found no "
			"room in %s",
			o->command[0], c->folder.path);
		return EXIT_NOT_COUNTED;
	}
	if (r < 0) {
		message_error(c->folder.path, r);
		return EXIT_NOT_COUNTED;
	}
	if (find_own(c)->has_other_malloc) {
		message("%s: was not counted: it has a malloc of its own", o->command[0]);
		return EXIT_NOT_COUNTED;
	}
	say_what_is_missing(c);
	if (o->format == FORMAT_CSV || o->format == FORMAT_JSON)
		return write_rows(c) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
	text_fit_terminal(&c->report.options);
	count_report_add_text(&c->out, &c->report);
	return stream_write(&c->out) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/* The command's own, as a shell would say it. */
static int status_of(const struct counting *c)
{
	int status = c->child.wait_status;

	if (!c->child.has_ended)
		return EXIT_BY_SIGNAL + signals_last_stop();
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	child_report(&c->child, c->options->command[0]);
	return EXIT_BY_SIGNAL + WTERMSIG(status);
}

static int run(struct counting *c)
{
	const struct options *o = c->options;
	int status;

	status = check_command(o->command[0]);
	if (status == EXIT_DONE && o->preload &&
	    variants_prepare(o->preload, o->command[0], &c->allocators) != EXIT_DONE)
		status = EXIT_NOT_COUNTED;
	if (status == EXIT_DONE)
		status = start(c);
	if (status != EXIT_DONE)
		return status;
	if (o->format == FORMAT_CSV && !o->no_headings) {
		csv_add_header(&c->out, &c->columns);
		status = stream_write(&c->out) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
	}
	if (watch(c) < 0 || status != EXIT_DONE)
		return EXIT_NOT_COUNTED;
	status = show(c);
	return status == EXIT_DONE ? status_of(c) : status;
}

static int count_run(struct options *o)
{
	struct counting c = {
		.options = o,
		.folder = COUNT_FOLDER_INIT,
		.report = {
			.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
			.options.exact_bytes = o->exact_bytes,
			.options.no_headings = o->no_headings,
		},
	};
	int status;

	status = check_usage(o);
	if (status == EXIT_DONE)
		status = session_columns(o, &count_columns, count_columns.csv_default, &c.columns);
	if (status == EXIT_DONE && o->count.replay) {
		status = count_profile_replay(o);
	} else if (status == EXIT_DONE) {
		signals_begin();
		status = run(&c);
	}
	variants_release(&c.allocators);
	count_list_release(&c.list);
	count_folder_release(&c.folder);
	column_list_release(&c.columns);
	strbuf_release(&c.out);
	return status;
}

const struct cmd cmd_count = {
	.name = "count",
	.args = "[OPTIONS] -- COMMAND [ARG...] | --replay FILE",
	.summary = "run a command, and count its calls of malloc and its like",
	.scope = SCOPE_COUNT,
	.takes_command = true,
	.columns = &count_columns,
	.run = count_run,
};
