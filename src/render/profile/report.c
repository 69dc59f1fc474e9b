/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/profile/page.h"
#include "render/table/style.h"

#define LABEL_WIDTH 22
/*
 * The report suggests installing debug symbols if functions without a name allocate at
 * least this share of the profile, in thousandths.
 */
#define NAMELESS_PER_MILLE_MIN 10

uint64_t profile_share(uint64_t sum, unsigned int min)
{
	uint64_t min_sum = sum / PROFILE_MIN_UNIT * min +
			   sum % PROFILE_MIN_UNIT * min / PROFILE_MIN_UNIT;

	return min_sum > 0 ? min_sum : 1;
}

void profile_add_amount(struct strbuf *out, const struct profile_report *report,
			enum profile_metric metric, uint64_t amount, int width)
{
	char text[UNITS_TEXT_SIZE];

	if (profile_metrics[metric].is_bytes && !report->options.exact_bytes)
		strbuf_addf(out, "%*s", width, units_format_bytes(amount, text));
	else
		strbuf_addf(out, "%*" PRIu64, width, amount);
}

void profile_add_share(struct strbuf *out, uint64_t part, uint64_t whole)
{
	unsigned int share = units_per_mille(part, whole);

	strbuf_addf(out, "%3u.%u%%", share / 10, share % 10);
}

/*
 * Return the longest tail of a string that is at most `width` columns wide. The tail does
 * not start within a multi-byte character.
 */
static const char *find_tail(const char *text, size_t length, size_t width)
{
	const char *end = text + length;

	text += text_cut_to_width(text, length, text_display_width(text, length) - width);
	while (text_display_width(text, (size_t)(end - text)) > width)
		text += text_cut_to_width(text, (size_t)(end - text), 2);
	return text;
}

void profile_add_name(struct strbuf *out, const char *name, size_t width, bool ascii)
{
	const char *mark = ascii ? "..." : "…";
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t left = width - (ascii ? 3 : 1);

	text_add_printable(&text, name, strlen(name), ascii);
	if (text.length == 0)
		strbuf_add_text(&text, "[no name]");
	if (width == 0 || text_display_width(text.text, text.length) <= width) {
		strbuf_add(out, text.text, text.length);
		return;
	}
	strbuf_add(out, text.text,
		   text_cut_to_width(text.text, text.length, left - left / 2));
	strbuf_add_text(out, mark);
	strbuf_add_text(out, find_tail(text.text, text.length, left / 2));
}

void profile_add_code(struct strbuf *out, const char *name,
		      const struct source_line *source, size_t width, bool ascii)
{
	_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;
	const char *slash = source->file ? strrchr(source->file, '/') : NULL;
	const char *file = slash ? slash + 1 : source->file;
	size_t begin = out->length;

	profile_add_name(out, name, width, ascii);
	if (!file || file[0] == '\0')
		return;
	strbuf_add_text(&place, "  ");
	text_add_printable(&place, file, strlen(file), ascii);
	if (source->line > 0)
		strbuf_addf(&place, ":%u", source->line);
	if (source->has_others)
		strbuf_add_char(&place, '+');
	if (width == 0 || text_display_width(out->text + begin, out->length - begin) +
					  text_display_width(place.text, place.length) <=
				  width)
		strbuf_add(out, place.text, place.length);
}

static void add_head(struct strbuf *out, const struct profile_report *report)
{
	const struct profile *p = report->profile;
	char elapsed[UNITS_TEXT_SIZE];

	if (report->is_head_printed || (!p->command && p->elapsed_ns == 0))
		return;
	if (p->command)
		text_add_printable(out, p->command, strlen(p->command),
				   report->options.ascii);
	else
		strbuf_add_text(out, "memstate count");
	if (p->pid > 0)
		strbuf_addf(out, ": pid %d", p->pid);
	if (p->elapsed_ns > 0)
		strbuf_addf(out, "%s %s", p->pid > 0 ? "," : ":",
			    units_format_duration(p->elapsed_ns, elapsed));
	strbuf_add_char(out, '\n');
}

/* a profile without a command is from another tool and may be incomplete */
bool profile_is_exact(const struct profile *profile)
{
	return profile->sample_bytes == 0 && profile->command;
}

static uint64_t square_root(uint64_t number)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
		if ((root + bit) * (root + bit) <= number)
			root += bit;
	return root;
}

/*
 * Return the 95 % error bound of an estimated amount of bytes: 1.96 times the square root
 * of (bytes per sample times bytes). The bound is tight for small blocks; the error is
 * smaller for larger blocks.
 */
static uint64_t error_of(const struct profile *p, uint64_t bytes)
{
	return square_root(p->sample_bytes) * square_root(bytes) * 49 / 25;
}

