/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up Java virtual machine: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../support/hotspot_image.h"
#include "../../support/unit.h"

#define PAGE UINT64_C(4096)

static const char *const names[HOTSPOT_SPACE_COUNT_] = {
	[HOTSPOT_EDEN] = "eden",
	[HOTSPOT_SURVIVOR] = "survivor",
	[HOTSPOT_OLD] = "old",
	[HOTSPOT_HUMONGOUS] = "humongous",
	[HOTSPOT_ARCHIVE] = "archive",
	[HOTSPOT_FREE] = "free",
	[HOTSPOT_CODE] = "code cache",
	[HOTSPOT_SHARED] = "shared heap of ZGC",
	[HOTSPOT_METASPACE] = "metaspace",
	[HOTSPOT_CLASS_SPACE] = "class space",
	[HOTSPOT_CARDS] = "card table",
	[HOTSPOT_STACKS] = "thread stacks",
};

static struct hotspot_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	hotspot_image_walk(&h, &heap);
}

static void begin(enum hotspot_collector collector)
{
	hotspot_image_init(&h, collector);
	heap_release(&heap);
}

static int begin_g1(void **state)
{
	(void)state;
	begin(HOTSPOT_G1);
	return 0;
}

static int begin_serial(void **state)
{
	(void)state;
	begin(HOTSPOT_SERIAL);
	return 0;
}

static int begin_parallel(void **state)
{
	(void)state;
	begin(HOTSPOT_PARALLEL);
	return 0;
}

static int begin_z(void **state)
{
	(void)state;
	begin(HOTSPOT_Z);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	hotspot_image_release(&h);
	return 0;
}

/* Return the space with this name, or an empty one. */
static struct heap_space space_named(const char *name)
{
	for (size_t i = 0; i < heap.space_count; i++)
		if (strcmp(heap.spaces[i].name, name) == 0)
			return heap.spaces[i];
	return (struct heap_space){ .name = name };
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

static void check_figures(void)
{
	uint64_t resident = 0;

	assert_int_equal(heap.allocator, ALLOCATOR_HOTSPOT);
	assert_string_equal(heap.version, "17.0.21");
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		assert_int_equal(heap.owner_bytes[o], h.owner_bytes[o]);
	for (size_t i = 0; i < HOTSPOT_SPACE_COUNT_; i++) {
		struct heap_space space;

		if (!names[i])
			continue;
		space = space_named(names[i]);
		assert_row(space.live_bytes == h.live_bytes[i], names[i]);
		if (i == HOTSPOT_ARCHIVE)
			continue;
		assert_row(space.free_bytes == h.free_bytes[i], names[i]);
		if (i != HOTSPOT_STACKS)
			resident += space.resident_bytes;
	}
	assert_int_equal(resident, resident_sum());
	assert_int_equal(heap.trimmable_bytes, h.trimmable_bytes);
	assert_int_equal(space_named("thread stacks").count, 2);
	assert_int_equal(space_named("thread stacks").resident_bytes, 2 * PAGE);
	assert_int_equal(space_named("metaspace").resident_bytes, PAGE);
	assert_int_equal(space_named("class space").resident_bytes, 2 * PAGE);
}

static void an_intact_heap_is_exact(void **state)
{
	(void)state;
	walk();
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	check_figures();
	assert_int_equal(space_named("card table").resident_bytes, PAGE);
}

static void the_objects_of_zgc_are_not_read(void **state)
{
	(void)state;
	walk();
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_non_null(heap.problem);
	check_figures();
}

static void each_address_belongs_to_a_region_or_to_code(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.blocks, 0xf0000000 + 5, &block));
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_int_equal(block.bytes, 16 * PAGE);
	/* the end of the survivor region is free */
	assert_true(blocks_find(&h.blocks, 0xf0010000 + 0x5108, &block));
	assert_int_equal(block.state, BLOCK_FREE);
	/* a humongous object continues in the next region */
	assert_true(blocks_find(&h.blocks, 0xf0040000, &block));
	assert_int_equal(block.addr, 0xf0030000);
	assert_int_equal(block.bytes, 16 * PAGE + 0x3010);
	assert_true(blocks_find(&h.blocks, h.first_block_addr + 3 * 128, &block));
	assert_int_equal(block.state, BLOCK_FREE);
	assert_int_equal(block.bytes, 256);
	assert_false(blocks_find(&h.blocks, h.klass_addr, &block));
}

struct damage {
	const char *what;
	uint64_t addr, value;
	enum quality quality; /* the best that the walk may report */
};

