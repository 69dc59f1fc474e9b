/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusions - pairs of verdicts that contradict each other. If both verdicts of a pair
 * hold, only the one whose rule comes first is reported. The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_EXCLUSIONS_H
#define MS_CLASSIFY_OOM_EXCLUSIONS_H

#include "classify/oom/verdict.h"

/*
 * Return true if verdicts a and b contradict each other. The order of a and b does not
 * matter. If a equals b, return false.
 */
bool oom_verdicts_exclude(enum oom_verdict a, enum oom_verdict b);

/*
 * Find the verdicts that hold in addition to `first`, in the order of their rules, and
 * return their number. Verdicts that contradict `first` or an earlier result are left
 * out. `also` must have room for OOM_VERDICT_COUNT_ elements.
 */
size_t oom_verdicts_find_also(const struct oom_evidence *evidence, enum oom_verdict first,
			      enum oom_verdict *also);

#endif
