/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_conclusion - the sentences that open the comparison of two profiles, and the
 * command to run next. Pure.
 */
#ifndef MS_CLASSIFY_PROFILE_DIFF_CONCLUSION_H
#define MS_CLASSIFY_PROFILE_DIFF_CONCLUSION_H

#include "classify/profile/diff.h"
#include "model/conclusion.h"

/*
 * Add the totals and the stack that grew most. If one has grown, set the command that
 * shows the second file.
 */
void diff_conclude(struct conclusion *c, const struct profile_diff *diff,
		   enum profile_metric metric, const char *after_file);

#endif
