/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

uint64_t hotspot_field_addr(const struct hotspot *h, uint64_t object_addr,
			    enum hotspot_field field)
{
	uint64_t value = h->fields[field];

	return value == HOTSPOT_ABSENT || object_addr >= HOTSPOT_ADDR_MAX
		       ? 0
		       : object_addr + value;
}

bool hotspot_read_word(const struct hotspot *h, uint64_t object_addr,
		       enum hotspot_field field, uint64_t *ret)
{
	uint64_t addr = hotspot_field_addr(h, object_addr, field);

	return addr != 0 && image_read(h->image, addr, ret);
}

bool hotspot_read_int(const struct hotspot *h, uint64_t object_addr,
		      enum hotspot_field field, uint32_t *ret)
{
	uint64_t addr = hotspot_field_addr(h, object_addr, field);
	const uint8_t *at = addr ? image_at(h->image, addr, sizeof(*ret)) : NULL;

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at != NULL;
}

bool hotspot_read_bool(const struct hotspot *h, uint64_t object_addr,
		       enum hotspot_field field, bool *ret)
{
	uint64_t addr = hotspot_field_addr(h, object_addr, field);
	const uint8_t *at = addr ? image_at(h->image, addr, 1) : NULL;

	if (at)
		*ret = *at != 0;
	return at != NULL;
}

void hotspot_add_range(struct hotspot *h, uint64_t start_addr, uint64_t end_addr,
		       enum hotspot_use use, enum hotspot_space space)
{
	if (start_addr >= end_addr)
		return;
	h->ranges = xgrow(h->ranges, &h->range_capacity, h->range_count + 1,
			  sizeof(*h->ranges));
	h->ranges[h->range_count++] =
		(struct hotspot_range){ start_addr, end_addr, use, space };
}

void walk_hotspot(const struct walk_input *input, struct heap *ret,
		  struct blocks *ret_blocks)
{
	struct hotspot h = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	const char *problem;

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	problem = hotspot_find(&h);
	if (h.is_found)
		ret->allocator = ALLOCATOR_HOTSPOT;
	if (!problem) {
		hotspot_read_version(&h, ret->version);
		problem = hotspot_read_java_heap(&h);
	}
	if (!problem) {
		hotspot_read_code(&h);
		hotspot_read_metadata(&h);
		problem = hotspot_account(&h);
	}
	if (problem)
		ret->problem = problem;
	hotspot_free_pages(&h);
	free(h.ranges);
}
