/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/data_area.h"

#include <string.h>

bool data_area_may_begin(const struct mapping *m)
{
	static const char archive[] = ".jsa";
	const size_t length = sizeof(archive) - 1;

	return walk_wants_mapping(m) && m->inode != 0 &&
	       (m->name_length < length ||
		strcmp(m->name + m->name_length - length, archive) != 0);
}

bool data_area_next(const struct walk_input *input, size_t *index, struct data_area *ret)
{
	const struct mapping_list *list = input->mappings;

	for (; *index < list->count; (*index)++) {
		const struct mapping *m = &list->items[*index];

		if (!data_area_may_begin(m))
			continue;
		*ret = (struct data_area){ m->start_addr, m->end_addr };
		for (++*index; *index < list->count; (*index)++) {
			m = &list->items[*index];
			if (m->start_addr != ret->end_addr || !walk_wants_mapping(m) ||
			    strcmp(m->name, "[heap]") == 0)
				break;
			ret->end_addr = m->end_addr;
		}
		return true;
	}
	return false;
}
