/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conclusion - write the first sentences and the last line of a text report. */
#ifndef MS_RENDER_TABLE_CONCLUSION_H
#define MS_RENDER_TABLE_CONCLUSION_H

#include "model/conclusion.h"
#include "render/table/output.h"

/* The first characters of the line that names the next command. */
#define CONCLUSION_NEXT "next: "

/*
 * Append the sentences, wrapped at the width of the options, or at 100 columns if that is
 * 0. Without sentences, append nothing.
 */
void conclusion_add_opening(struct strbuf *out, const struct conclusion *conclusion,
			    const struct table_options *options);

/*
 * Append an empty line and "next: COMMAND", the last line of a report. The line is never
 * wrapped or shortened, so that the command can be copied. Append nothing if there is no
 * command.
 */
void conclusion_add_next(struct strbuf *out, const struct conclusion *conclusion);

#endif
