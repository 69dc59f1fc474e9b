/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_record - count allocations and frees by call stack.
 *
 * No libc, no locks; all shared state is passed in. If a signal handler allocates while
 * it interrupts the recording of an allocation, the handler's allocation is counted
 * under a cut stack.
 */
#ifndef MS_AGENT_COUNT_STACK_RECORD_H
#define MS_AGENT_COUNT_STACK_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/count/stack_blocks.h"
#include "agent/count/stack_file.h"
#include "agent/count/stack_trie.h"
#include "agent/unwind/unwind.h"

/*
 * Size of a filter that is indexed by some bits of an address. An element of 0 means that
 * no recorded block starts at an address with these bits.
 */
#define STACK_FILTER_BYTES 65536
#define STACK_FILTER_SHIFT 8

/* State of a process that records stacks. */
struct stacks {
	struct stack_mode mode;
	bool is_threaded; /* more than one thread has allocated */
	/*
	 * Incremented when different code is mapped at addresses that had code before.
	 * Nodes of earlier epochs are no longer used.
	 */
	uint32_t epoch;
	struct stack_file file;
	struct stack_recent *recent; /* recent lookups of file.node_max nodes, or NULL */
	struct unwind_space space;
	struct stack_blocks *blocks; /* set if mode.has_live */
	/*
	 * filter of the addresses of recorded blocks, or NULL if mode.sample_bytes is 0
	 */
	uint8_t *filter;
};

/*
 * State of a thread that records stacks. All 0 at first, except random
 * and unwind.stack_end.
 */
struct stack_thread {
	uint32_t is_busy;
	uint32_t epoch;
	uint32_t last_node; /* node of the last recorded allocation */
	/* number of allocations that the last recorded allocation represents */
	uint64_t last_weight;
	uint64_t random;
	/* the thread's live bytes that are not in the header's live_bytes yet */
	int64_t pending_bytes;
	/*
	 * while pending_bytes does not exceed room_bytes, the thread's live bytes
	 * cannot be a new peak
	 */
	int64_t room_bytes;
	struct stack_trie trie;
	struct unwind_thread unwind;
};

/*
 * Record a block that was allocated. start is the frame to which the allocating
 * call returns.
 */
void stack_record(struct stacks *s, struct stack_thread *t, uintptr_t addr,
		  uint64_t bytes, const struct unwind_state *start);

static inline bool stack_may_be_known(const struct stacks *s, uintptr_t addr)
{
	return !s->filter ||
	       s->filter[addr >> STACK_FILTER_SHIFT & (STACK_FILTER_BYTES - 1)];
}

/*
 * Before a block is freed, stack_remove() removes its record and returns it, or returns 0
 * if the block was not recorded. Afterwards call stack_count_freed() if the block was
 * freed, or stack_restore() if it was not.
 */
uint64_t stack_remove(struct stacks *s, uintptr_t addr);
void stack_count_freed(struct stacks *s, struct stack_thread *t, uint64_t block);
void stack_restore(struct stacks *s, uintptr_t addr, uint64_t block);

/*
 * Do the work of stack_remove() and stack_count_freed() for a block that will certainly
 * be freed.
 */
void stack_forget(struct stacks *s, struct stack_thread *t, uintptr_t addr);

/*
 * Count that the thread's last recorded allocation was freed by the thread's next call.
 */
void stack_count_temporary(struct stacks *s, struct stack_thread *t);

/* Add the thread's pending_bytes to the header's live_bytes. */
void stack_flush(struct stacks *s, struct stack_thread *t);

#endif
