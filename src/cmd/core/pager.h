/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pager - show text that is longer than the screen in the user's pager. */
#ifndef MS_CMD_CORE_PAGER_H
#define MS_CMD_CORE_PAGER_H

#include <stddef.h>

/*
 * Show the text in $MEMSTATE_PAGER, $PAGER or less, and wait until the pager has ended.
 * If memstate runs with elevated privileges, run only less, in its secure mode. Quitting
 * the pager early is not an error. If SIGINT ends the pager, memstate also ends with
 * SIGINT. Return 0, or -errno if there is no pager, in which case nothing has been shown.
 */
int pager_show(const char *text, size_t length);

#endif
