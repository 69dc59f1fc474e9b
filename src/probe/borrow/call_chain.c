/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/call_chain.h"

#include "base/clock.h"
#include "base/units.h"
#include "probe/borrow/machine.h"

#define WORD_BYTES sizeof(uint64_t)

#define DEPTH_MAX 4096
/*
 * Time limit for unwinding a call chain, during which the thread is stopped. After this
 * time, the rest of the stack is only scanned for return addresses.
 */
#define TIME_MAX_NS (5 * NS_PER_MS)

static bool read_word(void *context, uint64_t addr, uint64_t *ret)
{
	const struct stack_words *stack = context;
	uint64_t offset = addr - stack->start_addr;

	if (addr < stack->start_addr || offset % WORD_BYTES != 0 ||
	    offset / WORD_BYTES >= stack->count)
		return false;
	*ret = stack->words[offset / WORD_BYTES];
	return true;
}

/* Step from the frame of a signal handler to the code that the signal interrupted. */
static int leave_handler(const struct stack_words *stack, struct unwind_state *state)
{
	uint64_t index = (state->sp - stack->start_addr) / WORD_BYTES;
	struct machine_place place;

	if (state->sp < stack->start_addr || index >= stack->count ||
	    !machine_handler_place(stack->words + index, stack->count - index, &place))
		return -1;
	*state = (struct unwind_state){ place.code_addr, place.stack_addr,
					place.frame_addr };
	return 1;
}

/*
 * Step from a stack frame to the frame of its caller. Return 1 with the caller in
 * *state, 0 if there is no caller, or -1 if the caller cannot be determined.
 */
static int step(const struct landmarks *marks, const struct stack_words *stack,
		uint64_t lookup, struct unwind_state *state, bool *ret_is_call)
{
	struct unwind_state next = *state;
	struct unwind_rules rules;
	int r;

	if (!code_tables_find(&marks->tables, lookup, &rules))
		return -1;
	*ret_is_call = !rules.is_signal;
	if (rules.is_signal)
		r = leave_handler(stack, &next);
	else
		r = unwind_rules_apply(&rules, &next, read_word, (void *)stack);
	if (r == 1 && (next.sp <= state->sp || next.sp % WORD_BYTES != 0))
		return -1;
	*state = next;
	return r;
}

static size_t index_of(const struct stack_words *stack, uint64_t sp)
{
	uint64_t index = (sp - stack->start_addr) / WORD_BYTES;

	return sp < stack->start_addr ? 0
	       : index < stack->count ? (size_t)index
				      : stack->count;
}

void call_chain_read(const struct landmarks *marks, const struct stack_words *stack,
		     const struct unwind_state *start, struct call_chain *ret)
{
	uint64_t deadline_ns = clock_now_ns() + TIME_MAX_NS;
	struct unwind_state state = *start;
	/*
	 * A return address points after the call, which may be the last instruction of
	 * its function. To find the function, look up the preceding address.
	 */
	bool is_call = false;

	*ret = (struct call_chain){ .holds = false };
	for (size_t depth = 0; depth < DEPTH_MAX; depth++) {
		uint64_t lookup = state.pc - is_call;
		int r;

		ret->rest_index = index_of(stack, state.sp);
		ret->holds = landmarks_hold(marks, lookup) ||
			     landmarks_hold(marks, state.pc);
		ret->is_whole = ret->holds;
		if (ret->holds || (depth % 16 == 15 && clock_now_ns() > deadline_ns))
			return;
		r = step(marks, stack, lookup, &state, &is_call);
		ret->is_whole = r == 0;
		if (r != 1)
			return;
	}
}
