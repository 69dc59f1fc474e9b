/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal - find out which width and character set the output may use. */
#ifndef MS_CMD_CORE_TERMINAL_H
#define MS_CMD_CORE_TERMINAL_H

#include "render/table/output.h"

/*
 * Set the options for tables and reports on standard output: the width if standard output
 * is a terminal, and ASCII only if the locale's character set is not UTF-8.
 */
void terminal_fit(struct table_options *ret);

#endif
