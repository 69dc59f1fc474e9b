/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/ranges.h"

#include "../../support/unit.h"

static void add(struct symbol_ranges *r, uint64_t start, uint64_t bytes,
		unsigned int rank, const char *name)
{
	symbol_ranges_add(r, &(struct symbol_range){ start, bytes, name, rank, 0 });
}

static void an_address_belongs_to_the_nearest_symbol_that_covers_it(void **state)
{
	struct symbol_ranges r = SYMBOL_RANGES_INIT;

	(void)state;
	add(&r, 300, 10, 0, "last");
	add(&r, 100, 100, 0, "outer");
	add(&r, 120, 10, 0, "inner");
	symbol_ranges_sort(&r);
	assert_null(symbol_ranges_find(&r, 99));
	assert_string_equal(symbol_ranges_find(&r, 100), "outer");
	assert_string_equal(symbol_ranges_find(&r, 120), "inner");
	assert_string_equal(symbol_ranges_find(&r, 129), "inner");
	assert_string_equal(symbol_ranges_find(&r, 130), "outer");
	assert_string_equal(symbol_ranges_find(&r, 199), "outer");
	assert_null(symbol_ranges_find(&r, 200));
	assert_string_equal(symbol_ranges_find(&r, 309), "last");
	assert_null(symbol_ranges_find(&r, 310));
	symbol_ranges_release(&r);
}

static void at_equal_addresses_the_global_and_then_the_first_symbol_wins(void **state)
{
	struct symbol_ranges r = SYMBOL_RANGES_INIT;

	(void)state;
	add(&r, 100, 10, 0, "local");
	add(&r, 100, 10, 1, "global");
	add(&r, 100, 10, 1, "alias");
	symbol_ranges_sort(&r);
	assert_string_equal(symbol_ranges_find(&r, 105), "global");
	symbol_ranges_release(&r);
}

static void a_symbol_without_a_size_ends_at_the_next_one(void **state)
{
	struct symbol_ranges r = SYMBOL_RANGES_INIT;

	(void)state;
	add(&r, 100, 0, 0, "label");
	add(&r, 200, 10, 0, "function");
	symbol_ranges_sort(&r);
	assert_string_equal(symbol_ranges_find(&r, 199), "label");
	assert_string_equal(symbol_ranges_find(&r, 205), "function");
	assert_null(symbol_ranges_find(&r, 210));
	add(&r, 1000, 0, 0, "end");
	symbol_ranges_sort(&r);
	assert_string_equal(symbol_ranges_find(&r, 1010), "end");
	assert_null(symbol_ranges_find(&r, UINT64_MAX));
	symbol_ranges_release(&r);
	symbol_ranges_sort(&r);
	assert_null(symbol_ranges_find(&r, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_belongs_to_the_nearest_symbol_that_covers_it),
		cmocka_unit_test(
			at_equal_addresses_the_global_and_then_the_first_symbol_wins),
		cmocka_unit_test(a_symbol_without_a_size_ends_at_the_next_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
