/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale_report - report how the number of allocations grows with the size of the
 * workload, as text, as CSV with a row per run, or as JSON.
 */
#ifndef MS_RENDER_PROFILE_SCALE_REPORT_H
#define MS_RENDER_PROFILE_SCALE_REPORT_H

#include <stdbool.h>

#include "classify/profile/count_stats.h"
#include "classify/profile/scale_fit.h"
#include "render/table/output.h"

/* number of measured figures: allocations, requested bytes, peak Rss */
#define SCALED_FIGURE_COUNT 3

extern const enum counted_figure scaled_figures[SCALED_FIGURE_COUNT];

/* All runs with the same workload size. */
struct scale_size {
	uint64_t size;
	struct count_runs runs;
	struct count_stats stats;
};

struct scale_report {
	const char *command;
	const struct scale_size *sizes;
	size_t count;
	/* a curve fit for each figure, in the order of scaled_figures */
	struct scale_fit fits[SCALED_FIGURE_COUNT];
	struct table_options options;
};

extern const char scale_csv_default[];

/*
 * Return why the exponent of a fit is unknown, as a phrase without a full stop. Return
 * NULL if the exponent is known.
 */
const char *scale_outcome_text(enum scale_outcome outcome);

/* Append the report as text, as CSV rows without a header line, or as a line of JSON. */
void scale_report_add_text(struct strbuf *out, const struct scale_report *report);
void scale_report_add_csv(struct strbuf *out, const struct scale_report *report,
			  const struct column_list *columns);
void scale_report_add_json(struct strbuf *out, const struct scale_report *report,
			   const struct column_list *columns);

#endif
