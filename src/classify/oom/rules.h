/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - functions that decide whether a verdict holds, one for each verdict.
 * verdict.h describes their arguments. `least` is the minimum share for the verdict.
 */
#ifndef MS_CLASSIFY_OOM_RULES_H
#define MS_CLASSIFY_OOM_RULES_H

#include "classify/oom/verdict.h"

typedef bool (*oom_rule)(const struct oom_evidence *evidence,
			 unsigned int least_per_mille, struct strbuf *why);

extern const oom_rule oom_rules[OOM_VERDICT_COUNT_];

/* A part of kernel memory for which the kernel reports a separate figure. */
struct oom_kernel_part {
	const char *name;
	size_t offset; /* offset of the figure in struct oom_figures */
	const char *advice;
};

/*
 * Return the largest known part of kernel memory. Return NULL if no
 * part is known, as with cgroup v1.
 */
const struct oom_kernel_part *oom_kernel_part_find(const struct oom_evidence *evidence);

#endif
