/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain - describe an address: the mapping, page and block that contain it,
 * and how the block is reached. Pure.
 */
#ifndef MS_CLASSIFY_HEAP_EXPLAIN_H
#define MS_CLASSIFY_HEAP_EXPLAIN_H

#include "model/heap.h"
#include "model/mapping.h"
#include "tracee/memory/peek.h"
#include "walk/mark/path.h"

/*
 * Whether the page was freed with MADV_FREE. The kernel reports LazyFree only per
 * mapping, so the answer may be MAYBE.
 */
enum lazyfree {
	LAZYFREE_NO,
	LAZYFREE_MAYBE,
	LAZYFREE_YES
};

enum root_kind {
	ROOT_REGISTER,
	ROOT_TLS,   /* thread-local storage: near a thread pointer */
	ROOT_STACK, /* a thread's stack: above the stack pointer */
	ROOT_MEMORY
};

/* The register or memory location where a path of pointers begins. */
struct root_place {
	enum root_kind kind;
	int tid; /* thread of the root; unset for ROOT_MEMORY */
	/*
	 * Distance of the root from the thread pointer, the stack
	 * pointer, or the start of the mapping.
	 */
	int64_t offset;
	/* mapping that contains the root; NULL: a register */
	const struct mapping *mapping;
};

struct explanation {
	uint64_t addr;
	const struct mapping *mapping;
	enum page_presence page;
	bool is_page_known;
	enum lazyfree lazyfree;

	/*
	 * the heap that the address belongs to, and its blocks, both borrowed; NULL: no
	 * heap, or an unknown one
	 */
	const struct heap *heap;
	const struct blocks *blocks;
	bool has_block;
	struct block block;
	/* what the allocator uses the memory for: "live", "free, in a small bin" … */
	const char *part;
	/*
	 * Size of the chunks in the free list that contains the block; 0: chunks of
	 * several sizes share the list, or the block is in no list.
	 */
	uint64_t list_chunk_bytes;
	uint64_t arena_addr; /* arena that the block belongs to; 0: none */
	/* The path by which a live block is reached. Set if leaks were searched for. */
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
	 * Malloc's heap is known exactly. If not, only the blocks of the other heaps are
	 * reported.
	 */
	bool is_heap_known;
};

/*
 * Describe addr, except for page and is_page_known, which the caller sets. Return 0, or
 * -EFAULT if no mapping contains addr. Release *ret in both cases.
 */
int explain_address(const struct explain_input *input, uint64_t addr,
		    struct explanation *ret);
void explanation_release(struct explanation *e);

#endif
