/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include "classify/compare/verdict_next.h"

static void the_verdict_decides_the_command(void **state)
{
	static char workload[] = "load";
	static const struct {
		const char *rule;
		char *workload;
		size_t failed_count;
		const char *next;
	} rows[] = {
		{ "too-few-runs", NULL, 0,
		  "memstate --preload 'glibc,jemalloc:a=b c' --runs 10 -- ./x" },
		{ "wide-spread", NULL, 0,
		  "memstate --preload 'glibc,jemalloc:a=b c' --runs 10 -- ./x" },
		{ "live-same", NULL, 0, "memstate count --live -- ./x" },
		{ "rss-grows", NULL, 0, "memstate count --live -- ./x" },
		{ "lower", NULL, 0, "memstate count --stacks -- ./x" },
		{ "no-difference", NULL, 0, "memstate count --stacks -- ./x" },
		/* a server does not end without its workload */
		{ "lower", workload, 0, "" },
		{ "too-few-runs", NULL, 1, "" },
		{ NULL, NULL, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct comparison comparison = { .variant_count = 2,
						       .workload = rows[i].workload };
		struct compared_variant variants[2] = { { 0 }, { 0 } };
		const struct compared compared = { &comparison, variants };
		struct verdicts verdicts = { .count = rows[i].rule ? 1 : 0 };
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

		variants[1].failed_count = rows[i].failed_count;
		verdicts.items[0].rule = rows[i].rule;
		verdicts_conclude_next(&c, &verdicts, &compared, "glibc,jemalloc:a=b c",
				       " ./x");
		assert_string_equal(strbuf_text(&c.next), rows[i].next);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_decides_the_command),
	};

	return cmocka_run_group_tests_name("verdict_next", tests, NULL, NULL);
}
