/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark - which live blocks a process can still reach, and which it has leaked. Pure: it
 * reads the copy.
 *
 * Conservative: every aligned word of the roots, and of whatever is reached from them,
 * that is an address within a live block's usable bytes reaches it, pointer or not. So a
 * block that is said to be leaked has no address of it anywhere that was looked at; one
 * that is reached may be so by a stale word or by chance.
 */
#ifndef MS_WALK_MARK_H
#define MS_WALK_MARK_H

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/block_index.h"
#include "walk/roots.h"

/*
 * Called now and then in the thread that marks, for a screen: done of total is a measure
 * of the work, never goes back, and may end below total. Returns true to stop.
 */
struct mark_progress {
	bool (*tell)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

struct mark_input {
	const struct blocks *blocks;
	const struct root_list *roots; /* what is scanned first */
	const uint64_t *words;	       /* roots that are in no memory: registers */
	size_t word_count;
	struct mark_progress progress; /* tell may be NULL */
};

/*
 * A block that nothing reaches, not even another one like it, or the first of a ring of
 * such.
 */
struct leak {
	uint64_t addr;
	uint64_t bytes;		   /* usable */
	struct chunk_sum indirect; /* that only it, or what it reaches, reaches */
};

struct mark {
	struct block_index index;
	uint64_t *reached; /* bit per block: not live, or reachable */
	/* usable bytes; live = reachable + direct + indirect */
	struct chunk_sum live, reachable, direct, indirect;
	uint64_t scanned_bytes;
	uint64_t *leaders; /* addresses of the direct ones, upwards */
	size_t leader_count;
};

/*
 * Called for each leaked block that is direct, by address downwards. Of leaked blocks
 * that reach each other in a ring, and that no other leaked block reaches, the first by
 * address is direct.
 */
typedef void mark_leak_fn(void *context, const struct leak *leak);

/*
 * Returns 0 or, when it was told to stop, -ECANCELED; *ret is to be released in both
 * cases. Time is in proportion to the roots and live blocks, room to the image: some bits
 * per 16 bytes of it, and 8 bytes per direct leak.
 */
int mark_run(const struct mark_input *input, mark_leak_fn *on_leak, void *context,
	     struct mark *ret);
void mark_release(struct mark *mark);

#endif