static void add_quality(struct strbuf *out, const struct profile_report *report,
			const uint64_t *sums)
{
	const struct profile *p = report->profile;
	char mean[UNITS_TEXT_SIZE];
	unsigned int share =
		units_per_mille(error_of(p, sums[PROFILE_BYTES]), sums[PROFILE_BYTES]);

	if (p->sample_bytes == 0) {
		if (profile_is_exact(p))
			strbuf_add_text(out, "exact: each allocation was recorded\n");
	} else {
		strbuf_add_text(out, "estimate: from ");
		if (p->sample_count > 0)
			strbuf_addf(out, "%" PRIu64 " ", p->sample_count);
		strbuf_addf(out, "sample%s, one per %s on average",
			    p->sample_count == 1 ? "" : "s",
			    units_format_bytes(p->sample_bytes, mean));
		if (sums[PROFILE_BYTES] > 0)
			strbuf_addf(out, "; bytes %s%u.%u%% or less, in 19 of 20 cases",
				    report->options.ascii ? "+-" : "±", share / 10,
				    share % 10);
		strbuf_add_char(out, '\n');
	}
	if (p->by_pointer_count > 0)
		strbuf_addf(
			out,
			"%" PRIu64
			" allocation%s a stack with code without unwind tables, such as "
			"a JIT compiler's: memstate followed its frame pointers\n",
			p->by_pointer_count,
			p->by_pointer_count == 1 ? " has" : "s have");
	if (p->cut_count > 0)
		strbuf_addf(out,
			    "%" PRIu64
			    " allocation%s an incomplete stack, which begins with "
			    "[cut]\n",
			    p->cut_count, p->cut_count == 1 ? " has" : "s have");
	if (p->lost_count > 0)
		strbuf_addf(out,
			    "%" PRIu64
			    " allocation%s no stack: the memory for stacks was "
			    "full\n",
			    p->lost_count, p->lost_count == 1 ? " has" : "s have");
}

static void add_sums(struct strbuf *out, const struct profile_report *report,
		     const uint64_t *sums)
{
	const struct profile *p = report->profile;

	if (out->length > 0)
		strbuf_add_char(out, '\n');
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		enum profile_metric metric = (enum profile_metric)m;

		if (!(p->known & 1U << m))
			continue;
		strbuf_addf(out, "%-*s", LABEL_WIDTH, profile_metrics[m].what);
		profile_add_amount(out, report, metric, sums[m], AMOUNT_WIDTH);
		if (report->whole && report->whole[m] != sums[m]) {
			strbuf_add_text(out, "  of ");
			profile_add_amount(out, report, metric, report->whole[m], 0);
			strbuf_add_text(out, ": rules left out the others");
		}
		strbuf_add_char(out, '\n');
	}
}

void profile_parts_init(struct profile_parts *parts, const struct profile_report *report)
{
	enum profile_metric metric = report->metric;
	uint64_t min;

	parts->profile = report->profile;
	function_names_init(&parts->names, report->profile);
	function_list_init(&parts->functions, report->profile, &parts->names, metric);
	profile_sum(report->profile, parts->sums);
	min = profile_share(parts->sums[metric], report->min);
	parts->shown_count = parts->left_count = 0;
	for (size_t i = 0; i < parts->functions.count; i++) {
		const struct function_sums *function = &parts->functions.functions[i];
		bool is_enough = report->min == 0 || function->total[metric] >= min;

		if (is_enough && (report->top == 0 || parts->shown_count < report->top))
			parts->functions.functions[parts->shown_count++] = *function;
		else if (function->total[metric] > 0)
			parts->left_count++;
	}
}

void profile_parts_release(struct profile_parts *parts)
{
	function_list_release(&parts->functions);
	function_names_release(&parts->names);
}

static void add_function(struct strbuf *out, const struct profile_report *report,
			 const struct profile_parts *parts,
			 const struct function_sums *function)
{
	size_t used = 2 * (AMOUNT_WIDTH + 1 + SHARE_WIDTH) + 2;
	size_t width = (size_t)report->options.max_width;
	enum profile_metric metric = report->metric;

	profile_add_amount(out, report, metric, function->self[metric], AMOUNT_WIDTH);
	strbuf_add_char(out, ' ');
	profile_add_share(out, function->self[metric], parts->sums[metric]);
	profile_add_amount(out, report, metric, function->total[metric], AMOUNT_WIDTH);
	strbuf_add_char(out, ' ');
	profile_add_share(out, function->total[metric], parts->sums[metric]);
	strbuf_add_text(out, "  ");
	if (width > 0)
		width = width > used + NAME_WIDTH_MIN ? width - used : NAME_WIDTH_MIN;
	profile_add_code(out, parts->names.names[function->name], &function->source,
			 width, report->options.ascii);
	strbuf_add_char(out, '\n');
}

