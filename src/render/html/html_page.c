/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/html/html_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/table/axis.h"
#include "render/table/output.h"

/* Maximum number of points in a series. A screen has too few pixel columns for more. */
#define POINTS_MAX 600

/*
 * The areas of a chart from bottom to top. Memory that does not depend on the allocator
 * is at the bottom, and the allocator's free pages are at the top.
 */
static const struct layer {
	enum owner owner;
	const char *help;
} layers[] = {
	{ OWNER_FILE, "mapped files" },
	{ OWNER_SHMEM, "shared memory" },
	{ OWNER_STACK, "stacks of all threads" },
	{ OWNER_ANON,
	  "other private anonymous memory; includes the heap if it was not read" },
	{ OWNER_HEAP_META, "the allocator's own data" },
	{ OWNER_LIVE, "allocated blocks" },
	{ OWNER_POOL_FRAGMENTS, "freed, on pages that also hold live blocks" },
	{ OWNER_POOL_PAGES, "freed whole pages that the allocator retains" },
};

#define LAYER_COUNT (sizeof(layers) / sizeof(layers[0]))

void html_add_text(struct strbuf *out, const char *text)
{
	_cleanup_strbuf_ struct strbuf safe = STRBUF_INIT;
	const char *at;

	text_add_printable(&safe, text, strlen(text), false);
	for (at = strbuf_text(&safe); *at; at++) {
		switch (*at) {
		case '&': strbuf_add_text(out, "&amp;"); break;
		case '<': strbuf_add_text(out, "&lt;"); break;
		case '>': strbuf_add_text(out, "&gt;"); break;
		case '"': strbuf_add_text(out, "&quot;"); break;
		case '\'': strbuf_add_text(out, "&#39;"); break;
		default: strbuf_add_char(out, *at);
		}
	}
}

void html_add_lines(struct strbuf *out, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = xstrndup(text, length);

		html_add_text(out, line);
		if (text[length] == '\n')
			strbuf_add_char(out, text[length++]);
		text += length;
	}
}

void html_add_code_line(struct strbuf *out, const char *label, const char *text)
{
	strbuf_addf(out, "<p class=\"what\">%s <code>", label);
	html_add_text(out, text);
	strbuf_add_text(out, "</code></p>\n");
}

/*
 * Append a directive of a content security policy, such as "style-src 'sha256-…'", which
 * allows the browser to use one file as a style or script.
 */
static void add_source(struct strbuf *out, const char *directive, enum page_file file)
{
	strbuf_addf(out, "; %s-src 'sha256-%s'", directive, page_file_digest(file));
}

/*
 * The content security policy forbids everything that is not part of the page. It is a
 * second line of defence in case a string is not escaped properly.
 */
void html_page_begin(struct strbuf *out, const struct html_page *page)
{
	strbuf_add_text(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"base-uri 'none'; form-action 'none'");
	add_source(out, "style", page->style);
	add_source(out, "script", page->script);
	strbuf_add_text(
		out,
		"\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"generator\" content=\"memstate " PACKAGE_VERSION "\">\n"
		"<title>");
	html_add_text(out, page->title);
	strbuf_addf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>",
		    page_file_text(page->style));
	html_add_text(out, page->title);
	strbuf_add_text(out, "</h1>\n");
}

void html_page_end(struct strbuf *out, const struct html_page *page)
{
	strbuf_addf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n",
		    page_file_text(page->script));
}

struct json html_begin_data(struct strbuf *out)
{
	struct json j;

	strbuf_add_text(out, "<script type=\"application/json\" id=\"data\">\n");
	j = json_begin(out);
	j.is_in_html = true;
	json_begin_object(&j, NULL);
	return j;
}

void html_end_data(struct json *j)
{
	json_end_object(j);
	strbuf_add_text(j->out, "\n</script>\n");
}

void html_add_json_text(struct json *j, const char *key, const char *text)
{
	_cleanup_strbuf_ struct strbuf safe = STRBUF_INIT;

	text_add_printable(&safe, text, strlen(text), false);
	json_add_string(j, key, strbuf_text(&safe));
}

/* Indices of the samples that are shown in a chart. */
struct points {
	size_t *at;
	size_t count;
};

static bool is_marked(const struct html_chart *chart, const struct run_sample *sample)
{
	for (size_t m = 0; m < chart->mark_count; m++)
		if (chart->marks[m].elapsed_ns == sample->elapsed_ns)
			return true;
	return false;
}

static uint64_t rss_or_0(const struct run_sample *sample)
{
	return bytes_known(sample->rss_bytes) ? sample->rss_bytes : 0;
}

/*
 * Select the largest sample of each interval, so that every peak stays visible. Also
 * select the first sample, the last sample, and all marked samples.
 */
static void find_points(const struct html_series *series, const struct html_chart *chart,
			struct points *ret)
{
	size_t stretch = (series->count + POINTS_MAX - 1) / POINTS_MAX;

	ret->at = xcalloc(series->count + 1, sizeof(*ret->at));
	ret->count = 0;
	for (size_t first = 0; first < series->count; first += stretch) {
		size_t end = series->count - first > stretch ? first + stretch
							     : series->count;
		size_t largest = first;

		for (size_t i = first; i < end; i++)
			if (rss_or_0(&series->samples[i]) >
			    rss_or_0(&series->samples[largest]))
				largest = i;
		for (size_t i = first; i < end; i++)
			if (i == largest || i == 0 || i + 1 == series->count ||
			    is_marked(chart, &series->samples[i]))
				ret->at[ret->count++] = i;
	}
}

