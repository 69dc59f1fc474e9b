/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_conclusion - write the first sentences of the report that compares two moments,
 * and suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_COMPARE_MOMENT_CONCLUSION_H
#define MS_CLASSIFY_COMPARE_MOMENT_CONCLUSION_H

#include "classify/compare/moment_diff.h"
#include "model/conclusion.h"

/*
 * Add sentences about the change in Rss, and about the owner and the process with the
 * largest growth. If a process has grown, suggest a command that shows its memory at the
 * second moment. `after` contains the command-line options that select this moment.
 */
void moment_conclude(struct conclusion *c, const struct moment_diff *diff,
		     const struct next_place *after);

#endif
