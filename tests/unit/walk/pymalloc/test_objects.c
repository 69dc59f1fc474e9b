/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects in made-up arenas of Python: counted by type, and never taken for others. */
#include "config.h"

#include "walk/pymalloc/objects.h"

#include <string.h>

#include "../../support/pymalloc_image.h"
#include "../../support/unit.h"

static struct pymalloc_image h;
static struct heap heap;
static struct heap_objects objects;

static void count(void)
{
	heap_objects_release(&objects);
	heap_release(&heap);
	pymalloc_image_walk(&h, &heap);
	pymalloc_count_objects(&heap, &h.blocks, NULL, &objects);
}

static int begin(void **state)
{
	(void)state;
	pymalloc_image_init(&h, 16384, 32);
	pymalloc_image_add_objects(&h);
	heap_init(&heap);
	memset(&objects, 0, sizeof(objects));
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_objects_release(&objects);
	heap_release(&heap);
	pymalloc_image_release(&h);
	return 0;
}

static uint64_t count_of(const char *name)
{
	for (size_t i = 0; i < objects.type_count; i++)
		if (strcmp(objects.types[i].name, name) == 0)
			return objects.types[i].live.count;
	return 0;
}

static void check_counts(uint64_t things, uint64_t plains)
{
	assert_int_equal(count_of("Thing"), things);
	assert_int_equal(count_of("plain"), plains);
	assert_int_equal(objects.other.count, h.live.count - things - plains);
	assert_int_equal(objects.other.bytes, h.live.bytes - (things + plains) * 64);
}

static void objects_are_counted_by_type(void **state)
{
	(void)state;
	count();
	assert_null(objects.problem);
	assert_int_equal(objects.type_count, 2);
	check_counts(PYMALLOC_IMAGE_THINGS, PYMALLOC_IMAGE_PLAINS);
	assert_string_equal(objects.types[0].name, "Thing");
}

static void a_type_must_be_sound(void **state)
{
	const struct {
		const char *what;
		uint64_t offset, value;
	} rows[] = {
		{ "not ready", 168, 1 << 14 },
		{ "objects are smaller than their head", 32, 8 },
		{ "objects are larger than their blocks", 32, 500 },
		{ "items of a gigabyte", 40, 1 << 30 },
		{ "no name", 24, 0 },
		{ "a name that is not text", 24, h.array_addr + 0x500 },
		{ "a type that is not a type", 8, h.array_addr + 0x700 },
		{ "a type without memory", 8, 0x1000 },
		{ "a type that is its own type, but not named so", 8,
		  PYMALLOC_IMAGE_THING(&h) },
		{ "objects without the collector's head", 168, 1 << 12 },
		{ "objects with two more words", 168, 1 << 12 | 1 << 14 | 1 << 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t addr = PYMALLOC_IMAGE_THING(&h) + rows[i].offset;
		uint64_t before = pymalloc_image_read(&h, addr);

		pymalloc_image_write(&h, addr, rows[i].value);
		count();
		if (count_of("Thing") != 0)
			fail_msg("%s: counted", rows[i].what);
		check_counts(0, PYMALLOC_IMAGE_PLAINS);
		pymalloc_image_write(&h, addr, before);
	}
	count();
	check_counts(PYMALLOC_IMAGE_THINGS, PYMALLOC_IMAGE_PLAINS);
}

static void an_object_must_have_references(void **state)
{
	uint64_t first = h.full_addr + PYMALLOC_HEAD_BYTES + 16;

	(void)state;
	pymalloc_image_write(&h, first, 0);
	count();
	check_counts(PYMALLOC_IMAGE_THINGS - 1, PYMALLOC_IMAGE_PLAINS);
	pymalloc_image_write(&h, first, h.array_addr);
	count();
	check_counts(PYMALLOC_IMAGE_THINGS - 1, PYMALLOC_IMAGE_PLAINS);
}

static void types_of_the_same_name_are_one_row(void **state)
{
	(void)state;
	pymalloc_image_write(&h, PYMALLOC_IMAGE_PLAIN(&h) + 24,
			     pymalloc_image_read(&h, PYMALLOC_IMAGE_THING(&h) + 24));
	count();
	assert_int_equal(objects.type_count, 1);
	assert_int_equal(count_of("Thing"),
			 PYMALLOC_IMAGE_THINGS + PYMALLOC_IMAGE_PLAINS);
}

static void blocks_that_keep_nearly_empty_arenas_are_listed(void **state)
{
	uint64_t blocks = 0;

	(void)state;
	count();
	/* the first arena has 2 full pools of 64, the second has one */
	assert_int_equal(objects.empty.count, heap.empty_range_count);
	assert_int_equal(objects.empty.count, 2);
	for (size_t i = 0; i < objects.pin_count; i++) {
		const struct heap_object_pin *pin = &objects.pins[i];

		blocks += pin->block_count;
		assert_int_equal(pin->arena_count, 1);
		if (pin->type == HEAP_OBJECT_OTHER)
			continue;
		assert_int_equal(pin->size_bytes, 64);
		assert_int_equal(pin->block_count, objects.types[pin->type].live.count);
	}
	assert_int_equal(blocks, h.live.count);
}

static void sizes_of_the_collector_head_are_found(void **state)
{
	static const uint64_t sizes[] = { 24, 32 };

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		end(NULL);
		begin(NULL);
		for (uint64_t i = 0, block = h.full_addr + PYMALLOC_HEAD_BYTES;
		     i < PYMALLOC_IMAGE_THINGS; i++, block += 64) {
			pymalloc_image_write(&h, block + 16, 0);
			pymalloc_image_write(&h, block + 24, 0);
			pymalloc_image_write(&h, block + sizes[s], 1);
			pymalloc_image_write(&h, block + sizes[s] + 8,
					     PYMALLOC_IMAGE_THING(&h));
		}
		count();
		check_counts(PYMALLOC_IMAGE_THINGS, PYMALLOC_IMAGE_PLAINS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_are_counted_by_type, begin, end),
		cmocka_unit_test_setup_teardown(a_type_must_be_sound, begin, end),
		cmocka_unit_test_setup_teardown(an_object_must_have_references, begin,
						end),
		cmocka_unit_test_setup_teardown(types_of_the_same_name_are_one_row, begin,
						end),
		cmocka_unit_test_setup_teardown(
			blocks_that_keep_nearly_empty_arenas_are_listed, begin, end),
		cmocka_unit_test_setup_teardown(sizes_of_the_collector_head_are_found,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
