/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/process/group_head.h"
#include "render/process/growth_words.h"
#include "classify/oom/conclusion.h"
#include "render/table/bar.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

#define LABEL_WIDTH 20
#define AMOUNT_WIDTH 10
#define BAR_INDENT 2
#define WIDTH_MIN 40

struct page {
	struct strbuf *out;
	const struct oom_report *report;
	const struct cgroup *cgroup;
	const struct oom_figures *figures;
	size_t width;
};

static const char *format_amount_or_none(const struct page *p, uint64_t bytes,
					 char buf[UNITS_TEXT_SIZE])
{
	if (bytes == CGROUP_NO_LIMIT)
		return "none";
	return units_format_amount(bytes, p->report->options.exact_bytes, buf);
}

/*
 * Append an indented line such as "label 1.5M 12.3% note". The percentage refers to the
 * usage of the cgroup.
 */
static void add_part(struct page *p, int indent, const char *label, uint64_t bytes,
		     const char *note)
{
	uint64_t whole = p->figures->usage_bytes;
	unsigned int per_mille = units_per_mille(bytes, whole);
	char buf[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "%*s%-*s%*s", indent, "", LABEL_WIDTH - indent, label,
		    p->report->options.exact_bytes ? AMOUNT_WIDTH + 5 : AMOUNT_WIDTH,
		    format_amount_or_none(p, bytes, buf));
	if (bytes_known(bytes) && bytes_known(whole) && whole > 0)
		strbuf_addf(p->out, "  %3u.%u%%", per_mille / 10, per_mille % 10);
	else
		strbuf_add_text(p->out, "       -");
	if (note)
		strbuf_addf(p->out, "  %s", note);
	strbuf_add_char(p->out, '\n');
}

/* Append an indented line for a kind of memory that the kernel can reclaim. */
static void add_reclaimable(struct page *p, const char *label, uint64_t bytes,
			    const char *note)
{
	size_t begin = p->out->length;

	add_part(p, 2, label, bytes, note);
	style_mark_line(p->out, begin, STYLE_RECLAIMABLE, p->report->options.colour);
}

/* Append a path, with unprintable characters escaped. */
static void add_path(struct page *p, const char *path)
{
	text_add_printable(p->out, path, strlen(path), p->report->options.ascii);
}

/*
 * Append a bar that shows the parts of the usage. The full length of the bar is the limit
 * or, without a limit, the usage.
 */
static void add_bar(struct page *p)
{
	const struct oom_figures *f = p->figures;
	const struct table_options *o = &p->report->options;
	uint64_t whole = f->limit_bytes == CGROUP_NO_LIMIT ? f->usage_bytes
							   : f->limit_bytes;
	const struct bar_part parts[] = {
		{ f->need_bytes, 'N', "31" },
		{ f->lazyfree_bytes, 'L', "32" },
		{ f->file_bytes, 'C', "34" },
		{ f->slab_reclaimable_bytes, 'S', "36" },
		{ bytes_sub(whole, f->usage_bytes), '.', NULL },
	};
	static const char *const names[] = { "need", "LazyFree", "page cache",
					     "reclaimable slab", "free" };
	size_t count = sizeof(parts) / sizeof(parts[0]);

	strbuf_add_repeat(p->out, " ", BAR_INDENT);
	bar_add(p->out, parts, count, whole, p->width - BAR_INDENT - 2, o->ascii,
		o->colour);
	strbuf_add_char(p->out, '\n');
	for (size_t i = 0; i < count; i++) {
		strbuf_add_text(p->out, "  ");
		bar_add_letter(p->out, &parts[i], o->colour);
		strbuf_addf(p->out, " %s", names[i]);
	}
	strbuf_add_text(p->out, "\n\n");
}

/*
 * Append the parts of kernel memory in cgroup v1, and how accurate each part is. Samples
 * from a recording do not contain these figures.
 */
