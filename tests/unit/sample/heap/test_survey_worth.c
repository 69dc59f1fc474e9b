/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a survey is worthwhile, by the mappings, by the use, and after useless surveys. */
#include "config.h"

#include "sample/heap/survey.h"

#include <stdint.h>

#include "base/units.h"
#include "../../support/unit.h"

static void surveys_depend_on_the_use_and_on_earlier_ones(void **state)
{
	struct heap_reader reader;
	struct mapping memory = { .start_addr = 4096,
				  .end_addr = 4096 + (UINT64_C(4) << 20),
				  .flags = MAPPING_READ | MAPPING_WRITE,
				  .name = "" };
	struct mapping malloc_library = { .flags = MAPPING_EXEC,
					  .inode = 7,
					  .name = "/lib/libjemalloc.so.2",
					  .name_length = 21 };
	struct mapping items[] = { memory, malloc_library };
	const struct mapping_list glibc = { items, 1, 0 }, jemalloc = { items, 2, 0 };

	(void)state;
	heap_reader_init(&reader, NULL, NULL, NS_PER_S);
	assert_false(heap_survey_is_promising(&reader, 1, &glibc));
	reader.use = HEAP_USE_DETAIL;
	assert_true(heap_survey_is_promising(&reader, 1, &glibc));
	assert_false(heap_survey_is_promising(&reader, 1, &jemalloc));
	reader.use = HEAP_USE_FIGURES;
	assert_true(heap_survey_is_promising(&reader, 1, &glibc));
	assert_true(heap_survey_is_promising(&reader, 1, &jemalloc));
	heap_survey_give_up(&reader, 1);
	heap_survey_give_up(&reader, 2);
	assert_false(heap_survey_is_promising(&reader, 1, &glibc));
	assert_false(heap_survey_is_promising(&reader, 2, &glibc));
	assert_true(heap_survey_is_promising(&reader, 3, &glibc));
	for (int i = 1; i < FUTILE_PIDS; i++)
		heap_survey_give_up(&reader, 10 + i);
	assert_true(heap_survey_is_promising(&reader, 1, &glibc));
	assert_false(heap_survey_is_promising(&reader, 2, &glibc));
	heap_reader_release(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(surveys_depend_on_the_use_and_on_earlier_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
