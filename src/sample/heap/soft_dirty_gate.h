/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soft_dirty_gate - decide whether memstate may clear the soft-dirty bits of a process,
 * and do so. The bits have no owner, so memstate refuses processes that seem to use them.
 * memstate cannot detect other programs that use the bits of the process, such as CRIU
 * between two dumps.
 */
#ifndef MS_SAMPLE_HEAP_SOFT_DIRTY_GATE_H
#define MS_SAMPLE_HEAP_SOFT_DIRTY_GATE_H

#include "model/mapping.h"
#include "proc/system/procfs.h"
#include "tracee/memory/write_tracker.h"

/*
 * Return 0 if memstate may clear the bits. Return -EFBIG with *ret_problem if the kernel,
 * the privileges of memstate or the process do not permit it.
 */
int soft_dirty_gate_check(const struct procfs *fs, int pid,
			  const struct mapping_list *mappings, const char **ret_problem);

/*
 * Create a tracker of the process's writes. Return 0, or -errno with the reason
 * in *ret_problem.
 */
int soft_dirty_gate_open(const struct procfs *fs, int pid, struct write_tracker *ret,
			 const char **ret_problem);

#endif
