/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include "base/units.h"
#include "classify/profile/count_conclusion.h"

#define UNKNOWN BYTES_UNKNOWN

static const struct {
	uint64_t calls, requested, live_blocks, live_bytes;
	struct count_origin origin;
	const char *text, *next;
} rows[] = {
	{ 233,
	  KIB(77),
	  163,
	  KIB(34),
	  { " -- ls", 0, true, false },
	  "233 allocations requested 77.0K. 34.0K in 163 blocks was not freed.",
	  "memstate count --live -- ls" },
	{ 1,
	  77,
	  1,
	  88,
	  { " -- ls", 0, true, false },
	  "1 allocation requested 77 bytes. 88 bytes in 1 block were not freed.",
	  "memstate count --live -- ls" },
	{ 5,
	  KIB(1),
	  0,
	  0,
	  { " --preload jemalloc -- ls", 0, true, false },
	  "5 allocations requested 1.0K. All blocks were freed.",
	  "memstate count --stacks --preload jemalloc -- ls" },
	/* the report of the stacks follows */
	{ 5,
	  KIB(1),
	  0,
	  0,
	  { " -- ls", 0, true, true },
	  "5 allocations requested 1.0K. All blocks were freed.",
	  NULL },
	{ 5,
	  KIB(1),
	  UNKNOWN,
	  UNKNOWN,
	  { NULL, 42, false, false },
	  "5 allocations requested 1.0K.",
	  "memstate count -p 42 --sample 1B -i 10s -n 1" },
	{ 5,
	  UNKNOWN,
	  2,
	  KIB(1),
	  { NULL, 42, false, false },
	  "5 allocations. 1.0K in 2 blocks is not freed so far.",
	  "memstate count -p 42 --sample 1B -i 10s -n 1" },
	{ 99999,
	  KIB(1),
	  UNKNOWN,
	  UNKNOWN,
	  { NULL, 42, false, false },
	  "99999 allocations requested 1.0K.",
	  "memstate count -p 42 --sample 1B -i 10s -n 1" },
	/* enough for samples */
	{ 100000,
	  KIB(1),
	  UNKNOWN,
	  UNKNOWN,
	  { NULL, 42, false, false },
	  "100000 allocations requested 1.0K.",
	  "memstate count -p 42 --stacks -i 10s -n 1" },
	{ 5,
	  KIB(1),
	  UNKNOWN,
	  UNKNOWN,
	  { NULL, 42, true, false },
	  "5 allocations requested 1.0K.",
	  NULL },
	{ 5,
	  KIB(1),
	  UNKNOWN,
	  UNKNOWN,
	  { NULL, 0, false, false },
	  "5 allocations requested 1.0K.",
	  NULL },
	{ 0,
	  0,
	  0,
	  0,
	  { " -- true", 0, true, false },
	  "0 allocations requested 0 bytes. All blocks were freed.",
	  NULL },
};

static void allocations_and_unfreed_bytes_decide_the_command(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct count_sums sums = { .allocation_calls = rows[i].calls,
						 .requested_bytes = rows[i].requested,
						 .live_blocks = rows[i].live_blocks,
						 .live_bytes = rows[i].live_bytes };
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

		count_conclude(&c, &sums, &rows[i].origin);
		assert_string_equal(c.text.text, rows[i].text);
		assert_string_equal(strbuf_text(&c.next),
				    rows[i].next ? rows[i].next : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_and_unfreed_bytes_decide_the_command),
	};

	return cmocka_run_group_tests_name("count_conclusion", tests, NULL, NULL);
}
