/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - print a text report: one page on a single process, or a table of
 * several processes.
 */
#ifndef MS_CMD_PROCESS_TEXT_H
#define MS_CMD_PROCESS_TEXT_H

#include "render/table/output.h"

struct session;

/* Print the report that the options request. Return an exit status. */
int text_run(struct session *session);

#endif
