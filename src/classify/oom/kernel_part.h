/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_part - find the largest part of a cgroup's kernel memory, and give
 * advice on how to reduce it.
 */
#ifndef MS_CLASSIFY_OOM_KERNEL_PART_H
#define MS_CLASSIFY_OOM_KERNEL_PART_H

#include "classify/oom/evidence.h"

/* A part of kernel memory that the kernel reports separately. */
struct oom_kernel_part {
	const char *name;
	size_t offset; /* offset of the figure in struct oom_figures */
	const char *advice;
};

/*
 * Return the largest part of kernel memory. Return NULL if an unknown part may be larger,
 * as may be the case with cgroup v1.
 */
const struct oom_kernel_part *oom_kernel_part_find(const struct oom_evidence *evidence);

/* Return the size of the part in bytes; 0 if it is unknown. */
uint64_t oom_kernel_part_bytes(const struct oom_evidence *evidence,
			       const struct oom_kernel_part *part);

#endif
