/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/compare/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/compare/lines.h"
#include "render/table/axis.h"
#include "render/table/line_plot.h"

#define DEFAULT_WIDTH 80
#define WIDTH_MIN 40
#define LABEL_WIDTH 20
/* Minimum width of a table cell, which suffices for "1023.9K +-100%". */
#define CELL_WIDTH_MIN 15
/*
 * Minimum width of a table cell with an exact number of bytes, which suffices for
 * 999999999999 and the spread.
 */
#define EXACT_CELL_WIDTH_MIN 20
#define HEADING_LINES 4
#define SPREAD_PERCENT_MAX 999

#define PLOT_HEIGHT 5
#define PLOT_WIDTH_MAX 100
#define AXIS_WIDTH 9 /* width of an axis label with a space, such as " 1023.9K " */

struct report {
	struct strbuf *out;
	const struct compare_view *view;
	const struct table_options *options;
	size_t width;
};

static void add_printable(const struct report *r, struct strbuf *out, const char *text)
{
	text_add_printable(out, text, strlen(text), r->options->ascii);
}

static void add_wrapped(const struct report *r, const char *before, const char *words)
{
	_cleanup_strbuf_ struct strbuf safe = STRBUF_INIT;

	add_printable(r, &safe, words);
	strbuf_add_text(r->out, before);
	text_add_wrapped(r->out, strbuf_text(&safe), strlen(before), r->width);
}

static void add_right(struct strbuf *out, const char *text, size_t width)
{
	size_t used = text_display_width(text, strlen(text));

	strbuf_add_repeat(out, " ", width > used ? width - used : 0);
	strbuf_add_text(out, text);
}

static void add_title(const struct report *r)
{
	const struct comparison *c = r->view->comparison;
	char settle[UNITS_TEXT_SIZE];

	add_wrapped(r, "Command   ", c->command);
	if (c->workload)
		add_wrapped(r, "Workload  ", c->workload);
	if (c->settle_ns > 0)
		strbuf_addf(r->out, "Settled   for %s\n",
			    units_format_duration(c->settle_ns, settle));
	add_wrapped(
		r, "Figures   ",
		r->options->ascii
			? "medians of the good runs, +- half the range from lowest to "
			  "highest"
			: "medians of the good runs, \u00b1 half the range from lowest "
			  "to highest");
}

/* Append the verdict, the first part of the report. */
static void add_verdict(const struct report *r)
{
	const struct verdicts *verdicts = r->view->verdicts;

	if (verdicts->count == 0)
		return;
	add_wrapped(r, "", strbuf_text(&verdicts->items[0].text));
	strbuf_add_char(r->out, '\n');
}

static void add_other_sentences(const struct report *r)
{
	const struct verdicts *verdicts = r->view->verdicts;

	for (size_t i = 1; i < verdicts->count; i++)
		add_wrapped(r, i == 1 ? "Also      " : "          ",
			    strbuf_text(&verdicts->items[i].text));
	strbuf_add_char(r->out, '\n');
}

/*
 * A block of the table: the variants that are shown side by side, and the width of their
 * cells.
 */
struct block {
	size_t first, end;
	size_t cell_width;
};

/*
 * Return the number of bytes of a name that fit into `width` columns. If possible, cut
 * the name after a ':', '=', '/' or '_'.
 */
static size_t find_cut(const char *name, size_t length, size_t width)
{
	size_t fits = text_cut_to_width(name, length, width);

	if (fits == length)
		return length;
	for (size_t at = fits; at > fits / 2; at--)
		if (strchr(":=/_", name[at - 1]))
			return at;
	return fits > 0 ? fits : length;
}

/*
 * Append the next part of a name, right-aligned. *at is the number of bytes of the name
 * that have already been appended.
 */
static void add_name_part(struct strbuf *out, const struct strbuf *name, size_t *at,
			  size_t cell_width)
{
	const char *rest = strbuf_text(name) + *at;
	size_t cut = find_cut(rest, name->length - *at, cell_width - 2);
	_cleanup_free_ char *part = xstrndup(rest, cut);

	add_right(out, part, cell_width);
	*at += cut;
}

/*
 * Append the names of the variants, on as many lines as the longest name needs. Cut off a
 * name that needs more than HEADING_LINES lines.
 */
