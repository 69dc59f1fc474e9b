/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up Go heap: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/golang_image.h"
#include "../../support/unit.h"

static struct golang_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	golang_image_walk(&h, &heap);
}

static int begin(void **state)
{
	(void)state;
	golang_image_init(&h, true);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	golang_image_release(&h);
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
	assert_int_equal(heap.allocator, ALLOCATOR_GO);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.count, h.live.count);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.count, h.free.count);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	assert_int_equal(heap.owner_bytes[OWNER_LIVE], h.live.bytes + h.manual_bytes);
	assert_int_equal(heap.owner_bytes[OWNER_POOL_PAGES] +
				 heap.owner_bytes[OWNER_POOL_FRAGMENTS],
			 h.free.bytes + h.idle_bytes);
	assert_int_equal(heap.trimmable_bytes, h.idle_bytes);
	assert_int_equal(resident_sum(), h.resident_bytes);
}

/*
 * Objects of 64 bytes in a span of 8192: heap bits take a 64th since Go 1.22, and mark
 * bits another 128 bytes since Go 1.26.
 */
static void a_span_may_end_with_heap_bits_and_mark_bits(void **state)
{
	struct golang_span span = { .start_addr = 0xc000000000,
				    .end_addr = 0xc000002000,
				    .object_bytes = 64,
				    .class = 6,
				    .state = GOLANG_IN_USE };

	(void)state;
	for (span.object_count = 120; span.object_count <= 129; span.object_count++)
		assert_int_equal(golang_is_sound(&span),
				 span.object_count >= 123 && span.object_count <= 128);
}

static void both_layouts_are_exact(void **state)
{
	(void)state;
	walk();
	check_exact();
	golang_image_release(&h);
	golang_image_init(&h, false);
	walk();
	check_exact();
}

static void each_object_has_a_state(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.blocks, h.live_object_addr + 63, &block));
	assert_int_equal(block.addr, h.live_object_addr);
	assert_int_equal(block.bytes, 64);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.blocks, h.free_object_addr, &block));
	assert_int_equal(block.state, BLOCK_FREE);
}

/* Each change of one word must be noticed: the result is then only an estimate. */
static void damage_is_noticed(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a bit of an object", h.bits_addr, 0x400 },
		{ "the address of the bits", h.small_span_addr + 64, h.list_addr },
		{ "an index after the objects", h.small_span_addr + 48,
		  129 | UINT64_C(128) << 16 },
		{ "a count of objects", h.small_span_addr + 48,
		  10 | UINT64_C(100) << 16 },
		{ "a size of objects", h.small_span_addr + 104, 65 },
		{ "a span without pages", h.large_span_addr + 32, 0 },
		{ "a span with too many pages", h.large_span_addr + 32, UINT64_MAX },
		{ "a span that is not mapped", h.large_span_addr + 24, 0x7f9000000000 },
		{ "a span over another", h.large_span_addr + 24, 0xc000000000 },
		{ "a large object larger than its span", h.large_span_addr + 104, 16385 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = golang_image_read(&h, rows[i].addr);

		golang_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		/* too few sound spans: not a list of spans */
		assert_row(heap.quality == QUALITY_ESTIMATE ||
				   heap.allocator == ALLOCATOR_UNKNOWN,
			   rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.resident_bytes, rows[i].what);
		golang_image_write(&h, rows[i].addr, before);
	}
	walk();
	check_exact();
}

/* Set the members of the small span of the layout of Go 1.22, and walk. */
static void walk_span(uint64_t free_index, uint64_t bits_addr, uint64_t live_count)
{
	uint64_t words[] = { golang_image_read(&h, h.small_span_addr + 48),
			     golang_image_read(&h, h.small_span_addr + 96) };

	golang_image_write(&h, h.small_span_addr + 48,
			   (words[0] & ~UINT64_C(0xffff)) | free_index);
	golang_image_write(&h, h.small_span_addr + 64, bits_addr);
	golang_image_write(&h, h.small_span_addr + 96,
			   (words[1] & ~UINT64_C(0xffff)) | live_count);
	walk();
}

/*
 * The collector marks objects in bits of their own (gcmarkBits), and a span keeps its
 * objects until it is swept. Dead objects that are not swept count as live, like in
 * HeapAlloc of Go's own figures.
 */
static void marked_spans_are_exact_until_they_are_swept(void **state)
{
	uint64_t marks_addr = h.bits_addr + 64;

	(void)state;
	golang_image_write(&h, marks_addr, 0x1001);
	golang_image_write(&h, h.small_span_addr + 72, marks_addr);
	walk();
	check_exact();
	/* swept: the marks are the new bits, and two objects remain */
	walk_span(0, marks_addr, 2);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.count, h.live.count - 10);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes - 10 * UINT64_C(64));
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes + 10 * UINT64_C(64));
}

/* Sweeping a span sets its count of objects, its index and its bits, in this order. */
static void a_span_that_is_being_swept_makes_an_estimate(void **state)
{
	uint64_t marks_addr = h.bits_addr + 64;
	const struct {
		const char *what;
		uint64_t free_index, bits_addr, live_count;
	} rows[] = {
		{ "the count is new", 10, h.bits_addr, 3 },
		{ "the count and the index are new", 0, h.bits_addr, 3 },
	};

	(void)state;
	golang_image_write(&h, marks_addr, 0x1003);
	golang_image_write(&h, h.small_span_addr + 72, marks_addr);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		walk_span(rows[i].free_index, rows[i].bits_addr, rows[i].live_count);
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
	}
}

static void a_list_that_is_too_short_or_missing_is_no_heap(void **state)
{
	(void)state;
	golang_image_write(&h, h.slice_addr + 8, 7);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	golang_image_write(&h, h.slice_addr + 8, 65); /* more than the capacity */
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	golang_image_write(&h, h.slice_addr + 8, 8);
	golang_image_write(&h, h.slice_addr, 0x7f9000000000);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_non_null(heap.problem);
}

static void without_the_table_only_arenas_with_spans_have_idle_pages(void **state)
{
	(void)state;
	golang_image_write(&h, h.table_word_addr, 0);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.trimmable_bytes, GOLANG_PAGE_BYTES);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void walk_heap_finds_the_heap_of_go(void **state)
{
	const struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_GO);
	assert_int_equal(heap_total_quality(&heap), QUALITY_EXACT);
	assert_int_equal(heap.other_count, 0);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_may_end_with_heap_bits_and_mark_bits),
		cmocka_unit_test_setup_teardown(both_layouts_are_exact, begin, end),
		cmocka_unit_test_setup_teardown(each_object_has_a_state, begin, end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(
			marked_spans_are_exact_until_they_are_swept, begin, end),
		cmocka_unit_test_setup_teardown(
			a_span_that_is_being_swept_makes_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			a_list_that_is_too_short_or_missing_is_no_heap, begin, end),
		cmocka_unit_test_setup_teardown(
			without_the_table_only_arenas_with_spans_have_idle_pages, begin,
			end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_finds_the_heap_of_go, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
