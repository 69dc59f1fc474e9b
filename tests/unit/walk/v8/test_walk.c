/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up heap of V8: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>
#include <sys/resource.h>

#include "../../support/unit.h"
#include "../../support/v8_image.h"

static struct v8_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	made_memory_walk(&h.memory, walk_v8, &heap);
}

static int begin(void **state)
{
	(void)state;
	v8_image_init(&h, 1);
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

static uint64_t free_resident(void)
{
	return heap.owner_bytes[OWNER_POOL_PAGES] +
	       heap.owner_bytes[OWNER_POOL_FRAGMENTS];
}

static const struct heap_space *find_space(const char *name)
{
	for (size_t i = 0; i < heap.space_count; i++)
		if (strcmp(heap.spaces[i].name, name) == 0)
			return &heap.spaces[i];
	return NULL;
}

static void check_space(const char *name, enum v8_kind kind)
{
	const struct heap_space *space = find_space(name);

	assert_row(space != NULL, name);
	assert_row(space->live_bytes == h.live_bytes[kind], name);
	assert_row(space->free_bytes == h.free_bytes[kind], name);
}

static void check_exact(void)
{
	assert_int_equal(heap.allocator, ALLOCATOR_V8);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	check_space("new space", V8_NEW);
	check_space("old space", V8_OLD);
	check_space("code space", V8_CODE);
	check_space("large object space", V8_LARGE);
	check_space("chunks kept for reuse", V8_POOLED);
	if (h.live_bytes[V8_TRUSTED] > 0)
		check_space("trusted space", V8_TRUSTED);
	assert_int_equal(resident_sum(), h.resident_bytes);
	assert_int_equal(free_resident(), h.free_resident_bytes);
}

static void all_versions_are_exact(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < V8_IMAGE_VERSIONS; i++) {
		made_memory_release(&h.memory);
		v8_image_init(&h, i);
		walk();
		check_exact();
	}
}

/* The list is followed only as far as its sum fits into the chunk. */
static void a_ring_with_a_large_sum_costs_no_memory(void **state)
{
	struct rusage before, after;

	(void)state;
	made_memory_write(&h.memory, h.category_addr, 2 | UINT64_C(0xfffffff0) << 32);
	made_memory_write(&h.memory, h.node_addr + 16, h.node_addr + 1);
	getrusage(RUSAGE_SELF, &before);
	walk();
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(heap.quality, QUALITY_BOUND);
	/* in KiB */
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 65536);
}

/* If the free memory of a chunk is unknown, all of the chunk counts as live. */
static void damaged_lists_make_the_figures_bounds(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a sum of free memory", h.category_addr, 2 | UINT64_C(56) << 32 },
		{ "a list of another size", h.category_addr, 3 | UINT64_C(48) << 32 },
		{ "a node outside the chunk", h.category_addr + 8, 0x20000001 },
		{ "a node at the end of the chunk", h.category_addr + 8,
		  h.old_addr + V8_CHUNK_BYTES - 7 },
		{ "a node that is not resident", h.category_addr + 8,
		  h.old_addr + 0x20001 },
		{ "a size", h.node_addr + 8, UINT64_C(1) << 63 },
		{ "a list that is a ring", h.node_addr + 16, h.node_addr + 1 },
		{ "a node inside another", h.category_addr + 8, h.old_addr + 0x4811 },
		{ "more memory than there is", h.allocated_word_addr,
		  V8_CHUNK_BYTES - 4424 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = made_memory_read(&h.memory, rows[i].addr);

		made_memory_write(&h.memory, h.old_addr + 0x4818, UINT64_C(48) << 32);
		made_memory_write(&h.memory, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_BOUND, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() == h.resident_bytes, rows[i].what);
		assert_row(free_resident() < h.free_resident_bytes, rows[i].what);
		made_memory_write(&h.memory, rows[i].addr, before);
	}
	walk();
	check_exact();
}

/* A list of chunks that is not closed makes the figures of its space unusable. */
static void damaged_spaces_are_not_counted(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a list that is a ring", h.next_word_addr, h.descriptor_addr },
		{ "a list that ends early", h.next_word_addr, 0 },
		{ "a list that leads elsewhere", h.next_word_addr, 0x20000100 },
		{ "a first chunk of another space", h.front_addr,
		  h.old_addr + 8 * V8_CHUNK_BYTES },
		{ "a capacity", h.capacity_addr, V8_CHUNK_BYTES },
		{ "no first chunk", h.front_addr, 0 },
		{ "a list with another end", h.front_addr + 8, h.old_addr },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = made_memory_read(&h.memory, rows[i].addr);

		made_memory_write(&h.memory, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.resident_bytes, rows[i].what);
		made_memory_write(&h.memory, rows[i].addr, before);
	}
	walk();
	check_exact();
}

