/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_exclusions - verdicts that contradict each other: of two of them only the first in the
 * order of the rules is reported. Pure.
 */
#ifndef MS_CLASSIFY_OOM_EXCLUSIONS_H
#define MS_CLASSIFY_OOM_EXCLUSIONS_H

#include "classify/oom_verdict.h"

/* Symmetric; false for a verdict and itself. */
bool oom_verdicts_exclude(enum oom_verdict a, enum oom_verdict b);

/*
 * The verdicts beside the first that hold, in their order, without those that contradict the
 * first or one before them. Returns how many; also has room for OOM_VERDICT_COUNT_.
 */
size_t oom_verdicts_find_also(const struct oom_evidence *evidence, enum oom_verdict first,
			      enum oom_verdict *also);

#endif
