/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output - rows of columns as CSV, JSON and aligned tables, into a strbuf.
 */
#ifndef MS_RENDER_OUTPUT_H
#define MS_RENDER_OUTPUT_H

#include "render/column.h"

/*
 * RFC 4180, but with LF: fields with a comma, quote or line break are quoted. Control characters
 * other than LF and CR, and bytes that are not UTF-8, become \xHH.
 */
void csv_add_header(struct strbuf *out, const struct column_list *columns);
void csv_add_row(struct strbuf *out, const struct column_list *columns, const void *row);

/*
 * A JSON object with one member per column. Numbers are numbers, addresses "0x…" strings,
 * times strings, unknown is null. Bytes of text that are not UTF-8 become \xHH (a
 * backslash, in JSON "\\xHH").
 */
void json_add_row(struct strbuf *out, const struct column_list *columns, const void *row);

/* ,"key":5, a member after another one; null for BYTES_UNKNOWN. */
void json_add_number(struct strbuf *out, const char *key, uint64_t number);

/* A JSON string, quotes included. */
void json_add_string(struct strbuf *out, const char *text, size_t length);

struct table_options {
	bool no_headings;
	bool exact_bytes;
	bool ascii;    /* show nothing but ASCII */
	int max_width; /* columns; text in the last column is cut to fit. 0: no limit */
};

/*
 * Rows as a table, numbers to the right, words to the left. rows[i] as get() of the
 * columns wants.
 */
void table_add(struct strbuf *out, const struct column_list *columns, const void *const *rows,
	       size_t row_count, const struct table_options *options);

/* Terminal columns that UTF-8 text takes; control characters count as 0. */
size_t text_display_width(const char *text, size_t length);

/* How many bytes of it fit into `width` terminal columns, whole characters only. */
size_t text_cut_to_width(const char *text, size_t length, size_t width);

#endif
