/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

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
#include "ui/ui.h"

static bool wants_screen(const struct options *o)
{
#if HAVE_NCURSES
	return o->format == FORMAT_AUTO && !o->output && !o->output_all && ui_can_run();
#else
	(void)o;
	return false;
#endif
}

/*
 * Whether a text report can say how the processes grow: only for named live
 * processes or a group.
 */
static bool watches_growth(const struct options *o)
{
	return !wants_screen(o) && !o->command && !o->recording.replay &&
	       (!targets_are_all(&o->targets) || o->cgroup);
}

static int check_preload(const struct options *o)
{
	if (o->preload && !o->command) {
		message_usage(NULL, "--preload wants a command to run, after --");
		return EXIT_BAD_USAGE;
	}
	if (recording_page_is_wanted(o) && strcmp(o->compare.first_said, "html") == 0)
		return recording_page_check_options(o);
	if (o->compare.first_said && !compare_is_wanted(o)) {
		message_usage(NULL, "--%s goes with --preload of two allocators or more",
			      o->compare.first_said);
		return EXIT_BAD_USAGE;
	}
	return EXIT_DONE;
}

static int check_combination(const struct options *o)
{
	if ((o->heap == HEAP_WALK || o->heap == HEAP_HELPER) &&
	    targets_are_all(&o->targets) && !o->cgroup && !o->command) {
		message_usage(NULL, "--heap %s stops processes: say which, with -p",
			      o->heap == HEAP_WALK ? "walk" : "helper");
		return EXIT_BAD_USAGE;
	}
	if (heaps_check_options(o) != EXIT_DONE ||
	    recordings_check_options(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (o->format == FORMAT_CSV || o->format == FORMAT_JSON)
		return EXIT_DONE;
	if (o->sample_count > 0 && !(watches_growth(o) && o->has_interval)) {
		message_usage(NULL,
			      "-n goes with --csv or --json, or with -p, --text and -i");
		return EXIT_BAD_USAGE;
	}
	if (o->has_interval && !o->command && !wants_screen(o) && !watches_growth(o)) {
		message_usage(NULL,
			      "-i goes with --csv, --json, -p, a command or the screen: "
			      "a report is one sample");
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

const struct cmd cmd_watch = {
	.args = "[-p PID|NAME | --cgroup PATH|ID] [OPTIONS] [-- COMMAND [ARG...]]",
	.summary =
		"Show where the memory of running processes is: whose it is, what state it is in,\n"
		"and who can give it back, in parts that add up to Rss.",
	.scope = SCOPE_WATCH,
	.takes_command = true,
	.columns = &process_columns,
	.run = watch_run,
};
