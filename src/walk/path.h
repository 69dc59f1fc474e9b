/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path - how a block is reached: the words that lead from a root to it, as few as there can be.
 * Pure: it reads the copy.
 */
#ifndef MS_WALK_PATH_H
#define MS_WALK_PATH_H

#include "walk/mark.h"

struct path_step {
	uint64_t place_addr; /* of the word: in a root, or in the block before */
	uint64_t word;	     /* an address in the block that comes next */
	struct block block;  /* that one */
};

struct path {
	bool is_found;
	bool is_register; /* the first word is in no memory: place_addr is its number */
	struct path_step *steps;
	size_t count;
};

/*
 * Search breadth first from the roots, until the live block that begins at addr is
 * reached. Returns 0, *ret saying whether it is, or -ECANCELED; *ret is initialised,
 * release it. Takes 12 bytes per block that is met on the way.
 */
int path_find(const struct mark_input *input, uint64_t addr, struct path *ret);
void path_release(struct path *path);

#endif
