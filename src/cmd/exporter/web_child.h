/* SPDX-License-Identifier: GPL-2.0-or-later */
/* web_child - the process that serves the metrics. */
#ifndef MS_CMD_EXPORTER_WEB_CHILD_H
#define MS_CMD_EXPORTER_WEB_CHILD_H

#include "cmd/exporter/web.h"

/*
 * Serve the metrics until the parent ends. parent_fd is the socket to the parent, which
 * receives a message when the child is ready or has failed to start.
 */
_Noreturn void web_child_run(int parent_fd, const struct web_setup *setup);

#endif
