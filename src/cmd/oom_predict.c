/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/oom_predict.h"

#include <errno.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/groups.h"
#include "cmd/message.h"
#include "cmd/recordings.h"
#include "cmd/session.h"
#include "cmd/signals.h"
#include "cmd/stream.h"
#include "cmd/text.h"
#include "render/predict_report.h"

#define NEEDS (NEED_STAT | NEED_ROLLUP | NEED_STATES)

struct prediction {
	struct session session;
	struct cgroup_sampler *sampler; /* NULL: a recording is looked at */
	struct trends *trends;
	struct cgroup cgroup;
	bool has_group; /* one was seen */
	struct snapshot processes;
	uint64_t unix_ms; /* of the last sample; 0: none yet */
};

static int check_usage(const struct options *o)
{
	const char *problem = NULL;

	if (recordings_check_options(o) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	if (o->format == FORMAT_CSV || o->output || o->output_all)
		problem = "predict takes --text or --json, and no -o";
	else if (o->kmsg || o->recording.record)
		problem = "predict takes no --kmsg and no --record";
	else if (o->recording.replay && o->cgroup)
		problem = "predict --replay is about the one group that was recorded";
	else if (o->recording.replay && (o->has_interval || o->sample_count > 0))
		problem =
			"-i and -n are of samples to be taken: --replay has all of them";
	else if (o->cgroup && !targets_are_all(&o->targets))
		problem = "--cgroup and -p exclude each other";
	if (!problem)
		return EXIT_DONE;
	message_usage("oom", "%s", problem);
	return EXIT_BAD_USAGE;
}

static void add_sample(struct prediction *p, uint64_t time_ns, bool with_group)
{
	struct trends_sample sample = { .time_ns = time_ns, .processes = &p->processes };
	struct oom_figures figures;

	if (with_group) {
		p->has_group = true;
		oom_figures_find(&p->cgroup, &p->processes, &figures);
		sample.cgroup = &p->cgroup;
		sample.figures = &figures;
	}
	trends_add(p->trends, &sample);
	p->unix_ms = p->processes.unix_ms;
}

/* A sample with its group, if it has one and not only some processes are meant. */
static int add_recorded(struct prediction *p, size_t index)
{
	const struct targets *targets = &p->session.options->targets;
	struct replay *replay = p->session.replay;
	int r = replay_read(replay, index, targets, &p->processes);

	if (r < 0)
		return r;
	r = targets_are_all(targets) ? replay_read_cgroup(replay, index, &p->cgroup)
				     : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	add_sample(p, p->processes.elapsed_ns, r == 0);
	return 0;
}

/* All up to the moment that --at means, or the last one. */
static int run_replay(struct prediction *p)
{
	const struct options *o = p->session.options;

	replay_scan(p->session.replay, true);
	for (size_t i = 0; i <= p->session.replay_index && signals_stop_count() == 0;
	     i++) {
		int r = add_recorded(p, i);

		if (r < 0) {
			message_error(o->recording.replay, r);
			return EXIT_FAILED;
		}
	}
	return EXIT_DONE;
}

static int take(struct prediction *p)
{
	int r = cgroup_sampler_take(p->sampler, NEEDS, &p->cgroup, &p->processes);

	if (r < 0)
		return r;
	add_sample(p, p->cgroup.taken_ns, true);
	return 0;
}

/* Until the group is gone, it was enough, or somebody has seen enough. */
static int run_live(struct prediction *p)
{
	const struct options *o = p->session.options;
	struct schedule schedule;
	int status = groups_open(&p->session, &p->sampler);

	if (status != EXIT_DONE)
		return status;
	schedule_init(&schedule, clock_now_ns(), o->interval_ns);
	for (uint64_t n = 1;; n++) {
		int r = take(p);

		if (r < 0 && (r != -ESRCH || p->unix_ms == 0)) {
			message_error("the group", r);
			return EXIT_FAILED;
		}
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
		[GROWTH_STEADY] = EXIT_ABOVE_LIMIT,
	};
	const struct options *o = p->session.options;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct predict_report report = {
		.cgroup = p->has_group ? &p->cgroup : NULL,
		.trends = p->trends,
		.unix_ms = p->unix_ms,
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
		.options.exact_bytes = o->exact_bytes,
	};

	text_fit_terminal(&report.options);
	if (o->format == FORMAT_JSON)
		predict_report_add_json(&out, &report);
	else
		predict_report_add_text(&out, &report);
	return stream_finish(&out, statuses[predict_report_kind(&report)]);
}

int oom_predict_run(struct options *o)
{
	struct prediction p = { .sampler = NULL };
	int status = check_usage(o);

	if (status == EXIT_DONE)
		status = session_begin(&p.session, o);
	if (status != EXIT_DONE)
		return status;
	p.trends = trends_new();
	cgroup_init(&p.cgroup);
	snapshot_init(&p.processes);
	signals_begin();
	status = p.session.replay ? run_replay(&p) : run_live(&p);
	if (status == EXIT_DONE)
		status = show(&p);
	cgroup_sampler_free(p.sampler);
	cgroup_release(&p.cgroup);
	snapshot_release(&p.processes);
	trends_free(p.trends);
	session_end(&p.session);
	return status;
}
