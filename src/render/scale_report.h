/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale_report - how what is allocated grows with the size of the work: for a person, as CSV
 * with a row for each run, as JSON.
 */
#ifndef MS_RENDER_SCALE_REPORT_H
#define MS_RENDER_SCALE_REPORT_H

#include <stdbool.h>

#include "classify/count_stats.h"
#include "classify/scale_fit.h"
#include "render/output.h"

#define SCALED_FIGURE_COUNT 3 /* allocations, requested bytes, peak Rss */

extern const enum counted_figure scaled_figures[SCALED_FIGURE_COUNT];

/* The runs of one size. */
struct scale_size {
	uint64_t size;
	struct count_runs runs;
	struct count_stats stats;
};

struct scale_report {
	const char *command;
	const struct scale_size *sizes;
	size_t count;
	struct scale_fit fits[SCALED_FIGURE_COUNT]; /* as scaled_figures */
	bool ascii;
};

extern const char scale_csv_default[];

/* Why an exponent is not known, in words that end no sentence; NULL: it is. */
const char *scale_outcome_text(enum scale_outcome outcome);

void scale_report_add_text(struct strbuf *out, const struct scale_report *report);
void scale_report_add_csv(struct strbuf *out, const struct scale_report *report,
			  const struct column_list *columns);
void scale_report_add_json(struct strbuf *out, const struct scale_report *report,
			   const struct column_list *columns);

#endif
