/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page - show a complete recording as one HTML page (--html with --replay). */
#ifndef MS_CMD_RECORDING_PAGE_H
#define MS_CMD_RECORDING_PAGE_H

#include "cmd/session/session.h"

/* Return true if --html requests an HTML page of a recording. */
bool recording_page_is_wanted(const struct options *options);

/*
 * Check the options for the HTML page. Return EXIT_DONE, even if no page is requested, or
 * print a message and return EXIT_BAD_USAGE if the options are wrong.
 */
int recording_page_check_options(const struct options *options);

/* Write the session's recording as an HTML page. Return an exit status. */
int recording_page_write(struct session *session);

#endif
