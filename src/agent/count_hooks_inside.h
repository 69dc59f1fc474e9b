/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_hooks_inside - what the parts of the hooks share.
 */
#ifndef MS_AGENT_COUNT_HOOKS_INSIDE_H
#define MS_AGENT_COUNT_HOOKS_INSIDE_H

#include "agent/count_hooks.h"

#pragma GCC visibility push(hidden)

/* Where these are is told by count_hooks.ld. */
extern struct hooks_private hooks_private;
extern const struct hooks_modules hooks_modules;
extern char hooks_nodes[], hooks_arena[];

/*
 * The thread of that slot asks for so many bytes, and has come to where a stack is due.
 * Returns how many bytes it is to the next.
 */
int64_t hooks_take_stack(uint32_t slot, uint64_t bytes, const struct unwind_state *start);

#pragma GCC visibility pop

static inline uint32_t hooks_own_tid(void)
{
	return ask_own_tid();
}

#endif
