/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/input.h"

bool walk_wants_mapping(const struct mapping *m)
{
	const uint32_t mask = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED |
			      MAPPING_HUGETLB;

	return (m->flags & mask) == (MAPPING_READ | MAPPING_WRITE);
}

bool walk_can_index(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (walk_wants_mapping(&mappings->items[i]) &&
		    mappings->items[i].end_addr > UINT64_C(1) << WALK_ADDR_BITS)
			return false;
	return true;
}

bool walk_is_claimed(const struct walk_input *input, uint64_t addr)
{
	const struct image_run *run = input->claimed ? image_run_at(input->image, addr)
						     : NULL;

	return run && input->claimed[(run->offset_bytes + (addr - run->start_addr)) /
				     IMAGE_PAGE_BYTES];
}
