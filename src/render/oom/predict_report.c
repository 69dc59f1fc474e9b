/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom/predict_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/growth/limit_time.h"
#include "classify/oom/conclusion.h"
#include "render/process/group_head.h"
#include "render/process/growth_words.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

#define LABEL_WIDTH 9
#define WIDTH_MIN 40

struct page {
	struct strbuf *out;
	const struct predict_report *report;
	/* trends of all processes, fastest growth first */
	struct process_trend *processes;
	size_t process_count;
	const struct units_rate *unit; /* unit of all rates */
	size_t width;
};

/* Append a label such as "need", followed by wrapped text such as "growing: …". */
static void add_line(const struct page *p, const char *label, const char *words)
{
	strbuf_addf(p->out, "%-*s", LABEL_WIDTH, label);
	text_add_wrapped(p->out, words, LABEL_WIDTH, p->width);
}

static const char *format_amount(const struct page *p, uint64_t bytes,
				 char buf[UNITS_TEXT_SIZE])
{
	return units_format_amount(bytes, p->report->options.exact_bytes, buf);
}

static void add_samples(const struct page *p, const struct trend *t)
{
	char utc[CLOCK_TEXT_SIZE], span[UNITS_TEXT_SIZE];
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	size_t restarts = trends_restart_count(p->report->trends);

	strbuf_addf(&words, "%" PRIu64 " in %s, the last at %s", t->sample_count,
		    units_format_duration(t->span_ns, span),
		    clock_format_utc(p->report->unix_ms, utc));
	if (restarts > 0)
		strbuf_addf(&words, "; samples from before its %zu restart%s are ignored",
			    restarts, restarts == 1 ? "" : "s");
	add_line(p, "samples", strbuf_text(&words));
}

/*
 * Append the change of the memory need from the first to the last sample, such as "rose
 * from 61.9M to 62.8M".
 */
static void add_need(const struct page *p, const struct trend *t)
{
	char first[UNITS_TEXT_SIZE], last[UNITS_TEXT_SIZE];
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	format_amount(p, t->first_bytes, first);
	format_amount(p, t->bytes, last);
	if (!bytes_known(t->bytes))
		strbuf_add_text(&words, "unknown");
	else if (!bytes_known(t->first_bytes) || t->sample_count < 2)
		strbuf_add_text(&words, last);
	else if (strcmp(first, last) == 0)
		strbuf_addf(&words, "%s in the first and in the last sample", last);
	else
		strbuf_addf(&words, "%s from %s to %s",
			    t->bytes > t->first_bytes ? "rose" : "fell", first, last);
	add_line(p, "need", strbuf_text(&words));
}

/* Return true if the cgroup has no processes, so its memory need cannot grow. */
static bool is_empty(const struct predict_report *report)
{
	return report->cgroup && report->cgroup->pid_count == 0;
}

/*
 * Append text such as "the cgroup is empty: its last process has exited; 12.0M are still
 * charged to it".
 */
static void add_empty(const struct page *p, const struct trend *t)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char buf[UNITS_TEXT_SIZE];

	strbuf_add_text(&words, p->process_count > 0
					? "the cgroup is empty: its last process has "
					  "exited"
					: "the cgroup is empty: it never had a process");
	if (bytes_known(t->bytes) && t->bytes > 0)
		strbuf_addf(&words, "; %s are still charged to it",
			    format_amount(p, t->bytes, buf));
	add_line(p, "trend", strbuf_text(&words));
}

static void add_group(const struct page *p)
{
	const struct cgroup *cgroup = p->report->cgroup;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT, limit = STRBUF_INIT;
	uint64_t limit_bytes = cgroup_limit_bytes(cgroup);
	struct trend t;

	trends_find_group(p->report->trends, &t);
	group_head_add(p->out, cgroup, &p->report->options);
	strbuf_add_char(p->out, '\n');
	add_samples(p, &t);
	add_need(p, &t);
	if (is_empty(p->report)) {
		add_empty(p, &t);
		return;
	}
	growth_add_words(&words, &t.growth, p->unit);
	add_line(p, "trend", strbuf_text(&words));
	if (limit_bytes != CGROUP_NO_LIMIT)
		growth_add_time(&limit, &t.growth, limit_bytes);
	if (limit.length > 0)
		add_line(p, "", strbuf_text(&limit));
}

