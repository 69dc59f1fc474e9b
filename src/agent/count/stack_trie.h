/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_trie - find a thread's nodes in the stack file by the caller's node and the
 * address of the call. Only one thread at a time uses a trie. When a thread ends, another
 * thread can take over its trie.
 */
#ifndef MS_AGENT_COUNT_STACK_TRIE_H
#define MS_AGENT_COUNT_STACK_TRIE_H

#include <stdint.h>

#include "agent/count/stack_file.h"

struct stack_trie_entry {
	uint64_t pc; /* address of the call; 0 if this entry of the trie is free */
	uint32_t parent, node;
};

/*
 * Cache of recent lookups, indexed by node number, for all tries of a process; each node
 * belongs to one trie. `child` is the callee that was looked up last. `sibling` is
 * another callee of the same caller, which was looked up before. The cache contains the
 * first few callees of each caller; all others are in the trie. Callers and callees have
 * nearby numbers, so their elements occupy few cache lines.
 */
struct stack_recent {
	/* address of the call; 0 if the node has not been looked up yet */
	uint64_t pc;
	/* node numbers of the two callees; 0 if there is no such node */
	uint32_t child, sibling;
};

/*
 * Maximum number of nodes in a cached path: the nodes of consecutive calls, outermost
 * first. An element of the cache occupies half a CPU cache line. Its key is a 64-bit hash
 * of the addresses in the path and of the node at which the path starts. There is no
 * check for key collisions, because they are extremely improbable.
 */
#define STACK_PATH_MAX 6
struct stack_path {
	/* hash of the path; 0 if this cache element is empty */
	uint64_t key;
	uint32_t nodes[STACK_PATH_MAX]; /* nodes of the path, outermost first */
};

struct stack_trie {
	/* hash table with 1 << bits entries; NULL if not allocated yet */
	struct stack_trie_entry *entries;
	unsigned int bits;
	uint32_t count;
	/* range of node numbers that are reserved for this trie and not used yet */
	uint32_t next_node, end_node;
	/* cache of recent lookups for all tries; NULL if there was no memory for it */
	struct stack_recent *recent;
	/* cache of paths, in sets of two; NULL if it is not allocated */
	struct stack_path *paths;
	/* number of elements of the path cache, as a base-2 logarithm */
	unsigned int path_bits;
};

/* Empty the trie. Nodes that were added before are no longer used. */
void stack_trie_reset(struct stack_trie *trie);

/*
 * Add a node to the trie and the stack file. Return the node's number, or 0 if the file
 * is full or there is no memory.
 */
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
 * Add the address of a call to the hash key of a path. The key starts with
 * stack_path_begin(); the addresses are added from the outermost call inwards.
 */
static inline uint64_t stack_path_add(uint64_t key, uint64_t pc)
{
	key = (key ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

/*
 * Return the initial hash key of a path. Spreading the bits of the node number over the
 * whole key prevents a difference between two node numbers from cancelling out a
 * difference between the addresses that are added next.
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
 * Return the cache element in which to store a new path. The new path overwrites the
 * older of the two paths in its set.
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

/*
 * Record in the cache of recent lookups that the node was looked up as a callee of
 * `parent`.
 */
static inline void stack_trie_note(const struct stack_trie *trie, uint32_t parent,
				   uint32_t node)
{
	trie->recent[node].sibling = trie->recent[parent].child;
	trie->recent[parent].child = node;
}

/*
 * Return the child node of `parent` for the call with the address pc. Return 0 if there
 * is no space for a new node.
 */
static inline uint32_t stack_trie_child(struct stack_trie *trie, struct stack_file *file,
					uint32_t parent, uint64_t pc)
{
	struct stack_recent *recent = trie->recent;
	uint32_t node, before = 0;

	/* node 0, the root, is the parent of the outermost frame of every thread */
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
