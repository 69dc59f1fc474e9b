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

/*
 * Of a node, by its number, for all tries of a process: a node is of one of them. Child
 * is what was looked for last of what it calls, sibling what was before that: what is not
 * found among the first of these is in the trie. Callers have numbers near to each other,
 * and so it is in few lines of the cache.
 */
struct stack_recent {
	uint64_t pc; /* 0: it was not looked for yet */
	uint32_t child, sibling; /* 0: none */
};

/*
 * The nodes of so many callers that follow each other, from some node on inwards: what was
 * found there lately, in half a line of the cache. Known again by a number made of all of
 * them, of 64 bits: that two have the same, and are taken for one, is not to be expected of
 * any program.
 */
#define STACK_PATH_MAX 6
struct stack_path {
	uint64_t key; /* 0: none */
	uint32_t nodes[STACK_PATH_MAX]; /* outermost first */
};

struct stack_trie {
	struct stack_trie_entry *entries; /* 1 << bits; NULL: none yet */
	unsigned int bits;
	uint32_t count;
	uint32_t next_node, end_node; /* numbers that are taken, for nodes to come */
	struct stack_recent *recent; /* NULL: there was no memory for it */
	struct stack_path *paths; /* sets of two; NULL: there is none, or no memory for it */
	unsigned int path_bits;	  /* 1 << path_bits paths */
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

static inline uint32_t stack_trie_search(struct stack_trie *trie, struct stack_file *file,
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

/* The key of a path: begun with a node and a length, and then of each caller, inwards. */
static inline uint64_t stack_path_add(uint64_t key, uint64_t pc)
{
	key = (key ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

/* Spread over all bits: nodes may differ by what the addresses added next differ by. */
static inline uint64_t stack_path_begin(uint32_t node, uint32_t count)
{
	return stack_path_add(count, (uint64_t)node << 8);
}

static inline struct stack_path *stack_path_set(const struct stack_trie *trie, uint64_t key)
{
	return &trie->paths[key & ((UINT32_C(1) << trie->path_bits) - 2)];
}

/* NULL: it is not known. */
static inline struct stack_path *stack_path_find(const struct stack_trie *trie, uint64_t key)
{
	struct stack_path *set = stack_path_set(trie, key);

	if (__builtin_expect(set[0].key == key, 1))
		return &set[0];
	return set[1].key == key ? &set[1] : NULL;
}

/* Where it is to be noted, in place of what was noted before the last of its set. */
static inline struct stack_path *stack_path_place(const struct stack_trie *trie, uint64_t key)
{
	struct stack_path *set = stack_path_set(trie, key);

	set[1] = set[0];
	set[0].key = key;
	return &set[0];
}

#define STACK_RECENT_LOOKS 4

/* It is the child of parent that was looked for last, now. */
static inline void stack_trie_note(const struct stack_trie *trie, uint32_t parent, uint32_t node)
{
	trie->recent[node].sibling = trie->recent[parent].child;
	trie->recent[parent].child = node;
}

/* The node of what is called by parent, and goes on at pc. Returns 0 if there is no room. */
static inline uint32_t stack_trie_child(struct stack_trie *trie, struct stack_file *file,
					uint32_t parent, uint64_t pc)
{
	struct stack_recent *recent = trie->recent;
	uint32_t node, before = 0;

	/* 0 is the parent of all threads' outermost */
	if (__builtin_expect(!recent || parent == 0, 0))
		return stack_trie_search(trie, file, parent, pc);
	node = recent[parent].child;
	if (__builtin_expect(recent[node].pc == pc, 1))
		return node;
	for (int i = 1; i < STACK_RECENT_LOOKS && node; i++) {
		before = node;
		node = recent[node].sibling;
		if (recent[node].pc == pc) {
			recent[before].sibling = recent[node].sibling;
			stack_trie_note(trie, parent, node);
			return node;
		}
	}
	node = stack_trie_search(trie, file, parent, pc);
	if (node) {
		recent[node].pc = pc;
		stack_trie_note(trie, parent, node);
	}
	return node;
}

#endif
