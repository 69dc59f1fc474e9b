/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch - memstate oom watch: the flight recorder of a group.
 */
#ifndef MS_CMD_OOM_WATCH_H
#define MS_CMD_OOM_WATCH_H

#include "cmd/core/options.h"

/* Returns an exit status: EXIT_ABOVE_LIMIT if the kernel killed a process. */
int oom_watch_run(struct options *options);

#endif
