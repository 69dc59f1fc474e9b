/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/v8/walk.h"

#include <stdlib.h>

#include "model/known_names.h"

static bool has_code_of_node(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (is_code_of_node(&mappings->items[i]))
			return true;
	return false;
}

void walk_v8(const struct walk_input *input, struct heap *ret, struct blocks *ret_blocks)
{
	struct v8 v = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	bool has_code = has_code_of_node(input->mappings);

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	/*
	 * do not search a sparse image unless the process contains Node.js: the search
	 * would copy many pages of an unrelated heap
	 */
	if (input->image->is_sparse && !has_code)
		return;
	ret->problem = v8_find(&v);
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_V8;
		v8_account(&v);
		v8_read_version(&v, ret->version);
	} else if (has_code) {
		ret->allocator = ALLOCATOR_V8;
		ret->problem = "memstate can read V8's heap only in Node.js 18, 20, 22 "
			       "and 24";
	}
	free(v.chunks);
	free(v.ranges);
	free(v.listed);
	free(v.tops);
}
