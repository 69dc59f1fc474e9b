/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_next - suggest the command to run after a comparison of allocators, based on
 * the verdict. The functions are pure.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_NEXT_H
#define MS_CLASSIFY_COMPARE_VERDICT_NEXT_H

#include "classify/compare/verdict.h"
#include "model/conclusion.h"

/*
 * Suggest the next command. `preload` is the argument of --preload. `command` contains
 * the shell words of the compared command, each preceded by a space. Suggest nothing if a
 * run failed, or if the command is a server that runs until its workload ends.
 */
void verdicts_conclude_next(struct conclusion *c, const struct verdicts *verdicts,
			    const struct compared *compared, const char *preload,
			    const char *command);

#endif
