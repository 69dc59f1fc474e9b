/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <signal.h>

#include "base/units.h"
#include "cmd/compare/compare.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/process/screen.h"
#include "cmd/process/series.h"
#include "cmd/process/text.h"
#include "cmd/recording/page.h"
#include "cmd/session/groups.h"
#include "cmd/session/heaps.h"
#include "cmd/session/recordings.h"
#include "cmd/session/session.h"
#include "render/compare/report.h"
#include "ui/ui.h"

static bool wants_screen(const struct options *o)
{
#if HAVE_NCURSES
	return o->format == FORMAT_AUTO && ui_can_run();
#else
	(void)o;
	return false;
#endif
}

/*
 * Return true if a text report can show how processes have grown. Growth is shown only
 * for live processes that the user named, or for a cgroup.
 */
static bool watches_growth(const struct options *o)
{
	return !wants_screen(o) && !o->command && !o->recording.replay &&
	       (!targets_are_all(&o->targets) || o->cgroup);
}

static int check_preload(const struct options *o)
{
	const char *compares = options_find_given(
		o,
		"runs warm-up workload ready settle stop-signal above count output-dir");

	if (o->preload && !o->command) {
		message_usage(NULL, "--preload requires a command after --");
		return EXIT_BAD_USAGE;
	}
	if (compare_is_wanted(o))
		return EXIT_DONE;
	if (!compares && o->html && !o->recording.replay) {
		message_usage(NULL,
			      "--html requires a recording (--replay) or a comparison "
			      "(--preload with at least two allocators)");
		return EXIT_BAD_USAGE;
	}
	if (!compares)
		return recording_page_check_options(o);
	message_usage(NULL, "--%s requires --preload with at least two allocators",
		      compares);
	return EXIT_BAD_USAGE;
}

