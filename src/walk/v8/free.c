/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/v8/walk.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"

/*
 * A chunk has a list of free memory for each of 24 ranges of sizes. struct
 * FreeListCategory begins with its number (32 bits), the sum of its free memory (32
 * bits), and the first node. Addresses of nodes are tagged: their lowest bit is set.
 */
#define CATEGORY_COUNT 24
#define CATEGORY_TOP 8
#define NODE_SIZE 8
#define NODE_NEXT 16
#define NODE_MIN UINT64_C(24)

/*
 * Number of bytes before the heap in which to search for the allocation areas, which are
 * in the isolate.
 */
#define ISOLATE_BYTES (UINT64_C(128) << 10)

static void add_range(struct v8 *v, uint64_t start_addr, uint64_t end_addr)
{
	v->ranges = xgrow(v->ranges, &v->range_capacity, v->range_count + 1,
			  sizeof(*v->ranges));
	v->ranges[v->range_count++] = (struct v8_range){ start_addr, end_addr };
}

/*
 * Add the free ranges in the list that begins with `node`. Return false if the list is
 * invalid, or if the sum of the sizes is not `sum`.
 */
static bool read_nodes(struct v8 *v, const struct v8_chunk *chunk, uint64_t node,
		       uint64_t sum)
{
	uint64_t size, bytes, addr;

	while (node & 1) {
		addr = node - 1;
		if (addr < chunk->area_addr || addr >= chunk->area_end_addr ||
		    addr % 8 != 0 || !image_read(v->image, addr + NODE_SIZE, &size) ||
		    !image_read(v->image, addr + NODE_NEXT, &node))
			return false;
		/* V8 stores a small integer (Smi) in the upper half of a word */
		bytes = (size >> 32) * v->layout->free_unit_bytes;
		if (bytes < NODE_MIN || bytes % 8 != 0 || bytes > sum ||
		    bytes > chunk->area_end_addr - addr)
			return false;
		sum -= bytes;
		add_range(v, addr, addr + bytes);
	}
	return sum == 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct v8_range *x = a, *y = b;

	return (x->start_addr > y->start_addr) - (x->start_addr < y->start_addr);
}

bool v8_read_free(struct v8 *v, const struct v8_chunk *chunk)
{
	uint64_t room_bytes = chunk->area_end_addr - chunk->area_addr;
	uint64_t array, category, head, top, free_bytes = 0;

	v->range_count = 0;
	if (!image_read(v->image,
			chunk->descriptor_addr + UINT64_C(8) * v->layout->categories,
			&array))
		return false;
	for (uint64_t i = 0; i < CATEGORY_COUNT; i++) {
		if (array >> WALK_ADDR_BITS != 0 ||
		    !image_read(v->image, array + 8 * i, &category) ||
		    category >> WALK_ADDR_BITS != 0 ||
		    !image_read(v->image, category, &head) ||
		    !image_read(v->image, category + CATEGORY_TOP, &top) ||
		    (head & UINT32_MAX) != i)
			return false;
		/* limit the sum, so that a list with a cycle is not followed forever */
		free_bytes += head >> 32;
		if (free_bytes > room_bytes || !read_nodes(v, chunk, top, head >> 32))
			return false;
	}
	if (v->range_count > 0)
		qsort(v->ranges, v->range_count, sizeof(*v->ranges), compare_ranges);
	for (size_t i = 1; i < v->range_count; i++)
		if (v->ranges[i].start_addr < v->ranges[i - 1].end_addr)
			return false;
	return free_bytes + chunk->allocated_bytes <= room_bytes;
}

/*
 * Return true if an allocation area is in a chunk of the heap's new space. The area's
 * members are start, top and limit; objects end at top.
 */
static bool is_in_new_space(const struct v8 *v, uint64_t heap_addr,
			    const uint64_t area[3])
{
	size_t i = SEARCH_FIRST(v->chunk_count, k, v->chunks[k].end_addr > area[0]);
	const struct v8_chunk *chunk = &v->chunks[i];

	return i < v->chunk_count && !chunk->is_broken && chunk->is_in_list &&
	       chunk->heap_addr == heap_addr && v8_has_flag(chunk, V8_TO_BIT) &&
	       !v8_has_flag(chunk, v->layout->large_bit) && area[0] >= chunk->area_addr &&
	       area[1] >= area[0] && area[2] >= area[1] &&
	       area[2] <= chunk->area_end_addr && (area[1] | area[2]) % 8 == 0;
}

uint64_t v8_find_top(struct v8 *v, uint64_t heap_addr)
{
	uint64_t addr = heap_addr > ISOLATE_BYTES ? heap_addr - ISOLATE_BYTES : 0;
	uint64_t found = 0;

	addr = image_next_resident(v->image, addr & ~UINT64_C(7), heap_addr);
	for (; addr < heap_addr;
	     addr = image_next_resident(v->image, addr + 8, heap_addr)) {
		uint64_t area[3];

		if (!image_read(v->image, addr, &area[0]) || area[0] % 8 != 0 ||
		    area[0] == 0 || !image_read(v->image, addr + 8, &area[1]) ||
		    !image_read(v->image, addr + 16, &area[2]) ||
		    !is_in_new_space(v, heap_addr, area))
			continue;
		/* two different areas match, so it is unknown which one V8 uses */
		if (found != 0 && found != area[1])
			return 0;
		found = area[1];
	}
	return found;
}
