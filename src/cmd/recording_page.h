/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_page - --html of a recording: all of it as one page.
 */
#ifndef MS_CMD_RECORDING_PAGE_H
#define MS_CMD_RECORDING_PAGE_H

#include "cmd/session.h"

/* Is that what --html means here? */
bool recording_page_is_wanted(const struct options *options);

/* What goes with it; EXIT_DONE too where it is not wanted. */
int recording_page_check_options(const struct options *options);

/* Of the session's recording. Returns an exit status. */
int recording_page_write(struct session *session);

#endif
