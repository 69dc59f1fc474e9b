/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/input.h"

#include <string.h>

#include "base/search.h"
#include "base/units.h"

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

static bool has_swapped(const struct mapping *m)
{
	uint64_t bytes = m->counters.bytes[SMAPS_SWAP];

	return bytes != 0 && bytes_known(bytes);
}

bool walk_is_swapped(const struct walk_input *input, uint64_t addr)
{
	const struct mapping *m = mapping_list_find(input->mappings, addr);

	return m && has_swapped(m) && !image_run_at(input->image, addr);
}

bool walk_has_swapped(const struct walk_input *input)
{
	for (size_t i = 0; i < input->mappings->count; i++)
		if (walk_wants_mapping(&input->mappings->items[i]) &&
		    has_swapped(&input->mappings->items[i]))
			return true;
	return false;
}

/* Return the lowest aligned address in [addr, end_addr) that is not in the image. */
static uint64_t next_absent(const struct walk_input *input, uint64_t addr,
			    uint64_t end_addr, uint64_t align)
{
	addr = (addr + align - 1) & ~(align - 1);
	while (addr < end_addr) {
		const struct image_run *run = image_run_at(input->image, addr);

		if (!run)
			return addr;
		addr = (run->end_addr + align - 1) & ~(align - 1);
	}
	return UINT64_MAX;
}

bool walk_is_part_swapped(const struct walk_input *input, uint64_t start_addr,
			  uint64_t end_addr)
{
	const struct mapping_list *list = input->mappings;
	uint64_t addr = start_addr & ~(IMAGE_PAGE_BYTES - 1);

	for (size_t i = SEARCH_FIRST(list->count, k, list->items[k].end_addr > addr);
	     i < list->count; i++) {
		const struct mapping *m = &list->items[i];
		uint64_t start = m->start_addr > addr ? m->start_addr : addr;
		uint64_t end = m->end_addr < end_addr ? m->end_addr : end_addr;

		if (m->start_addr >= end_addr)
			break;
		if (walk_wants_mapping(m) && has_swapped(m) &&
		    next_absent(input, start, end, IMAGE_PAGE_BYTES) != UINT64_MAX)
			return true;
	}
	return false;
}

uint64_t walk_next_swapped(const struct walk_input *input, uint64_t addr, uint64_t align,
			   bool has_brk)
{
	for (size_t i = 0; i < input->mappings->count; i++) {
		const struct mapping *m = &input->mappings->items[i];
		uint64_t found;

		if (m->end_addr <= addr || !walk_wants_mapping(m) || m->inode != 0 ||
		    !has_swapped(m) || strcmp(m->name, "[stack]") == 0 ||
		    (!has_brk && strcmp(m->name, "[heap]") == 0))
			continue;
		found = next_absent(input, m->start_addr > addr ? m->start_addr : addr,
				    m->end_addr, align);
		if (found != UINT64_MAX)
			return found;
	}
	return UINT64_MAX;
}
