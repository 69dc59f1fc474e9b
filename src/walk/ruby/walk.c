/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/ruby/walk.h"

#include <stdlib.h>

#include "model/known_names.h"

static bool has_code_of_ruby(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (is_code_of_ruby(&mappings->items[i]))
			return true;
	return false;
}

void walk_ruby(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks)
{
	struct ruby r = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	bool has_code = has_code_of_ruby(input->mappings);

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	/*
	 * do not search a sparse image unless the process contains Ruby: the search would
	 * copy many pages of an unrelated heap
	 */
	if (input->image->is_sparse && !has_code)
		return;
	ret->problem = ruby_find(&r);
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_RUBY;
		ruby_account(&r);
	} else if (has_code) {
		ret->allocator = ALLOCATOR_RUBY;
		ret->problem = "its slot pages do not have the layout of Ruby 3.1";
	}
	free(r.pages);
}
