/* SPDX-License-Identifier: GPL-2.0-or-later */
/* absent - report selected processes that were not found. */
#ifndef MS_CMD_SESSION_ABSENT_H
#define MS_CMD_SESSION_ABSENT_H

#include <stddef.h>

struct session;
struct snapshot;

/* Report each pid and name that does not select any process, and return their number. */
size_t absent_report(const struct session *session, const struct snapshot *snapshot);

#endif
