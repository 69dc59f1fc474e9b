/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/unwind/cfi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../support/unit.h"

#define PAGE_BYTES 4096
#define CODE_AT 512 /* offset of a 64-byte function from the module's start */
#define CODE_BYTES 64
#define ROUNDS 100000

/*
 * Unwind tables as compilers make them, at the end of a module.
 * The tests damage their fields.
 */
static const uint8_t tables[] = {
	/* .eh_frame_hdr: one function */
	1,
	0x1b,
	0x03,
	0x3b,
	0,
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	44,
	0,
	0,
	0,
	/* CIE, at 20: "zR", rsp + 8, the return address at the CFA - 8 */
	20,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	'z',
	'R',
	0,
	1,
	0x78,
	16,
	1,
	0x1b,
	0x0c,
	7,
	8,
	0x90,
	1,
	0,
	0,
	/* FDE, at 44: after 1 byte the CFA is rsp + 16, and rbp is at the CFA - 16 */
	20,
	0,
	0,
	0,
	28,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	CODE_BYTES,
	0,
	0,
	0,
	0,
	0x41,
	0x0e,
	16,
	0x86,
	2,
	0,
	0,
};
enum {
	COUNT_AT = 8,
	FIRST_AT = 12,
	FDE_AT = 16,
	CIE_LENGTH_AT = 20,
	LENGTH_AT = 44,
	BACK_AT = 48,
	START_AT = 52,
};

static uint8_t *start; /* start of a page between two inaccessible ones */

static void put(size_t at, uint32_t value)
{
	memcpy(start + PAGE_BYTES - sizeof(tables) + at, &value, sizeof(value));
}

static int make(void **state)
{
	uint8_t *p =
		mmap(NULL, 3 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	start = p + PAGE_BYTES;
	return p == MAP_FAILED ? -1 : mprotect(start, PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static int unmake(void **state)
{
	(void)state;
	return munmap(start - PAGE_BYTES, 3 * PAGE_BYTES);
}

static struct unwind_module fill(void)
{
	size_t at = PAGE_BYTES - sizeof(tables);

	memcpy(start + at, tables, sizeof(tables));
	put(FIRST_AT, (uint32_t)CODE_AT - (uint32_t)at);
	put(START_AT, (uint32_t)CODE_AT - (uint32_t)at - START_AT);
	return (struct unwind_module){
		.start = (uintptr_t)start,
		.end = (uintptr_t)start + PAGE_BYTES,
		.tables_addr = (uintptr_t)start + at,
	};
}

static bool find(const struct unwind_module *module, uint64_t offset,
		 struct unwind_rules *ret)
{
	return unwind_rules_find(module, module->start + CODE_AT + offset, ret);
}

static void the_rules_at_an_address_are_found(void **state)
{
	struct unwind_module module = fill();
	struct unwind_rules rules;

	(void)state;
	assert_true(find(&module, 0, &rules));
	assert_int_equal(rules.cfa.value, 8);
	assert_int_equal(rules.rbp.kind, RULE_SAME);
	assert_true(find(&module, CODE_BYTES - 1, &rules));
	assert_int_equal(rules.cfa.value, 16);
	assert_int_equal(rules.rbp.kind, RULE_OFFSET);
	assert_int_equal(rules.rbp.value, -16);
	assert_int_equal(rules.rip.value, -8);
	assert_false(find(&module, CODE_BYTES, &rules));
	assert_false(unwind_rules_find(&module, module.start, &rules));
}

static void tables_that_point_outside_the_module_are_not_followed(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} spoiled[] = {
		{ COUNT_AT, 2000 },
		{ COUNT_AT, UINT32_MAX },
		{ FDE_AT, 8192 },
		{ FDE_AT, (uint32_t)-8192 },
		{ FDE_AT, sizeof(tables) - 2 },
		{ LENGTH_AT, 21 },
		{ LENGTH_AT, 0x10000 },
		{ LENGTH_AT, 0xffffffef },
		{ LENGTH_AT, UINT32_MAX },
		{ BACK_AT, 0x10000 },
		{ BACK_AT, (uint32_t)-8192 },
		{ CIE_LENGTH_AT, 0x10000 },
	};
	struct unwind_rules rules;

	(void)state;
	for (size_t i = 0; i < sizeof(spoiled) / sizeof(spoiled[0]); i++) {
		struct unwind_module module = fill();

		put(spoiled[i].at, spoiled[i].value);
		assert_false(find(&module, 8, &rules));
	}
}

static void arbitrary_tables_do_no_harm(void **state)
{
	struct unwind_rules rules;
	unsigned int seed = 1;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct unwind_module module = fill();

		for (int k = rand_r(&seed) % 4; k >= 0; k--)
			start[PAGE_BYTES - sizeof(tables) +
			      (size_t)rand_r(&seed) % sizeof(tables)] =
				(uint8_t)rand_r(&seed);
		(void)find(&module, (uint64_t)rand_r(&seed) % CODE_BYTES, &rules);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_rules_at_an_address_are_found, make,
						unmake),
		cmocka_unit_test_setup_teardown(
			tables_that_point_outside_the_module_are_not_followed, make,
			unmake),
		cmocka_unit_test_setup_teardown(arbitrary_tables_do_no_harm, make,
						unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