/*
 * Return the sort rank of a kind of growth. The report lists processes with a higher rank
 * first.
 */
static int rank_of(enum growth_kind kind)
{
	if (kind == GROWTH_STEADY)
		return 2;
	return kind == GROWTH_SLOW || kind == GROWTH_BRIEF ? 1 : 0;
}

static int compare_trends(const void *a, const void *b)
{
	const struct process_trend *x = a, *y = b;
	const struct growth *g_x = &x->need.growth, *g_y = &y->need.growth;
	/* BYTES_UNKNOWN + 1 is 0, so an unknown need sorts last */
	uint64_t of_x = x->need.bytes + 1, of_y = y->need.bytes + 1;

	if (rank_of(g_x->kind) != rank_of(g_y->kind))
		return rank_of(g_x->kind) > rank_of(g_y->kind) ? -1 : 1;
	if (rank_of(g_x->kind) > 0 && g_x->rate_bytes != g_y->rate_bytes)
		return g_x->rate_bytes > g_y->rate_bytes ? -1 : 1;
	return of_x != of_y ? (of_x > of_y ? -1 : 1) : x->process.pid - y->process.pid;
}

/*
 * Return the trends of all processes, fastest growth first, and set *ret_count to their
 * number. The caller frees the result.
 */
static struct process_trend *find_processes(const struct trends *trends,
					    size_t *ret_count)
{
	size_t count = trends_process_count(trends);
	struct process_trend *found = xcalloc(count + 1, sizeof(*found));

	for (size_t i = 0; i < count; i++)
		trends_find_process(trends, i, &found[i]);
	qsort(found, count, sizeof(*found), compare_trends);
	*ret_count = count;
	return found;
}

/*
 * Return the rate with the larger absolute value. A trend that is too short has no rate.
 */
static int64_t larger_rate(int64_t rate, const struct growth *g)
{
	return g->kind != GROWTH_TOO_SHORT && llabs(g->rate_bytes) > llabs(rate)
		       ? g->rate_bytes
		       : rate;
}

/* Return a unit that suits the largest of all rates and bounds in the report. */
static const struct units_rate *find_unit(const struct predict_report *report,
					  const struct process_trend *found, size_t count)
{
	int64_t rate = 0;
	struct trend t;

	if (report->cgroup) {
		trends_find_group(report->trends, &t);
		rate = growth_largest_rate(&t.growth);
	}
	for (size_t i = 0; i < count && i < report->top; i++) {
		rate = larger_rate(rate, &found[i].need.growth);
		rate = larger_rate(rate, &found[i].live.growth);
	}
	return units_find_rate(rate);
}

static const char *format_rate_of(const struct page *p, const struct trend *t,
				  char buf[UNITS_TEXT_SIZE])
{
	if (t->growth.kind == GROWTH_TOO_SHORT)
		return "-";
	return units_format_rate_in(t->growth.rate_bytes, p->unit, buf);
}

/*
 * Return true if the growth of live blocks is known for at least one process in
 * the table.
 */
static bool has_live(const struct page *p)
{
	for (size_t i = 0; i < p->process_count && i < p->report->top; i++)
		if (p->processes[i].live.growth.kind != GROWTH_TOO_SHORT)
			return true;
	return false;
}

static void add_process(const struct page *p, const struct process_trend *t)
{
	char need[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], live[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "%8d  %8s  %11s  ", t->process.pid,
		    format_amount(p, t->need.bytes, need),
		    format_rate_of(p, &t->need, rate));
	if (has_live(p))
		strbuf_addf(p->out, "%10s  ", format_rate_of(p, &t->live, live));
	strbuf_addf(p->out, "%-16s  ", growth_titles[t->need.growth.kind]);
	text_add_printable(p->out, t->process.comm, strlen(t->process.comm),
			   p->report->options.ascii);
	strbuf_add_char(p->out, '\n');
}

