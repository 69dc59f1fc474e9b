/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/leak_scan.h"

#include "base/clock.h"
#include "base/units.h"

/*
 * A chain's block ends in the next one's head; live are the bytes from its own head on.
 */
static uint64_t resident_bytes(const struct blocks *blocks, const struct block *block)
{
	uint64_t start = block->addr, end = block->addr + block->bytes;

	if (blocks->extents[block->extent].kind == EXTENT_CHAIN) {
		start -= blocks->head_bytes;
		end -= 8;
	}
	return image_resident_bytes(blocks->image, start, end);
}

static void sum_resident(const struct blocks *blocks, struct leak_scan *scan)
{
	struct block_place place = { 0 };
	struct block block;

	scan->leaked_resident_bytes = 0;
	while (blocks_next(blocks, &place, &block))
		if (!bit_is_set(scan->mark.reached, block.bit))
			scan->leaked_resident_bytes += resident_bytes(blocks, &block);
	scan->reachable_resident_bytes = bytes_sub(scan->heap.owner_bytes[OWNER_LIVE],
						   scan->leaked_resident_bytes);
}

static void judge(struct leak_scan *scan)
{
	scan->problem = scan->heap.problem;
	scan->quality = scan->heap.quality;
	if (scan->quality != QUALITY_EXACT) {
		scan->quality = QUALITY_UNKNOWN;
		return;
	}
	scan->swapped_bytes = roots_swapped_bytes(&scan->mappings);
	if (scan->swapped_bytes != 0) {
		scan->quality = QUALITY_BOUND;
		scan->problem = "memory that is swapped out may hold pointers";
	}
}

static int mark(struct heap_reader *reader, const struct mark_progress *progress,
		mark_leak_fn *on_leak, void *context, struct leak_scan *scan)
{
	struct root_list roots;
	struct mark_input input = {
		.blocks = &reader->blocks,
		.roots = &roots,
		.words = reader->words,
		.word_count = reader->word_count,
	};
	int r;

	if (progress)
		input.progress = *progress;
	roots_find(&reader->blocks, &scan->mappings, reader->threads,
		   reader->thread_count, &roots);
	r = mark_run(&input, on_leak, context, &scan->mark);
	root_list_release(&roots);
	if (r == 0)
		sum_resident(&reader->blocks, scan);
	return r;
}

int leak_scan_run(struct heap_reader *reader, struct usage *u,
		  const struct mark_progress *progress, mark_leak_fn *on_leak,
		  void *context, struct leak_scan *ret)
{
	uint64_t began_ns;
	int r;

	*ret = (struct leak_scan){ .mappings = MAPPING_LIST_INIT };
	r = heap_reader_read(reader, u, &ret->mappings, &ret->heap);
	if (r < 0 || u->error)
		return r;
	judge(ret);
	if (ret->quality == QUALITY_UNKNOWN)
		return 0;
	began_ns = clock_now_ns();
	r = mark(reader, progress, on_leak, context, ret);
	ret->mark_ns = clock_now_ns() - began_ns;
	return r;
}

void leak_scan_release(struct leak_scan *scan)
{
	mark_release(&scan->mark);
	heap_release(&scan->heap);
	mapping_list_release(&scan->mappings);
}
