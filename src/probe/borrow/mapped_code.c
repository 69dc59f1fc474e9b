/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/mapped_code.h"

#include "probe/borrow/segment.h"

/*
 * Distance from the returned address up to the start of the program. Addresses just below
 * a program are free unless the program has mapped something at a fixed address.
 */
#define HINT_BYTES 0x10000

uint64_t mapped_code_find_room(const struct mapping_list *mappings, uint64_t sites_addr)
{
	const struct mapping *code = mapping_list_find(mappings, sites_addr);
	uint64_t start = code ? code->start_addr : 0;

	for (size_t i = mappings->count; code && i > 0; i--) {
		const struct mapping *m = &mappings->items[i - 1];

		if (m->start_addr < start && m->end_addr + HINT_BYTES > start)
			start = m->start_addr;
	}
	return start > HINT_BYTES ? start - HINT_BYTES : 0;
}

uint64_t mapped_code_sum(const struct mapping_list *mappings)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if ((m->flags & MAPPING_EXEC) && m->inode != 0 && !segment_is_mapped(m))
			sum = (sum ^ m->start_addr ^ m->inode) *
			      UINT64_C(0x9e3779b97f4a7c15);
	}
	return sum;
}
