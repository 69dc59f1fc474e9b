/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_rules - when a verdict holds: a function for each. What these are called with is in
 * oom_verdict.h, and so is the share from which they hold, which they get as `least`.
 */
#ifndef MS_CLASSIFY_OOM_RULES_H
#define MS_CLASSIFY_OOM_RULES_H

#include "classify/oom_verdict.h"

typedef bool (*oom_rule)(const struct oom_evidence *evidence,
			 unsigned int least_per_mille, struct strbuf *why);

extern const oom_rule oom_rules[OOM_VERDICT_COUNT_];

/* One of the kernel's own parts, that is told apart. */
struct oom_kernel_part {
	const char *name;
	size_t offset; /* in struct oom_figures */
	const char *advice;
};

/* The largest that is known; NULL: none is, as in version 1. */
const struct oom_kernel_part *oom_kernel_part_find(const struct oom_evidence *evidence);

#endif
