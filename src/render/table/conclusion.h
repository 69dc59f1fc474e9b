/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conclusion - write the first sentences and the last line of a text report. */
#ifndef MS_RENDER_TABLE_CONCLUSION_H
#define MS_RENDER_TABLE_CONCLUSION_H

#include "model/conclusion.h"
#include "render/table/output.h"

/* Start of the line that suggests the next command. */
#define CONCLUSION_NEXT "next: "

/*
 * Append the sentences of a conclusion, wrapped at the width in the options, or at 100
 * columns if that width is 0. Append nothing if there are no sentences.
 */
void conclusion_add_opening(struct strbuf *out, const struct conclusion *conclusion,
			    const struct table_options *options);

/*
 * Append an empty line and the last line of the report, "next: COMMAND". This line is
 * never wrapped or shortened, so that users can copy the command. Append nothing if there
 * is no command.
 */
void conclusion_add_next(struct strbuf *out, const struct conclusion *conclusion);

#endif
