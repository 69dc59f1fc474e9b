/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/search.h"

#include <stdint.h>

#include "../support/unit.h"

static size_t find_above(const uint64_t *items, size_t count, uint64_t key)
{
	return SEARCH_FIRST(count, i, items[i] > key);
}

static void the_first_of_equal_items_is_found(void **state)
{
	static const uint64_t items[] = { 2, 4, 4, 4, 8, UINT64_MAX };
	size_t count = ARRAY_SIZE(items);

	(void)state;
	assert_int_equal(SEARCH_FIRST(count, i, items[i] >= 4), 1);
	assert_int_equal(find_above(items, count, 4), 4);
	assert_int_equal(find_above(items, count, 0), 0);
	assert_int_equal(find_above(items, count, 8), 5);
	assert_int_equal(find_above(items, count, UINT64_MAX), count);
	assert_int_equal(find_above(NULL, 0, 4), 0);
}

static void every_boundary_of_every_length_is_found(void **state)
{
	(void)state;
	for (size_t count = 0; count < 40; count++)
		for (size_t first = 0; first <= count; first++)
			assert_int_equal(SEARCH_FIRST(count, i, i >= first), first);
}

static void few_items_of_many_are_looked_at(void **state)
{
	size_t first = SIZE_MAX - 5, steps = 0;

	(void)state;
	assert_true(SEARCH_FIRST(SIZE_MAX, i, (steps++, i >= first)) == first);
	assert_true(steps <= 8 * sizeof(size_t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_of_equal_items_is_found),
		cmocka_unit_test(every_boundary_of_every_length_is_found),
		cmocka_unit_test(few_items_of_many_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