/*
 * Append the cause of growth for each growing process: either its live blocks grow, or
 * the allocator retains freed memory.
 */
static void add_causes(const struct page *p)
{
	if (p->process_count > 0 && p->processes[0].need.growth.kind == GROWTH_STEADY)
		strbuf_add_char(p->out, '\n');
	for (size_t i = 0; i < p->process_count && i < p->report->top; i++) {
		const struct process_trend *t = &p->processes[i];
		_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

		if (t->need.growth.kind != GROWTH_STEADY)
			return;
		strbuf_addf(&line, "%d grows: %s.", t->process.pid,
			    growth_cause_words[process_trend_cause(t)]);
		text_add_wrapped(p->out, line.text, 0, p->width);
	}
}

static void add_processes(const struct page *p)
{
	_cleanup_strbuf_ struct strbuf grows = STRBUF_INIT, live = STRBUF_INIT;
	size_t begin = p->out->length;

	if (p->process_count == 0)
		return;
	strbuf_addf(&grows, "GROWS %s", p->unit->name);
	strbuf_addf(&live, "LIVE %s", p->unit->name);
	strbuf_addf(p->out, "\n     PID      NEED  %11s  ", grows.text);
	if (has_live(p))
		strbuf_addf(p->out, "%10s  ", live.text);
	strbuf_add_text(p->out, "VERDICT           COMM\n");
	style_mark_line(p->out, begin, STYLE_HEADING, p->report->options.colour);
	for (size_t i = 0; i < p->process_count && i < p->report->top; i++)
		add_process(p, &p->processes[i]);
	if (p->process_count > p->report->top)
		strbuf_addf(p->out, "          and %zu more\n",
			    p->process_count - p->report->top);
	add_causes(p);
}

static void conclude(const struct page *p, struct conclusion *conclusion)
{
	const struct predict_report *report = p->report;
	const struct oom_conclusion_options options = {
		.ascii = report->options.ascii,
		.exact_bytes = report->options.exact_bytes,
		.recording = report->recording,
		.live_options = report->live_options,
	};
	struct trend need = { .growth.kind = GROWTH_TOO_SHORT };
	const struct oom_growth_facts facts = {
		.cgroup = report->cgroup,
		.need = &need,
		.processes = p->processes,
		.process_count = p->process_count,
		.unit = p->unit,
	};

	if (report->cgroup)
		trends_find_group(report->trends, &need);
	oom_conclude_growth(conclusion, &facts, &options);
}

void predict_report_add_text(struct strbuf *out, const struct predict_report *report)
{
	size_t width = report->options.max_width > 0 ? (size_t)report->options.max_width
						     : 100;
	struct page p = { .out = out,
			  .report = report,
			  .width = width < WIDTH_MIN ? WIDTH_MIN : width };
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;

	p.processes = find_processes(report->trends, &p.process_count);
	p.unit = find_unit(report, p.processes, p.process_count);
	conclude(&p, &conclusion);
	conclusion_add_opening(out, &conclusion, &report->options);
	if (report->cgroup) {
		strbuf_add_char(out, '\n');
		add_group(&p);
	}
	add_processes(&p);
	strbuf_add_char(out, '\n');
	text_add_wrapped(out, growth_caveats, 0, p.width);
	conclusion_add_next(out, &conclusion);
	free(p.processes);
}

static void add_rate(struct json *j, const char *key, const struct growth *g,
		     int64_t rate)
{
	if (g->kind == GROWTH_TOO_SHORT)
		json_add_null(j, key);
	else
		json_add_signed(j, key, rate);
}

static void add_seconds(struct json *j, const char *key, uint64_t ns, bool is_known)
{
	if (is_known)
		json_add_seconds_ms(j, key, ns);
	else
		json_add_null(j, key);
}