static int check_combination(const struct options *o)
{
	if ((o->heap == HEAP_WALK || o->heap == HEAP_HELPER) &&
	    targets_are_all(&o->targets) && !o->cgroup && !o->command) {
		message_usage(NULL, "--heap %s pauses processes: select them with -p",
			      o->heap == HEAP_WALK ? "walk" : "helper");
		return EXIT_BAD_USAGE;
	}
	if (heaps_check_options(o) != EXIT_DONE ||
	    recordings_check_options(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (o->format == FORMAT_CSV || o->format == FORMAT_JSON)
		return EXIT_DONE;
	if (o->sample_count > 0 && !(o->sample_count == 1 && !wants_screen(o)) &&
	    !(watches_growth(o) && o->has_interval)) {
		message_usage(NULL,
			      "-n requires --csv or --json, or -p with --text and -i");
		return EXIT_BAD_USAGE;
	}
	if (o->has_interval && !o->command && !wants_screen(o) && !watches_growth(o)) {
		message_usage(
			NULL,
			"-i requires --csv, --json, -p, a command or the interactive "
			"screen: a report on all processes consists of one sample");
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

static int show(struct session *session)
{
	const struct options *o = session->options;
	int status = EXIT_DONE;

	if (recording_page_is_wanted(o))
		return recording_page_write(session);
	if (o->format == FORMAT_CSV || o->format == FORMAT_JSON)
		return series_run(session);
	if (o->recording.record)
		status = recordings_begin(o, session->sampler, &session->recorder);
	if (status != EXIT_DONE)
		return status;
#if HAVE_NCURSES
	if (wants_screen(o))
		status = screen_run(session);
	else
#endif
		status = text_run(session);
	return recordings_finish(o, session->recorder, status);
}

static int watch_run(struct options *o)
{
	struct session session;
	int status;

	status = groups_check_options(o);
	if (status == EXIT_DONE)
		status = check_preload(o);
	if (status == EXIT_DONE && compare_is_wanted(o))
		return compare_run(o);
	if (status == EXIT_DONE)
		status = check_combination(o);
	if (status != EXIT_DONE)
		return status;
	status = session_begin(&session, o);
	if (status != EXIT_DONE)
		return status;
	status = groups_begin(&session);
	if (status == EXIT_DONE) {
		signals_begin();
		status = show(&session);
	}
	groups_end(&session);
	session_end(&session);
	return status;
}

static const struct column_set *find_columns(const struct options *o)
{
	return compare_is_wanted(o) ? &compare_columns : &process_columns;
}

#define MEMBER(member) offsetof(struct compare_options, member)

static int set_theme(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return theme_find(arg, &o->theme);
}

static const struct option_row own_rows[] = {
	{ 0, "heap", "auto|walk|helper|off", "choose how heaps are read (default auto)",
	  .group = OPTIONS_HEAP, .is_rare = true, .set = option_set_heap,
	  .want = OPTION_HEAP_WANT },
	{ 0, "max-pause", "T",
	  "pause a process for at most T (default 1s; 250ms with --heap auto)",
	  .group = OPTIONS_HEAP, .is_rare = true, .flag = MEMBER(common.has_max_pause),
	  .set = option_set_duration, .value = MEMBER(common.max_pause_ns),
	  .want = "a time, such as 500ms or 2s" },
	{ 0, "theme", "auto|dark|light|mono",
	  "choose the colours of the screen (default auto)", .group = OPTIONS_OUTPUT,
	  .is_rare = true, .set = set_theme, .want = "auto, dark, light or mono" },
	{ 0, "no-config", NULL, "neither read nor write the settings of the screen",
	  .group = OPTIONS_OUTPUT, .is_rare = true, .flag = MEMBER(common.no_config) },
	{ 0, "preload", "ALLOCATOR[:NAME=VALUE...][,...]",
	  "run COMMAND with this allocator, or compare several", .group = OPTIONS_RUNS,
	  .is_rare = true, .set = option_set_word, .value = MEMBER(common.preload) },
	{ 0, "runs", "N", "run COMMAND N times per allocator (default 3)",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_number,
	  .value = MEMBER(common.run_count), .min = 1, .max = 1000,
	  .want = "a number from 1 to 1000" },
	{ 0, "warm-up", "N", "run COMMAND N times before measuring (default 0)",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_number,
	  .value = MEMBER(common.warm_up_count), .max = 1000,
	  .want = "a number from 0 to 1000" },
	{ 0, "workload", "SCRIPT", "treat COMMAND as a server, and run this script",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(workload) },
	{ 0, "above", "SIZE", "compare for how long Rss was above this size",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_bytes,
	  .value = MEMBER(above_bytes), .want = "bytes, such as 64K, 512M or 2G" },
	{ 0, "count", NULL, "count allocations in an additional run",
	  .group = OPTIONS_RUNS, .is_rare = true, .flag = MEMBER(count) },
	{ 0, "output-dir", "DIR", "save the output of each run in this new directory",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(output_dir) },
	{ 0, "ready", "T", "start the workload after T (default: once idle)",
	  .group = OPTIONS_RUNS, .is_rare = true, .flag = MEMBER(has_ready),
	  .needs = "workload", .set = option_set_duration, .value = MEMBER(ready_ns),
	  .want = "a time, such as 500ms or 2s" },
	{ 0, "settle", "T", "leave the server idle for T afterwards (default 5s)",
	  .group = OPTIONS_RUNS, .is_rare = true, .needs = "workload",
	  .set = option_set_duration, .value = MEMBER(settle_ns),
	  .want = "a time, such as 500ms or 2s" },
	{ 0, "stop-signal", "SIGNAL", "end the server with this signal (default TERM)",
	  .group = OPTIONS_RUNS, .is_rare = true, .needs = "workload",
	  .set = compare_set_stop_signal,
	  .want = "a signal that ends programs, such as TERM, INT or 15" },
	{ 0, "html", "FILE", "also write the result as an HTML page",
	  .group = OPTIONS_RECORDINGS, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(common.html) },
	{ 0 },
};

static const struct compare_options defaults = {
	.settle_ns = 5 * NS_PER_S,
	.stop_signal = SIGTERM,
	.above_bytes = BYTES_UNKNOWN,
};

const struct cmd cmd_watch = {
	.args = "[PID... | -p NAME | --cgroup PATH|ID] [OPTIONS] [-- COMMAND...]",
	.summary = "Show who owns memory, what state it is in, and who can reclaim it.",
	.shared = "pid cgroup tree text csv json interval samples output "
		  "output-all list-columns no-headings bytes sort max-share "
		  "procfs pre-copy no-stop allow-stall record keep replay at",
	.own = own_rows,
	.options_size = sizeof(defaults),
	.defaults = &defaults,
	.takes_command = true,
	.find_columns = find_columns,
	.run = watch_run,
};
