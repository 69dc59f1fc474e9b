/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal - determine the width, character set and colours that the output may use. */
#ifndef MS_CMD_CORE_TERMINAL_H
#define MS_CMD_CORE_TERMINAL_H

#include <stdbool.h>

#include "cmd/core/options.h"
#include "render/table/output.h"

/*
 * Decide how text is written to standard output, according to the options --color and
 * --no-pager. A command that runs programs does not use a pager.
 */
void terminal_begin(const struct options *options);

/*
 * Set the options for tables and reports on standard output: the width if standard output
 * is a terminal or COLUMNS is set, colours, and ASCII only if the locale's character set
 * is not UTF-8.
 */
void terminal_fit(struct table_options *ret);

/* Return true if standard output is a terminal and the format is neither CSV nor JSON. */
bool terminal_has_text(void);

/* Return true if the text is longer than the screen and may be shown in a pager. */
bool terminal_needs_pager(const char *text);

#endif
