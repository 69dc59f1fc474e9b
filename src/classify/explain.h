/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain - what is at an address: its mapping, its page, its block, and how it is
 * reached. Pure.
 */
#ifndef MS_CLASSIFY_EXPLAIN_H
#define MS_CLASSIFY_EXPLAIN_H

#include "model/heap.h"
#include "model/mapping.h"
#include "target/peek.h"
#include "walk/path.h"

/*
 * Is the page one of those that were given back with MADV_FREE? The kernel tells it of
 * whole mappings.
 */
enum lazyfree {
	LAZYFREE_NO,
	LAZYFREE_MAYBE,
	LAZYFREE_YES
};

enum root_kind {
	ROOT_REGISTER,
	ROOT_TLS,   /* near a thread's pointer */
	ROOT_STACK, /* above a thread's stack pointer */
	ROOT_MEMORY
};

/* Where a path begins. */
struct root_place {
	enum root_kind kind;
	int tid;	/* not of ROOT_MEMORY */
	int64_t offset; /* from the thread pointer, stack pointer, or the mapping's start */
	const struct mapping *mapping; /* NULL: a register */
};

struct explanation {
	uint64_t addr;
	const struct mapping *mapping;
	enum page_presence page;
	bool is_page_known;
	enum lazyfree lazyfree;

	bool is_heap; /* the heap is known, and the address is malloc's */
	bool has_block;
	struct block block;
	const char *part;    /* of malloc's memory: "live", "free, in a small bin" … */
	uint64_t list_chunk_bytes; /* a free one's list has chunks of this size only; 0: not so */
	uint64_t arena_addr; /* 0: in none */
	/* of a live block, when leaks are known (is_reach_known) */
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
	bool is_heap_known; /* exactly: else there is nothing to say of blocks */
};

/*
 * Returns 0, or -EFAULT: no mapping has addr. *ret is to be released then too; its page
 * is for the caller.
 */
int explain_address(const struct explain_input *input, uint64_t addr,
		    struct explanation *ret);
void explanation_release(struct explanation *e);

#endif
