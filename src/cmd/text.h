/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - one text report: a page for a single process, a table for several.
 */
#ifndef MS_CMD_TEXT_H
#define MS_CMD_TEXT_H

#include "render/output.h"

struct session;

/* Returns an exit status. */
int text_run(struct session *session);

/*
 * Set the options for tables and reports on standard output: the width if it is a
 * terminal, and ASCII if the locale is not UTF-8.
 */
void text_fit_terminal(struct table_options *ret);

#endif