/* Append a JSON array with an amount for each point of a series. */
static void add_array(struct json *j, const char *key, const struct html_series *series,
		      const struct points *points,
		      uint64_t (*get)(const struct run_sample *s, int arg), int arg)
{
	json_begin_array(j, key);
	for (size_t p = 0; p < points->count; p++)
		json_add_amount(j, NULL, get(&series->samples[points->at[p]], arg));
	json_end_array(j);
}

static uint64_t get_time(const struct run_sample *s, int arg)
{
	(void)arg;
	return s->elapsed_ns / NS_PER_US;
}

static uint64_t get_rss(const struct run_sample *s, int arg)
{
	(void)arg;
	return s->rss_bytes;
}

enum {
	BESIDE_LAZYFREE,
	BESIDE_UNBACKED,
	BESIDE_SWAP
};

static uint64_t get_beside(const struct run_sample *s, int arg)
{
	const uint64_t amounts[] = {
		[BESIDE_LAZYFREE] = s->lazyfree_bytes,
		[BESIDE_UNBACKED] = s->unbacked_bytes,
		[BESIDE_SWAP] = s->swap_bytes,
	};

	return amounts[arg];
}

static uint64_t get_owner(const struct run_sample *s, int arg)
{
	return s->owner_bytes[arg];
}

static void add_line(struct json *j, const struct html_series *series,
		     const struct html_chart *chart)
{
	struct points points;

	find_points(series, chart, &points);
	json_begin_object(j, NULL);
	add_array(j, "t", series, &points, get_time, 0);
	add_array(j, "rss", series, &points, get_rss, 0);
	json_end_object(j);
	free(points.at);
}

static void add_areas(struct json *j, const struct html_chart *chart)
{
	const struct html_series *areas = &chart->areas;
	struct points points;

	find_points(areas, chart, &points);
	add_array(j, "t", areas, &points, get_time, 0);
	add_array(j, "rss", areas, &points, get_rss, 0);
	add_array(j, "lazyfree", areas, &points, get_beside, BESIDE_LAZYFREE);
	add_array(j, "unbacked", areas, &points, get_beside, BESIDE_UNBACKED);
	add_array(j, "swap", areas, &points, get_beside, BESIDE_SWAP);
	json_begin_array(j, "own");
	for (size_t l = 0; l < LAYER_COUNT; l++)
		add_array(j, NULL, areas, &points, get_owner, (int)layers[l].owner);
	json_end_array(j);
	free(points.at);
}

static void add_chart_data(struct json *j, const struct html_chart *chart)
{
	json_begin_object(j, NULL);
	html_add_json_text(j, "title", chart->title);
	add_areas(j, chart);
	json_begin_array(j, "marks");
	for (size_t m = 0; m < chart->mark_count; m++) {
		json_begin_object(j, NULL);
		json_add_number(j, "t", chart->marks[m].elapsed_ns / NS_PER_US);
		html_add_json_text(j, "label", chart->marks[m].label);
		json_end_object(j);
	}
	json_end_array(j);
	json_begin_array(j, "lines");
	for (size_t i = 0; i < chart->line_count; i++)
		add_line(j, &chart->lines[i], chart);
	json_end_array(j);
	json_end_object(j);
}

struct axes {
	uint64_t end_ns, top_bytes;
};

static void grow_axes(struct axes *axes, const struct html_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct run_sample *sample = &series->samples[i];

		if (sample->elapsed_ns > axes->end_ns)
			axes->end_ns = sample->elapsed_ns;
		if (rss_or_0(sample) > axes->top_bytes)
			axes->top_bytes = rss_or_0(sample);
	}
}

static void add_data(struct strbuf *out, const struct html_chart *charts, size_t count)
{
	struct json j = html_begin_data(out);
	struct axes axes = { 0 };

	for (size_t c = 0; c < count; c++) {
		grow_axes(&axes, &charts[c].areas);
		for (size_t i = 0; i < charts[c].line_count; i++)
			grow_axes(&axes, &charts[c].lines[i]);
	}
	json_add_number(&j, "end", axes.end_ns / NS_PER_US + 1);
	json_add_number(&j, "top", axis_top_bytes(axes.top_bytes));
	json_begin_array(&j, "layers");
	for (size_t l = 0; l < LAYER_COUNT; l++) {
		json_begin_object(&j, NULL);
		json_add_string(&j, "name", owner_names[layers[l].owner]);
		json_add_string(&j, "help", layers[l].help);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_begin_array(&j, "charts");
	for (size_t c = 0; c < count; c++) {
		if (c > 0)
			json_break_line(&j);
		add_chart_data(&j, &charts[c]);
	}
	json_end_array(&j);
	html_end_data(&j);
}

/* Append the HTML elements into which the script page.js draws a chart. */
static void add_chart_frame(struct strbuf *out, const struct html_chart *chart)
{
	strbuf_add_text(out, "<section class=\"chart\">\n<h3>");
	html_add_text(out, chart->title);
	strbuf_add_text(out, "</h3>\n");
	if (chart->note) {
		strbuf_add_text(out, "<p class=\"note\">");
		html_add_text(out, chart->note);
		strbuf_add_text(out, "</p>\n");
	}
	strbuf_add_text(out, "<div class=\"plot\"></div>\n</section>\n");
}

void html_page_add_charts(struct strbuf *out, const struct html_chart *charts,
			  size_t count)
{
	strbuf_add_text(out,
			"<noscript><p>The charts require JavaScript; the page loads no "
			"other file.</p></noscript>\n<div class=\"charts\">\n");
	for (size_t c = 0; c < count; c++)
		add_chart_frame(out, &charts[c]);
	strbuf_add_text(out, "</div>\n");
	add_data(out, charts, count);
}
