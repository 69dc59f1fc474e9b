/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/agent_library.h"

#include <stdlib.h>
#include <string.h>

#include "../../support/unit.h"

#define LIBRARY "/x/libmemstate-agent.so"

/* Return how often name is set. *ret_value is the value of the last setting. */
static size_t find(char *const *environment, const char *name, const char **ret_value)
{
	size_t count = 0, length = strlen(name);

	for (size_t i = 0; environment[i]; i++) {
		if (strncmp(environment[i], name, length) != 0 ||
		    environment[i][length] != '=')
			continue;
		*ret_value = environment[i] + length + 1;
		count++;
	}
	return count;
}

static char **make(char *const *before)
{
	struct procfs fs = PROCFS_INIT;
	char **made;

	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	made = agent_environment(before, LIBRARY, &fs);
	procfs_release(&fs);
	return made;
}

static void the_library_is_appended_to_an_existing_ld_preload(void **state)
{
	char a[] = "A=1", preload[] = "LD_PRELOAD=/a.so:/b.so", b[] = "B=2";
	char *before[] = { a, preload, b, NULL };
	char **made = make(before);
	const char *value = NULL;

	(void)state;
	assert_int_equal(find(made, "LD_PRELOAD", &value), 1);
	assert_string_equal(value, "/a.so:/b.so:" LIBRARY);
	assert_int_equal(find(made, "A", &value), 1);
	assert_int_equal(find(made, "B", &value), 1);
	assert_string_equal(value, "2");
	assert_string_equal(before[1], "LD_PRELOAD=/a.so:/b.so");
	agent_environment_free(made);
}

static void an_empty_or_missing_ld_preload_becomes_the_library_alone(void **state)
{
	char preload[] = "LD_PRELOAD=";
	char *empty[] = { preload, NULL }, *none[] = { NULL };
	const char *value = NULL;
	char **made = make(empty);

	(void)state;
	assert_int_equal(find(made, "LD_PRELOAD", &value), 1);
	assert_string_equal(value, LIBRARY);
	agent_environment_free(made);
	made = make(none);
	assert_int_equal(find(made, "LD_PRELOAD", &value), 1);
	assert_string_equal(value, LIBRARY);
	agent_environment_free(made);
}

static void an_inherited_seccomp_filter_count_is_replaced(void **state)
{
	char filters[] = "MEMSTATE_SECCOMP_FILTERS=77";
	char *before[] = { filters, NULL };
	char **made = make(before);
	const char *value = NULL;

	(void)state;
	assert_int_equal(find(made, "MEMSTATE_SECCOMP_FILTERS", &value), 1);
	assert_string_not_equal(value, "77");
	agent_environment_free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_library_is_appended_to_an_existing_ld_preload),
		cmocka_unit_test(
			an_empty_or_missing_ld_preload_becomes_the_library_alone),
		cmocka_unit_test(an_inherited_seccomp_filter_count_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
