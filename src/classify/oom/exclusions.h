/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusions - pairs of contradictory verdicts. If both verdicts of a pair hold, only the
 * verdict with the higher priority is reported. The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_EXCLUSIONS_H
#define MS_CLASSIFY_OOM_EXCLUSIONS_H

#include "classify/oom/verdict.h"

/*
 * Return true if verdicts a and b contradict each other, in either order. Return false if
 * a equals b.
 */
bool oom_verdicts_exclude(enum oom_verdict a, enum oom_verdict b);

/*
 * Find the verdicts that hold in addition to `first`, in the order of their rules, and
 * return their number. Skip verdicts that contradict `first` or an earlier result. `also`
 * must have room for OOM_VERDICT_COUNT_ elements.
 */
size_t oom_verdicts_find_also(const struct oom_evidence *evidence, enum oom_verdict first,
			      enum oom_verdict *also);

#endif
