/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up heap of Ruby: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/ruby_image.h"
#include "../../support/unit.h"

static struct ruby_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	made_memory_walk(&h.memory, walk_ruby, &heap);
}

static int begin(void **state)
{
	(void)state;
	ruby_image_init(&h, 16384, false);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	made_memory_release(&h.memory);
	return 0;
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

static void check_exact(void)
{
	assert_int_equal(heap.allocator, ALLOCATOR_RUBY);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].heap_count, RUBY_IMAGE_PAGES);
	assert_int_equal(heap.arenas[0].live.count, h.live.count);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.count, h.free.count);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	assert_int_equal(heap.owner_bytes[OWNER_LIVE],
			 h.live.bytes + h.transient_live_bytes);
	assert_int_equal(resident_sum(), h.resident_bytes);
}

static void both_sizes_of_pages_are_exact(void **state)
{
	(void)state;
	walk();
	check_exact();
	made_memory_release(&h.memory);
	ruby_image_init(&h, 65536, false);
	walk();
	check_exact();
}

static void each_slot_has_a_state(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.memory.blocks, h.live_slot_addr + 39, &block));
	assert_int_equal(block.addr, h.live_slot_addr);
	assert_int_equal(block.bytes, 40);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.memory.blocks, h.free_slot_addr, &block));
	assert_int_equal(block.state, BLOCK_FREE);
}

static void the_transient_heap_counts_too(void **state)
{
	const struct {
		const char *what;
		uint64_t value;
	} rows[] = {
		{ "more used bytes than there are", 0xffff7ff8 },
		{ "a negative number of used bytes", 0xffff8000 },
		{ "an odd number of used bytes", 0xffff0001 },
		{ "a mark after the used bytes", 0x00100008 },
		{ "a number that is not used", UINT64_C(1) << 48 | 0xffff0000 },
	};
	uint64_t before;

	(void)state;
	made_memory_release(&h.memory);
	ruby_image_init(&h, 16384, true);
	walk();
	check_exact();
	before = made_memory_read(&h.memory, h.transient_addr);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		made_memory_write(&h.memory, h.transient_addr, rows[i].value);
		walk();
		assert_row(heap.owner_bytes[OWNER_LIVE] == h.live.bytes, rows[i].what);
		assert_row(resident_sum() == RUBY_IMAGE_PAGES * h.page_bytes,
			   rows[i].what);
	}
	made_memory_write(&h.memory, h.transient_addr, before);
	made_memory_write(&h.memory, h.transient_addr + 8, h.page_addr);
	walk();
	assert_int_equal(heap.owner_bytes[OWNER_LIVE], h.live.bytes);
	/* blocks in no list, as in memory full of zeros */
	for (uint64_t i = 0; i < 4; i++)
		made_memory_write(&h.memory, h.transient_addr + i * 32768 + 8, 0);
	walk();
	assert_int_equal(heap.owner_bytes[OWNER_LIVE], h.live.bytes);
}

/* Damage to one page makes the heap an estimate, or leaves the page out. */
static void damage_is_noticed(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a list that is a ring", h.free_slot_addr + 8, h.free_slot_addr },
		{ "a list that leads into a slot", h.free_slot_addr + 160 + 8,
		  h.free_slot_addr + 8 },
		{ "a list that leads to an object", h.free_slot_addr + 160 + 8,
		  h.live_slot_addr },
		{ "a list that leads to another page", h.free_slot_addr + 160 + 8,
		  h.page_addr + h.page_bytes + 16 },
		{ "a number of free slots", h.description_addr,
		  40 | 409 << 16 | UINT64_C(3) << 32 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = made_memory_read(&h.memory, rows[i].addr);

		made_memory_write(&h.memory, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() == h.resident_bytes, rows[i].what);
		made_memory_write(&h.memory, rows[i].addr, before);
	}
	walk();
	check_exact();
}

/*
 * While Ruby sweeps a page, the page has a list of the slots that were freed so far, and
 * the number 0. The slots themselves show which of them have objects; garbage that is not
 * swept counts as live.
 */
static void a_page_that_is_being_swept_makes_an_estimate(void **state)
{
	(void)state;
	made_memory_write(&h.memory, h.live_slot_addr, 0);
	made_memory_write(&h.memory, h.live_slot_addr + 8, h.free_slot_addr);
	made_memory_write(&h.memory, h.description_addr + 40, h.live_slot_addr);
	made_memory_write(&h.memory, h.description_addr, 40 | 409 << 16);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_non_null(strstr(heap.problem, "collecting garbage"));
	assert_int_equal(heap.arenas[0].live.count, h.live.count - 1);
}

/* Compaction leaves a reference (T_MOVED) in the old slot of an object. */
static void moved_objects_make_the_figures_bounds(void **state)
{
	(void)state;
	made_memory_write(&h.memory, h.live_slot_addr, 0x1e);
	walk();
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_non_null(strstr(heap.problem, "compacting"));
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void descriptions_of_another_layout_are_no_heap(void **state)
{
	const struct {
		unsigned int word;
		uint64_t value;
	} rows[] = {
		{ 0, 48 | 300 << 16 }, /* a size of slots that does not exist */
		{ 0, 40 },	       /* no slots */
		{ 0, 40 | 500 << 16 }, /* more slots than fit */
		{ 0, 40 | 200 << 16 }, /* fewer slots than fit */
		{ 4, 0x7f1000000000 }, /* slots elsewhere */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		made_memory_release(&h.memory);
		ruby_image_init(&h, 16384, false);
		ruby_image_write_descriptions(&h, rows[i].word, rows[i].value);
		walk();
		assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
		assert_non_null(heap.problem);
		assert_int_equal(resident_sum(), 0);
	}
}

static void an_unknown_version_of_ruby_is_named(void **state)
{
	struct mapping code = { .start_addr = 0x7f9000000000,
				.end_addr = 0x7f9000001000,
				.flags = MAPPING_READ | MAPPING_EXEC,
				.inode = 7,
				.name = "/usr/lib/libruby-3.1.so.3.1.2",
				.name_length = 29 };

	(void)state;
	ruby_image_write_descriptions(&h, 0, 0);
	mapping_list_add(&h.memory.mappings, &code);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_RUBY);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(heap.problem);
}

static void pages_in_the_heap_of_malloc_belong_to_malloc(void **state)
{
	(void)state;
	h.memory.mappings.items[1].name = strdup("[heap]");
	h.memory.mappings.items[1].name_length = 6;
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.memory.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void walk_heap_finds_the_heap_of_ruby(void **state)
{
	const struct walk_input input = { .image = &h.memory.image,
					  .mappings = &h.memory.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_RUBY);
	assert_int_equal(heap_total_quality(&heap), QUALITY_EXACT);
	assert_non_null(heap.evidence);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_sizes_of_pages_are_exact, begin,
						end),
		cmocka_unit_test_setup_teardown(each_slot_has_a_state, begin, end),
		cmocka_unit_test_setup_teardown(the_transient_heap_counts_too, begin,
						end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(
			a_page_that_is_being_swept_makes_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(moved_objects_make_the_figures_bounds,
						begin, end),
		cmocka_unit_test_setup_teardown(
			descriptions_of_another_layout_are_no_heap, begin, end),
		cmocka_unit_test_setup_teardown(an_unknown_version_of_ruby_is_named,
						begin, end),
		cmocka_unit_test_setup_teardown(
			pages_in_the_heap_of_malloc_belong_to_malloc, begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_finds_the_heap_of_ruby, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
