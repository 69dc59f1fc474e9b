/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_groups - blocks that look alike, counted together: of one type where that is
 * known, of one size and one look.
 */
#ifndef MS_CLASSIFY_BLOCK_GROUPS_H
#define MS_CLASSIFY_BLOCK_GROUPS_H

#include "walk/content.h"
#include "walk/mark.h"

#define GROUP_EXAMPLES 3

struct block_group {
	const char *type; /* NULL: not known */
	enum content content;
	uint64_t block_bytes; /* usable, of each */
	struct chunk_sum sum;
	struct chunk_sum indirect; /* that only these, or what they reach, reach */
	uint64_t examples[GROUP_EXAMPLES]; /* addresses, of the blocks added last */
	size_t example_count;
};

struct block_groups {
	struct block_group *items;
	size_t count, capacity;
	size_t *slots; /* a hash table of indices + 1 */
	size_t slot_count;
};

#define BLOCK_GROUPS_INIT           \
	{                           \
		NULL, 0, 0, NULL, 0 \
	}

/* Count a block; type is borrowed for as long as the groups are used. */
void block_groups_add(struct block_groups *groups, const char *type, enum content content,
		      const struct leak *block);

/* Most bytes first, what they keep included. Nothing may be added afterwards. */
void block_groups_sort(struct block_groups *groups);
void block_groups_release(struct block_groups *groups);

#endif
