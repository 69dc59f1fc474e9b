/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain - memstate oom explain: why a process ended, according to the kernel log, a
 * recording, or both.
 */
#ifndef MS_CMD_OOM_EXPLAIN_H
#define MS_CMD_OOM_EXPLAIN_H

#include "cmd/core/options.h"

/* Returns an exit status. */
int oom_explain_run(const struct options *options);

#endif
