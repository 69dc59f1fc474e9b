/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roots - find the memory from which a process can reach its heap blocks: stacks, data,
 * thread-local storage, and other anonymous and shared memory. The heap, the unused part
 * of each stack and the allocator's own data are not roots.
 */
#ifndef MS_WALK_MARK_ROOTS_H
#define MS_WALK_MARK_ROOTS_H

#include "model/mapping.h"
#include "walk/blocks/blocks.h"

/*
 * Size of the red zone, the bytes below the stack pointer that a function may use without
 * moving the pointer (System V ABI, x86-64).
 */
#define STACK_RED_ZONE_BYTES UINT64_C(128)

struct root_thread {
	int tid;
	uint64_t stack_addr; /* stack pointer */
	uint64_t tls_addr;   /* thread pointer */
	size_t word_count;   /* number of this thread's register values among the roots */
};

/*
 * A range of resident memory that is within one run of the image and within one mapping.
 */
struct root_range {
	uint64_t start_addr, end_addr;
};

struct root_list {
	/* ranges, disjoint and in ascending address order */
	struct root_range *items;
	size_t count, capacity;
	uint64_t bytes; /* sum of the sizes of all ranges */
};

#define ROOT_LIST_INIT        \
	{                     \
		NULL, 0, 0, 0 \
	}

/*
 * Return true if the mapping may contain pointers, which is the case if it is writable,
 * or if it is private and was written before it became read-only. The image must contain
 * the resident pages of these mappings.
 */
bool roots_want_mapping(const struct mapping *m);

/*
 * Return how many bytes of readable mappings are swapped out. Swapped-out memory may
 * contain pointers, but cannot be scanned.
 */
uint64_t roots_swapped_bytes(const struct mapping_list *mappings);

/*
 * Find the roots. They do not include heap blocks, the allocator's own data, memory below
 * the stack pointers, or mappings that are entirely LazyFree. *ret is initialised, and
 * the caller releases it with root_list_release().
 */
void roots_find(const struct blocks *blocks, const struct mapping_list *mappings,
		const struct root_thread *threads, size_t thread_count,
		struct root_list *ret);
void root_list_release(struct root_list *list);

#endif
