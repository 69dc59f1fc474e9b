/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_report - one process on one page.
 *
 * Made of the usage and its mappings alone, without clock or terminal: a report from a
 * capture is the report made live, byte for byte.
 */
#ifndef MS_RENDER_TEXT_REPORT_H
#define MS_RENDER_TEXT_REPORT_H

#include "model/usage.h"

struct text_report_options {
	int width; /* columns, at least 40 */
	bool ascii;
	bool exact_bytes;
};

struct strbuf;

void text_report_add(struct strbuf *out, const struct usage *u, const struct mapping_list *mappings,
		     const struct text_report_options *options);

#endif
