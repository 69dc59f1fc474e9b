/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_chain - the functions that a stopped thread is in, from the innermost outwards, as
 * the unwind tables of its code show them.
 *
 * Old return addresses stay on a stack for as long as nothing overwrites them. A scan of
 * all words takes them for calls that are still active; the chain does not.
 */
#ifndef MS_PROBE_CALL_CHAIN_H
#define MS_PROBE_CALL_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/landmarks.h"

/* A copy of the stack from the stack pointer on. */
struct stack_words {
	const uint64_t *words;
	size_t count;
	uint64_t start_addr;
};

struct call_chain {
	bool holds; /* one of the functions is in a range of the landmarks */
	bool is_whole; /* the outermost function was reached; or holds is true */
	/* If it is not whole: the words from this one on belong to unknown functions. */
	size_t rest_index;
};

/* Where a thread is: its program counter, stack pointer and frame pointer. */
void call_chain_read(const struct landmarks *marks, const struct stack_words *stack,
		     const struct unwind_state *start, struct call_chain *ret);

#endif
