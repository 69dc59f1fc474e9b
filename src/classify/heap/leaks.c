/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/leaks.h"

#include "base/units.h"
#include "model/allocator_signs.h"

void leaks_set_quality(struct leak_scan *scan)
{
	scan->problem = scan->heap->problem;
	scan->quality = scan->heap->quality;
	if (!allocator_is_malloc(scan->heap->allocator) &&
	    scan->quality != QUALITY_UNKNOWN) {
		scan->quality = QUALITY_UNKNOWN;
		scan->problem = "it has no malloc heap, and the garbage collector of its "
				"runtime frees unreachable objects";
		return;
	}
	if (scan->heap->allocator == ALLOCATOR_PARTITION &&
	    scan->quality != QUALITY_UNKNOWN) {
		scan->quality = QUALITY_UNKNOWN;
		scan->problem = "Chromium's garbage-collected heaps, which memstate does "
				"not read, may refer to any block";
		return;
	}
	if (scan->quality != QUALITY_EXACT) {
		scan->quality = QUALITY_UNKNOWN;
		return;
	}
	scan->swapped_bytes = roots_swapped_bytes(scan->mappings);
	if (scan->swapped_bytes != 0) {
		scan->quality = QUALITY_BOUND;
		scan->problem = "memory that is swapped out may hold pointers";
	}
}

/*
 * Return the number of resident bytes of a block that count as live. If the heap is a
 * chain of chunks, the block's header counts, too.
 */
static uint64_t resident_bytes(const struct blocks *blocks, const struct block *block)
{
	uint64_t start = block->addr, end = block->addr + block->bytes;

	if (blocks->extents[block->extent].kind == EXTENT_CHAIN) {
		start -= blocks->head_bytes;
		end -= 8 - blocks->chain_end_bytes;
	}
	return image_resident_bytes(blocks->image, start, end);
}

void leaks_sum_resident(const struct blocks *blocks, struct leak_scan *scan)
{
	struct block_place place = { 0 };
	struct block block;

	scan->leaked_resident_bytes = 0;
	while (blocks_next(blocks, &place, &block))
		if (!bit_is_set(scan->mark.reached, block.bit))
			scan->leaked_resident_bytes += resident_bytes(blocks, &block);
	scan->reachable_resident_bytes = bytes_sub(scan->heap->owner_bytes[OWNER_LIVE],
						   scan->leaked_resident_bytes);
}