static void add_kernel_v1(struct page *p)
{
	const struct oom_figures *f = p->figures;
	char note[128];

	if (bytes_known(f->pipe_count)) {
		snprintf(note, sizeof(note), "%s%llu open in its processes",
			 bytes_known(f->pipe_limit_bytes) ? "upper bound; " : "unknown; ",
			 (unsigned long long)f->pipe_count);
		add_part(p, 6, "pipes", f->pipe_limit_bytes, note);
	}
	if (bytes_known(f->inode_slab_bytes))
		add_part(p, 6, "inodes", f->inode_slab_bytes,
			 "slab of inodes and file names");
	else if (bytes_known(f->pipe_count))
		add_part(p, 6, "inodes", BYTES_UNKNOWN,
			 "this kernel does not report them");
	if (bytes_known(f->socket_count)) {
		snprintf(note, sizeof(note), "%s%llu open in its processes",
			 bytes_known(f->socket_slab_bytes) ? "slab; " : "unknown; ",
			 (unsigned long long)f->socket_count);
		add_part(p, 6, "sockets", f->socket_slab_bytes, note);
	}
}

static void add_kernel(struct page *p)
{
	const struct oom_figures *f = p->figures;
	const struct {
		const char *label;
		uint64_t bytes;
		const char *note;
	} parts[] = {
		{ "threads' stacks", f->kernel_stack_bytes, NULL },
		{ "page tables", f->pagetables_bytes, NULL },
		{ "per CPU", f->percpu_bytes, NULL },
		{ "vmalloc", f->vmalloc_bytes, NULL },
		{ "slab", f->slab_unreclaimable_bytes,
		  "inodes of tmpfs, sockets and similar objects" },
		{ "other", f->other_kernel_bytes, "pipe buffers and similar objects" },
	};

	if (p->cgroup->version == CGROUP_V1) {
		add_part(p, 4, "kernel", f->kernel_bytes,
			 "cgroup version 1 does not itemize it; part may be reclaimable");
		add_kernel_v1(p);
		return;
	}
	add_part(p, 4, "kernel", f->kernel_bytes, NULL);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (bytes_known(parts[i].bytes) && parts[i].bytes > 0)
			add_part(p, 6, parts[i].label, parts[i].bytes, parts[i].note);
}

static void add_unexplained(struct page *p)
{
	char buf[UNITS_TEXT_SIZE], slack[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "  %-*s%*s  the kernel's figures are accurate to +-%s\n",
		    LABEL_WIDTH - 2, "unexplained", AMOUNT_WIDTH,
		    units_format_change(p->figures->unexplained_bytes, buf),
		    units_format_bytes(p->figures->slack_bytes, slack));
}

static const char *lazyfree_note(const struct oom_figures *f)
{
	if (f->unreadable_count > 0)
		return "lower bound: some processes could not be read; the kernel "
		       "reclaims it first";
	return f->is_lazyfree_exact ? "the kernel reclaims it first"
				    : "upper bound; the kernel reclaims it first";
}

static void add_parts(struct page *p)
{
	const struct oom_figures *f = p->figures;

	add_part(p, 0, "usage", f->usage_bytes, NULL);
	add_part(p, 2, "need", f->need_bytes, "cannot be reclaimed");
	add_part(p, 4, "live anon", f->live_anon_bytes,
		 "heaps, stacks, other private memory");
	add_part(p, 4, "shmem", f->shmem_bytes, "shared memory, files on tmpfs");
	add_kernel(p);
	if (p->cgroup->version == CGROUP_V2)
		add_part(p, 4, "network buffers", f->sock_bytes, NULL);
	add_reclaimable(p, "LazyFree", f->lazyfree_bytes, lazyfree_note(f));
	add_reclaimable(p, "page cache", f->file_bytes,
			"reclaimed before the OOM killer acts");
	if (bytes_known(f->slab_reclaimable_bytes))
		add_reclaimable(p, "reclaimable slab", f->slab_reclaimable_bytes, NULL);
	add_unexplained(p);
	if (bytes_known(f->tcp_bytes))
		add_part(p, 2, "TCP buffers", f->tcp_bytes,
			 "not part of usage: cgroup version 1 limits them separately");
}

