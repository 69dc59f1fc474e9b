/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node - describe the memory of a machine after an out-of-memory condition of the whole
 * machine, rather than of a cgroup. The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_NODE_H
#define MS_CLASSIFY_OOM_NODE_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

/*
 * Append the memory that the machine lacked: free memory above the minimum watermark,
 * free blocks of the requested order, or swap.
 */
void oom_node_add_reason(const struct oom_kill *kill, struct strbuf *out);

/*
 * Append the machine's free memory, swap, slab and shared memory. Append nothing if these
 * amounts are unknown.
 */
void oom_node_add_amounts(const struct oom_kill *kill, struct strbuf *out);

/* Append the free memory and the minimum watermark of each memory zone. */
void oom_node_add_zones(const struct oom_kill *kill, struct strbuf *out);

#endif
