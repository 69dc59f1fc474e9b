/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_next - the command to run after a comparison of allocators, from its verdict.
 * Pure.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_NEXT_H
#define MS_CLASSIFY_COMPARE_VERDICT_NEXT_H

#include "classify/compare/verdict.h"
#include "model/conclusion.h"

/*
 * Set the next command. `preload` is the argument of --preload, and `command` the command
 * as words of a shell, with a blank before each. Set none if the command is a server,
 * which a workload ends, or if a run has failed.
 */
void verdicts_conclude_next(struct conclusion *c, const struct verdicts *verdicts,
			    const struct compared *compared, const char *preload,
			    const char *command);

#endif
