/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/unwind/row.h"

#include "../../support/unit.h"

#define LOOKUP UINT64_C(0x7f0012345678)

static struct unwind_row rows[UNWIND_ROW_COUNT] __attribute__((aligned(4096)));

/*
 * A module without tables. It may call unwind_forget() during a lookup, as if another
 * thread had unmapped it meanwhile.
 */
struct code {
	struct unwind_space *forgets;
	bool is_loader;
	int find_count;
};

static bool find(void *context, uint64_t pc, struct unwind_module *ret)
{
	struct code *code = context;

	*ret = (struct unwind_module){
		.start = pc,
		.end = pc + 1,
		.is_loader = code->is_loader,
	};
	code->find_count++;
	if (code->forgets)
		unwind_forget(code->forgets);
	return true;
}

static void a_row_is_cached_until_code_is_forgotten(void **state)
{
	struct code code = { NULL, true, 0 };
	struct unwind_space space = { .find = find, .context = &code, .rows = rows };

	(void)state;
	unwind_forget(&space);
	assert_int_equal(row_kind(row_at(&space, LOOKUP)), ROW_END);
	assert_int_equal(row_kind(row_at(&space, LOOKUP)), ROW_END);
	assert_int_equal(code.find_count, 1);
	code.is_loader = false;
	unwind_forget(&space);
	assert_int_equal(row_kind(row_at(&space, LOOKUP)), ROW_CUT);
}

static void a_row_is_not_cached_if_code_is_forgotten_during_the_lookup(void **state)
{
	struct code code = { NULL, true, 0 };
	struct unwind_space space = { .find = find, .context = &code, .rows = rows };

	(void)state;
	unwind_forget(&space);
	code.forgets = &space;
	assert_int_equal(row_kind(row_at(&space, LOOKUP)), ROW_END);
	code = (struct code){ NULL, false, 0 };
	assert_int_equal(row_kind(row_at(&space, LOOKUP)), ROW_CUT);
	assert_int_equal(code.find_count, 1);
}

/*
 * Look up more addresses than fit into one line of the cache. Each must get its own row.
 */
static void addresses_in_the_same_cache_line_are_distinguished(void **state)
{
	struct code code = { NULL, true, 0 };
	struct unwind_space space = { .find = find, .context = &code, .rows = rows };
	uint64_t first = row_index(LOOKUP) / ROW_WAYS;
	uint64_t count = 0;

	(void)state;
	unwind_forget(&space);
	for (uint64_t i = 0; i < UINT64_C(1) << 20 && count < 4 * ROW_WAYS; i++) {
		uint64_t lookup = LOOKUP + i * 1021;

		if (row_index(lookup) / ROW_WAYS != first)
			continue;
		code.is_loader = count++ % 2;
		assert_int_equal(row_kind(row_at(&space, lookup)),
				 code.is_loader ? ROW_END : ROW_CUT);
		assert_int_equal(row_kind(row_at(&space, lookup)),
				 code.is_loader ? ROW_END : ROW_CUT);
		assert_int_equal(code.find_count, count);
	}
	assert_true(count > ROW_WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_cached_until_code_is_forgotten),
		cmocka_unit_test(
			a_row_is_not_cached_if_code_is_forgotten_during_the_lookup),
		cmocka_unit_test(addresses_in_the_same_cache_line_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
