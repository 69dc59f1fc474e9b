/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/count/stack_trie.h"

#include <stdbool.h>
#include <stddef.h>

#define BITS_FIRST 10
#define NODES_TAKEN 32
/*
 * Maximum size of the path cache, as the base-2 logarithm of the number of elements. A
 * larger cache would evict the program's own data from the CPU cache.
 */
#define PATH_BITS_MAX 13

static uint64_t table_bytes(unsigned int bits)
{
	return sizeof(struct stack_trie_entry) << bits;
}

static uint64_t path_bytes(unsigned int bits)
{
	return sizeof(struct stack_path) << bits;
}

/* Create an empty path cache with half as many elements as the trie has entries. */
static void make_paths(struct stack_trie *trie)
{
	unsigned int bits = trie->bits - 1 < PATH_BITS_MAX ? trie->bits - 1
							   : PATH_BITS_MAX;

	if (trie->paths && bits == trie->path_bits)
		return;
	if (trie->paths)
		stack_memory_release(trie->paths, path_bytes(trie->path_bits));
	trie->paths = stack_memory_allocate(path_bytes(bits));
	trie->path_bits = bits;
}

void stack_trie_reset(struct stack_trie *trie)
{
	if (trie->entries)
		stack_memory_release(trie->entries, table_bytes(trie->bits));
	if (trie->paths)
		stack_memory_release(trie->paths, path_bytes(trie->path_bits));
	*trie = (struct stack_trie){ .recent = trie->recent };
}

static void put(struct stack_trie *trie, const struct stack_trie_entry *entry)
{
	uint32_t mask = (UINT32_C(1) << trie->bits) - 1;
	uint32_t i = stack_trie_hash(trie, entry->parent, entry->pc);

	while (trie->entries[i].pc)
		i = (i + 1) & mask;
	trie->entries[i] = *entry;
}

/* Enlarge the trie if more than half of its entries would otherwise be in use. */
static bool make_room(struct stack_trie *trie)
{
	struct stack_trie larger = *trie;

	if (trie->entries && trie->count < 1U << (trie->bits - 1))
		return true;
	larger.bits = trie->entries ? trie->bits + 1 : BITS_FIRST;
	larger.entries = stack_memory_allocate(table_bytes(larger.bits));
	if (!larger.entries)
		return false;
	for (uint32_t i = 0; trie->entries && i < 1U << trie->bits; i++)
		if (trie->entries[i].pc)
			put(&larger, &trie->entries[i]);
	if (trie->entries)
		stack_memory_release(trie->entries, table_bytes(trie->bits));
	*trie = larger;
	make_paths(trie);
	return true;
}

uint32_t stack_trie_add(struct stack_trie *trie, struct stack_file *file, uint32_t parent,
			uint64_t pc)
{
	struct stack_file_node *node;
	uint32_t begin;

	if (!make_room(trie))
		return 0;
	if (trie->next_node == trie->end_node) {
		if (!stack_file_take_nodes(file, NODES_TAKEN, &begin))
			return 0;
		trie->next_node = begin;
		trie->end_node = begin + NODES_TAKEN;
	}
	node = &file->nodes[trie->next_node];
	node->parent_generation = parent;
	__atomic_store_n(&node->pc, pc, __ATOMIC_RELEASE);
	put(trie, &(struct stack_trie_entry){ pc, parent, trie->next_node });
	trie->count++;
	return trie->next_node++;
}
