/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusions - pairs of verdicts that contradict each other. Of such a pair, only the
 * first in rule order is reported. Pure.
 */
#ifndef MS_CLASSIFY_OOM_EXCLUSIONS_H
#define MS_CLASSIFY_OOM_EXCLUSIONS_H

#include "classify/oom/verdict.h"

/*
 * Return true if the two verdicts contradict each
 * other. Symmetric; false if a equals b.
 */
bool oom_verdicts_exclude(enum oom_verdict a, enum oom_verdict b);

/*
 * Find the verdicts that hold in addition to the first, in rule order, without those that
 * contradict the first or an earlier one. Returns their number. also must have room for
 * OOM_VERDICT_COUNT_ elements.
 */
size_t oom_verdicts_find_also(const struct oom_evidence *evidence, enum oom_verdict first,
			      enum oom_verdict *also);

#endif
