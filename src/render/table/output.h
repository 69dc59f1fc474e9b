/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output - write rows of columns as CSV, JSON or aligned tables.
 */
#ifndef MS_RENDER_TABLE_OUTPUT_H
#define MS_RENDER_TABLE_OUTPUT_H

#include "base/json_write.h"
#include "render/table/column.h"

/*
 * Append a line of CSV, in the format of RFC 4180 except that lines end with LF. Fields
 * with a comma, a quote or a line break are quoted. Control characters other than LF and
 * CR, and bytes that are not UTF-8, become \xHH.
 */
void csv_add_header(struct strbuf *out, const struct column_list *columns);
void csv_add_row(struct strbuf *out, const struct column_list *columns, const void *row);

/*
 * Begin a JSON report: an object whose first member is "memstate", with the versions of
 * memstate and of the schema, and the name of the report. The schema is in
 * doc/schema/NAME.json. json_end_report() ends the object and the line.
 */
struct json json_begin_report(struct strbuf *out, const char *report);
void json_end_report(struct json *j);

/*
 * Append a row as a JSON object with one member per column. json_add_members() appends
 * only the members, to an object that the caller has begun. Addresses ("0x…") and times
 * are strings; all other numbers are JSON numbers. Unknown values are null.
 */
void json_add_row(struct json *j, const char *key, const struct column_list *columns,
		  const void *row);
void json_add_members(struct json *j, const struct column_list *columns, const void *row);

struct table_options {
	bool no_headings;
	bool exact_bytes;
	bool ascii;  /* true to print ASCII only */
	bool colour; /* true to use the styles of render/table/style.h */
	/*
	 * Maximum width of the table in columns; 0: no limit. If the table is too wide,
	 * text is shortened first, and then columns are omitted.
	 */
	int max_width;
	/*
	 * true if columns that are 0 in all rows may be omitted to make the table fit;
	 * they are omitted before any text is shortened
	 */
	bool may_omit_zeros;
};

/*
 * Append rows as a table. Numbers are right-aligned, and text is left-aligned. The get()
 * functions of the columns receive the elements of `rows`.
 */
void table_add(struct strbuf *out, const struct column_list *columns,
	       const void *const *rows, size_t row_count,
	       const struct table_options *options);

/*
 * Return the number of terminal columns that UTF-8 text occupies. A control character
 * occupies no column.
 */
size_t text_display_width(const char *text, size_t length);

/*
 * Return how many bytes of a string fit into `width` terminal columns, without
 * splitting a character.
 */
size_t text_cut_to_width(const char *text, size_t length, size_t width);

#endif
