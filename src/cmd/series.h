/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - samples on a clock, each written as soon as it is taken.
 */
#ifndef MS_CMD_SERIES_H
#define MS_CMD_SERIES_H

struct session;

/* CSV or JSON, as the session's options say, until the end they say. Returns an exit status. */
int series_run(struct session *session);

#endif
