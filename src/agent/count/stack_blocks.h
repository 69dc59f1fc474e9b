/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_blocks - a table that stores, for each block, which call stack allocated it and
 * how many bytes were requested.
 *
 * There is one word for each address at which a block may start. The location of the word
 * is computed from the address, so neighbouring blocks have neighbouring words. The table
 * needs no search and no lock, because only one thread at a time allocates or frees a
 * given block. It uses memory only where there are blocks. A forked child process
 * inherits the words unchanged.
 */
#ifndef MS_AGENT_COUNT_STACK_BLOCKS_H
#define MS_AGENT_COUNT_STACK_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/stack_abi.h"

#define STACK_ADDRESS_BITS 47
/*
 * Base-2 logarithm of the number of bytes of address space that a leaf of the table
 * describes.
 */
#define STACK_LEAF_BITS 21
#define STACK_BRANCH_BITS 13
#define STACK_BRANCH_COUNT (1 << STACK_BRANCH_BITS)

/*
 * Maximum size of a block in the table. The word for a block contains the number of its
 * call stack's node in the low bits, and the block's size in bytes in the high bits. The
 * word is 0 if there is no block.
 */
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
	/*
	 * number of zero bits at the end of each block's address: blocks are aligned to 1
	 * << align_bits
	 */
	unsigned int align_bits;
	uint64_t **branches[STACK_BRANCH_COUNT];
};

/*
 * Return the word that stores the call stack and the size of the block at addr. If the
 * leaf of the table that contains the word does not exist yet, allocate the leaf. Return
 * NULL if memory cannot be allocated, or if addr is not a user-space address.
 */
uint64_t *stack_blocks_make_place(struct stack_blocks *blocks, uint64_t addr);

/*
 * Return the word that stores the call stack and the size of the block at addr, or NULL
 * if the leaf of the table that would contain the word was never allocated.
 */
static inline uint64_t *stack_blocks_find_place(const struct stack_blocks *blocks,
						uint64_t addr)
{
	const uint64_t index = addr >> (STACK_LEAF_BITS + STACK_BRANCH_BITS);
	uint64_t **branch, *leaf;

	if (__builtin_expect(index >= STACK_BRANCH_COUNT, 0))
		return NULL;
	branch = __atomic_load_n(&blocks->branches[index], __ATOMIC_ACQUIRE);
	if (__builtin_expect(!branch, 0))
		return NULL;
	leaf = __atomic_load_n(
		&branch[addr >> STACK_LEAF_BITS & (STACK_BRANCH_COUNT - 1)],
		__ATOMIC_ACQUIRE);
	if (__builtin_expect(!leaf, 0))
		return NULL;
	return &leaf[(addr & ((1 << STACK_LEAF_BITS) - 1)) >> blocks->align_bits];
}

/* Call the function `call` for each block in the table. */
void stack_blocks_for_each(const struct stack_blocks *blocks,
			   void (*call)(void *context, uint64_t block), void *context);

#endif
