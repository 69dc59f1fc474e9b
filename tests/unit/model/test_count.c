/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/count.h"

#include <errno.h>
#include <stdio.h>

#include "../support/unit.h"

static struct count_program program(int pid, int parent_pid, unsigned int generation,
				    const char *name)
{
	struct count_program p = { .pid = pid,
				   .parent_pid = parent_pid,
				   .generation = generation };

	snprintf(p.name, sizeof(p.name), "%s", name);
	return p;
}

/*
 * Return the index of the program that pid 10's command stands for,
 * or -1 if there are several.
 */
static int find(struct count_program *programs, size_t count)
{
	const struct count_list list = { programs, count, count, 0 };
	const struct count_program *found;

	assert_int_equal(count_list_find_command(&list, 10, &found), 0);
	return found ? (int)(found - programs) : -1;
}

static void a_command_is_the_last_program_its_process_executed(void **state)
{
	struct count_program programs[] = {
		program(9, 1, 0, "other"),
		program(10, 1, 0, "env"),
		program(10, 1, 1, "tool"),
		program(11, 10, 0, "child"),
	};

	(void)state;
	assert_int_equal(find(programs, 4), 2);
}

static void the_only_child_of_a_wrapper_is_the_command(void **state)
{
	struct count_program programs[] = {
		program(10, 1, 0, "timeout"),
		program(11, 10, 0, "timeout"),
		program(11, 10, 1, "sh"),
		program(12, 11, 0, "sh"), /* a subshell that runs nothing */
		program(13, 11, 0, "tool"),
		program(14, 13, 0, "child"), /* a child of the tool */
	};

	(void)state;
	assert_int_equal(find(programs, 6), 4);
	assert_int_equal(find(programs, 4), 0);
	assert_int_equal(find(programs, 1), 0);
}

static void several_children_of_a_wrapper_are_ambiguous(void **state)
{
	struct count_program programs[] = {
		program(10, 1, 0, "sh"),
		program(11, 10, 0, "one"),
		program(12, 10, 0, "two"),
		program(13, 10, 0, "three"),
	};

	(void)state;
	assert_int_equal(find(programs, 3), -1);
	assert_int_equal(find(programs, 4), -1);
}

static void a_cycle_of_parents_terminates(void **state)
{
	struct count_program programs[] = {
		program(10, 11, 0, "sh"),   program(11, 12, 0, "sh"),
		program(12, 11, 0, "sh"),   program(13, 12, 0, "tool"),
		program(14, 14, 0, "tool"),
	};

	(void)state;
	assert_int_equal(find(programs, 5), 0);
}

static void a_process_that_was_not_counted_is_an_error(void **state)
{
	struct count_program programs[] = { program(9, 1, 0, "a"),
					    program(11, 1, 0, "b") };
	const struct count_list none = COUNT_LIST_INIT, list = { programs, 2, 2, 0 };
	const struct count_program *found = programs;

	(void)state;
	assert_int_equal(count_list_find_command(&none, 10, &found), -ENOENT);
	assert_int_equal(count_list_find_command(&list, 10, &found), -ENOENT);
	assert_ptr_equal(found, programs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_the_last_program_its_process_executed),
		cmocka_unit_test(the_only_child_of_a_wrapper_is_the_command),
		cmocka_unit_test(several_children_of_a_wrapper_are_ambiguous),
		cmocka_unit_test(a_cycle_of_parents_terminates),
		cmocka_unit_test(a_process_that_was_not_counted_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
