/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_chain - list the functions that are active in a stopped thread, from the
 * innermost outwards, using the unwind tables of the code.
 *
 * A scan of all stack words would mistake stale return addresses for active calls;
 * unwinding does not.
 */
#ifndef MS_PROBE_BORROW_CALL_CHAIN_H
#define MS_PROBE_BORROW_CALL_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/borrow/landmarks.h"

/* A copy of a thread's stack, starting at the stack pointer. */
struct stack_words {
	const uint64_t *words;
	size_t count;
	uint64_t start_addr;
};

struct call_chain {
	/*
	 * true if a function in the call chain is in a code range that must not be
	 * interrupted (struct landmarks), such as malloc's
	 */
	bool holds;
	/*
	 * true if unwinding reached the outermost function, or if it stopped early at a
	 * function that must not be interrupted
	 */
	bool is_whole;
	/*
	 * index of the first stack word that unwinding did not reach; valid only
	 * if is_whole is false
	 */
	size_t rest_index;
};

/*
 * Find the call chain of a stopped thread, given its program counter, stack pointer and
 * frame pointer.
 */
void call_chain_read(const struct landmarks *marks, const struct stack_words *stack,
		     const struct unwind_state *start, struct call_chain *ret);

#endif
