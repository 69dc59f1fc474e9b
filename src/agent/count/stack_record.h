/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_record - count allocations and frees by call stack. The code uses no libc and no
 * locks, and receives all shared state as arguments.
 *
 * If a signal handler interrupts the recording of an allocation and itself allocates, the
 * handler's allocation is counted under a truncated stack.
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
 * Size of the filter, a table that is indexed by some bits of an address. An element of 0
 * means that no recorded block starts at an address with these bits.
 */
#define STACK_FILTER_BYTES 65536
#define STACK_FILTER_SHIFT 8

/* The state of a process that records stacks. */
struct stacks {
	struct stack_mode mode;
	bool is_threaded; /* true if more than one thread has allocated memory */
	/*
	 * Number of the current epoch, incremented when code is mapped at addresses
	 * that previously contained other code. Nodes of earlier epochs are then no
	 * longer used.
	 */
	uint32_t epoch;
	struct stack_file file;
	/* cache of recent lookups, an array of file.node_max elements, or NULL */
	struct stack_recent *recent;
	struct unwind_space space;
	struct stack_blocks *blocks; /* the table of blocks; set if mode.has_live */
	/*
	 * the filter for the addresses of recorded blocks; NULL if mode.sample_bytes is 0
	 */
	uint8_t *filter;
};

/*
 * The state of a thread that records stacks. All members are initially 0, except random
 * and unwind.stack_end.
 */
struct stack_thread {
	uint32_t is_busy;
	uint32_t epoch;
	uint32_t last_node; /* node of the last recorded allocation */
	/*
	 * number of allocations for which the last recorded allocation stands in the
	 * sample
	 */
	uint64_t last_weight;
	uint64_t random;
	/*
	 * live bytes of this thread that have not been added to live_bytes in the header
	 * yet
	 */
	int64_t pending_bytes;
	/*
	 * limit for pending_bytes; if they exceed it, they are added to live_bytes before
	 * they decrease, because live_bytes may have reached a new peak. With one thread,
	 * the limit is the distance to the peak; with several, it is STACK_FLUSH_BYTES
	 */
	int64_t room_bytes;
	struct stack_trie trie;
	struct unwind_thread unwind;
};

/*
 * Record a block that was allocated. `start` describes the frame to which the allocating
 * function returns.
 */
void stack_record(struct stacks *s, struct stack_thread *t, uintptr_t addr,
		  uint64_t bytes, const struct unwind_state *start);

static inline bool stack_may_be_known(const struct stacks *s, uintptr_t addr)
{
	return !s->filter ||
	       s->filter[addr >> STACK_FILTER_SHIFT & (STACK_FILTER_BYTES - 1)];
}

/*
 * stack_remove() removes the record of a block that is about to be freed, and returns it,
 * or 0 if the block was not recorded. Afterwards call stack_count_freed() if the block
 * was freed, or stack_restore() if it was not freed.
 */
uint64_t stack_remove(struct stacks *s, uintptr_t addr);
void stack_count_freed(struct stacks *s, struct stack_thread *t, uint64_t block);
void stack_restore(struct stacks *s, uintptr_t addr, uint64_t block);

/*
 * Like stack_remove() followed by stack_count_freed(), for a block that will
 * certainly be freed.
 */
void stack_forget(struct stacks *s, struct stack_thread *t, uintptr_t addr);

/*
 * Count the thread's last recorded allocation as temporary, because the thread's next
 * call freed it.
 */
void stack_count_temporary(struct stacks *s, struct stack_thread *t);

/* Add the thread's pending_bytes to live_bytes in the file header. */
void stack_flush(struct stacks *s, struct stack_thread *t);

#endif
