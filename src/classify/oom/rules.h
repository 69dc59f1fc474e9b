/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - one function per verdict, which decides whether the verdict holds.
 * verdict.h describes the arguments. min_per_mille is the smallest share for which
 * the verdict holds.
 */
#ifndef MS_CLASSIFY_OOM_RULES_H
#define MS_CLASSIFY_OOM_RULES_H

#include "classify/oom/verdict.h"

typedef bool (*oom_rule)(const struct oom_evidence *evidence, unsigned int min_per_mille,
			 struct strbuf *why);

extern const oom_rule oom_rules[OOM_VERDICT_COUNT_];

#endif
