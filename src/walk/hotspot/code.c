/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/walk.h"

#include <string.h>

/* Maximum number of code heaps. The code cache has at most one for each kind of code. */
#define CODE_HEAPS_MAX 8

/*
 * Limits on the base-2 logarithm of the unit in which a code heap measures its blocks. In
 * OpenJDK 17, the logarithm is 7.
 */
#define LOG2_SEGMENT_MIN 4
#define LOG2_SEGMENT_MAX 16

struct code_heap {
	uint64_t low_addr, high_addr; /* committed memory of the code heap */
	uint32_t log2_segment;
	enum hotspot_space space;
};

static bool read_virtual_space(const struct hotspot *h, uint64_t addr, uint64_t *ret_low,
			       uint64_t *ret_high)
{
	return addr != 0 && hotspot_read_word(h, addr, FIELD_VIRTUAL_LOW, ret_low) &&
	       hotspot_read_word(h, addr, FIELD_VIRTUAL_HIGH, ret_high) &&
	       *ret_low % IMAGE_PAGE_BYTES == 0 && *ret_low <= *ret_high &&
	       *ret_high <= HOTSPOT_ADDR_MAX;
}

static bool is_zero(const uint8_t *at, uint64_t length)
{
	return length == 0 || (*at == 0 && memcmp(at, at + 1, length - 1) == 0);
}

/*
 * Return true if all resident bytes of the range are zero, as in memory that was never
 * written.
 */
static bool is_untouched(struct image *image, uint64_t addr, uint64_t end_addr)
{
	for (addr = image_next_resident(image, addr, end_addr); addr < end_addr;
	     addr = image_next_resident(image, addr, end_addr)) {
		const struct image_run *run = image_run_at(image, addr);
		uint64_t limit = run->end_addr < end_addr ? run->end_addr : end_addr;

		if (!is_zero(image->bytes + run->offset_bytes + (addr - run->start_addr),
			     limit - addr))
			return false;
		addr = limit;
	}
	return true;
}

/*
 * Find the blocks of a code heap, which are adjacent. The memory after the last block was
 * never used, so its pages are absent or zero. If the header of a block is invalid, the
 * remainder of the heap is skipped.
 */
static void read_blocks(struct hotspot *h, const struct code_heap *code)
{
	uint64_t addr = code->low_addr, segments;
	bool is_used;

	while (addr < code->high_addr &&
	       hotspot_read_word(h, addr, FIELD_HEAP_BLOCK_LENGTH, &segments) &&
	       segments > 0 &&
	       hotspot_read_bool(h, addr, FIELD_HEAP_BLOCK_USED, &is_used) &&
	       segments <= (code->high_addr - addr) >> code->log2_segment) {
		uint64_t end_addr = addr + (segments << code->log2_segment);

		hotspot_add_range(h, addr, end_addr,
				  is_used ? HOTSPOT_LIVE : HOTSPOT_UNUSED, code->space);
		addr = end_addr;
	}
	if (is_untouched(h->image, addr, code->high_addr)) {
		hotspot_add_range(h, addr, code->high_addr, HOTSPOT_UNUSED, code->space);
		return;
	}
	h->broken_count++;
	hotspot_add_range(h, addr, code->high_addr, HOTSPOT_SKIPPED, code->space);
}

static bool read_code_heap(struct hotspot *h, uint64_t addr, enum hotspot_space space)
{
	struct code_heap code = { .space = space };
	uint64_t map_low, map_high;

	if (!read_virtual_space(h, hotspot_field_addr(h, addr, FIELD_CODE_MEMORY),
				&code.low_addr, &code.high_addr) ||
	    !read_virtual_space(h, hotspot_field_addr(h, addr, FIELD_CODE_SEGMAP),
				&map_low, &map_high) ||
	    !hotspot_read_int(h, addr, FIELD_CODE_LOG2_SEGMENT, &code.log2_segment) ||
	    code.log2_segment < LOG2_SEGMENT_MIN || code.log2_segment > LOG2_SEGMENT_MAX)
		return false;
	hotspot_add_range(h, map_low, map_high, HOTSPOT_OWN, space);
	read_blocks(h, &code);
	return true;
}

void hotspot_read_code(struct hotspot *h)
{
	/*
	 * the heaps in CodeCache::_heaps are in the same order as the constants of enum
	 * CodeBlobType
	 */
	static const enum hotspot_space order[] = { HOTSPOT_CODE_NON_PROFILED,
						    HOTSPOT_CODE_PROFILED,
						    HOTSPOT_CODE_NON_NMETHODS };
	const uint32_t order_count = sizeof(order) / sizeof(order[0]);
	uint64_t array_addr, data_addr, addr;
	uint32_t count;

	if (!hotspot_read_word(h, 0, FIELD_CODE_HEAPS, &array_addr) ||
	    !hotspot_read_int(h, array_addr, FIELD_ARRAY_LENGTH, &count) ||
	    !hotspot_read_word(h, array_addr, FIELD_ARRAY_DATA, &data_addr) ||
	    count > CODE_HEAPS_MAX) {
		h->broken_count++;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!image_read(h->image, data_addr + i * sizeof(addr), &addr) ||
		    !read_code_heap(h, addr,
				    count == order_count ? order[i] : HOTSPOT_CODE))
			h->broken_count++;
}
