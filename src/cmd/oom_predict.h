/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_predict - memstate oom predict: whether what a group needs grows, of samples as
 * they are taken, or of a recording.
 */
#ifndef MS_CMD_OOM_PREDICT_H
#define MS_CMD_OOM_PREDICT_H

#include "cmd/options.h"

/* Returns an exit status: EXIT_ABOVE_LIMIT if it grows, EXIT_PARTIAL if that cannot be said. */
int oom_predict_run(struct options *options);

#endif
