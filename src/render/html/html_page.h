/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html_page - self-contained HTML pages, which need neither network access nor other
 * files. A chart shows Rss over time as stacked areas by owner. Charts are placed side by
 * side with the same axes and show the values under the pointer. All other text precedes
 * the charts.
 *
 * Text from outside memstate may enter a page only through html_add_text() and
 * html_add_json_text(), except for the text of rules. As a second line of defence, a
 * content security policy allows only memstate's own styles and scripts, identified by
 * their SHA-256.
 */
#ifndef MS_RENDER_HTML_HTML_PAGE_H
#define MS_RENDER_HTML_HTML_PAGE_H

#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/comparison.h"
#include "render/html/page_files.h"

/*
 * The samples of one run or one process, in chronological order. All pointers
 * are borrowed.
 */
struct html_series {
	const struct run_sample *samples;
	size_t count;
};

/* A point in time that is marked in a chart. */
struct html_mark {
	uint64_t elapsed_ns;
	const char *label;
};

struct html_chart {
	const char *title;
	const char *note; /* text below the title; may be NULL */
	struct html_series areas;
	/* Rss of other runs, drawn as lines behind the stacked areas */
	const struct html_series *lines;
	size_t line_count;
	const struct html_mark *marks;
	size_t mark_count;
};

struct html_page {
	const char *title;
	enum page_file style, script;
};

/* A page with charts of memory over time. */
#define HTML_PAGE_CHARTS(text) \
	((struct html_page){ (text), PAGE_CHARTS_STYLE, PAGE_CHARTS_SCRIPT })

/*
 * Begin and end an HTML page. Between the two calls, the caller appends HTML elements.
 * The charts may be appended only once.
 */
void html_page_begin(struct strbuf *out, const struct html_page *page);
void html_page_end(struct strbuf *out, const struct html_page *page);

/*
 * Append the charts of a page. If a series has too many samples, show only the largest
 * sample of each interval, the first, the last and the marked samples.
 */
void html_page_add_charts(struct strbuf *out, const struct html_chart *charts,
			  size_t count);

/*
 * Append text to a page, escaped for use in an HTML element or in a quoted attribute.
 * Unprintable characters are replaced as in text_add_printable().
 */
void html_add_text(struct strbuf *out, const char *text);

/* Append multi-line text like html_add_text(), but keep the line breaks. */
void html_add_lines(struct strbuf *out, const char *text);

/*
 * Begin and end the script element with the page's data, which is a JSON object. The JSON
 * writer escapes "<", so no string can end the element.
 */
struct json html_begin_data(struct strbuf *out);
void html_end_data(struct json *j);

/*
 * Append text as a JSON string, made printable. The text of rules may be appended with
 * json_add_string() instead, because the page applies the rules and shows their text only
 * in an input field.
 */
void html_add_json_text(struct json *j, const char *key, const char *text);

/* Append a paragraph of the form "LABEL TEXT", with TEXT formatted as code. */
void html_add_code_line(struct strbuf *out, const char *label, const char *text);

#endif
