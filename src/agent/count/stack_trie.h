/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_trie - find a thread's nodes in the stack file by caller and address. A trie
 * is used by one thread at a time; when a thread ends, another thread can take over
 * its trie.
 */
#ifndef MS_AGENT_COUNT_STACK_TRIE_H
#define MS_AGENT_COUNT_STACK_TRIE_H

#include <stdint.h>

#include "agent/count/stack_file.h"

struct stack_trie_entry {
	uint64_t pc; /* address of the call, or 0 if the entry is free */
	uint32_t parent, node;
};

/*
 * Recent lookups, indexed by node number, for all tries of a process; each node belongs
 * to one trie. child is the callee that was looked up last. sibling is another callee of
 * the same caller, which was looked up before. Callees that are not among the first few
 * are found through the trie. Callers and callees have nearby numbers, so these entries
 * share few cache lines.
 */
struct stack_recent {
	/* address of the call, or 0 if the node has not been looked up yet */
	uint64_t pc;
	uint32_t child, sibling; /* numbers of nodes, or 0 if there is none */
};

/*
 * A cached path: the nodes of up to STACK_PATH_MAX consecutive calls, the first of which
 * is the outermost. An element occupies half a cache line. Its key is a 64-bit hash of
 * the addresses in the path and of the node at which the path starts. Collisions are so
 * improbable that they are not checked for.
 */
#define STACK_PATH_MAX 6
struct stack_path {
	/* hash of the path, or 0 if the element is empty */
	uint64_t key;
	uint32_t nodes[STACK_PATH_MAX]; /* outermost first */
};

struct stack_trie {
	/* hash table with 1 << bits entries, or NULL if not allocated yet */
	struct stack_trie_entry *entries;
	unsigned int bits;
	uint32_t count;
	/* range of node numbers that are reserved for this trie */
	uint32_t next_node, end_node;
	/* recent lookups of all tries, or NULL if memory was exhausted */
	struct stack_recent *recent;
	/* cache of paths, in sets of two, or NULL if not allocated */
	struct stack_path *paths;
	unsigned int path_bits; /* the cache has 1 << path_bits paths */
};

/* Empty the trie; nodes that were added before are no longer used. */
void stack_trie_reset(struct stack_trie *trie);

/* Add a node and return its number, or 0 if the file or the memory is full. */
uint32_t stack_trie_add(struct stack_trie *trie, struct stack_file *file, uint32_t parent,
			uint64_t pc);

static inline uint32_t stack_trie_hash(const struct stack_trie *trie, uint32_t parent,
				       uint64_t pc)
{
	return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) +
			  parent * 0x9e3779b1) >>
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

/*
 * Add the address of a call to the key of a path. The key starts with
 * stack_path_begin(); the addresses are added from the outermost call inwards.
 */
static inline uint64_t stack_path_add(uint64_t key, uint64_t pc)
{
	key = (key ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

/*
 * Spread the bits of the node number over the key. Otherwise a difference between two
 * node numbers could cancel out a difference between the addresses that are added next.
 */
static inline uint64_t stack_path_begin(uint32_t node, uint32_t count)
{
	return stack_path_add(count, (uint64_t)node << 8);
}

static inline struct stack_path *stack_path_set(const struct stack_trie *trie,
						uint64_t key)
{
	return &trie->paths[key & ((UINT32_C(1) << trie->path_bits) - 2)];
}

/* Return the cached path with this key, or NULL if it is not cached. */
static inline struct stack_path *stack_path_find(const struct stack_trie *trie,
						 uint64_t key)
{
	struct stack_path *set = stack_path_set(trie, key);

	if (__builtin_expect(set[0].key == key, 1))
		return &set[0];
	return set[1].key == key ? &set[1] : NULL;
}

/*
 * Return the element in which to store a new path; the older path of the same set
 * is overwritten.
 */
static inline struct stack_path *stack_path_place(const struct stack_trie *trie,
						  uint64_t key)
{
	struct stack_path *set = stack_path_set(trie, key);

	set[1] = set[0];
	set[0].key = key;
	return &set[0];
}

#define STACK_RECENT_LOOKS 4

/* Record in the cache of recent lookups that node was looked up as a callee of parent. */
static inline void stack_trie_note(const struct stack_trie *trie, uint32_t parent,
				   uint32_t node)
{
	trie->recent[node].sibling = trie->recent[parent].child;
	trie->recent[parent].child = node;
}

/*
 * Return the node for a call from parent whose address is pc. Return 0 if there is no
 * space for a new node.
 */
static inline uint32_t stack_trie_child(struct stack_trie *trie, struct stack_file *file,
					uint32_t parent, uint64_t pc)
{
	struct stack_recent *recent = trie->recent;
	uint32_t node, before = 0;

	/* node 0 is the parent of the outermost frame of every thread */
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
