/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path - find the shortest chain of pointers from a root to a block, in a copy
 * of the memory.
 */
#ifndef MS_WALK_MARK_PATH_H
#define MS_WALK_MARK_PATH_H

#include "walk/mark/mark.h"

struct path_step {
	/*
	 * Address of the pointer, which is in a root or in the block of the previous
	 * step.
	 */
	uint64_t place_addr;
	uint64_t word;	    /* value of the pointer: an address in the block */
	struct block block; /* block into which the pointer points */
};

struct path {
	bool is_found;
	/*
	 * true if the chain starts in a register, whose number is the place_addr of
	 * the first step
	 */
	bool is_register;
	struct path_step *steps;
	size_t count;
};

/*
 * Search breadth-first from the roots for the live block that begins at addr. Return 0
 * with ret->is_found set or cleared, or -ECANCELED. In both cases *ret is initialised,
 * and the caller releases it with path_release(). The search uses 12 bytes per visited
 * block.
 */
int path_find(const struct mark_input *input, uint64_t addr, struct path *ret);
void path_release(struct path *path);

#endif
