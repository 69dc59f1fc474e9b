/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/groups.h"
#include "cmd/session/next.h"
#include "cmd/session/recordings.h"
#include "cmd/session/session.h"
#include "render/oom/predict_report.h"
#include "sample/oom/trend_reader.h"

struct prediction {
	struct session session;
	/* source of live samples; NULL: a recording is read */
	struct cgroup_sampler *sampler;
	struct trend_reader reader;
};

static int check_usage(const struct options *o)
{
	if (groups_check_options(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (!o->recording.replay || (!o->has_interval && o->sample_count == 0))
		return EXIT_DONE;
	message_usage(o->verb,
		      "-i and -n apply to new samples; --replay uses all samples of "
		      "the recording");
	return EXIT_BAD_USAGE;
}

/* Read the recorded samples, up to the sample that --at selects or the last sample. */
static int run_replay(struct prediction *p)
{
	const struct options *o = p->session.options;

	replay_scan(p->session.replay, true);
	for (size_t i = 0; i <= p->session.replay_index && signals_stop_count() == 0;
	     i++) {
		int r = trend_reader_add(&p->reader, p->session.replay, i, &o->targets);

		if (r < 0) {
			recordings_report(o->recording.replay, r);
			return EXIT_FAILED;
		}
	}
	return EXIT_DONE;
}

/*
 * If no number of samples was given and stderr is a terminal, print the sampling interval
 * and how to stop.
 */
static void print_hint(const struct options *o)
{
	char buf[UNITS_TEXT_SIZE];

	if (o->sample_count == 0 && isatty(STDERR_FILENO))
		message("taking one sample every %s; press ^C to see the result",
			units_format_duration(o->interval_ns, buf));
}

/*
 * Take samples until the cgroup has been removed, the requested number is reached, or a
 * signal arrives.
 */
static int run_live(struct prediction *p)
{
	const struct options *o = p->session.options;
	struct schedule schedule;
	int status = groups_open(&p->session, &p->sampler);

	if (status != EXIT_DONE)
		return status;
	print_hint(o);
	schedule_init(&schedule, clock_now_ns(), o->interval_ns);
	for (uint64_t n = 1;; n++) {
		int r = trend_reader_take(&p->reader, p->sampler);

		if (r < 0 && (r != -ESRCH || n == 1)) {
			message_error("the cgroup", r);
			return EXIT_FAILED;
		}
		if (r < 0)
			message("the cgroup was removed; the result covers the time "
				"until then");
		if (r < 0 || n == o->sample_count)
			return EXIT_DONE;
		schedule_advance(&schedule, clock_now_ns());
		signals_wait_until(schedule_due_ns(&schedule));
		if (signals_stop_count() > 0)
			return EXIT_DONE;
	}
}

static int show(struct prediction *p)
{
	static const int statuses[GROWTH_KIND_COUNT_] = {
		[GROWTH_TOO_SHORT] = EXIT_PARTIAL,
		[GROWTH_BRIEF] = EXIT_PARTIAL,
		[GROWTH_STEADY] = EXIT_ABOVE_LIMIT,
	};
	const struct options *o = p->session.options;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct next next;
	struct predict_report report = {
		.cgroup = p->reader.has_group ? &p->reader.cgroup : NULL,
		.trends = p->reader.trends,
		.unix_ms = p->reader.processes.unix_ms,
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
		.recording = o->recording.replay,
		.options.exact_bytes = o->exact_bytes,
	};

	next_begin(&next, &p->session);
	if (next.place.is_live)
		report.live_options = next.place.options;
	terminal_fit(&report.options);
	if (o->format == FORMAT_JSON)
		predict_report_add_json(&out, &report);
	else
		predict_report_add_text(&out, &report);
	next_end(&next);
	return stream_finish(&out, statuses[predict_report_kind(&report)]);
}

static int predict_run(struct options *o)
{
	struct prediction p = { .sampler = NULL };
	int status = check_usage(o);

	if (status == EXIT_DONE)
		status = session_begin(&p.session, o);
	if (status != EXIT_DONE)
		return status;
	trend_reader_init(&p.reader);
	signals_begin();
	status = p.session.replay ? run_replay(&p) : run_live(&p);
	if (status == EXIT_DONE)
		status = show(&p);
	cgroup_sampler_free(p.sampler);
	trend_reader_release(&p.reader);
	session_end(&p.session);
	return status;
}

/*
 * The exit status is EXIT_ABOVE_LIMIT if the memory need is growing, and EXIT_PARTIAL if
 * growth cannot be determined.
 */
const struct cmd cmd_oom_predict = {
	.name = "oom predict",
	.args = "[-p PID|--cgroup PATH|ID|--replay FILE] [OPTIONS]",
	.summary = "predict when the memory that a cgroup needs will reach the limit",
	.shared = "pid cgroup text json interval samples bytes top procfs "
		  "replay at",
	.run = predict_run,
};
