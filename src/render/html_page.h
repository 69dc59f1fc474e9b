/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html_page - memory over time as one page of HTML that needs nothing but itself: no
 * network, no other file. Charts of Rss as stacked areas by owner, beside each other and
 * with the same axes, with the values under the pointer; any other text before them.
 *
 * Texts are foreign: html_add_text() is the only way for one into a page.
 */
#ifndef MS_RENDER_HTML_PAGE_H
#define MS_RENDER_HTML_PAGE_H

#include "base/strbuf.h"
#include "model/comparison.h"

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

/*
 * Begin a page, and end it; between the two the caller adds charts, once, and elements of
 * its own.
 */
void html_page_begin(struct strbuf *out, const char *title);
void html_page_end(struct strbuf *out);

/*
 * Of a series with very many samples the largest of each short time are shown, and those
 * that are marked.
 */
void html_page_add_charts(struct strbuf *out, const struct html_chart *charts, size_t count);

/* Text as HTML, inside of an element or of an attribute's quotes; as text_add_printable(). */
void html_add_text(struct strbuf *out, const char *text);

#endif
