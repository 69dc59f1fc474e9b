/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_report - counted allocations, for a person and as JSON; and the columns of their rows.
 */
#ifndef MS_RENDER_COUNT_REPORT_H
#define MS_RENDER_COUNT_REPORT_H

#include "base/strbuf.h"
#include "model/count_runs.h"
#include "render/output.h"

/* A row of count_columns. */
struct count_row {
	const struct count_program *program;
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* since the command was started */
	const struct count_run *run; /* NULL: not one of several */
};
extern const struct column_set count_columns;

/* A row of count_thread_columns is a struct count_thread. */
extern const struct column_set count_thread_columns;

/* What was counted at one moment. */
struct count_report {
	const struct count_list *list;
	const struct count_program *only; /* NULL: all of the list */
	uint64_t unix_ms, elapsed_ns;
	size_t top; /* lines of each list in a text */
	struct table_options options;
};

void count_report_add_text(struct strbuf *out, const struct count_report *report);
void count_report_add_csv(struct strbuf *out, const struct count_report *report,
			  const struct column_list *columns);

/* One line, "\n" included. */
void count_report_add_json(struct strbuf *out, const struct count_report *report,
			   const struct column_list *columns);

/*
 * For a terminal, while it runs: one line of at most options.max_width, without "\n".
 * before: some time ago.
 */
void count_report_add_line(struct strbuf *out, const struct count_report *report,
			   const struct count_sums *before, uint64_t between_ns);

/* The sums of what a report shows. */
void count_report_sum(const struct count_report *report, struct count_sums *ret);

#endif