/* V8's own figure is shown, but the pages with the dead objects count as live. */
static void chunks_that_are_not_swept_make_a_bound(void **state)
{
	uint64_t addr = h.capacity_addr + 16;
	uint64_t bytes = made_memory_read(&h.memory, addr);

	(void)state;
	made_memory_write(&h.memory, addr, bytes - 10000);
	walk();
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_int_equal(find_space("old space")->live_bytes,
			 h.live_bytes[V8_OLD] - 10000);
	assert_int_equal(free_resident(), h.free_resident_bytes);
	/* the chunk's own sum, without free memory in its list */
	made_memory_write(&h.memory, addr, bytes - 10000);
	made_memory_write(&h.memory, h.allocated_word_addr,
			  made_memory_read(&h.memory, h.allocated_word_addr) - 10000);
	walk();
	assert_int_equal(heap.quality, QUALITY_BOUND);
}

/* The state of the heap is 1 to 3 during a collection. */
static void a_collection_in_progress_makes_an_estimate(void **state)
{
	static const struct {
		unsigned int version;
		uint64_t offset;
	} rows[] = { { 0, 576 }, { 1, 552 }, { 2, 408 }, { 3, 544 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint32_t value = 0; value <= 4; value++) {
			bool is_collecting = value >= 1 && value <= 3;

			made_memory_release(&h.memory);
			v8_image_init(&h, rows[i].version);
			made_memory_write_u32(&h.memory, h.heap_addr + rows[i].offset,
					      value);
			walk();
			assert_int_equal(heap.quality, is_collecting ? QUALITY_ESTIMATE
								     : QUALITY_EXACT);
			assert_int_equal(heap.problem != NULL, is_collecting);
		}
}

static void the_version_is_that_in_the_data_of_the_program(void **state)
{
	const struct {
		uint64_t offset, value;
	} rows[] = {
		{ 0, 0x20000000 },	/* the text is elsewhere */
		{ 8, 0 },		/* an empty text */
		{ 8, 8 },		/* a text with a zero */
		{ 8, 5000 },		/* a long text */
		{ 16, 0x2e302e302e76 }, /* v.0.0. */
		{ 32, 0x1f000010 },	/* no version of V8 in Node.js follows */
	};

	(void)state;
	walk();
	assert_string_equal(heap.version, "v20.20.2");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t addr = h.version_addr + rows[i].offset;
		uint64_t before = made_memory_read(&h.memory, addr);

		made_memory_write(&h.memory, addr, rows[i].value);
		walk();
		assert_string_equal(heap.version, "");
		assert_int_equal(heap.quality, QUALITY_EXACT);
		made_memory_write(&h.memory, addr, before);
	}
}

static void without_the_top_the_new_space_counts_as_live(void **state)
{
	const uint64_t area = made_memory_read(&h.memory, h.area_addr);

	(void)state;
	made_memory_write(&h.memory, h.area_addr + 8, 0);
	walk();
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_true(find_space("new space")->live_bytes > h.live_bytes[V8_NEW]);
	/* two areas with different tops */
	made_memory_write(&h.memory, h.area_addr + 8, area + 0x100);
	made_memory_write(&h.memory, h.area_addr - 80, area);
	made_memory_write(&h.memory, h.area_addr - 72, area + 8);
	made_memory_write(&h.memory, h.area_addr - 64, area + 16);
	walk();
	assert_int_equal(heap.quality, QUALITY_BOUND);
	made_memory_write(&h.memory, h.area_addr - 80, 0);
	walk();
	check_exact();
}

static void too_few_chunks_are_no_heap(void **state)
{
	(void)state;
	/* the fronts of all spaces */
	for (uint64_t i = 0; i < 6; i++)
		made_memory_write(&h.memory, h.front_addr + i * 512, 0);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_non_null(heap.problem);
}

static void an_unknown_version_of_node_is_named(void **state)
{
	struct mapping code = { .start_addr = 0x400000,
				.end_addr = 0x401000,
				.flags = MAPPING_READ | MAPPING_EXEC,
				.inode = 7,
				.name = "/usr/bin/node",
				.name_length = 13 };

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		made_memory_write(&h.memory, h.front_addr + i * 512, 0);
	mapping_list_add(&h.memory.mappings, &code);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_V8);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(heap.problem);
	assert_int_equal(resident_sum(), 0);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.memory.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	check_space("old space", V8_OLD);
}

static void walk_heap_finds_the_heap_of_v8(void **state)
{
	const struct walk_input input = { .image = &h.memory.image,
					  .mappings = &h.memory.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_V8);
	assert_int_equal(heap_total_quality(&heap), QUALITY_EXACT);
	assert_non_null(heap.evidence);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_versions_are_exact, begin, end),
		cmocka_unit_test_setup_teardown(damaged_lists_make_the_figures_bounds,
						begin, end),
		cmocka_unit_test_setup_teardown(damaged_spaces_are_not_counted, begin,
						end),
		cmocka_unit_test_setup_teardown(chunks_that_are_not_swept_make_a_bound,
						begin, end),
		cmocka_unit_test_setup_teardown(
			a_collection_in_progress_makes_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			the_version_is_that_in_the_data_of_the_program, begin, end),
		cmocka_unit_test_setup_teardown(
			without_the_top_the_new_space_counts_as_live, begin, end),
		cmocka_unit_test_setup_teardown(too_few_chunks_are_no_heap, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_with_a_large_sum_costs_no_memory,
						begin, end),
		cmocka_unit_test_setup_teardown(an_unknown_version_of_node_is_named,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_finds_the_heap_of_v8, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
