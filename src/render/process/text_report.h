/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_report - a report about one process that fits on one page. The text depends only
 * on the usage and the mappings, not on the clock or the terminal. A report from a
 * capture is therefore identical, byte for byte, to a live report.
 */
#ifndef MS_RENDER_PROCESS_TEXT_REPORT_H
#define MS_RENDER_PROCESS_TEXT_REPORT_H

#include "model/usage.h"

struct text_report_options {
	int width; /* width of the page in columns, at least 40 */
	bool ascii;
	bool colour; /* true to use colours */
	bool exact_bytes;
};

struct strbuf;

/*
 * Append the report about a process, except for the command to run next. The caller
 * appends that command, which depends on where the process can be examined again.
 */
void text_report_add(struct strbuf *out, const struct usage *u,
		     const struct mapping_list *mappings,
		     const struct text_report_options *options);

#endif
