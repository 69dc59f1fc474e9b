/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/recording/page.h"

#include "base/io.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/session/recordings.h"
#include "render/html/timeline_html.h"
#include "render/oom/explain.h"
#include "sample/oom/ends.h"
#include "sample/recording/replay_charts.h"

bool recording_page_is_wanted(const struct options *o)
{
	return o->html && o->recording.replay;
}

int recording_page_check_options(const struct options *o)
{
	const char *problem = NULL;

	if (!recording_page_is_wanted(o))
		return EXIT_DONE;
	if (o->format != FORMAT_AUTO)
		problem = "--html and --text, --csv or --json are mutually exclusive";
	else if (o->recording.at)
		problem = "--html shows a whole recording: it cannot be combined with "
			  "--at";
	else if (o->output || o->output_all)
		problem = "-o requires --csv or --json";
	if (!problem)
		return EXIT_DONE;
	message_usage(o->verb, "%s", problem);
	return EXIT_BAD_USAGE;
}

static bool is_stopped(void)
{
	return signals_stop_count() > 0;
}

static bool has_rows(const struct timeline_charts *charts)
{
	for (size_t i = 0; i < charts->chart_count; i++)
		if (charts->charts[i].timeline.count > 0)
			return true;
	return false;
}

#define VERDICTS_MAX 10
#define VERDICT_WIDTH 100
#define VERDICT_TOP 10

/*
 * Add the reasons why processes of a cgroup ended, as in memstate oom explain. A
 * recording without a cgroup does not contain a limit, so nothing is added.
 */
static void add_verdicts(struct session *session, struct timeline_charts *charts)
{
	const struct oom_explain_options options = { .table.max_width = VERDICT_WIDTH,
						     .top = VERDICT_TOP };
	const struct oom_kill_list no_log = OOM_KILL_LIST_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct oom_ends ends;

	if (!charts->group_path || oom_ends_read(session->replay, &no_log,
						 &session->options->targets, &ends) < 0)
		return;
	for (size_t i = 0; i < ends.count && i < VERDICTS_MAX; i++) {
		if (i > 0)
			strbuf_add_char(&text, '\n');
		oom_explain_add_text(&text, &ends.items[i], &options);
	}
	if (ends.count > VERDICTS_MAX)
		strbuf_addf(&text,
			    "\nand %zu more: run 'memstate oom explain --record FILE'\n",
			    ends.count - VERDICTS_MAX);
	oom_ends_release(&ends);
	charts->verdict = strbuf_take(&text);
}

int recording_page_write(struct session *session)
{
	_cleanup_strbuf_ struct strbuf page = STRBUF_INIT;
	const struct options *o = session->options;
	struct timeline_charts charts;
	int status = EXIT_DONE;
	int r = replay_read_charts(session->replay, &o->targets, is_stopped, &charts);

	if (r < 0) {
		recordings_report(o->recording.replay, r);
		return EXIT_FAILED;
	}
	if (!has_rows(&charts)) {
		message("%s: contains no data about the selected processes or group",
			o->recording.replay);
		status = EXIT_FAILED;
	} else if (is_stopped()) {
		/* do not write an incomplete page, because it would look complete */
		status = EXIT_FAILED;
	} else {
		add_verdicts(session, &charts);
		timeline_html_add(&page, o->recording.replay, &charts);
		r = io_write_file_atomic(o->html, page.text, page.length, 0666);
		if (r < 0) {
			message_error(o->html, r);
			status = EXIT_FAILED;
		}
	}
	timeline_charts_release(&charts);
	return status;
}
