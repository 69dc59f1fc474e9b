/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/mark.h"

#include <errno.h>

#include "../../support/heap_image.h"
#include "../../support/unit.h"

#define LIVE_MAX 64
#define LEAKS_MAX 64

/* A heap in which no block is reachable until a test writes an address somewhere. */
struct fixture {
	struct heap_image h;
	struct heap heap;
	struct block live[LIVE_MAX]; /* sorted by address */
	size_t live_count;
	uint64_t live_bytes;

	struct root_thread thread;
	uint64_t word; /* a register of the thread */
	struct mark_progress progress;

	struct root_list roots;
	struct mark mark;
	struct leak leaks[LEAKS_MAX]; /* sorted by address */
	size_t leak_count;
	int result;
};

static void set_up(struct fixture *f, size_t kind)
{
	struct block_place place = { 0 };
	struct block block;

	*f = (struct fixture){ 0 };
	heap_image_init(&f->h, &heap_kinds[kind]);
	heap_image_walk(&f->h, &f->heap);
	assert_int_equal(f->heap.quality, QUALITY_EXACT);
	while (blocks_next(&f->h.blocks, &place, &block)) {
		if (block.state != BLOCK_LIVE)
			continue;
		f->live[f->live_count++] = block;
		f->live_bytes += block.bytes;
	}
	/*
	 * The links that fastbins and caches leave in live memory do not reach
	 * any block in this image.
	 */
	assert_int_equal(f->live_count, f->h.live.count + 1);
}

static void tear_down(struct fixture *f)
{
	mark_release(&f->mark);
	root_list_release(&f->roots);
	heap_release(&f->heap);
	heap_image_release(&f->h);
}

static void note_leak(struct fixture *f, const struct leak *leak)
{
	assert_true(f->leak_count < LEAKS_MAX);
	for (size_t i = f->leak_count++; i > 0; i--)
		f->leaks[i] = f->leaks[i - 1];
	f->leaks[0] = *leak;
}

static void run_mark(struct fixture *f)
{
	struct mark_input input = {
		.blocks = &f->h.blocks,
		.roots = &f->roots,
		.words = &f->word,
		.word_count = 1,
		.progress = f->progress,
	};
	struct leak leak;

	mark_release(&f->mark);
	root_list_release(&f->roots);
	f->leak_count = 0;
	roots_find(&f->h.blocks, &f->h.mappings, &f->thread, f->thread.stack_addr != 0,
		   &f->roots);
	f->result = mark_run(&input, &f->mark);
	if (f->result == 0)
		while ((f->result = mark_next_leak(&f->mark, &leak)) > 0)
			note_leak(f, &leak);
	if (f->result < 0)
		return;
	assert_int_equal(mark_next_leak(&f->mark, &leak), 0);
	assert_int_equal(f->mark.live.count, f->live_count);
	assert_int_equal(f->mark.live.bytes, f->live_bytes);
	assert_int_equal(f->mark.reachable.count + f->mark.direct.count +
				 f->mark.indirect.count,
			 f->live_count);
	assert_int_equal(f->mark.reachable.bytes + f->mark.direct.bytes +
				 f->mark.indirect.bytes,
			 f->live_bytes);
	assert_int_equal(f->mark.direct.count, f->leak_count);
}

/* Return an address in the program's data. */
static uint64_t root_place(const struct fixture *f)
{
	return f->h.par_addr - 0x100;
}

static bool is_reached(const struct fixture *f, size_t live)
{
	return bit_is_set(f->mark.reached, f->live[live].bit);
}

static void blocks_without_pointers_to_them_are_leaked(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		struct fixture f;

		set_up(&f, i);
		run_mark(&f);
		assert_row(f.mark.direct.count == f.live_count, heap_kinds[i].version);
		assert_row(f.mark.direct.bytes == f.live_bytes, heap_kinds[i].version);
		for (size_t k = 0; k < f.leak_count; k++)
			assert_row(f.leaks[k].addr == f.live[k].addr,
				   heap_kinds[i].version);
		tear_down(&f);
	}
}

static void any_address_inside_a_block_reaches_only_that_block(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	for (size_t i = 0; i < f.live_count; i++) {
		const uint64_t inside[] = { 0, 1, f.live[i].bytes - 1 };

		for (size_t k = 0; k < 3; k++) {
			heap_image_write(&f.h, root_place(&f),
					 f.live[i].addr + inside[k]);
			run_mark(&f);
			assert_int_equal(f.mark.reachable.count, 1);
			assert_true(is_reached(&f, i));
		}
		/*
		 * One past the end, where C++ may keep a pointer, and inside the
		 * size word before a block.
		 */
		heap_image_write(&f.h, root_place(&f), f.live[i].addr + f.live[i].bytes);
		run_mark(&f);
		assert_int_equal(f.mark.reachable.count, 0);
		heap_image_write(&f.h, root_place(&f), f.live[i].addr - 1);
		run_mark(&f);
		assert_int_equal(f.mark.reachable.count, 0);
	}
	tear_down(&f);
}

