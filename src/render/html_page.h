/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html_page - pages of HTML that need nothing but themselves: no network, no other file.
 * Memory over time is charts of Rss as stacked areas by owner, beside each other and with
 * the same axes, with the values under the pointer; any other text before them.
 *
 * Texts are foreign: html_add_text() and html_add_json_text() are the only ways for one into
 * a page. Should one get out of its place all the same: what is no script or style of memstate's
 * own, by its digest, does not run.
 */
#ifndef MS_RENDER_HTML_PAGE_H
#define MS_RENDER_HTML_PAGE_H

#include "base/strbuf.h"
#include "model/comparison.h"
#include "render/page_files.h"

/* Samples by time, as one run or one process had them. */
struct html_series {
	const struct run_sample *samples;
	size_t count;
};

/* A moment that is marked in a chart. */
struct html_mark {
	uint64_t elapsed_ns;
	const char *label;
};

struct html_chart {
	const char *title;
	const char *note; /* below the title, or NULL */
	struct html_series areas;
	const struct html_series *lines; /* Rss alone, behind the areas' */
	size_t line_count;
	const struct html_mark *marks;
	size_t mark_count;
};

struct html_page {
	const char *title;
	enum page_file style, script;
};

/* Memory over time. */
#define HTML_PAGE_CHARTS(text) \
	((struct html_page){ (text), PAGE_CHARTS_STYLE, PAGE_CHARTS_SCRIPT })

/* Begin a page, and end it; between the two the caller adds elements, charts once. */
void html_page_begin(struct strbuf *out, const struct html_page *page);
void html_page_end(struct strbuf *out, const struct html_page *page);

/*
 * Of a series with very many samples the largest of each short time are shown, and those
 * that are marked.
 */
void html_page_add_charts(struct strbuf *out, const struct html_chart *charts, size_t count);

/* Text as HTML, inside of an element or of an attribute's quotes; as text_add_printable(). */
void html_add_text(struct strbuf *out, const char *text);

/* Text as a string of JSON, quotes included, inside of a script element. */
void html_add_json_text(struct strbuf *out, const char *text);

/*
 * The same without making it printable, for the text of a rule, which the page applies: it is shown
 * in a field to edit, and only where its author gave it.
 */
void html_add_json_rule(struct strbuf *out, const char *text);

/* "LABEL TEXT" as a paragraph, the text as code. */
void html_add_what(struct strbuf *out, const char *label, const char *text);

#endif
