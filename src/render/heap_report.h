/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_report - what an allocator holds, for a person, as JSON and as CSV.
 */
#ifndef MS_RENDER_HEAP_REPORT_H
#define MS_RENDER_HEAP_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/helper_answer.h"
#include "model/usage.h"

struct heap_report_options {
	bool exact_bytes;
	bool ascii; /* show nothing but ASCII */
	int width;  /* of the terminal; 0: no limit */
	size_t top; /* lines of each list; 0: all */
	const struct helper_answer *answer; /* what the allocator said; NULL: it was not to be asked */
};

/*
 * Append a page. The heap's quality is not unknown. detail may be NULL, here and below:
 * it is left out.
 */
void heap_report_add_text(struct strbuf *out, const struct usage *u, const struct heap *heap,
			  const struct heap_detail *detail,
			  const struct heap_report_options *options);

/* Append one line of JSON, "\n" included. Figures that are unknown are null. */
void heap_report_add_json(struct strbuf *out, const struct usage *u, const struct heap *heap,
			  const struct heap_detail *detail,
			  const struct heap_report_options *options);

/*
 * Append rows of CSV: one for each thing and each of its amounts, in columns that are the
 * same for all, as heap_report_add_csv_header() names them.
 */
void heap_report_add_csv(struct strbuf *out, const struct usage *u, const struct heap *heap,
			 const struct heap_detail *detail,
			 const struct heap_report_options *options);
void heap_report_add_csv_header(struct strbuf *out);

#endif
