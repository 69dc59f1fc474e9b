/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusions - pairs of verdicts that contradict each other. Of each pair, only the
 * verdict that comes first in rule order is reported. Pure.
 */
#ifndef MS_CLASSIFY_OOM_EXCLUSIONS_H
#define MS_CLASSIFY_OOM_EXCLUSIONS_H

#include "classify/oom/verdict.h"

/*
 * Return true if the two verdicts contradict each other. The order of the arguments
 * does not matter. Return false if a equals b.
 */
bool oom_verdicts_exclude(enum oom_verdict a, enum oom_verdict b);

/*
 * Find the verdicts that hold in addition to `first`, in rule order. Verdicts that
 * contradict `first` or an earlier result are left out. Return their number. `also`
 * must have room for OOM_VERDICT_COUNT_ elements.
 */
size_t oom_verdicts_find_also(const struct oom_evidence *evidence, enum oom_verdict first,
			      enum oom_verdict *also);

#endif
