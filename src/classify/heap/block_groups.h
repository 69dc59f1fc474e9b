/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_groups - count similar blocks together: those with the same size, content
 * and type, as far as the type is known.
 */
#ifndef MS_CLASSIFY_HEAP_BLOCK_GROUPS_H
#define MS_CLASSIFY_HEAP_BLOCK_GROUPS_H

#include "walk/blocks/content.h"
#include "walk/mark/mark.h"

#define GROUP_EXAMPLES 3

struct block_group {
	const char *type; /* name of the blocks' type; NULL: unknown; borrowed */
	enum content content;
	uint64_t block_bytes; /* usable bytes of each block of the group */
	struct chunk_sum sum;
	/* Blocks that are reachable only through blocks of this group. */
	struct chunk_sum indirect;
	/* addresses of the blocks that were added last */
	uint64_t examples[GROUP_EXAMPLES];
	size_t example_count;
};

struct block_groups {
	struct block_group *items;
	size_t count, capacity;
	size_t *slots; /* hash table: index of a group + 1; 0: empty */
	size_t slot_count;
};

#define BLOCK_GROUPS_INIT           \
	{                           \
		NULL, 0, 0, NULL, 0 \
	}

/* Count a block. type must stay valid for as long as the groups are used. */
void block_groups_add(struct block_groups *groups, const char *type, enum content content,
		      const struct leak *block);

/*
 * Sort the groups by bytes, including indirect ones, largest first.
 * No block may be added afterwards.
 */
void block_groups_sort(struct block_groups *groups);
void block_groups_release(struct block_groups *groups);

#endif
