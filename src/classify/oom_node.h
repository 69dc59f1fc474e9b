/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_node - the machine's memory when the whole machine ran out of it, in words. Pure.
 */
#ifndef MS_CLASSIFY_OOM_NODE_H
#define MS_CLASSIFY_OOM_NODE_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

/* Append what ran out: nothing free above the minimum, no block of the size, no swap. */
void oom_node_add_reason(const struct oom_kill *kill, struct strbuf *out);

/* Append the machine's amounts: free, swap, slab, shared memory. Nothing if they are unknown. */
void oom_node_add_amounts(const struct oom_kill *kill, struct strbuf *out);

/* Append each zone with what is free in it, and its minimum. */
void oom_node_add_zones(const struct oom_kill *kill, struct strbuf *out);

#endif
