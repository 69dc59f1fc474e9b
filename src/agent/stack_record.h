/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_record - allocations and what was freed of them, counted at their stacks.
 *
 * No libc, no lock. All that is shared is handed in. What interrupts the recording of an
 * allocation, a signal handler, and allocates itself, is counted as a stack that is cut.
 */
#ifndef MS_AGENT_STACK_RECORD_H
#define MS_AGENT_STACK_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/stack_blocks.h"
#include "agent/stack_file.h"
#include "agent/stack_trie.h"
#include "agent/unwind.h"

/* By places in memory: whether a block that was sampled may begin there. */
#define STACK_FILTER_BYTES 65536
#define STACK_FILTER_SHIFT 8

/* Of a process. */
struct stacks {
	struct stack_mode mode;
	bool is_threaded; /* there was more than one thread that allocates */
	/*
	 * + 1 where other code is at an address that had some: nodes of before are not
	 * used any more
	 */
	uint32_t epoch;
	struct stack_file file;
	struct stack_recent *recent; /* file.node_max, or NULL */
	struct unwind_space space;
	struct stack_blocks *blocks; /* where mode.has_live */
	uint8_t *filter;	     /* and where it is an estimate */
};

/* Of a thread. All 0 but random and unwind.stack_end. */
struct stack_thread {
	uint32_t is_busy;
	uint32_t epoch;
	uint32_t last_node; /* of the last allocation that was recorded… */
	uint64_t last_weight; /* …and how many it stands for */
	uint64_t random;
	int64_t pending_bytes; /* not in the head's live_bytes yet */
	int64_t room_bytes; /* so many may be pending without being more than the peak */
	struct stack_trie trie;
	struct unwind_thread unwind;
};

/* A block was given to who is at start. */
void stack_record(struct stacks *s, struct stack_thread *t, uintptr_t addr, uint64_t bytes,
		  const struct unwind_state *start);

static inline bool stack_may_be_known(const struct stacks *s, uintptr_t addr)
{
	return !s->filter ||
	       s->filter[addr >> STACK_FILTER_SHIFT & (STACK_FILTER_BYTES - 1)];
}

/*
 * Before a block is given back: what is known of it, and not known any more; 0: nothing.
 * Then either of two: it was given back, or is as it was.
 */
uint64_t stack_take(struct stacks *s, uintptr_t addr);
void stack_count_freed(struct stacks *s, struct stack_thread *t, uint64_t block);
void stack_put_back(struct stacks *s, uintptr_t addr, uint64_t block);

/* The first two, of a block that is given back for certain. */
void stack_forget(struct stacks *s, struct stack_thread *t, uintptr_t addr);

/* The last allocation that was recorded of this thread was freed with no call since. */
void stack_count_temporary(struct stacks *s, struct stack_thread *t);

/* What is pending goes into the head. */
void stack_flush(struct stacks *s, struct stack_thread *t);

#endif
