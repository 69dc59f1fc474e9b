/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/erlang/walk.h"

#include "model/known_names.h"

void walk_erlang(const struct walk_input *input, struct heap *ret,
		 struct blocks *ret_blocks)
{
	const struct mapping_list *mappings = input->mappings;

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	for (size_t i = 0; i < mappings->count; i++) {
		if (!is_code_of_erlang(&mappings->items[i]))
			continue;
		ret->allocator = ALLOCATOR_ERLANG;
		ret->problem =
			"memstate cannot read Erlang's allocators, whose memory is part of "
			"anon; erlang:memory() shows its use";
		return;
	}
}
