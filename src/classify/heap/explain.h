/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain - describe an address: the mapping, page and block that contain it, and the
 * chain of pointers that leads to the block. The functions are pure.
 */
#ifndef MS_CLASSIFY_HEAP_EXPLAIN_H
#define MS_CLASSIFY_HEAP_EXPLAIN_H

#include "model/heap.h"
#include "model/mapping.h"
#include "tracee/memory/peek.h"
#include "walk/mark/path.h"

/*
 * Whether the page was freed with MADV_FREE. The kernel reports LazyFree only per
 * mapping, so the answer for a single page may be MAYBE.
 */
enum lazyfree {
	LAZYFREE_NO,
	LAZYFREE_MAYBE,
	LAZYFREE_YES
};

enum root_kind {
	ROOT_REGISTER,
	ROOT_TLS,   /* the root is in thread-local storage, near a thread pointer */
	ROOT_STACK, /* the root is on a thread's stack, above the stack pointer */
	ROOT_MEMORY
};

/* The root of a pointer chain: a register or a memory location. */
struct root_place {
	enum root_kind kind;
	int tid; /* id of the thread whose root it is; unset for ROOT_MEMORY */
	/*
	 * offset of the root from the thread pointer, the stack pointer or the start of
	 * the mapping
	 */
	int64_t offset;
	/* mapping that contains the root; NULL: the root is a register */
	const struct mapping *mapping;
};

struct explanation {
	uint64_t addr;
	const struct mapping *mapping;
	enum page_presence page;
	bool is_page_known;
	enum lazyfree lazyfree;

	/*
	 * Heap that contains the address, and the blocks of the heap; both borrowed.
	 * NULL: the address is outside all known heaps.
	 */
	const struct heap *heap;
	const struct blocks *blocks;
	bool has_block;
	struct block block;
	/* use of the memory by the allocator, such as "live" or "free, in a small bin" */
	const char *part;
	/*
	 * Chunk size of the free list that contains the block. 0: the block is not in a
	 * free list, or its list contains chunks of several sizes.
	 */
	uint64_t list_chunk_bytes;
	/* address of the block's arena; 0: none */
	uint64_t arena_addr;
	/*
	 * true if memstate has searched for a pointer chain from a root to the block,
	 * which it does only for a live block; path.is_found is true if there is one
	 */
	bool is_reach_known;
	struct path path;
	struct root_place root;
};

struct explain_input {
	const struct mapping_list *mappings;
	const struct heap *heap;
	const struct mark_input *mark;
	const struct root_thread *threads;
	size_t thread_count;
	/*
	 * true if the layout of malloc's heap is known exactly; otherwise only blocks of
	 * other heaps are described
	 */
	bool is_heap_known;
};

/*
 * Describe addr, except for page and is_page_known, which the caller sets. Return 0, or
 * -EFAULT if no mapping contains addr. The caller must release *ret in both cases.
 */
int explain_address(const struct explain_input *input, uint64_t addr,
		    struct explanation *ret);
void explanation_release(struct explanation *e);

#endif
