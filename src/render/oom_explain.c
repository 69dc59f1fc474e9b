/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom_explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/oom_cause.h"

#define LABEL_WIDTH 9
#define WIDTH_LEAST 40

struct page {
	struct strbuf *out;
	const struct oom_kill *kill;
	const struct oom_explain_options *options;
	struct oom_filling filling;
	size_t width;
};

static void add_printable(struct page *p, struct strbuf *out, const char *text)
{
	text_add_printable(out, text, strlen(text), p->options->table.ascii);
}

/* "cause    words, wrapped" */
static void add_words(struct page *p, const char *label, const char *words)
{
	strbuf_addf(p->out, "%-*s", LABEL_WIDTH, label);
	text_add_wrapped(p->out, words, LABEL_WIDTH, p->width);
}

static void add_victim(struct page *p)
{
	const struct oom_kill *k = p->kill;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char buf[UNITS_TEXT_SIZE];

	if (k->victim.pid == 0) {
		strbuf_add_text(&line, "who, is not in the report");
	} else {
		add_printable(p, &line, k->victim.name);
		strbuf_addf(&line, " (%d)", k->victim.pid);
	}
	if (k->victim_path[0] != '\0') {
		strbuf_add_text(&line, " of ");
		add_printable(p, &line, k->victim_path);
	}
	if (bytes_known(k->victim.rss_bytes))
		strbuf_addf(&line, ", with %s resident", units_format_bytes(k->victim.rss_bytes, buf));
	if (k->is_group_killed)
		strbuf_addf(&line, ", and all of its group (memory.oom.group): %zu processes",
			    k->killed_count);
	add_words(p, "killed", line.text);
	if (k->invoker[0] != '\0' && strcmp(k->invoker, k->victim.name) != 0) {
		strbuf_clear(&line);
		add_printable(p, &line, k->invoker);
		strbuf_add_text(&line, " wanted memory when there was none");
		add_words(p, "while", line.text);
	}
}

static void add_limit(struct page *p)
{
	const struct oom_kill *k = p->kill;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char usage[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	if (k->constraint == OOM_GLOBAL) {
		add_words(p, "limit", "none: the whole machine's memory");
		return;
	}
	if (bytes_known(k->limit_bytes) && k->limit_bytes != CGROUP_NO_LIMIT)
		strbuf_addf(&line, "%s", units_format_bytes(k->limit_bytes, limit));
	else
		strbuf_add_text(&line, "not in the report");
	if (k->limit_path[0] != '\0') {
		strbuf_add_text(&line, ", of ");
		add_printable(p, &line, k->limit_path);
	}
	if (bytes_known(k->usage_bytes))
		strbuf_addf(&line, "; in use %s", units_format_bytes(k->usage_bytes, usage));
	add_words(p, "limit", line.text);
}

static void add_filling(struct page *p)
{
	const struct oom_filling *f = &p->filling;
	const struct {
		const char *name;
		uint64_t bytes;
	} parts[] = { { "private memory", f->anon_bytes },
		      { "shmem", f->shmem_bytes },
		      { "kernel", f->kernel_bytes },
		      { "page cache", f->file_bytes } };
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char buf[UNITS_TEXT_SIZE];

		if (bytes_known(parts[i].bytes))
			strbuf_addf(&line, "%s%s %s", line.length ? ", " : "", parts[i].name,
				    units_format_bytes(parts[i].bytes, buf));
	}
	if (line.length > 0)
		add_words(p, "of that", line.text);
}

/* "title: figures" */
static void add_cause(struct page *p, const char *label, enum oom_cause cause)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, line = STRBUF_INIT;

	if (!oom_cause_holds(cause, p->kill, &p->filling, &why))
		return;
	strbuf_addf(&line, "%s%s", oom_causes[cause].title, why.length > 0 ? ": " : "");
	add_printable(p, &line, strbuf_text(&why));
	add_words(p, label, line.text);
}

static int compare_tasks(const void *a, const void *b)
{
	uint64_t x = (*(const struct oom_task *const *)a)->rss_bytes;
	uint64_t y = (*(const struct oom_task *const *)b)->rss_bytes;

	return (x < y) - (x > y);
}

static void add_tasks(struct page *p)
{
	const struct oom_kill *k = p->kill;
	const struct oom_task **tasks = xcalloc(k->task_count + 1, sizeof(*tasks));

	for (size_t i = 0; i < k->task_count; i++)
		tasks[i] = &k->tasks[i];
	qsort(tasks, k->task_count, sizeof(*tasks), compare_tasks);
	if (k->task_count > 0)
		strbuf_add_text(p->out, "\n     PID        RSS       ANON      SHMEM  NAME\n");
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
		strbuf_addf(p->out, "          and %zu more\n", k->task_count - p->options->top);
	free(tasks);
}

