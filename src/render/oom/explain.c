/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/oom/end_conclusion.h"
#include "classify/oom/exclusions.h"
#include "classify/oom/node.h"
#include "classify/oom/verdict.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

#define LABEL_WIDTH 9
#define WIDTH_MIN 40

struct page {
	struct strbuf *out;
	const struct oom_evidence *evidence;
	const struct oom_explain_options *options;
	size_t width;
};

static void add_printable(struct page *p, struct strbuf *out, const char *text)
{
	text_add_printable(out, text, strlen(text), p->options->table.ascii);
}

/* Append a label and text, wrapped so that all lines of the text are aligned. */
static void add_words(struct page *p, const char *label, const char *words)
{
	strbuf_addf(p->out, "%-*s", LABEL_WIDTH, label);
	text_add_wrapped(p->out, words, LABEL_WIDTH, p->width);
}

/*
 * Append a name and an amount to a list, such as "NAME 12.0M". Append nothing if the
 * amount is unknown.
 */
static void add_amount(struct strbuf *line, const char *name, uint64_t bytes)
{
	char buf[UNITS_TEXT_SIZE];

	if (bytes_known(bytes))
		strbuf_addf(line, "%s%s %s", line->length ? ", " : "", name,
			    units_format_bytes(bytes, buf));
}

/* Append text of the form " in container C of pod NAMESPACE/POD". Omit unknown parts. */
static void add_place(struct page *p, struct strbuf *line, const struct oom_place *place)
{
	const char *container = place->container[0] != '\0' ? place->container
							    : place->id;

	if (container[0] != '\0') {
		strbuf_add_text(line, " in container ");
		add_printable(p, line, container);
	}
	if (place->pod[0] == '\0')
		return;
	strbuf_addf(line, " %s pod ", container[0] != '\0' ? "of" : "in");
	if (place->namespace_[0] != '\0') {
		add_printable(p, line, place->namespace_);
		strbuf_add_char(line, '/');
	}
	add_printable(p, line, place->pod);
}

static void add_victim(struct page *p)
{
	const struct oom_evidence *e = p->evidence;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char buf[UNITS_TEXT_SIZE];
	size_t begin;

	if (e->end == OOM_END_NONE) {
		strbuf_add_text(&line, "no process, according to the recording");
	} else if (e->victim.pid == 0) {
		strbuf_add_text(&line,
				e->kill && e->kill->is_cut
					? "not in the log: the end of the report is "
					  "missing"
					: "an unknown process");
	} else {
		add_printable(p, &line, e->victim.name);
		strbuf_addf(&line, " (%d)", e->victim.pid);
		add_place(p, &line, &e->victim_place);
	}
	if (e->victim_path[0] != '\0') {
		strbuf_add_text(&line, " of ");
		add_printable(p, &line, e->victim_path);
	}
	if (bytes_known(e->victim.rss_bytes))
		strbuf_addf(&line, ", with %s resident",
			    units_format_bytes(e->victim.rss_bytes, buf));
	if (e->kill && e->kill->is_group_killed)
		strbuf_addf(&line,
			    ", and the rest of its cgroup (memory.oom.group): %zu "
			    "processes",
			    e->kill->killed_count);
	begin = p->out->length;
	if (e->end == OOM_END_GONE) {
		add_words(p, "ended", line.text);
	} else {
		add_words(p, "killed", line.text);
		style_mark_line(p->out, begin, STYLE_PROBLEM, p->options->table.colour);
	}
}

static bool is_invoker(const struct oom_evidence *e, int pid, const char *name)
{
	return e->invoker.pid != 0 ? e->invoker.pid == pid
				   : strcmp(e->invoker.name, name) == 0;
}

/* Append text of the form "NAME (PID) in container C of pod P". Omit unknown parts. */
static void add_invoker_name(struct page *p, struct strbuf *line)
{
	const struct oom_evidence *e = p->evidence;

	add_printable(p, line, e->invoker.name);
	if (e->invoker.pid != 0)
		strbuf_addf(line, " (%d)", e->invoker.pid);
	add_place(p, line, &e->invoker_place);
}

/*
 * Append the process whose allocation hit the limit. Append nothing if the evidence
 * contains a growing process, because add_grower() then names the allocating process.
 */
