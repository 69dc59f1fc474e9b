/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hooks_inside - declarations that the source files of the hooks share. */
#ifndef MS_AGENT_COUNT_HOOKS_INSIDE_H
#define MS_AGENT_COUNT_HOOKS_INSIDE_H

#include "agent/count/hooks.h"

#pragma GCC visibility push(hidden)

/* Variables whose addresses the linker script hooks.ld defines. */
extern struct hooks_private hooks_private;
extern const struct hooks_modules hooks_modules;
extern char hooks_nodes[], hooks_arena[];

/*
 * Record the call stack of an allocation of this many bytes by the thread that owns this
 * slot. Return the number of bytes until the next stack must be recorded.
 */
int64_t hooks_record_stack(uint32_t slot, uint64_t bytes,
			   const struct unwind_state *start);

#pragma GCC visibility pop

static inline uint32_t hooks_own_tid(void)
{
	return ask_own_tid();
}

#endif
