/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_chain - list the functions that a stopped thread is in, from the innermost
 * outwards, according to the unwind tables of its code.
 *
 * Old return addresses stay on a stack until something overwrites them. A scan of all
 * words mistakes them for active calls; following the call chain does not.
 */
#ifndef MS_PROBE_BORROW_CALL_CHAIN_H
#define MS_PROBE_BORROW_CALL_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/borrow/landmarks.h"

/* A copy of the stack, starting at the stack pointer. */
struct stack_words {
	const uint64_t *words;
	size_t count;
	uint64_t start_addr;
};

struct call_chain {
	/*
	 * a function in the call chain is in one of the code ranges of struct
	 * landmarks, such as malloc's
	 */
	bool holds;
	/* the call chain is known up to its outermost function, or holds is true */
	bool is_whole;
	/*
	 * if is_whole is false: index of the first word of the stack beyond the known
	 * part of the call chain
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
