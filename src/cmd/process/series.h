/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - samples at fixed intervals, each written as soon as it is taken.
 */
#ifndef MS_CMD_PROCESS_SERIES_H
#define MS_CMD_PROCESS_SERIES_H

struct session;

/*
 * Write CSV or JSON, as the session's options specify, until the requested end.
 * Returns an exit status.
 */
int series_run(struct session *session);

#endif
