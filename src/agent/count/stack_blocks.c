/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/count/stack_blocks.h"

#include "agent/count/stack_file.h"

static uint64_t leaf_bytes(const struct stack_blocks *blocks)
{
	return (sizeof(uint64_t) << STACK_LEAF_BITS) >> blocks->align_bits;
}

/*
 * Return the memory to which *at points. Allocate it if *at is NULL. If two threads do so
 * at the same time, both receive the same memory.
 */
static void *make(void **at, uint64_t bytes)
{
	void *there = __atomic_load_n(at, __ATOMIC_ACQUIRE), *made;

	if (there)
		return there;
	made = stack_memory_allocate(bytes);
	if (!made || __atomic_compare_exchange_n(at, &there, made, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	stack_memory_release(made, bytes);
	return there;
}

uint64_t *stack_blocks_make_place(struct stack_blocks *blocks, uint64_t addr)
{
	uint64_t **branch;

	if (addr >> STACK_ADDRESS_BITS)
		return NULL;
	branch = make(
		(void **)&blocks->branches[addr >> (STACK_LEAF_BITS + STACK_BRANCH_BITS)],
		STACK_BRANCH_COUNT * sizeof(*branch));
	if (!branch ||
	    !make((void **)&branch[addr >> STACK_LEAF_BITS & (STACK_BRANCH_COUNT - 1)],
		  leaf_bytes(blocks)))
		return NULL;
	return stack_blocks_find_place(blocks, addr);
}

void stack_blocks_for_each(const struct stack_blocks *blocks,
			   void (*call)(void *context, uint64_t block), void *context)
{
	uint64_t count = leaf_bytes(blocks) / sizeof(uint64_t);

	for (int i = 0; i < STACK_BRANCH_COUNT; i++) {
		uint64_t **branch = blocks->branches[i];

		for (int k = 0; branch && k < STACK_BRANCH_COUNT; k++) {
			for (uint64_t n = 0; branch[k] && n < count; n++)
				if (branch[k][n])
					call(context, branch[k][n]);
		}
	}
}
