/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mark_check - properties of a mark that hold for any content of the memory. */
#ifndef MS_TESTS_MARK_CHECK_H
#define MS_TESTS_MARK_CHECK_H

#include "fuzz.h"
#include "walk/mark/mark.h"
#include "walk/mark/path.h"

static inline void count_leak(struct chunk_sum *sums, const struct leak *leak)
{
	chunk_sum_add(&sums[0], leak->bytes);
	sums[1].count += leak->indirect.count;
	sums[1].bytes += leak->indirect.bytes;
}

/* Check that a path to the block exists if and only if the mark reached it. */
static inline void check_path(const struct mark_input *input, const struct mark *mark,
			      const struct block *block)
{
	struct path path;

	CHECK(path_find(input, block->addr, &path) == 0);
	CHECK(path.is_found == bit_is_set(mark->reached, block->bit));
	CHECK(!path.is_found || path.steps[path.count - 1].block.addr == block->addr);
	path_release(&path);
}

/* Check the sum of the live blocks against the list of all blocks. */
static inline void check_live(const struct blocks *blocks, const struct mark *mark)
{
	struct block_place place = { 0 };
	struct chunk_sum live = { 0, 0 };
	struct block block;

	while (blocks_next(blocks, &place, &block))
		if (block.state == BLOCK_LIVE)
			chunk_sum_add(&live, block.bytes);
	CHECK(mark->live.count == live.count && mark->live.bytes == live.bytes);
}

static inline void check_mark(const struct blocks *blocks,
			      const struct mapping_list *mappings)
{
	const struct root_thread thread = {
		.stack_addr = mappings->items[mappings->count - 1].start_addr + 64,
		.tls_addr = mappings->items[mappings->count - 1].end_addr - 1024,
	};
	struct chunk_sum sums[2] = { { 0, 0 }, { 0, 0 } };
	struct block_place place = { 0 };
	struct root_list roots;
	struct mark_input input = {
		.blocks = blocks,
		.roots = &roots,
		.words = (const uint64_t *)(const void *)blocks->image->bytes,
		.word_count = 16,
		.thread_count = 2,
	};
	struct block block;
	struct leak leak;
	struct mark mark;

	roots_find(blocks, mappings, &thread, 1, &roots);
	CHECK(mark_run(&input, &mark) == 0);
	while (mark_next_leak(&mark, &leak) > 0)
		count_leak(sums, &leak);
	check_live(blocks, &mark);
	CHECK(sums[0].count == mark.direct.count && sums[0].bytes == mark.direct.bytes);
	CHECK(sums[1].count == mark.indirect.count &&
	      sums[1].bytes == mark.indirect.bytes);
	CHECK(mark.reachable.count + sums[0].count + sums[1].count == mark.live.count);
	CHECK(mark.reachable.bytes + sums[0].bytes + sums[1].bytes == mark.live.bytes);
	for (int i = 0; i < 8 && blocks_next(blocks, &place, &block); i++)
		if (block.state == BLOCK_LIVE)
			check_path(&input, &mark, &block);
	mark_release(&mark);
	root_list_release(&roots);
}

#endif