static void add_invoker(struct page *p)
{
	const struct oom_evidence *e = p->evidence;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (e->invoker.name[0] == '\0' || e->grower.to_bytes > 0 ||
	    is_invoker(e, e->victim.pid, e->victim.name))
		return;
	strbuf_add_text(&line, "an allocation by ");
	add_invoker_name(p, &line);
	if (e->kill && e->kill->cpuset[0] != '\0' && strcmp(e->kill->cpuset, "/") != 0) {
		strbuf_add_text(&line, " in cpuset ");
		add_printable(p, &line, e->kill->cpuset);
	}
	add_words(p, "hit by", line.text);
}

/*
 * Append the time of the kill in the format of the log, because it cannot be converted if
 * the log lacks the year or the time zone.
 */
static void add_log_time(struct page *p)
{
	const struct oom_kill *k = p->evidence->kill;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (!k)
		return;
	add_printable(p, &line, k->time.text);
	if (k->time.boot_us != COUNT_UNKNOWN)
		strbuf_addf(&line, "%s%llu.%06llu s after boot", line.length ? ", " : "",
			    (unsigned long long)(k->time.boot_us / 1000000),
			    (unsigned long long)(k->time.boot_us % 1000000));
	if (line.length > 0)
		add_words(p, "when", line.text);
}

static void add_time(struct page *p)
{
	const struct oom_evidence *e = p->evidence;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char time[CLOCK_TEXT_SIZE], age[UNITS_TEXT_SIZE];

	if (e->unix_ms == 0) {
		add_log_time(p);
		return;
	}
	strbuf_add_text(&line, clock_format_utc(e->unix_ms, time));
	if (e->has_sample && e->end != OOM_END_NONE && e->age_ns != UINT64_MAX)
		strbuf_addf(&line, "%s; the last sample was taken %s before",
			    e->end == OOM_END_KILLED && e->kill ? "" : " at the latest",
			    e->age_ns < NS_PER_MS
				    ? "less than 1ms"
				    : units_format_duration(e->age_ns, age));
	add_words(p, "when", line.text);
}

static void add_machine(struct page *p)
{
	const struct oom_kill *k = p->evidence->kill;
	_cleanup_strbuf_ struct strbuf amounts = STRBUF_INIT, zones = STRBUF_INIT;

	if (!k)
		return;
	oom_node_add_amounts(k, &amounts);
	if (amounts.length > 0)
		add_words(p, "machine", amounts.text);
	oom_node_add_zones(k, &zones);
	if (zones.length > 0)
		add_words(p, "zones", zones.text);
}

static void add_limit(struct page *p)
{
	const struct oom_evidence *e = p->evidence;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char buf[UNITS_TEXT_SIZE];

	if (e->constraint == OOM_GLOBAL) {
		add_words(p, "limit", "none: the machine's memory ran out");
		add_machine(p);
		return;
	}
	if (e->at.limit_bytes == CGROUP_NO_LIMIT && e->has_sample)
		strbuf_add_text(&line, "none");
	else if (bytes_known(e->at.limit_bytes) && e->at.limit_bytes != CGROUP_NO_LIMIT)
		strbuf_addf(&line, "%s", units_format_bytes(e->at.limit_bytes, buf));
	else
		strbuf_addf(&line, "not in the %s", e->kill ? "report" : "recording");
	if (e->limit_path[0] != '\0') {
		strbuf_add_text(&line, ", of ");
		add_printable(p, &line, e->limit_path);
	} else if (e->kill && e->kill->stats_path[0] != '\0') {
		strbuf_add_text(&line, ", of ");
		add_printable(p, &line, e->kill->stats_path);
		strbuf_add_text(&line, " or a cgroup above it");
	}
	if (bytes_known(e->at.usage_bytes))
		strbuf_addf(&line, "; usage %s",
			    units_format_bytes(e->at.usage_bytes, buf));
	add_words(p, "limit", line.text);
}

static void add_filling(struct page *p)
{
	const struct oom_figures *f = &p->evidence->at;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	add_amount(&line, "private memory", f->live_anon_bytes);
	add_amount(&line, "shmem", f->shmem_bytes);
	add_amount(&line, "kernel",
		   bytes_add(f->kernel_bytes,
			     bytes_known(f->sock_bytes) ? f->sock_bytes : 0));
	add_amount(&line, "page cache", f->file_bytes);
	if (line.length > 0)
		add_words(p, "in use", line.text);
}

