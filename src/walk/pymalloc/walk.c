/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/pymalloc/walk.h"

#include <stdlib.h>
#include <string.h>

bool pymalloc_read_pool(struct image *image, uint64_t addr, struct pymalloc_pool *ret)
{
	const uint8_t *at = image_at(image, addr, PYMALLOC_HEAD_BYTES);

	if (!at)
		return false;
	memcpy(&ret->live_count, at, sizeof(ret->live_count));
	memcpy(&ret->free_addr, at + 8, sizeof(ret->free_addr));
	memcpy(&ret->next_addr, at + 16, sizeof(ret->next_addr));
	memcpy(&ret->prev_addr, at + 24, sizeof(ret->prev_addr));
	memcpy(&ret->arena_index, at + 32, sizeof(ret->arena_index));
	memcpy(&ret->class, at + 36, sizeof(ret->class));
	memcpy(&ret->next_offset, at + 40, sizeof(ret->next_offset));
	return true;
}

void walk_pymalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks)
{
	struct pymalloc p = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	ret->problem = pymalloc_find(&p);
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_PYTHON;
		pymalloc_read_arenas(&p);
		pymalloc_account(&p);
	}
	free(p.arenas);
}