static void add_names(const struct report *r, const struct block *block)
{
	const struct variant *variants = r->view->comparison->variants;
	size_t count = block->end - block->first;
	struct strbuf *names = xcalloc(count, sizeof(*names));
	_cleanup_free_ size_t *at = xcalloc(count, sizeof(*at));
	bool is_more = true;

	for (size_t i = 0; i < count; i++)
		add_printable(r, &names[i], variants[block->first + i].name);
	for (int line = 0; is_more && line < HEADING_LINES; line++) {
		is_more = false;
		strbuf_add_repeat(r->out, " ", LABEL_WIDTH);
		for (size_t i = 0; i < count; i++) {
			add_name_part(r->out, &names[i], &at[i], block->cell_width);
			is_more |= at[i] < names[i].length;
		}
		while (r->out->text[r->out->length - 1] == ' ')
			strbuf_truncate(r->out, r->out->length - 1);
		strbuf_add_char(r->out, '\n');
	}
	for (size_t i = 0; i < count; i++)
		strbuf_release(&names[i]);
	free(names);
}

/*
 * Append the spread of a figure, which is half of the difference between the highest and
 * the lowest value. It is printed in percent of the median, rounded up. If the percentage
 * would be above SPREAD_PERCENT_MAX, the spread is printed as an amount instead.
 */
static void add_spread(const struct report *r, struct strbuf *cell,
		       const struct compare_line *line, const struct spread *s)
{
	uint64_t half = (s->max - s->min + 1) / 2;
	unsigned __int128 hundredfold = (unsigned __int128)half * 100;

	if (s->run_count < 2)
		return;
	strbuf_add_text(cell, r->options->ascii ? " +-" : " \u00b1");
	if (half > 0 && hundredfold > (unsigned __int128)s->median * SPREAD_PERCENT_MAX)
		compare_line_add_value(cell, line, half, r->options->exact_bytes);
	else
		strbuf_addf(cell, "%" PRIu64 "%%",
			    half ? (uint64_t)((hundredfold + s->median - 1) / s->median)
				 : 0);
}

static void add_cell(const struct report *r, const struct compare_line *line,
		     size_t variant, size_t width)
{
	const struct spread *s =
		&r->view->compared->variants[variant].figures[line->figure];
	_cleanup_strbuf_ struct strbuf cell = STRBUF_INIT;

	compare_line_add_value(&cell, line, s->median, r->options->exact_bytes);
	add_spread(r, &cell, line, s);
	add_right(r->out, cell.text, width);
}

static void add_line(const struct report *r, const struct block *block,
		     const struct compare_line *line)
{
	strbuf_add_text(r->out, line->label);
	if (line->figure != FIGURE_COUNT_) {
		strbuf_add_repeat(r->out, " ", LABEL_WIDTH - strlen(line->label));
		for (size_t v = block->first; v < block->end; v++)
			add_cell(r, line, v, block->cell_width);
	}
	strbuf_add_char(r->out, '\n');
}

static void add_good_runs(const struct report *r, const struct block *block)
{
	const char label[] = "good runs";

	strbuf_addf(r->out, "%-*s", LABEL_WIDTH, label);
	for (size_t v = block->first; v < block->end; v++) {
		const struct compared_variant *variant = &r->view->compared->variants[v];
		_cleanup_strbuf_ struct strbuf cell = STRBUF_INIT;

		strbuf_addf(&cell, "%zu of %zu", variant->good_count,
			    variant->good_count + variant->failed_count);
		add_right(r->out, cell.text, block->cell_width);
	}
	strbuf_add_char(r->out, '\n');
}

static void add_block(const struct report *r, const struct block *block)
{
	add_names(r, block);
	add_good_runs(r, block);
	for (size_t line = 0; line < compare_line_count; line++)
		if (compare_line_is_shown(r->view->compared, &compare_lines[line]))
			add_line(r, block, &compare_lines[line]);
	strbuf_add_char(r->out, '\n');
}

/*
 * Append the table in one or more blocks. Each block shows as many variants as fit side
 * by side.
 */
