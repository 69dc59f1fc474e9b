/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_conclusion - write the first sentences of the report that compares two profiles,
 * and suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_PROFILE_DIFF_CONCLUSION_H
#define MS_CLASSIFY_PROFILE_DIFF_CONCLUSION_H

#include "classify/profile/diff.h"
#include "model/conclusion.h"

/*
 * Add sentences about the totals and the stack with the largest growth. If a stack has
 * grown, suggest the command that shows the second profile.
 */
void diff_conclude(struct conclusion *c, const struct profile_diff *diff,
		   enum profile_metric metric, const char *after_file);

#endif
