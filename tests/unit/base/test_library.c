/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../support/unit.h"

#define LIBC_FUNCTIONS(X) X(strtoul) X(strcmp)

LIBRARY_DEFINE(libc, "libc.so.6", LIBC_FUNCTIONS);
LIBRARY_DEFINE(shared, "libc.so.6", LIBC_FUNCTIONS);
LIBRARY_DEFINE(absent, "libmemstate-absent.so.0", LIBC_FUNCTIONS);

static void each_function_goes_to_its_pointer(void **state)
{
	(void)state;
	assert_true(library_load(&libc_library));
	assert_int_equal(libc.strtoul("17", NULL, 10), 17);
	assert_int_equal(libc.strcmp("a", "a"), 0);
	assert_true(library_load(&libc_library));
}

static void a_library_that_is_not_installed_is_reported_each_time(void **state)
{
	(void)state;
	assert_false(library_load(&absent_library));
	assert_false(library_load(&absent_library));
	assert_null(absent.strtoul);
}

static void a_library_without_one_of_the_functions_is_not_loaded(void **state)
{
	static const char *const names[] = { "strtoul", "memstate_no_such_function" };
	static void (*functions[2])(void);
	struct library old = LIBRARY_INIT("libc.so.6", names, functions);

	(void)state;
	assert_false(library_load(&old));
	assert_null(functions[1]);
}

static void *use(void *barrier)
{
	bool is_right;

	pthread_barrier_wait(barrier);
	is_right = library_load(&shared_library) && shared.strtoul("17", NULL, 10) == 17;
	return is_right ? barrier : NULL;
}

static void threads_that_load_it_together_all_find_it_loaded(void **state)
{
	pthread_barrier_t barrier;
	pthread_t threads[8];

	(void)state;
	pthread_barrier_init(&barrier, NULL, ARRAY_SIZE(threads));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, &barrier), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		void *result;

		pthread_join(threads[i], &result);
		assert_ptr_equal(result, &barrier);
	}
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_goes_to_its_pointer),
		cmocka_unit_test(a_library_that_is_not_installed_is_reported_each_time),
		cmocka_unit_test(a_library_without_one_of_the_functions_is_not_loaded),
		cmocka_unit_test(threads_that_load_it_together_all_find_it_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