static void add_table(const struct report *r)
{
	size_t count = r->view->comparison->variant_count;
	size_t min = r->options->exact_bytes ? EXACT_CELL_WIDTH_MIN : CELL_WIDTH_MIN;
	size_t room = (r->width - LABEL_WIDTH) / min;
	struct block block = { .cell_width = min };

	if (room == 0)
		room = 1;
	for (size_t first = 0; first < count; first += room) {
		block.first = first;
		block.end = first + room < count ? first + room : count;
		add_block(r, &block);
	}
}

/*
 * Set the upper ends of the axes to the maxima over all successful runs, so that the
 * graphs of all variants have the same scale.
 */
static void find_axes(const struct comparison *c, struct line_plot *plot)
{
	uint64_t max_ns = 1, max_bytes = 0;

	for (size_t i = 0; i < c->run_count; i++) {
		const struct run *run = &c->runs[i];

		for (size_t s = 0; run_is_good(run) && s < run->sample_count; s++) {
			const struct run_sample *sample = &run->samples[s];

			if (sample->elapsed_ns > max_ns)
				max_ns = sample->elapsed_ns;
			if (bytes_known(sample->rss_bytes) &&
			    sample->rss_bytes > max_bytes)
				max_bytes = sample->rss_bytes;
		}
	}
	plot->x_top = max_ns;
	plot->y_top = axis_top_bytes(max_bytes);
}

/* Draw the Rss of a run over time, with gaps where the Rss is unknown. */
static void plot_run(struct line_plot *plot, const struct run *run)
{
	const struct run_sample *before = NULL;

	for (size_t s = 0; s < run->sample_count; s++) {
		const struct run_sample *sample = &run->samples[s];
		bool is_known = bytes_known(sample->rss_bytes);

		if (is_known && !before)
			before = sample;
		if (is_known)
			line_plot_add(plot,
				      (struct plot_point){ before->elapsed_ns,
							   before->rss_bytes },
				      (struct plot_point){ sample->elapsed_ns,
							   sample->rss_bytes });
		before = is_known ? sample : NULL;
	}
}

static void add_plot(const struct report *r, struct line_plot *plot, size_t variant)
{
	const struct comparison *c = r->view->comparison;
	char top[UNITS_TEXT_SIZE];

	line_plot_clear(plot);
	for (size_t i = 0; i < c->run_count; i++)
		if (c->runs[i].variant == variant && run_is_good(&c->runs[i]))
			plot_run(plot, &c->runs[i]);
	add_wrapped(r, "", c->variants[variant].name);
	for (size_t row = 0; row < plot->height; row++) {
		const char *mark = row == 0 ? units_format_bytes(plot->y_top, top)
				   : row + 1 == plot->height ? "0"
							     : "";

		add_right(r->out, mark, AXIS_WIDTH - 1);
		strbuf_add_text(r->out, r->options->ascii ? " |" : " \u2502");
		line_plot_add_row(plot, row, r->out);
		strbuf_add_char(r->out, '\n');
	}
}

static void add_plots(const struct report *r)
{
	struct line_plot plot;
	char length[UNITS_TEXT_SIZE];

	line_plot_init(&plot);
	find_axes(r->view->comparison, &plot);
	plot.height = PLOT_HEIGHT;
	plot.width = r->width - AXIS_WIDTH - 1;
	if (plot.width > PLOT_WIDTH_MAX)
		plot.width = PLOT_WIDTH_MAX;
	plot.ascii = r->options->ascii;
	strbuf_addf(r->out, "Rss of the good runs, one line each, over %s\n",
		    units_format_duration(plot.x_top, length));
	for (size_t v = 0; v < r->view->comparison->variant_count; v++)
		if (r->view->compared->variants[v].good_count > 0)
			add_plot(r, &plot, v);
	line_plot_release(&plot);
}

void compare_report_add(struct strbuf *out, const struct compare_view *view,
			const struct table_options *options)
{
	struct report r = { out, view, options, DEFAULT_WIDTH };

	if (options->max_width > 0)
		r.width = (size_t)options->max_width;
	if (r.width < WIDTH_MIN)
		r.width = WIDTH_MIN;
	add_verdict(&r);
	add_title(&r);
	add_other_sentences(&r);
	add_table(&r);
	add_plots(&r);
}
