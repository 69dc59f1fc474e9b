/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_groups - group similar blocks and count the blocks of each group. Blocks are
 * similar if they have the same size, content and, if known, type.
 */
#ifndef MS_CLASSIFY_HEAP_BLOCK_GROUPS_H
#define MS_CLASSIFY_HEAP_BLOCK_GROUPS_H

#include "walk/blocks/content.h"
#include "walk/mark/mark.h"

#define GROUP_EXAMPLES 3

struct block_group {
	const char *type; /* name of the blocks' data type; NULL: unknown; borrowed */
	enum content content;
	uint64_t block_bytes; /* usable size of each block in bytes */
	struct chunk_sum sum;
	/*
	 * number and size of the blocks that are reachable only through blocks of this
	 * group
	 */
	struct chunk_sum indirect;
	/* addresses of the blocks added last */
	uint64_t examples[GROUP_EXAMPLES];
	size_t example_count;
};

struct block_groups {
	struct block_group *items;
	size_t count, capacity;
	/* hash table; a slot contains the index of a group plus 1, or 0 if it is empty */
	size_t *slots;
	size_t slot_count;
};

#define BLOCK_GROUPS_INIT           \
	{                           \
		NULL, 0, 0, NULL, 0 \
	}

/* Add a block to its group. `type` must remain valid for the lifetime of the groups. */
void block_groups_add(struct block_groups *groups, const char *type, enum content content,
		      const struct leak *block);

/*
 * Sort the groups by their size in bytes, including indirect blocks, largest first. No
 * blocks may be added afterwards.
 */
void block_groups_sort(struct block_groups *groups);
void block_groups_release(struct block_groups *groups);

#endif
