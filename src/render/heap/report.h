/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - the state of an allocator's heap as text, JSON or CSV.
 */
#ifndef MS_RENDER_HEAP_REPORT_H
#define MS_RENDER_HEAP_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/conclusion.h"
#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/helper_answer.h"
#include "model/usage.h"

struct heap_report_options {
	/* sentences that follow the first line of a text report, or NULL */
	const struct conclusion *conclusion;
	bool exact_bytes;
	bool ascii;  /* true to print ASCII only */
	bool colour; /* true to use the styles of render/table/style.h */
	int width;   /* width of the terminal in columns; 0: no limit */
	size_t top;  /* maximum number of rows per list; 0: no limit */
	/*
	 * true to show HEAP_SHORT_ROWS rows per list instead of `top`; the list of types
	 * is not affected
	 */
	bool is_short;
	/* the allocator's own figures; NULL if memstate was not asked to query them */
	const struct helper_answer *answer;
};

/*
 * Append the text report. heap->quality must not be QUALITY_UNKNOWN. In this function and
 * those below, `detail` may be NULL to omit the details.
 */
void heap_report_add_text(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options);

/*
 * Append the report as one line of JSON, which ends with "\n". Unknown figures are null.
 */
void heap_report_add_json(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options);

/*
 * Append CSV rows, one for each amount of each object, such as an arena, a size class or
 * a type. heap_report_add_csv_header() appends the names of the columns.
 */
void heap_report_add_csv(struct strbuf *out, const struct usage *u,
			 const struct heap *heap, const struct heap_detail *detail,
			 const struct heap_report_options *options);
void heap_report_add_csv_header(struct strbuf *out);

#endif