static void add_trend(struct json *j, const char *key, const struct trend *t)
{
	const struct growth *g = &t->growth;
	bool has_result = g->kind != GROWTH_TOO_SHORT;

	json_begin_object(j, key);
	json_add_string(j, "verdict", growth_kind_names[g->kind]);
	json_add_number(j, "sample_count", t->sample_count);
	json_add_seconds_ms(j, "span_s", t->span_ns);
	json_add_amount(j, "bytes", t->bytes);
	json_add_number(j, "floor_count", g->floor_count);
	add_seconds(j, "window_s", g->window_ns, g->window_ns > 0);
	add_seconds(j, "cycle_s", g->cycle_ns, g->cycle_ns > 0);
	add_rate(j, "rate_bytes_per_hour", g, g->rate_bytes);
	add_rate(j, "rate_low_bytes_per_hour", g, g->rate_low_bytes);
	add_rate(j, "rate_high_bytes_per_hour", g, g->rate_high_bytes);
	json_add_amount(j, "floor_bytes", has_result ? g->floor_bytes : BYTES_UNKNOWN);
	json_add_amount(j, "tooth_bytes", has_result ? g->tooth_bytes : BYTES_UNKNOWN);
	json_end_object(j);
}

static void add_json_group(struct json *j, const struct predict_report *report)
{
	const struct cgroup *c = report->cgroup;
	uint64_t limit_bytes = cgroup_limit_bytes(c);
	struct growth_time left = { 0 };
	struct trend t;
	bool has_time;

	trends_find_group(report->trends, &t);
	has_time = limit_bytes != CGROUP_NO_LIMIT && !is_empty(report) &&
		   growth_time_to(&t.growth, limit_bytes, &left);
	json_begin_object(j, "group");
	json_add_string(j, "cgroup", c->level_count > 0 ? c->levels[0].path : NULL);
	json_add_amount(j, "limit_bytes",
			limit_bytes == CGROUP_NO_LIMIT ? BYTES_UNKNOWN : limit_bytes);
	json_add_bool(j, "is_empty", is_empty(report));
	json_add_number(j, "restart_count", trends_restart_count(report->trends));
	add_seconds(j, "time_to_limit_s", left.ns, has_time && left.ns != UINT64_MAX);
	add_seconds(j, "soonest_s", left.soonest_ns,
		    has_time && left.soonest_ns != UINT64_MAX);
	add_seconds(j, "latest_s", left.latest_ns,
		    has_time && left.latest_ns != UINT64_MAX);
	add_trend(j, "need", &t);
	json_end_object(j);
}

static void add_json_process(struct json *j, const struct process_trend *t)
{
	json_begin_object(j, NULL);
	json_add_signed(j, "pid", t->process.pid);
	json_add_string(j, "comm", t->process.comm);
	json_add_string(j, "cause", growth_cause_names[process_trend_cause(t)]);
	add_trend(j, "need", &t->need);
	if (t->live.sample_count > 0)
		add_trend(j, "live", &t->live);
	else
		json_add_null(j, "live");
	json_end_object(j);
}

void predict_report_add_json(struct strbuf *out, const struct predict_report *report)
{
	struct json j = json_begin_report(out, "oom-predict");
	char utc[CLOCK_TEXT_SIZE];
	size_t count;
	struct process_trend *found = find_processes(report->trends, &count);

	json_add_string(&j, "time", clock_format_utc(report->unix_ms, utc));
	if (report->cgroup)
		add_json_group(&j, report);
	else
		json_add_null(&j, "group");
	json_begin_array(&j, "processes");
	for (size_t i = 0; i < count; i++)
		add_json_process(&j, &found[i]);
	json_end_array(&j);
	json_end_report(&j);
	free(found);
}

enum growth_kind predict_report_kind(const struct predict_report *report)
{
	enum growth_kind kind = GROWTH_TOO_SHORT;
	struct process_trend *found;
	struct trend t;
	size_t count;

	if (is_empty(report))
		return GROWTH_NONE;
	if (report->cgroup) {
		trends_find_group(report->trends, &t);
		return t.growth.kind;
	}
	found = find_processes(report->trends, &count);
	if (count > 0)
		kind = found[0].need.growth.kind;
	free(found);
	return kind;
}