/* Append a line with a label, an amount, and a sentence that explains the amount. */
static void add_explained(struct page *p, const char *label, uint64_t bytes,
			  const char *words)
{
	char buf[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "%-*s%*s  ", LABEL_WIDTH, label,
		    p->report->options.exact_bytes ? AMOUNT_WIDTH + 5 : AMOUNT_WIDTH,
		    format_amount_or_none(p, bytes, buf));
	text_add_wrapped(p->out, words, LABEL_WIDTH + AMOUNT_WIDTH + 2, p->width);
}

static void add_growth(struct page *p)
{
	const struct trend *need = p->report->need;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT, time = STRBUF_INIT;
	char span[UNITS_TEXT_SIZE];

	if (!need)
		return;
	growth_add_words(&words, &need->growth, NULL);
	if (p->figures->limit_bytes != CGROUP_NO_LIMIT)
		growth_add_time(&time, &need->growth, p->figures->limit_bytes);
	if (time.length > 0)
		strbuf_addf(&words, "; %s", time.text);
	strbuf_addf(p->out, "%-*s%*s  ", LABEL_WIDTH, "need over",
		    p->report->options.exact_bytes ? AMOUNT_WIDTH + 5 : AMOUNT_WIDTH,
		    units_format_duration(need->span_ns, span));
	text_add_wrapped(p->out, words.text, LABEL_WIDTH + AMOUNT_WIDTH + 2, p->width);
}

static void add_details(struct page *p)
{
	const struct oom_figures *f = p->figures;

	strbuf_add_char(p->out, '\n');
	if (f->limit_bytes != CGROUP_NO_LIMIT)
		add_explained(p, "headroom", f->headroom_bytes,
			      "need can grow by this much before an OOM kill");
	add_explained(p, "shown by kubectl top", f->working_set_bytes,
		      "usage minus inactive files");
	if (bytes_known(f->hidden_bytes) && f->hidden_bytes > 0)
		add_explained(
			p, "hidden", f->hidden_bytes,
			"live memory that the working set omits, and that cannot be "
			"reclaimed: it was freed with MADV_FREE and written again, "
			"or is shared with a forked process");
	if (bytes_known(f->unaccounted_bytes) && f->unaccounted_bytes > f->slack_bytes)
		add_explained(
			p, "in no process", f->unaccounted_bytes,
			"charged to the cgroup, but in no visible process: files on "
			"tmpfs, or processes that cannot be read");
	add_growth(p);
}

static int compare_usages(const void *a, const void *b)
{
	const struct usage *x = *(const struct usage *const *)a;
	const struct usage *y = *(const struct usage *const *)b;
	uint64_t of_x = bytes_known(x->total.bytes[SMAPS_PSS]) ? x->total.bytes[SMAPS_PSS]
							       : 0;
	uint64_t of_y = bytes_known(y->total.bytes[SMAPS_PSS]) ? y->total.bytes[SMAPS_PSS]
							       : 0;

	return (of_x < of_y) - (of_x > of_y);
}

static void add_process(struct page *p, const struct usage *u)
{
	uint64_t pss_bytes = u->total.bytes[SMAPS_PSS];
	char pss[UNITS_TEXT_SIZE], rss[UNITS_TEXT_SIZE], lazy[UNITS_TEXT_SIZE],
		share[16] = "-";
	unsigned int per_mille = units_per_mille(pss_bytes, p->figures->usage_bytes);

	if (bytes_known(pss_bytes) && bytes_known(p->figures->usage_bytes))
		snprintf(share, sizeof(share), "%u.%u%%", per_mille / 10, per_mille % 10);
	strbuf_addf(p->out, "%8d  %9s  %6s  %9s  %9s  ", u->process.pid,
		    format_amount_or_none(p, pss_bytes, pss), share,
		    format_amount_or_none(p, u->total.bytes[SMAPS_RSS], rss),
		    format_amount_or_none(p, u->state_bytes[STATE_LAZYFREE], lazy));
	add_path(p, u->process.comm);
	strbuf_add_char(p->out, '\n');
}

