/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/parse.h"

#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

static void malformed_texts_are_unknown(void **state)
{
	static const char *const texts[] = { "",
					     "\n",
					     "anon",
					     "anon \n",
					     "anon 99999999999999999999999\n",
					     "anonymous 5\n",
					     "\nanon5\n" };
	struct cgroup_pressure pressure;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct cgroup_stat stat;

		memset(&stat, 0xff, sizeof(stat));
		cgroup_stat_parse(CGROUP_V2, texts[i], &stat);
		assert_true(stat.anon_bytes == BYTES_UNKNOWN);
		assert_false(cgroup_pressure_parse(texts[i], &pressure));
	}
	assert_false(cgroup_pressure_parse("some avg10= total=5\nfull avg10=1 total=6\n",
					   &pressure));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_texts_are_unknown),
	};

	return cmocka_run_group_tests_name("cgroup parse", tests, NULL, NULL);
}