static void a_register_is_a_root(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	f.word = f.live[2].addr;
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 1);
	assert_true(is_reached(&f, 2));
	tear_down(&f);
}

static void a_chain_is_reached_completely_or_is_one_leak(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	for (size_t i = 0; i + 1 < f.live_count; i++)
		heap_image_write(&f.h, f.live[i].addr, f.live[i + 1].addr);
	run_mark(&f);
	assert_int_equal(f.mark.direct.count, 1);
	assert_int_equal(f.leaks[0].addr, f.live[0].addr);
	assert_int_equal(f.leaks[0].indirect.count, f.live_count - 1);
	assert_int_equal(f.leaks[0].indirect.bytes, f.live_bytes - f.live[0].bytes);

	heap_image_write(&f.h, root_place(&f), f.live[1].addr);
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, f.live_count - 1);
	assert_int_equal(f.leaks[0].addr, f.live[0].addr);
	assert_int_equal(f.leaks[0].indirect.count, 0);
	tear_down(&f);
}

/* The block that is examined first is the last that could be a direct leak. */
static void a_chain_to_lower_addresses_has_one_head(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	for (size_t i = 1; i < f.live_count; i++)
		heap_image_write(&f.h, f.live[i].addr, f.live[i - 1].addr);
	run_mark(&f);
	assert_int_equal(f.mark.direct.count, 1);
	assert_int_equal(f.leaks[0].addr, f.live[f.live_count - 1].addr);
	assert_int_equal(f.mark.indirect.count, f.live_count - 1);
	tear_down(&f);
}

static void the_first_block_of_an_unreached_ring_is_the_direct_leak(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	heap_image_write(&f.h, f.live[1].addr, f.live[3].addr);
	heap_image_write(&f.h, f.live[3].addr, f.live[2].addr);
	heap_image_write(&f.h, f.live[2].addr, f.live[1].addr);
	heap_image_write(&f.h, f.live[0].addr, f.live[0].addr); /* a ring of one block */
	run_mark(&f);
	assert_int_equal(f.mark.direct.count, f.live_count - 2);
	assert_int_equal(f.leaks[1].addr, f.live[1].addr);
	assert_int_equal(f.leaks[1].indirect.count, 2);

	/* points into the middle of the ring from a block above it */
	heap_image_write(&f.h, f.live[4].addr, f.live[2].addr);
	run_mark(&f);
	assert_int_equal(f.mark.direct.count, f.live_count - 3);
	assert_int_equal(f.leaks[1].addr, f.live[4].addr);
	assert_int_equal(f.leaks[1].indirect.count, 3);
	tear_down(&f);
}

static void free_blocks_and_allocator_data_are_not_roots(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	heap_image_write(&f.h, f.h.cached_addr + 32, f.live[0].addr);
	heap_image_write(&f.h, f.h.bin_addr + 32, f.live[0].addr);
	heap_image_write(&f.h, f.h.top_addr + 32, f.live[0].addr);
	heap_image_write(&f.h, f.h.heap_info_addr + 8, f.live[0].addr);
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 0);
	tear_down(&f);
}

/* Make a stack as libc lays it out: in the mapping of the thread's TLS, below it. */
static void make_stack(struct fixture *f, uint64_t stack_addr)
{
	uint64_t start = f->h.thread_addr & ~(IMAGE_PAGE_BYTES - 1);

	start -= 2 * IMAGE_PAGE_BYTES;
	heap_image_write(&f->h, f->h.thread_addr + 0x690, start);
	heap_image_write(&f->h, f->h.thread_addr + 0x698, 3 * IMAGE_PAGE_BYTES);
	heap_image_write(&f->h, f->h.thread_addr + 0x6a0, 0);
	f->thread = (struct root_thread){ 1, stack_addr, f->h.thread_addr, 0 };
}

static void memory_below_the_stack_pointer_is_not_a_root(void **state)
{
	struct fixture f;
	uint64_t stack;

	(void)state;
	set_up(&f, 4);
	stack = f.h.thread_addr - 2048;
	heap_image_write(&f.h, stack - STACK_RED_ZONE_BYTES - 8, f.live[0].addr);
	heap_image_write(&f.h, stack - STACK_RED_ZONE_BYTES, f.live[1].addr);
	heap_image_write(&f.h, stack, f.live[2].addr);
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 3);
	make_stack(&f, stack);
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 2);
	assert_false(is_reached(&f, 0));

	/* the thread is on another stack, so all of its own stack may be in use */
	f.thread.stack_addr = f.h.live_addr + 2048;
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 3);
	tear_down(&f);
}

