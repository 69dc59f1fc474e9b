/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings that contain the static data of programs and libraries. */
#include "config.h"

#include "walk/blocks/data_area.h"

#include "../../support/made_memory.h"
#include "../../support/unit.h"

static void an_archive_of_classes_is_not_a_program(void **state)
{
	struct made_memory m;
	struct data_area area;
	size_t index = 0;

	(void)state;
	made_memory_init(&m, IMAGE_PAGE_BYTES);
	made_memory_add_mapping(&m, 0x10000, 0x2000, "/lib/server/classes.jsa");
	made_memory_add_mapping(&m, 0x20000, 0x2000, "/lib/server/libjvm.so");
	made_memory_add_mapping(&m, 0x22000, 0x1000, "");
	made_memory_add_mapping(&m, 0x30000, 0x1000, "");
	made_memory_add_mapping(&m, 0x40000, 0x1000, "/jsa");
	const struct walk_input input = { .image = &m.image, .mappings = &m.mappings };

	assert_true(data_area_next(&input, &index, &area));
	assert_int_equal(area.start_addr, 0x20000);
	assert_int_equal(area.end_addr, 0x23000);
	assert_true(data_area_next(&input, &index, &area));
	assert_int_equal(area.start_addr, 0x40000);
	assert_false(data_area_next(&input, &index, &area));
	made_memory_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_archive_of_classes_is_not_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