/*
 * Append the figures of the last sample before the kill. They are known only if the
 * evidence includes a recording.
 */
static void add_before(struct page *p)
{
	const struct oom_evidence *e = p->evidence;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (!e->has_sample || !bytes_known(e->last.usage_bytes))
		return;
	add_amount(&line, "need", e->last.need_bytes);
	add_amount(&line, "LazyFree", e->last.lazyfree_bytes);
	if (e->hidden_bytes > 0)
		add_amount(&line, "hidden", e->hidden_bytes);
	add_amount(&line, "working set", e->last.working_set_bytes);
	add_words(p, e->end == OOM_END_NONE ? "now" : "before", line.text);
}

static void add_grower_name(struct page *p, struct strbuf *line)
{
	const struct oom_grower *g = &p->evidence->grower;

	if (g->pid == 0) {
		strbuf_add_text(line, "shared memory and files on tmpfs");
		return;
	}
	add_printable(p, line, g->name);
	strbuf_addf(line, " (%d)", g->pid);
	add_place(p, line, &g->place);
}

/*
 * If shared memory grew, append the name of the file that contains most of it, which only
 * the growing process has open for writing. If the growing process is unknown, append a
 * note that the writer cannot be determined.
 */
static void add_writer(struct page *p, struct strbuf *line)
{
	const struct oom_grower *g = &p->evidence->grower;

	if (!g->is_shmem || (g->pid != 0 && g->file[0] == '\0'))
		return;
	if (g->pid != 0) {
		strbuf_add_text(line, ", most of it in ");
		add_printable(p, line, g->file);
		strbuf_add_text(line, ", which no other process has open for writing");
		return;
	}
	strbuf_add_text(
		line,
		"; no process maps most of it, so it was written with write(2), and "
		"the writer cannot be determined");
}

/*
 * Append the mapping that grew most. The amounts of the mapping and of the whole process
 * are from the same readings, which may be older than the samples that show the growth.
 */
static void add_mapping(struct page *p, struct strbuf *line)
{
	const struct oom_grower *g = &p->evidence->grower;
	char from[UNITS_TEXT_SIZE], of_from[UNITS_TEXT_SIZE];
	char to[UNITS_TEXT_SIZE], of_to[UNITS_TEXT_SIZE];

	if (g->mapping[0] == '\0')
		return;
	units_format_bytes(g->mapping_from_bytes, from);
	units_format_bytes(g->mapping_to_bytes, to);
	units_format_bytes(g->mappings_from_bytes, of_from);
	units_format_bytes(g->mappings_to_bytes, of_to);
	strbuf_add_text(line, ", most of it in ");
	add_printable(p, line, g->mapping);
	if (g->mappings_from_bytes == 0)
		strbuf_addf(line, " (%s of %s at the last reading of its mappings)", to,
			    of_to);
	else
		strbuf_addf(
			line,
			" (%s of %s at the first reading of its mappings, %s of %s at the last)",
			from, of_from, to, of_to);
}

/*
 * Append a sentence that states which process grew, in which kind of memory and since
 * when. The sentence also names the process whose allocation hit the limit.
 */
static void add_grower(struct page *p)
{
	const struct oom_evidence *e = p->evidence;
	const struct oom_grower *g = &e->grower;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE], ns[UNITS_TEXT_SIZE];

	if (g->to_bytes == 0)
		return;
	add_grower_name(p, &line);
	strbuf_addf(&line, ": from %s to %s within %s%s",
		    units_format_bytes(g->from_bytes, from),
		    units_format_bytes(g->to_bytes, to), units_format_duration(g->ns, ns),
		    g->is_new	      ? ", as a new process"
		    : g->is_restarted ? ", after a restart"
				      : "");
	add_mapping(p, &line);
	add_writer(p, &line);
	if (e->invoker.name[0] != '\0' && g->pid != 0 && is_invoker(e, g->pid, g->name)) {
		strbuf_add_text(&line, "; its own allocation exceeded the limit");
	} else if (e->invoker.name[0] != '\0') {
		strbuf_add_text(&line,
				"; the allocation that exceeded the limit was by ");
		add_invoker_name(p, &line);
	}
	add_words(p, "grew", line.text);
}