void oom_explain_add_text(struct strbuf *out, const struct oom_kill *kill,
			  const struct oom_explain_options *options)
{
	size_t width = options->table.max_width > 0 ? (size_t)options->table.max_width : 100;
	struct page p = { .out = out, .kill = kill, .options = options,
			  .width = width < WIDTH_LEAST ? WIDTH_LEAST : width };
	enum oom_cause cause;

	oom_filling_find(kill, &p.filling);
	cause = oom_cause_find(kill, &p.filling);
	add_victim(&p);
	add_limit(&p);
	add_filling(&p);
	add_cause(&p, "cause", cause);
	for (int other = (int)cause + 1; other < OOM_CAUSE_UNKNOWN; other++)
		add_cause(&p, "also", (enum oom_cause)other);
	add_words(&p, "advice", oom_causes[cause].advice);
	add_tasks(&p);
}

/* A limit that there is not is no number. */
static void add_json_number(struct strbuf *out, const char *key, uint64_t number)
{
	json_add_number(out, key, number == CGROUP_NO_LIMIT ? BYTES_UNKNOWN : number);
}

static void add_json_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, ",\"%s\":", key);
	if (text[0] != '\0')
		json_add_string(out, text, strlen(text));
	else
		strbuf_add_text(out, "null");
}

static void add_json_task(struct strbuf *out, const struct oom_task *task)
{
	strbuf_addf(out, "{\"pid\":%d", task->pid);
	add_json_text(out, "name", task->name);
	add_json_number(out, "uid", task->uid);
	add_json_number(out, "rss_bytes", task->rss_bytes);
	add_json_number(out, "anon_bytes", task->anon_bytes);
	add_json_number(out, "file_bytes", task->file_bytes);
	add_json_number(out, "shmem_bytes", task->shmem_bytes);
	add_json_number(out, "pagetables_bytes", task->pagetables_bytes);
	add_json_number(out, "swap_bytes", task->swap_bytes);
	strbuf_add_char(out, '}');
}

static void add_json_causes(struct strbuf *out, const struct oom_kill *kill,
			    const struct oom_filling *filling)
{
	enum oom_cause first = oom_cause_find(kill, filling);

	strbuf_addf(out, ",\"cause\":\"%s\",\"also\":[", oom_causes[first].name);
	for (int other = (int)first + 1, count = 0; other < OOM_CAUSE_UNKNOWN; other++) {
		_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;

		if (oom_cause_holds((enum oom_cause)other, kill, filling, &unused))
			strbuf_addf(out, "%s\"%s\"", count++ ? "," : "", oom_causes[other].name);
	}
	strbuf_add_char(out, ']');
}

void oom_explain_add_json(struct strbuf *out, const struct oom_kill *kill)
{
	struct oom_filling filling;

	oom_filling_find(kill, &filling);
	strbuf_addf(out, "{\"memstate\":{\"version\":\"%s\",\"schema\":1}", PACKAGE_VERSION);
	add_json_causes(out, kill, &filling);
	add_json_text(out, "limit_cgroup", kill->limit_path);
	add_json_text(out, "victim_cgroup", kill->victim_path);
	add_json_text(out, "invoker", kill->invoker);
	add_json_number(out, "limit_bytes", kill->limit_bytes);
	add_json_number(out, "usage_bytes", kill->usage_bytes);
	add_json_number(out, "anon_bytes", filling.anon_bytes);
	add_json_number(out, "shmem_bytes", filling.shmem_bytes);
	add_json_number(out, "kernel_bytes", filling.kernel_bytes);
	add_json_number(out, "file_bytes", filling.file_bytes);
	strbuf_addf(out, ",\"killed_count\":%zu,\"is_group_killed\":%s,\"is_cut\":%s,\"victim\":",
		    kill->killed_count, kill->is_group_killed ? "true" : "false",
		    kill->is_cut ? "true" : "false");
	if (kill->victim.pid != 0)
		add_json_task(out, &kill->victim);
	else
		strbuf_add_text(out, "null");
	strbuf_add_text(out, ",\"tasks\":[");
	for (size_t i = 0; i < kill->task_count; i++) {
		if (i > 0)
			strbuf_add_char(out, ',');
		add_json_task(out, &kill->tasks[i]);
	}
	strbuf_add_text(out, "]}\n");
}
