/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_record - count allocations and frees by call stack.
 *
 * No libc, no locks; all shared state is passed in. If a signal handler
 * interrupts the recording of an allocation and allocates itself, its allocation
 * is counted under a cut stack.
 */
#ifndef MS_AGENT_COUNT_STACK_RECORD_H
#define MS_AGENT_COUNT_STACK_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/count/stack_blocks.h"
#include "agent/count/stack_file.h"
#include "agent/count/stack_trie.h"
#include "agent/unwind/unwind.h"

/* Filter by address: whether a sampled block may start there. */
#define STACK_FILTER_BYTES 65536
#define STACK_FILTER_SHIFT 8

/* Recording state of a process. */
struct stacks {
	struct stack_mode mode;
	bool is_threaded; /* more than one thread has allocated */
	/*
	 * Incremented when other code appears at an address that had code before: nodes
	 * of earlier epochs are not used any more.
	 */
	uint32_t epoch;
	struct stack_file file;
	struct stack_recent *recent; /* array of file.node_max elements, or NULL */
	struct unwind_space space;
	struct stack_blocks *blocks; /* set if mode.has_live */
	uint8_t *filter;	     /* set if mode.sample_bytes; otherwise NULL */
};

/* Recording state of a thread. All 0 at first, except random and unwind.stack_end. */
struct stack_thread {
	uint32_t is_busy;
	uint32_t epoch;
	uint32_t last_node; /* node of the last recorded allocation */
	/* number of allocations that the last recorded one stands for */
	uint64_t last_weight;
	uint64_t random;
	int64_t pending_bytes; /* live bytes not yet added to the header's live_bytes */
	/* if pending_bytes are at most this, they are not a new peak */
	int64_t room_bytes;
	struct stack_trie trie;
	struct unwind_thread unwind;
};

/* Record a block that was returned to the caller at start. */
void stack_record(struct stacks *s, struct stack_thread *t, uintptr_t addr,
		  uint64_t bytes, const struct unwind_state *start);

static inline bool stack_may_be_known(const struct stacks *s, uintptr_t addr)
{
	return !s->filter ||
	       s->filter[addr >> STACK_FILTER_SHIFT & (STACK_FILTER_BYTES - 1)];
}

/*
 * Before a block is freed, stack_take() removes the block and returns it; 0: it was not
 * recorded. Afterwards call one of the others: stack_count_freed() if the block was
 * freed, stack_put_back() if not.
 */
uint64_t stack_take(struct stacks *s, uintptr_t addr);
void stack_count_freed(struct stacks *s, struct stack_thread *t, uint64_t block);
void stack_put_back(struct stacks *s, uintptr_t addr, uint64_t block);

/*
 * stack_take() and stack_count_freed() together, for a block that
 * will certainly be freed.
 */
void stack_forget(struct stacks *s, struct stack_thread *t, uintptr_t addr);

/* The thread's last recorded allocation was freed with no other call in between. */
void stack_count_temporary(struct stacks *s, struct stack_thread *t);

/* Add the thread's pending_bytes to the header's live_bytes. */
void stack_flush(struct stacks *s, struct stack_thread *t);

#endif
