/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_report - write the differences between the memory at two points in time
 * (moments) as text, CSV or JSON. Each moment is from a recording or a capture.
 */
#ifndef MS_RENDER_PROCESS_MOMENT_REPORT_H
#define MS_RENDER_PROCESS_MOMENT_REPORT_H

#include "base/strbuf.h"
#include "classify/compare/moment_diff.h"
#include "model/conclusion.h"
#include "render/table/output.h"

struct moment_side {
	/*
	 * the recording or capture as the user entered it, such as "FILE", "FILE@TIME" or
	 * "DIRECTORY"
	 */
	const char *name;
	const struct moment *moment;
	/*
	 * If `moment` is the last sample before all processes ended, the time by which
	 * they had ended. Otherwise 0.
	 */
	uint64_t ended_unix_ms;
};

struct moment_report {
	const struct moment_diff *diff;
	/* how the suggested command can access the processes in `after` */
	struct next_place after_place;
	/* the suggested command if no process has grown, or NULL */
	const char *next;
	struct moment_side before, after;
	/*
	 * true if `before` and `after` contain only the processes that the user selected
	 */
	bool is_selection;
	/* maximum number of processes, and maximum number of mappings */
	size_t top;
	struct table_options table;
};

/* Columns for rows of type struct moment_change. */
extern const struct column_set moment_columns;

/*
 * Append the report as text, or as CSV with a header line unless
 * table.no_headings is set.
 */
void moment_report_add_text(struct strbuf *out, const struct moment_report *report);
void moment_report_add_csv(struct strbuf *out, const struct moment_report *report);

/* Append the report as one line of JSON, which ends with "\n". */
void moment_report_add_json(struct strbuf *out, const struct moment_report *report);

#endif
