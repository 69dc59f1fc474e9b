/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of Go's structures that are swapped out: the figures are lower bounds. If the
 * same structure is corrupt, they are estimates.
 */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/golang_image.h"
#include "../../support/made_memory.h"
#include "../../support/unit.h"

#define SPANS_MISSING \
	"spans of Go may be swapped out: they and idle pages are not counted"
#define BITS_MISSING "bits of Go's spans are swapped out: these spans are not counted"
#define TABLES_MISSING \
	"tables of Go may be swapped out: they and idle pages may be missing"
#define SPACE_IDLE 3   /* index in the array `spaces` of struct heap */
#define LIVE_OFFSET 96 /* of allocCount in struct mspan */
/* index in the list of the last span of golang_image.c */
#define MOVED_SPAN 7
#define OBJECT_BYTES 64
/* number of elements by which the walker recognizes the list of spans */
#define LIST_RESIDENT UINT64_C(64)
#define DEAD_SPAN(h) ((h).small_span_addr + 3 * UINT64_C(192))

static struct golang_image h;
static struct heap intact, heap;

static void walk(struct heap *ret)
{
	heap_release(ret);
	golang_image_walk(&h, ret);
}

static int begin(void **state)
{
	(void)state;
	golang_image_init(&h, true);
	heap_init(&intact);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&intact);
	heap_release(&heap);
	golang_image_release(&h);
	return 0;
}

static void restart(void)
{
	end(NULL);
	begin(NULL);
}

static void walk_intact(void)
{
	walk(&intact);
	assert_int_equal(intact.quality, QUALITY_EXACT);
}

static void walk_without(uint64_t addr, bool is_swapped)
{
	made_memory_remove_page(&h.image, &h.mappings, addr, is_swapped);
	walk(&heap);
}

static void check_bound(const char *problem)
{
	assert_int_equal(heap.allocator, ALLOCATOR_GO);
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_string_equal(heap.problem, problem);
	assert_true(heap.arenas[0].live.bytes <= intact.arenas[0].live.bytes);
	assert_true(heap.arenas[0].bin.bytes <= intact.arenas[0].bin.bytes);
	for (size_t i = 0; i < heap.space_count; i++) {
		assert_true(heap.spaces[i].live_bytes <= intact.spaces[i].live_bytes);
		assert_true(heap.spaces[i].free_bytes <= intact.spaces[i].free_bytes);
	}
}

static void check_estimate(void)
{
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(strstr(heap.problem, "swapped out"));
}

static void spans_whose_bits_are_swapped_out_are_not_counted(void **state)
{
	(void)state;
	walk_intact();
	walk_without(h.bits_addr, true);
	check_bound(BITS_MISSING);
	/* the other spans' objects are all below their free_index */
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes - 12 * OBJECT_BYTES);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes - 116 * OBJECT_BYTES);
	/* the place of the span is known, so its memory is not idle */
	assert_int_equal(heap.spaces[SPACE_IDLE].free_bytes, h.idle_bytes);
	restart();
	walk_without(h.bits_addr, false);
	check_estimate();
}

/* Set the count of allocated objects of the span with bits. */
static void set_live_count(uint64_t count)
{
	uint64_t addr = h.small_span_addr + LIVE_OFFSET;
	uint64_t word = golang_image_read(&h, addr);

	golang_image_write(&h, addr, (word & ~UINT64_C(0xffff)) | count);
}

/* The first ten objects are allocated, because they are below free_index. */
static void a_count_that_no_bits_can_explain_makes_an_estimate(void **state)
{
	(void)state;
	set_live_count(9);
	walk_without(h.bits_addr, true);
	check_estimate();
}

static struct mapping *find_mapping(uint64_t addr)
{
	for (size_t i = 0; i < h.mappings.count; i++)
		if (h.mappings.items[i].start_addr == addr)
			return &h.mappings.items[i];
	fail_msg("no mapping");
	return NULL;
}

/* Move the struct of the last span to the page after those of the other spans. */
static void move_last_span(bool is_swapped)
{
	uint64_t list = h.list_addr + 8 * MOVED_SPAN;
	uint64_t page = h.small_span_addr + IMAGE_PAGE_BYTES;

	golang_image_write(&h, list, page + 256);
	find_mapping(h.small_span_addr)->counters.bytes[SMAPS_SWAP] =
		is_swapped ? IMAGE_PAGE_BYTES : 0;
}

static void spans_whose_descriptions_may_be_swapped_out_are_not_counted(void **state)
{
	(void)state;
	walk_intact();
	move_last_span(true);
	walk(&heap);
	check_bound(SPANS_MISSING);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes - OBJECT_BYTES);
	/* the memory of the missing span looks idle */
	assert_int_equal(heap.spaces[SPACE_IDLE].free_bytes, 0);
	/* a struct on a page that was never touched is not in use */
	restart();
	move_last_span(false);
	walk(&heap);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	/* memory is swapped out, and a resident span is corrupt */
	restart();
	move_last_span(true);
	set_live_count(11);
	walk(&heap);
	check_estimate();
}

/*
 * Move the list of spans to the end of its page, and append dead spans, so that the last
 * elements are on a page that is not resident.
 */
static void move_list(bool is_swapped)
{
	uint64_t list = h.list_addr + IMAGE_PAGE_BYTES - LIST_RESIDENT * 8;
	struct mapping *m = find_mapping(h.list_addr);

	for (uint64_t i = 0; i < LIST_RESIDENT; i++)
		golang_image_write(&h, list + 8 * i,
				   i <= MOVED_SPAN
					   ? golang_image_read(&h, h.list_addr + 8 * i)
					   : DEAD_SPAN(h));
	golang_image_write(&h, h.slice_addr, list);
	golang_image_write(&h, h.slice_addr + 8, LIST_RESIDENT + 6);
	golang_image_write(&h, h.slice_addr + 16, 2 * LIST_RESIDENT);
	m->end_addr += IMAGE_PAGE_BYTES;
	m->counters.bytes[SMAPS_SWAP] = is_swapped ? IMAGE_PAGE_BYTES : 0;
}

static void the_list_of_spans_may_be_partly_swapped_out(void **state)
{
	(void)state;
	walk_intact();
	move_list(true);
	walk(&heap);
	check_bound(SPANS_MISSING);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	restart();
	move_list(false);
	walk(&heap);
	check_estimate();
}

/* Whether the swapped-out page of the data has the summaries of free pages is unknown. */
static void the_tables_of_pages_may_be_swapped_out(void **state)
{
	(void)state;
	walk_intact();
	walk_without(h.slice_addr + IMAGE_PAGE_BYTES, true);
	check_bound(TABLES_MISSING);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	restart();
	walk_without(h.slice_addr + IMAGE_PAGE_BYTES, false);
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		TEST(spans_whose_bits_are_swapped_out_are_not_counted),
		TEST(a_count_that_no_bits_can_explain_makes_an_estimate),
		TEST(spans_whose_descriptions_may_be_swapped_out_are_not_counted),
		TEST(the_list_of_spans_may_be_partly_swapped_out),
		TEST(the_tables_of_pages_may_be_swapped_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