/* Each change of one word must be noticed: the result is then no longer exact. */
static void check_damage(const struct damage rows[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t before = hotspot_image_read(&h, rows[i].addr);

		hotspot_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == rows[i].quality, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		hotspot_image_write(&h, rows[i].addr, before);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	check_figures();
}

static void damage_of_regions_is_noticed(void **state)
{
	const uint64_t tag = hotspot_image_field(
		FIELD_REGION_TAG, hotspot_image_field(FIELD_REGION_TYPE, h.region_addr));
	const struct damage rows[] = {
		{ "a top below the bottom",
		  hotspot_image_field(FIELD_REGION_TOP, h.region_addr), 0xefffffff,
		  QUALITY_ESTIMATE },
		{ "a top above the end",
		  hotspot_image_field(FIELD_REGION_TOP, h.region_addr), 0xf0010001,
		  QUALITY_ESTIMATE },
		{ "a region at another place",
		  hotspot_image_field(FIELD_REGION_BOTTOM, h.region_addr), 0xf0001000,
		  QUALITY_ESTIMATE },
		{ "a region longer than others",
		  hotspot_image_field(FIELD_REGION_END, h.region_addr), 0xf0020000,
		  QUALITY_ESTIMATE },
		{ "an unknown kind of region", tag, 64, QUALITY_ESTIMATE },
		{ "a free region with objects", tag, 0, QUALITY_ESTIMATE },
		{ "a region twice in the table", h.table_addr + 8, h.region_addr,
		  QUALITY_ESTIMATE },
		{ "a region outside of memory", h.table_addr, 8, QUALITY_ESTIMATE },
		{ "a region missing in the table", h.table_addr, 0, QUALITY_ESTIMATE },
	};

	(void)state;
	check_damage(rows, ARRAY_SIZE(rows));
}

static void damage_of_the_heap_is_noticed(void **state)
{
	const uint64_t reserved = hotspot_image_field(FIELD_HEAP_RESERVED, h.heap_addr);
	const uint64_t table = hotspot_image_field(
		FIELD_G1_REGIONS, hotspot_image_field(FIELD_G1_MANAGER, h.heap_addr));
	const struct damage rows[] = {
		{ "too many regions", hotspot_image_field(FIELD_G1_TABLE_LENGTH, table),
		  UINT64_C(1) << 32, QUALITY_UNKNOWN },
		{ "a table outside of memory",
		  hotspot_image_field(FIELD_G1_TABLE_BASE, table), UINT64_MAX - 7,
		  QUALITY_UNKNOWN },
		{ "regions of no size", hotspot_image_field(FIELD_REGION_BYTES, 0), 0,
		  QUALITY_UNKNOWN },
		{ "a heap of no size", hotspot_image_field(FIELD_RANGE_WORDS, reserved),
		  0, QUALITY_UNKNOWN },
		{ "a heap larger than memory",
		  hotspot_image_field(FIELD_RANGE_WORDS, reserved), UINT64_MAX / 8,
		  QUALITY_UNKNOWN },
		{ "a heap of an odd address",
		  hotspot_image_field(FIELD_RANGE_START, reserved), 0xf0000008,
		  QUALITY_UNKNOWN },
		{ "a collection in progress",
		  hotspot_image_field(FIELD_HEAP_IS_ACTIVE, h.heap_addr), 1,
		  QUALITY_ESTIMATE },
		{ "a structure that is not in memory",
		  hotspot_image_field(FIELD_UNIVERSE_HEAP, 0), 8, QUALITY_UNKNOWN },
	};

	(void)state;
	check_damage(rows, ARRAY_SIZE(rows));
}

static void damage_of_other_parts_is_noticed(void **state)
{
	const struct damage rows[] = {
		{ "a block of code that is too long",
		  hotspot_image_field(FIELD_HEAP_BLOCK_LENGTH, h.first_block_addr),
		  UINT64_C(1) << 32, QUALITY_ESTIMATE },
		{ "a block of code of no length",
		  hotspot_image_field(FIELD_HEAP_BLOCK_LENGTH, h.first_block_addr), 0,
		  QUALITY_ESTIMATE },
		{ "a block of code with another length",
		  hotspot_image_field(FIELD_HEAP_BLOCK_LENGTH, h.first_block_addr), 4,
		  QUALITY_ESTIMATE },
		{ "an unknown size of segments",
		  hotspot_image_field(FIELD_CODE_LOG2_SEGMENT, h.code_heap_addr), 63,
		  QUALITY_ESTIMATE },
		{ "a code heap in the Java heap",
		  hotspot_image_field(
			  FIELD_VIRTUAL_LOW,
			  hotspot_image_field(FIELD_CODE_SEGMAP, h.code_heap_addr)),
		  0xf0000000, QUALITY_UNKNOWN },
		{ "a card table in the Java heap",
		  hotspot_image_field(FIELD_CARDS_MAP, h.cards_addr), 0xf0002000,
		  QUALITY_UNKNOWN },
		{ "a class in the Java heap",
		  hotspot_image_field(FIELD_CLASSES_KLASSES, h.loader_addr), 0xf0002000,
		  QUALITY_UNKNOWN },
	};

	(void)state;
	check_damage(rows, ARRAY_SIZE(rows));
}

static void a_space_outside_of_its_heap_makes_the_heap_unknown(void **state)
{
	uint64_t before = hotspot_image_read(&h, h.space_addr);

	(void)state;
	hotspot_image_write(&h, h.space_addr, 0xf0000000 - PAGE);
	walk();
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(heap.problem);
	hotspot_image_write(&h, h.space_addr, before);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

/* A cycle must end, and the classes before it count. */
static void cyclic_lists_end(void **state)
{
	uint64_t next = hotspot_image_field(FIELD_KLASS_NEXT, h.klass_addr);

	(void)state;
	hotspot_image_write(&h, next, h.klass_addr);
	walk();
	assert_int_equal(space_named("class space").count, 1);
	hotspot_image_write(&h, next, 0);
	hotspot_image_write(&h, hotspot_image_field(FIELD_CLASSES_NEXT, h.loader_addr),
			    h.loader_addr);
	walk();
	assert_int_equal(space_named("class space").count, 1);
	assert_int_equal(space_named("metaspace").count, 1);
}

static void counts_of_threads_are_bounded(void **state)
{
	uint64_t addr = hotspot_image_field(FIELD_THREAD_LIST_LENGTH, h.thread_list_addr);

	(void)state;
	hotspot_image_write(&h, addr, UINT32_MAX);
	walk();
	assert_int_equal(space_named("thread stacks").count, 0);
}

static void missing_pages_are_noticed(void **state)
{
	const struct {
		const char *what;
		uint64_t addr;
		enum quality quality;
	} rows[] = {
		{ "a region", h.region_addr, QUALITY_ESTIMATE },
		{ "the table of regions", h.table_addr, QUALITY_ESTIMATE },
		{ "a page of code", h.first_block_addr, QUALITY_ESTIMATE },
		{ "the heap", h.heap_addr, QUALITY_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		hotspot_image_drop(&h, rows[i].addr);
		walk();
		assert_row(heap.quality == rows[i].quality, rows[i].what);
		hotspot_image_release(&h);
		begin(HOTSPOT_G1);
	}
}

static void without_the_file_nothing_is_known(void **state)
{
	(void)state;
	unlink(h.library);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_HOTSPOT);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(heap.problem);
}

/* Write a byte into the file at this offset. */
static void overwrite(off_t offset, char byte)
{
	assert_int_equal(pwrite(h.fd, &byte, 1, offset), 1);
}

static void a_file_that_is_no_jvm_makes_no_heap(void **state)
{
	(void)state;
	/* the first symbol has another name, then the file is not an ELF file */
	overwrite(0x801, 'x');
	walk();
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	overwrite(0, 'x');
	walk();
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
}

static void tables_without_end_are_bounded(void **state)
{
	(void)state;
	/* each entry is the first one: the stride is that of no entry, or tiny */
	hotspot_image_write(&h, h.tables_addr - 0x1000 + 8, 0);
	walk();
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	hotspot_image_write(&h, h.tables_addr - 0x1000 + 8, UINT64_MAX);
	walk();
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
}

static void a_jvm_that_was_not_started_is_no_heap(void **state)
{
	(void)state;
	hotspot_image_write(&h, hotspot_image_field(FIELD_UNIVERSE_HEAP, 0), 0);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	check_figures();
}

static void walk_heap_keeps_the_heap_of_the_jvm(void **state)
{
	const struct walk_input input = { .image = &h.image,
					  .mappings = &h.mappings,
					  .memory = &h.memory };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_HOTSPOT);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	blocks_release(&blocks);
}

#define WITH(collector, test) \
	cmocka_unit_test_setup_teardown(test, begin_##collector, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH(g1, an_intact_heap_is_exact),
		WITH(serial, an_intact_heap_is_exact),
		WITH(parallel, an_intact_heap_is_exact),
		WITH(z, the_objects_of_zgc_are_not_read),
		WITH(g1, each_address_belongs_to_a_region_or_to_code),
		WITH(g1, damage_of_regions_is_noticed),
		WITH(g1, damage_of_the_heap_is_noticed),
		WITH(g1, damage_of_other_parts_is_noticed),
		WITH(serial, a_space_outside_of_its_heap_makes_the_heap_unknown),
		WITH(parallel, a_space_outside_of_its_heap_makes_the_heap_unknown),
		WITH(g1, cyclic_lists_end),
		WITH(g1, counts_of_threads_are_bounded),
		WITH(g1, missing_pages_are_noticed),
		WITH(g1, without_the_file_nothing_is_known),
		WITH(g1, a_file_that_is_no_jvm_makes_no_heap),
		WITH(g1, tables_without_end_are_bounded),
		WITH(g1, a_jvm_that_was_not_started_is_no_heap),
		WITH(serial, the_heap_of_a_running_process_is_an_estimate),
		WITH(g1, walk_heap_keeps_the_heap_of_the_jvm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
