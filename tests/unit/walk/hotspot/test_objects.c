/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a made-up Java heap: counted by class, up to the first damaged one. */
#include "config.h"

#include "walk/hotspot/objects.h"

#include <string.h>

#include "../../support/hotspot_image.h"
#include "../../support/unit.h"

#define BYTES HOTSPOT_IMAGE_OBJECT_BYTES
#define THINGS (HOTSPOT_IMAGE_THINGS + HOTSPOT_IMAGE_LAST_THINGS)

static struct hotspot_image h;
static struct heap_objects objects;

static int begin(void **state)
{
	(void)state;
	hotspot_image_init(&h, HOTSPOT_G1);
	hotspot_image_add_objects(&h);
	memset(&objects, 0, sizeof(objects));
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_objects_release(&objects);
	hotspot_image_release(&h);
	return 0;
}

static void count(void)
{
	const struct walk_input input = { .image = &h.image,
					  .mappings = &h.mappings,
					  .memory = &h.memory };

	heap_objects_release(&objects);
	hotspot_count_objects(&input, &objects);
}

static uint64_t count_of(const char *name)
{
	for (size_t i = 0; i < objects.type_count; i++)
		if (strcmp(objects.types[i].name, name) == 0)
			return objects.types[i].live.count;
	return 0;
}

/* Return the bytes of all regions except the first one, whose content is unknown. */
static uint64_t other_regions(void)
{
	return h.live_bytes[HOTSPOT_SURVIVOR] + h.live_bytes[HOTSPOT_OLD] +
	       h.live_bytes[HOTSPOT_HUMONGOUS] + h.live_bytes[HOTSPOT_ARCHIVE];
}

static void objects_are_counted_by_class(void **state)
{
	(void)state;
	count();
	assert_int_equal(objects.type_count, 3);
	assert_string_equal(objects.types[0].name, "app.Thing");
	assert_int_equal(objects.types[0].live.bytes, THINGS * BYTES);
	assert_int_equal(count_of("app.Thing"), THINGS);
	assert_int_equal(count_of("[I"), HOTSPOT_IMAGE_ARRAYS);
	assert_int_equal(count_of("java.lang.Class"), 1);
	assert_int_equal(objects.unused.bytes, HOTSPOT_IMAGE_UNUSED * BYTES);
	assert_int_equal(objects.other.bytes, other_regions());
	assert_non_null(objects.problem);
}

static void a_damaged_object_ends_its_region(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
		uint64_t things, arrays;
	} rows[] = {
		{ "no class",
		  hotspot_image_field(FIELD_OBJECT_NARROW_KLASS,
				      h.things_addr + 4 * BYTES),
		  0, 4, 0 },
		{ "a class outside of the memory",
		  hotspot_image_field(FIELD_OBJECT_NARROW_KLASS, h.things_addr),
		  0xfffffff8, 0, 0 },
		{ "a class that is not aligned",
		  hotspot_image_field(FIELD_OBJECT_NARROW_KLASS, h.things_addr), 0x1004,
		  0, 0 },
		{ "an array longer than its region", h.arrays_addr + 8,
		  UINT64_C(0x7fffffff) << 32, HOTSPOT_IMAGE_THINGS, 0 },
		{ "an array of negative length", h.arrays_addr + 8,
		  UINT64_C(0xffffffff) << 32, HOTSPOT_IMAGE_THINGS, 0 },
		{ "an object that reaches into unused memory", h.mirror_addr + 24, 65,
		  HOTSPOT_IMAGE_THINGS, HOTSPOT_IMAGE_ARRAYS },
		{ "an object smaller than its class", h.mirror_addr + 24, 1,
		  HOTSPOT_IMAGE_THINGS, HOTSPOT_IMAGE_ARRAYS },
		{ "a class without a size",
		  hotspot_image_field(FIELD_KLASS_LAYOUT, h.thing_addr), 0, 0, 0 },
		{ "a class with objects of 513 bytes",
		  hotspot_image_field(FIELD_KLASS_LAYOUT, h.thing_addr), 514, 0, 0 },
		{ "a class without a name",
		  hotspot_image_field(FIELD_KLASS_NAME, h.thing_addr), 0, 0, 0 },
		{ "elements of 2^40 bytes",
		  hotspot_image_field(FIELD_KLASS_LAYOUT, h.array_klass_addr), 0xc0100a28,
		  HOTSPOT_IMAGE_THINGS, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = hotspot_image_read(&h, rows[i].addr);
		uint64_t first_region = h.live_bytes[HOTSPOT_EDEN], sum = 0;

		hotspot_image_write(&h, rows[i].addr, rows[i].value);
		count();
		if (count_of("app.Thing") != rows[i].things ||
		    count_of("[I") != rows[i].arrays)
			fail_msg("%s: %lu and %lu", rows[i].what,
				 (unsigned long)count_of("app.Thing"),
				 (unsigned long)count_of("[I"));
		for (size_t t = 0; t < objects.type_count; t++)
			sum += objects.types[t].live.bytes;
		assert_int_equal(sum + objects.other.bytes + objects.unused.bytes,
				 first_region + other_regions());
		assert_non_null(objects.problem);
		hotspot_image_write(&h, rows[i].addr, before);
	}
}

static void nothing_is_counted_without_the_format(void **state)
{
	uint64_t addr = hotspot_image_field(FIELD_MIRROR_WORDS, 0);

	(void)state;
	hotspot_image_write(&h, addr, 3);
	count();
	assert_int_equal(objects.type_count, 0);
	assert_int_equal(objects.other.bytes, 0);
	assert_non_null(objects.problem);
}

static void the_name_of_a_hidden_class_is_that_of_java(void **state)
{
	uint64_t symbol = hotspot_image_read(
		&h, hotspot_image_field(FIELD_KLASS_NAME, h.thing_addr));
	static const char name[] = "a/B$$Lambda+0x9";

	(void)state;
	hotspot_image_write(&h, hotspot_image_field(FIELD_SYMBOL_LENGTH, symbol),
			    sizeof(name) - 1);
	for (size_t i = 0; i < sizeof(name) - 1; i += 8) {
		uint64_t word = 0;

		memcpy(&word, name + i, sizeof(name) - i < 8 ? sizeof(name) - i : 8);
		hotspot_image_write(
			&h, hotspot_image_field(FIELD_SYMBOL_BODY, symbol) + i, word);
	}
	hotspot_image_write(&h, hotspot_image_field(FIELD_SYMBOL_LENGTH, symbol),
			    sizeof(name) - 1);
	count();
	assert_int_equal(count_of("a.B$$Lambda/0x9"), THINGS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_are_counted_by_class, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_object_ends_its_region, begin,
						end),
		cmocka_unit_test_setup_teardown(nothing_is_counted_without_the_format,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_name_of_a_hidden_class_is_that_of_java, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