static void lazily_freed_memory_is_not_a_root(void **state)
{
	struct fixture f;
	struct mapping *m;

	(void)state;
	set_up(&f, 4);
	heap_image_write(&f.h, f.h.thread_addr - 2048, f.live[0].addr);
	m = &f.h.mappings.items[f.h.mappings.count - 1];
	m->counters.bytes[SMAPS_LAZYFREE] = m->counters.bytes[SMAPS_RSS];
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 0);
	m->counters.bytes[SMAPS_LAZYFREE] -= IMAGE_PAGE_BYTES;
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 1);
	tear_down(&f);
}

static void memory_that_was_never_writable_is_not_a_root(void **state)
{
	struct fixture f;
	struct mapping *m;

	(void)state;
	set_up(&f, 4);
	heap_image_write(&f.h, f.h.thread_addr - 2048, f.live[0].addr);
	m = &f.h.mappings.items[f.h.mappings.count - 1];
	m->flags = MAPPING_READ;
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 0);
	/* the mapping was writable before */
	m->counters.bytes[SMAPS_ANONYMOUS] = IMAGE_PAGE_BYTES;
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 1);
	m->flags = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED;
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 1);
	tear_down(&f);
}

static void a_block_is_reached_by_an_address_on_a_missing_page(void **state)
{
	struct fixture f;
	size_t i = 0;
	uint64_t page;

	(void)state;
	set_up(&f, 4);
	while (f.live[i].bytes < 9000)
		i++;
	page = (f.live[i].addr + IMAGE_PAGE_BYTES) & ~(IMAGE_PAGE_BYTES - 1);
	heap_release(&f.heap);
	heap_image_drop(&f.h, page, page + IMAGE_PAGE_BYTES);
	heap_image_write(&f.h, root_place(&f), page + 24);
	heap_image_walk(&f.h, &f.heap);
	run_mark(&f);
	assert_int_equal(f.mark.reachable.count, 1);
	tear_down(&f);
}

struct telling {
	uint64_t last, calls, stop_at;
};

static bool report_progress(void *context, uint64_t done, uint64_t total)
{
	struct telling *t = context;

	assert_true(done >= t->last && done <= total);
	t->last = done;
	return ++t->calls == t->stop_at;
}

static void progress_is_reported_and_can_cancel_the_mark(void **state)
{
	struct telling telling = { 0, 0, 0 };
	struct fixture f;

	(void)state;
	set_up(&f, 4);
	f.progress = (struct mark_progress){ report_progress, &telling };
	run_mark(&f);
	assert_int_equal(f.result, 0);
	assert_true(telling.calls > 0);
	telling = (struct telling){ 0, 0, 1 };
	run_mark(&f);
	assert_int_equal(f.result, -ECANCELED);
	assert_int_equal(telling.calls, 1);
	tear_down(&f);
}

static void the_index_finds_the_same_blocks_as_a_search(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		struct block_index index;
		struct fixture f;

		set_up(&f, i);
		block_index_init(&index, &f.h.blocks);
		for (size_t m = 0; m < f.h.mappings.count; m++) {
			uint64_t end = f.h.mappings.items[m].end_addr + 64;

			for (uint64_t at = f.h.mappings.items[m].start_addr - 64;
			     at < end; at++) {
				struct block block;
				struct block_ref ref;
				bool is_there = blocks_find(&f.h.blocks, at, &block);

				assert_row(block_index_find(&index, at, &ref) == is_there,
					   heap_kinds[i].version);
				if (!is_there)
					continue;
				assert_int_equal(ref.addr, block.addr);
				assert_int_equal(ref.bit, block.bit);
				assert_int_equal(block_index_bytes(&index, &ref),
						 block.bytes);
			}
		}
		block_index_release(&index);
		tear_down(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_without_pointers_to_them_are_leaked),
		cmocka_unit_test(any_address_inside_a_block_reaches_only_that_block),
		cmocka_unit_test(a_register_is_a_root),
		cmocka_unit_test(a_chain_is_reached_completely_or_is_one_leak),
		cmocka_unit_test(a_chain_to_lower_addresses_has_one_head),
		cmocka_unit_test(the_first_block_of_an_unreached_ring_is_the_direct_leak),
		cmocka_unit_test(free_blocks_and_allocator_data_are_not_roots),
		cmocka_unit_test(memory_below_the_stack_pointer_is_not_a_root),
		cmocka_unit_test(lazily_freed_memory_is_not_a_root),
		cmocka_unit_test(memory_that_was_never_writable_is_not_a_root),
		cmocka_unit_test(a_block_is_reached_by_an_address_on_a_missing_page),
		cmocka_unit_test(progress_is_reported_and_can_cancel_the_mark),
		cmocka_unit_test(the_index_finds_the_same_blocks_as_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