/*
 * If the verdict applies, append its title and the decisive figures in the form
 * "TITLE: FIGURES".
 */
static void add_verdict(struct page *p, const char *label, enum oom_verdict verdict)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, line = STRBUF_INIT;

	if (!oom_verdict_holds(verdict, p->evidence, &why))
		return;
	strbuf_addf(&line, "%s%s", oom_verdicts[verdict].title,
		    why.length > 0 ? ": " : "");
	add_printable(p, &line, strbuf_text(&why));
	add_words(p, label, line.text);
}

static void add_verdicts(struct page *p)
{
	enum oom_verdict verdict = oom_verdict_find(p->evidence);
	_cleanup_strbuf_ struct strbuf advice = STRBUF_INIT, sure = STRBUF_INIT,
				       line = STRBUF_INIT;
	enum oom_confidence confidence = oom_evidence_confidence(p->evidence, &sure);
	enum oom_verdict also[OOM_VERDICT_COUNT_];
	size_t count = oom_verdicts_find_also(p->evidence, verdict, also);

	add_verdict(p, "cause", verdict);
	for (size_t i = 0; i < count; i++)
		add_verdict(p, "also", also[i]);
	oom_verdict_add_advice(verdict, p->evidence, &advice);
	add_words(p, "advice", strbuf_text(&advice));
	strbuf_addf(&line, "%s confidence: %s", oom_confidence_names[confidence],
		    strbuf_text(&sure));
	add_words(p, "evidence", line.text);
}

static int compare_tasks(const void *a, const void *b)
{
	uint64_t x = (*(const struct oom_task *const *)a)->rss_bytes;
	uint64_t y = (*(const struct oom_task *const *)b)->rss_bytes;

	return (x < y) - (x > y);
}

static void add_tasks(struct page *p)
{
	const struct oom_kill *k = p->evidence->kill;
	const struct oom_task **tasks;
	size_t begin = p->out->length;

	if (!k || k->task_count == 0)
		return;
	tasks = xcalloc(k->task_count, sizeof(*tasks));
	for (size_t i = 0; i < k->task_count; i++)
		tasks[i] = &k->tasks[i];
	qsort(tasks, k->task_count, sizeof(*tasks), compare_tasks);
	strbuf_add_text(p->out, "\n     PID        RSS       ANON      SHMEM  NAME\n");
	style_mark_line(p->out, begin, STYLE_HEADING, p->options->table.colour);
	for (size_t i = 0; i < k->task_count && i < p->options->top; i++) {
		char rss[UNITS_TEXT_SIZE], anon[UNITS_TEXT_SIZE], shmem[UNITS_TEXT_SIZE];

		strbuf_addf(p->out, "%8d  %9s  %9s  %9s  ", tasks[i]->pid,
			    units_format_bytes(tasks[i]->rss_bytes, rss),
			    units_format_bytes(tasks[i]->anon_bytes, anon),
			    units_format_bytes(tasks[i]->shmem_bytes, shmem));
		add_printable(p, p->out, tasks[i]->name);
		strbuf_add_char(p->out, '\n');
	}
	if (k->task_count > p->options->top)
		strbuf_addf(p->out, "          and %zu more\n",
			    k->task_count - p->options->top);
	free(tasks);
}

void oom_explain_add_text(struct strbuf *out, const struct oom_evidence *evidence,
			  const struct oom_explain_options *options)
{
	size_t width = options->table.max_width > 0 ? (size_t)options->table.max_width
						    : 100;
	struct page p = { .out = out,
			  .evidence = evidence,
			  .options = options,
			  .width = width < WIDTH_MIN ? WIDTH_MIN : width };
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;

	oom_conclude_end(&conclusion, evidence, options->table.ascii);
	conclusion_add_opening(out, &conclusion, &options->table);
	strbuf_add_char(out, '\n');
	add_victim(&p);
	add_invoker(&p);
	add_time(&p);
	add_limit(&p);
	add_filling(&p);
	add_before(&p);
	add_grower(&p);
	add_verdicts(&p);
	add_tasks(&p);
}
