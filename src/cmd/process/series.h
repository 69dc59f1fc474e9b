/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series - take samples at fixed intervals, and write each sample immediately. */
#ifndef MS_CMD_PROCESS_SERIES_H
#define MS_CMD_PROCESS_SERIES_H

struct session;

/*
 * Write samples as CSV or JSON, according to the session's options, until the requested
 * end. Return an exit status.
 */
int series_run(struct session *session);

#endif
