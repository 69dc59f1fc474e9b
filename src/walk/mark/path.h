/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path - the shortest pointer chain from a root to a block. Reads only the copy. */
#ifndef MS_WALK_MARK_PATH_H
#define MS_WALK_MARK_PATH_H

#include "walk/mark/mark.h"

struct path_step {
	uint64_t place_addr; /* address of the word: in a root or in the previous block */
	uint64_t word;	     /* an address inside the next block */
	struct block block;  /* block that contains the word's target */
};

struct path {
	bool is_found;
	bool is_register; /* the first word is in a register: place_addr is its number */
	struct path_step *steps;
	size_t count;
};

/*
 * Search breadth first from the roots for the live block that begins at addr. Returns 0
 * with the result in ret->is_found, or -ECANCELED. *ret is initialised in both cases;
 * release it with path_release(). Takes 12 bytes per visited block.
 */
int path_find(const struct mark_input *input, uint64_t addr, struct path *ret);
void path_release(struct path *path);

#endif