static void add_functions(struct strbuf *out, const struct profile_report *report,
			  const struct profile_parts *parts)
{
	size_t begin;

	strbuf_addf(out, "\nBy function: %s by the function itself, and in total\n",
		    profile_metrics[report->metric].what);
	begin = out->length;
	if (!report->options.no_headings) {
		strbuf_addf(out, "%*s %*s%*s %*s  %s\n", AMOUNT_WIDTH, "SELF",
			    SHARE_WIDTH, "SHARE", AMOUNT_WIDTH, "TOTAL", SHARE_WIDTH,
			    "SHARE", "FUNCTION");
		style_mark_line(out, begin, STYLE_HEADING, report->options.colour);
	}
	for (size_t i = 0; i < parts->shown_count; i++)
		add_function(out, report, parts, &parts->functions.functions[i]);
	if (parts->left_count > 0)
		strbuf_addf(out, "and %zu more (--top N, --min PERCENT)\n",
			    parts->left_count);
}

/*
 * For each module, sum the amounts that its functions without a name allocate themselves,
 * not through their callees. Set *ret_sum to the total of all modules, and *ret_worst to
 * the module with the largest sum. The caller frees the result.
 */
static uint64_t *sum_nameless(const struct profile_report *report, uint64_t *ret_sum,
			      size_t *ret_worst)
{
	const struct profile *p = report->profile;
	uint64_t *sums = xcalloc(p->module_count + 1, sizeof(*sums));

	*ret_sum = 0;
	*ret_worst = 0;
	for (size_t i = 1; i < p->node_count; i++) {
		const struct profile_frame *frame = &p->frames[p->nodes[i].frame];
		uint64_t amount = p->nodes[i].values[report->metric];

		if (frame->kind != FRAME_CODE || frame->function ||
		    frame->module == PROFILE_NO_MODULE)
			continue;
		*ret_sum += amount;
		sums[frame->module] += amount;
		if (sums[frame->module] > sums[*ret_worst])
			*ret_worst = frame->module;
	}
	return sums;
}

/*
 * Append the name of the file whose debug symbols would provide the most missing function
 * names, weighted by the metric.
 */
static void add_nameless(struct strbuf *out, const struct profile_report *report,
			 uint64_t whole)
{
	uint64_t sum;
	size_t worst;
	uint64_t *sums = sum_nameless(report, &sum, &worst);
	unsigned int share = units_per_mille(sum, whole);

	if (share >= NAMELESS_PER_MILLE_MIN) {
		const char *path = report->profile->modules[worst].path;

		strbuf_addf(
			out,
			"\n%u.%u%% is allocated by functions without names, most of it by ",
			share / 10, share % 10);
		text_add_printable(out, path, strlen(path), report->options.ascii);
		strbuf_add_text(out,
				":\ninstall the debug symbols of its package "
				"(Debian: PACKAGE-dbgsym; Fedora: PACKAGE-debuginfo)\n");
	}
	free(sums);
}

void profile_report_add_text(struct strbuf *out, const struct profile_report *report)
{
	struct profile_parts parts;

	profile_parts_init(&parts, report);
	add_head(out, report);
	add_quality(out, report, parts.sums);
	add_sums(out, report, parts.sums);
	if (parts.sums[report->metric] == 0) {
		strbuf_addf(out, "\nThe profile contains no %s.\n",
			    profile_metrics[report->metric].what);
	} else {
		add_functions(out, report, &parts);
		add_nameless(out, report, parts.sums[report->metric]);
		strbuf_add_text(out, "\nFunctions that allocate, and below each its "
				     "callers\n");
		profile_add_tree(out, report, &parts.names, true);
		strbuf_add_text(out, "\nCalls, from the outermost function inwards\n");
		profile_add_tree(out, report, &parts.names, false);
	}
	profile_parts_release(&parts);
}

struct profile_row profile_parts_row(const struct profile_parts *parts, size_t i)
{
	const struct function_sums *sums = &parts->functions.functions[i];

	return (struct profile_row){ parts->profile, parts->names.names[sums->name],
				     sums };
}

void profile_report_add_csv(struct strbuf *out, const struct profile_report *report,
			    const struct column_list *columns)
{
	struct profile_parts parts;

	profile_parts_init(&parts, report);
	for (size_t i = 0; i < parts.shown_count; i++) {
		const struct profile_row row = profile_parts_row(&parts, i);

		csv_add_row(out, columns, &row);
	}
	profile_parts_release(&parts);
}