static void add_processes(struct page *p)
{
	const struct snapshot *s = p->report->processes;
	const struct usage **usages = xcalloc(s->count + 1, sizeof(*usages));
	size_t begin = p->out->length;

	for (size_t i = 0; i < s->count; i++)
		usages[i] = &s->usages[i];
	qsort(usages, s->count, sizeof(*usages), compare_usages);
	if (s->count > 0)
		strbuf_add_text(
			p->out,
			"\n     PID        PSS   SHARE        RSS   LAZYFREE  COMM\n");
	style_mark_line(p->out, begin, STYLE_HEADING, p->report->options.colour);
	for (size_t i = 0; i < s->count && i < p->report->top; i++)
		add_process(p, usages[i]);
	if (s->count > p->report->top)
		strbuf_addf(p->out, "          and %zu more\n",
			    s->count - p->report->top);
	free(usages);
}

void oom_report_add_text(struct strbuf *out, const struct oom_report *report)
{
	size_t width = report->options.max_width > 0 ? (size_t)report->options.max_width
						     : 100;
	struct page p = {
		.out = out,
		.report = report,
		.cgroup = report->row.cgroup,
		.figures = report->row.figures,
		.width = width < WIDTH_MIN ? WIDTH_MIN : width,
	};
	const struct oom_conclusion_options conclusion_options = {
		.ascii = report->options.ascii,
		.exact_bytes = report->options.exact_bytes,
		.recording = report->recording,
		.live_options = report->live_options,
	};
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;

	oom_conclude_group(&conclusion, p.cgroup, p.figures, report->need,
			   &conclusion_options);
	conclusion_add_opening(out, &conclusion, &report->options);
	strbuf_add_char(out, '\n');
	group_head_add(out, p.cgroup, &report->options);
	add_bar(&p);
	add_parts(&p);
	add_details(&p);
	add_processes(&p);
	conclusion_add_next(out, &conclusion);
}

/* Append a number, or null for a limit that is not set. */
static void add_amount(struct json *j, const char *key, uint64_t number)
{
	json_add_amount(j, key, number == CGROUP_NO_LIMIT ? BYTES_UNKNOWN : number);
}

static void add_level(struct json *j, const struct cgroup_level *level)
{
	json_begin_object(j, NULL);
	json_add_string(j, "cgroup", level->path);
	json_add_bool(j, "has_limit", level->limit_bytes != CGROUP_NO_LIMIT);
	add_amount(j, "limit_bytes", level->limit_bytes);
	add_amount(j, "usage_bytes", level->usage_bytes);
	add_amount(j, "peak_bytes", level->peak_bytes);
	add_amount(j, "high_bytes", level->high_bytes);
	add_amount(j, "swap_bytes", level->swap_bytes);
	add_amount(j, "swap_limit_bytes", level->swap_limit_bytes);
	add_amount(j, "max_count", level->max_count);
	add_amount(j, "oom_count", level->oom_count);
	add_amount(j, "oom_kill_count", level->oom_kill_count);
	json_end_object(j);
}

void oom_report_add_json(struct strbuf *out, const struct oom_row *row,
			 const struct column_list *columns)
{
	const struct cgroup *c = row->cgroup;
	struct json j = json_begin_report(out, "oom");

	json_add_row(&j, "oom", columns, row);
	json_add_signed(&j, "cgroup_version", (int)c->version);
	json_add_bool(&j, "is_cut", c->is_cut);
	json_add_signed(&j, "unexplained_bytes", row->figures->unexplained_bytes);
	json_begin_array(&j, "levels");
	for (size_t i = 0; i < c->level_count; i++)
		add_level(&j, &c->levels[i]);
	json_end_array(&j);
	json_end_report(&j);
}
