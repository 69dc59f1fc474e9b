/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/compare/lines.h"
#include "render/compare/report.h"
#include "render/html/html_page.h"

static void add_head(struct strbuf *out, const struct compare_view *view)
{
	const struct comparison *c = view->comparison;
	char settle[UNITS_TEXT_SIZE];

	html_add_code_line(out, "Command", c->command);
	if (c->workload)
		html_add_code_line(out, "Workload", c->workload);
	if (c->settle_ns > 0)
		strbuf_addf(out, "<p class=\"what\">Settled for %s</p>\n",
			    units_format_duration(c->settle_ns, settle));
	strbuf_add_text(out, "<div class=\"verdict\">\n");
	for (size_t i = 0; i < view->verdicts->count; i++) {
		strbuf_addf(out, "<p data-rule=\"%s\">", view->verdicts->items[i].rule);
		html_add_text(out, strbuf_text(&view->verdicts->items[i].text));
		strbuf_add_text(out, "</p>\n");
	}
	strbuf_add_text(out, "</div>\n");
}

/*
 * Append a table cell with the median of a figure, such as "72.0M". Also append the
 * range, unless its two ends are printed alike.
 */
static void add_cell(struct strbuf *out, const struct compare_line *line,
		     const struct spread *s)
{
	_cleanup_strbuf_ struct strbuf min = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf max = STRBUF_INIT;

	strbuf_add_text(out, "<td>");
	compare_line_add_value(out, line, s->median, false);
	compare_line_add_value(&min, line, s->min, false);
	compare_line_add_value(&max, line, s->max, false);
	if (strcmp(min.text, max.text) != 0)
		strbuf_addf(out, " <small>%s to %s</small>", min.text, max.text);
	strbuf_add_text(out, "</td>");
}

static void add_line(struct strbuf *out, const struct compare_view *view,
		     const struct compare_line *line)
{
	size_t count = view->comparison->variant_count;
	size_t indent = strspn(line->label, " ");

	if (line->figure == FIGURE_COUNT_) {
		strbuf_addf(out,
			    "<tr class=\"heading\"><th colspan=\"%zu\">%s</th></tr>\n",
			    count + 1, line->label);
		return;
	}
	strbuf_addf(out, "<tr%s><th scope=\"row\">%s</th>",
		    indent > 0 ? " class=\"part\"" : "", line->label + indent);
	for (size_t v = 0; v < count; v++)
		add_cell(out, line, &view->compared->variants[v].figures[line->figure]);
	strbuf_add_text(out, "</tr>\n");
}

static void add_good_runs(struct strbuf *out, const struct compare_view *view)
{
	strbuf_add_text(out, "<tr><th scope=\"row\">good runs</th>");
	for (size_t v = 0; v < view->comparison->variant_count; v++) {
		const struct compared_variant *variant = &view->compared->variants[v];

		strbuf_addf(out, "<td>%zu of %zu", variant->good_count,
			    variant->good_count + variant->failed_count);
		if (variant->problem) {
			strbuf_add_text(out, " <small>");
			html_add_text(out, variant->problem);
			strbuf_add_text(out, "</small>");
		}
		strbuf_add_text(out, "</td>");
	}
	strbuf_add_text(out, "</tr>\n");
}

static void add_table(struct strbuf *out, const struct compare_view *view)
{
	strbuf_add_text(
		out,
		"<h2>Figures</h2>\n<p class=\"note\">Medians of the good runs; below each, "
		"the lowest and the highest value.</p>\n<div class=\"scroll\">\n"
		"<table class=\"figures\">\n<thead><tr><td></td>");
	for (size_t v = 0; v < view->comparison->variant_count; v++) {
		strbuf_add_text(out, "<th scope=\"col\">");
		html_add_text(out, view->comparison->variants[v].name);
		strbuf_add_text(out, "</th>");
	}
	strbuf_add_text(out, "</tr></thead>\n<tbody>\n");
	add_good_runs(out, view);
	for (size_t line = 0; line < compare_line_count; line++)
		if (compare_line_is_shown(view->compared, &compare_lines[line]))
			add_line(out, view, &compare_lines[line]);
	strbuf_add_text(out, "</tbody>\n</table>\n</div>\n");
}

static const char *const moment_labels[MOMENT_COUNT_] = {
	[MOMENT_PEAK] = "peak",
	[MOMENT_END] = "end",
	[MOMENT_SETTLED] = "settled",
};

/* Storage for the arrays and strings that a struct html_chart refers to. */
struct chart_room {
	struct html_mark marks[MOMENT_COUNT_];
	struct html_series *lines;
	struct strbuf note;
};

static struct html_series series_of(const struct run *run)
{
	return (struct html_series){ run->samples, run->sample_count };
}

static size_t find_marks(const struct run *run, struct html_mark *marks)
{
	size_t count = 0;

	for (size_t m = 0; m < MOMENT_COUNT_; m++)
		if (run->moments[m] < run->sample_count)
			marks[count++] = (struct html_mark){
				run->samples[run->moments[m]].elapsed_ns, moment_labels[m]
			};
	return count;
}

/*
 * Fill in a chart, with the typical run as stacked areas and the other successful runs
 * as lines.
 */
static void make_chart(const struct compare_view *view, size_t variant,
		       struct chart_room *room, struct html_chart *chart)
{
	const struct comparison *c = view->comparison;
	size_t typical = view->compared->variants[variant].typical_run;

	*chart = (struct html_chart){
		.title = c->variants[variant].name,
		.lines = room->lines,
		.marks = room->marks,
	};
	if (typical == SIZE_MAX) {
		chart->note = "no good run";
		return;
	}
	chart->areas = series_of(&c->runs[typical]);
	chart->mark_count = find_marks(&c->runs[typical], room->marks);
	for (size_t i = 0; i < c->run_count; i++)
		if (i != typical && c->runs[i].variant == variant &&
		    run_is_good(&c->runs[i]))
			room->lines[chart->line_count++] = series_of(&c->runs[i]);
	strbuf_addf(&room->note, "run %u%s", c->runs[typical].number,
		    chart->line_count > 0 ? "; lines: the other good runs" : "");
	chart->note = room->note.text;
}

static void add_charts(struct strbuf *out, const struct compare_view *view)
{
	const struct comparison *c = view->comparison;
	struct html_chart *charts = xcalloc(c->variant_count + 1, sizeof(*charts));
	struct chart_room *rooms = xcalloc(c->variant_count + 1, sizeof(*rooms));

	for (size_t v = 0; v < c->variant_count; v++) {
		rooms[v].lines = xcalloc(c->run_count + 1, sizeof(*rooms[v].lines));
		make_chart(view, v, &rooms[v], &charts[v]);
	}
	html_page_add_charts(out, charts, c->variant_count);
	for (size_t v = 0; v < c->variant_count; v++) {
		free(rooms[v].lines);
		strbuf_release(&rooms[v].note);
	}
	free(rooms);
	free(charts);
}

void compare_add_html(struct strbuf *out, const struct compare_view *view)
{
	const struct html_page page = HTML_PAGE_CHARTS("memstate: allocators compared");

	html_page_begin(out, &page);
	add_head(out, view);
	strbuf_add_text(out, "<h2>Rss over time</h2>\n");
	add_charts(out, view);
	add_table(out, view);
	html_page_end(out, &page);
}
