/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_blocks - which stack each block is from, and how many bytes were asked for.
 *
 * A word for each place where a block may begin, at a distance that is told from its
 * address: neighbours are neighbours here, too, there is nothing to search, and no lock,
 * as a block is one thread's when it is given and when it is taken back. Memory is used
 * where there are blocks. In a forked child it is as it was.
 */
#ifndef MS_AGENT_STACK_BLOCKS_H
#define MS_AGENT_STACK_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/stack_abi.h"

#define STACK_ADDRESS_BITS 47
#define STACK_LEAF_BITS	   21 /* of an address: so much memory is one leaf's */
#define STACK_BRANCH_BITS  13
#define STACK_BRANCH_COUNT (1 << STACK_BRANCH_BITS)

/* A block: its node in the low bits, then its bytes. 0: none. */
#define STACK_BLOCK_SIZE_MAX ((UINT64_C(1) << (64 - STACK_PARENT_BITS)) - 1)

static inline uint64_t stack_block(uint32_t node, uint64_t bytes)
{
	if (__builtin_expect(bytes > STACK_BLOCK_SIZE_MAX, 0))
		bytes = STACK_BLOCK_SIZE_MAX;
	return bytes << STACK_PARENT_BITS | node;
}

static inline uint32_t stack_block_node(uint64_t block)
{
	return (uint32_t)block & (STACK_NODE_MAX - 1);
}

static inline uint64_t stack_block_bytes(uint64_t block)
{
	return block >> STACK_PARENT_BITS;
}

struct stack_blocks {
	unsigned int align_bits; /* blocks begin at multiples of 1 << align_bits */
	uint64_t **branches[STACK_BRANCH_COUNT];
};

/* NULL: there is no memory for it, or the address is none. */
uint64_t *stack_blocks_make_place(struct stack_blocks *blocks, uint64_t addr);

/* NULL: there is none. */
static inline uint64_t *stack_blocks_find_place(const struct stack_blocks *blocks, uint64_t addr)
{
	const uint64_t index = addr >> (STACK_LEAF_BITS + STACK_BRANCH_BITS);
	uint64_t **branch, *leaf;

	if (__builtin_expect(index >= STACK_BRANCH_COUNT, 0))
		return NULL;
	branch = __atomic_load_n(&blocks->branches[index], __ATOMIC_ACQUIRE);
	if (__builtin_expect(!branch, 0))
		return NULL;
	leaf = __atomic_load_n(&branch[addr >> STACK_LEAF_BITS & (STACK_BRANCH_COUNT - 1)],
			       __ATOMIC_ACQUIRE);
	if (__builtin_expect(!leaf, 0))
		return NULL;
	return &leaf[(addr & ((1 << STACK_LEAF_BITS) - 1)) >> blocks->align_bits];
}

/* Call it for each block. */
void stack_blocks_for_each(const struct stack_blocks *blocks,
			   void (*call)(void *context, uint64_t block), void *context);

#endif
