/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roots - the memory of a process from which its blocks are reached: stacks, data,
 * thread-local storage, and other anonymous and shared memory. The heap, dead memory and
 * the allocator's own data are not roots.
 */
#ifndef MS_WALK_MARK_ROOTS_H
#define MS_WALK_MARK_ROOTS_H

#include "model/mapping.h"
#include "walk/blocks/blocks.h"

/*
 * Bytes below the stack pointer that a function may use without moving it
 * (System V ABI, x86-64).
 */
#define STACK_RED_ZONE_BYTES UINT64_C(128)

struct root_thread {
	int tid;
	uint64_t stack_addr; /* stack pointer */
	uint64_t tls_addr;   /* thread pointer */
	size_t word_count;   /* number of register words that belong to this thread */
};

/* A resident range within one run of the image and one mapping. */
struct root_range {
	uint64_t start_addr, end_addr;
};

struct root_list {
	struct root_range *items; /* ascending by address, disjoint */
	size_t count, capacity;
	uint64_t bytes; /* sum of all ranges */
};

#define ROOT_LIST_INIT        \
	{                     \
		NULL, 0, 0, 0 \
	}

/*
 * Return true if the mapping may contain pointers, so its resident pages must be in the
 * image. These are writable mappings, shared or not, and private mappings that were
 * written before they became read-only.
 */
bool roots_want_mapping(const struct mapping *m);

/*
 * Return the swapped bytes of readable mappings, which may contain pointers
 * but cannot be scanned.
 */
uint64_t roots_swapped_bytes(const struct mapping_list *mappings);

/*
 * Return the dead part of a thread's stack, which is not a root. Returns an empty range
 * if the stack is unknown.
 */
struct root_range roots_dead_stack(struct image *image,
				   const struct mapping_list *mappings,
				   const struct root_thread *thread);

/*
 * Collect the roots. They exclude blocks, the allocator's own data, memory below the
 * stack pointers, and mappings that are LazyFree as a whole. *ret is initialised; release
 * it with root_list_release().
 */
void roots_find(const struct blocks *blocks, const struct mapping_list *mappings,
		const struct root_thread *threads, size_t thread_count,
		struct root_list *ret);
void root_list_release(struct root_list *list);

#endif
