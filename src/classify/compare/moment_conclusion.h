/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_conclusion - the sentences that open the comparison of two moments, and the
 * command to run next. Pure.
 */
#ifndef MS_CLASSIFY_COMPARE_MOMENT_CONCLUSION_H
#define MS_CLASSIFY_COMPARE_MOMENT_CONCLUSION_H

#include "classify/compare/moment_diff.h"
#include "model/conclusion.h"

/*
 * Add the change of Rss, and the owner and the process that grew most. If a process has
 * grown, set the command that shows it at the second moment, which the options of the
 * place select.
 */
void moment_conclude(struct conclusion *c, const struct moment_diff *diff,
		     const struct next_place *after);

#endif
