/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_trie - the nodes that a thread has in the file of stacks, found by who called and
 * where. Of one thread at a time; one that ends leaves it to another.
 */
#ifndef MS_AGENT_STACK_TRIE_H
#define MS_AGENT_STACK_TRIE_H

#include <stdint.h>

#include "agent/stack_file.h"

struct stack_trie_entry {
	uint64_t pc; /* 0: free */
	uint32_t parent, node;
};

struct stack_trie {
	struct stack_trie_entry *entries; /* 1 << bits; NULL: none yet */
	unsigned int bits;
	uint32_t count;
	uint32_t next_node, end_node; /* numbers that are taken, for nodes to come */
};

/* With nothing in it, as at first: what has been is not used any more. */
void stack_trie_reset(struct stack_trie *trie);

/* Returns 0 if there is no room. */
uint32_t stack_trie_add(struct stack_trie *trie, struct stack_file *file, uint32_t parent,
			uint64_t pc);

static inline uint32_t stack_trie_hash(const struct stack_trie *trie, uint32_t parent,
				       uint64_t pc)
{
	return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) + parent * 0x9e3779b1) >>
	       (32 - trie->bits);
}

/* The node of what is called by parent, and goes on at pc. Returns 0 if there is no room. */
static inline uint32_t stack_trie_child(struct stack_trie *trie, struct stack_file *file,
					uint32_t parent, uint64_t pc)
{
	uint32_t mask = (UINT32_C(1) << trie->bits) - 1;
	uint32_t i;

	if (__builtin_expect(!trie->entries, 0))
		return stack_trie_add(trie, file, parent, pc);
	for (i = stack_trie_hash(trie, parent, pc);; i = (i + 1) & mask) {
		const struct stack_trie_entry *e = &trie->entries[i];

		if (e->pc == pc && e->parent == parent)
			return e->node;
		if (!e->pc)
			return stack_trie_add(trie, file, parent, pc);
	}
}

#endif
