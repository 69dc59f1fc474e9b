/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * predict - memstate oom predict: whether the memory need of a group grows, from live
 * samples or from a recording.
 */
#ifndef MS_CMD_OOM_PREDICT_H
#define MS_CMD_OOM_PREDICT_H

#include "cmd/core/options.h"

/*
 * Returns an exit status: EXIT_ABOVE_LIMIT if the need grows, EXIT_PARTIAL if that
 * cannot be determined.
 */
int oom_predict_run(struct options *options);

#endif
