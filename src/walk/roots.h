/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roots - the memory of a process from which its blocks are reached: stacks, data,
 * thread-local storage, other anonymous and shared memory; not the heap, and not what is
 * dead or the allocator's own.
 */
#ifndef MS_WALK_ROOTS_H
#define MS_WALK_ROOTS_H

#include "model/mapping.h"
#include "walk/blocks.h"

/*
 * What a function may use below its stack pointer without moving it (System V ABI,
 * x86-64).
 */
#define STACK_RED_ZONE_BYTES UINT64_C(128)

struct root_thread {
	int tid;
	uint64_t stack_addr; /* stack pointer */
	uint64_t tls_addr;   /* thread pointer */
	size_t word_count;   /* how many of the words in registers are this one's */
};

/* Resident, within one run of the image and one mapping. */
struct root_range {
	uint64_t start_addr, end_addr;
};

struct root_list {
	struct root_range *items; /* by address, disjoint */
	size_t count, capacity;
	uint64_t bytes; /* of all */
};

#define ROOT_LIST_INIT        \
	{                     \
		NULL, 0, 0, 0 \
	}

/*
 * True if pointers may be in such a mapping, so that its resident pages are to be in the
 * image: writable memory, shared or not, and private memory that was written before it
 * was made read-only.
 */
bool roots_want_mapping(const struct mapping *m);

/* Memory that cannot be looked at, though pointers may be in it. */
uint64_t roots_swapped_bytes(const struct mapping_list *mappings);

/*
 * The dead part of a thread's stack, which is no root; empty where the stack is not
 * known.
 */
struct root_range roots_dead_stack(struct image *image,
				   const struct mapping_list *mappings,
				   const struct root_thread *thread);

/*
 * Left out: blocks, the allocator's own data, what is below a thread's stack pointer, and
 * mappings that were given back lazily as a whole (LazyFree). *ret is initialised;
 * release it.
 */
void roots_find(const struct blocks *blocks, const struct mapping_list *mappings,
		const struct root_thread *threads, size_t thread_count,
		struct root_list *ret);
void root_list_release(struct root_list *list);

#endif
