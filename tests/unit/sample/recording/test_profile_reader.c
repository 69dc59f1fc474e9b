/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/profile_reader.h"

#include <string.h>

#include "../../support/unit.h"

#define NOWHERE "/nowhere/program"

/*
 * Stacks of two programs: main (0x110) calls f (0x120), which allocates
 * through memstate's library.
 */
struct made {
	struct stack_module modules[2];
	struct stack_node nodes[6];
	struct stacks stacks;
};

static void make(struct made *made, int pid, uint64_t load_bias)
{
	char *paths[] = { (char *)NOWHERE,
			  (char *)"/usr/lib/memstate/libmemstate-count-stacks.so" };

	*made = (struct made){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		made->modules[i] = (struct stack_module){
			.path = paths[i],
			.start = load_bias + i * 0x10000,
			.end = load_bias + i * 0x10000 + 0x1000,
			.load_bias = load_bias + i * 0x10000,
			.build_id = { 1, 2 },
			.build_id_bytes = 2,
		};
	made->nodes[1] = (struct stack_node){ .pc = load_bias + 0x110 };
	made->nodes[2] = (struct stack_node){ .pc = load_bias + 0x120, .parent = 1 };
	made->nodes[3] = (struct stack_node){ .pc = load_bias + 0x10020,
					      .parent = 2,
					      .module = 1 };
	made->nodes[4] =
		(struct stack_node){ .pc = STACK_PC_CUT, .module = PROFILE_NO_MODULE };
	made->nodes[5] = (struct stack_node){ .pc = 0x7777,
					      .parent = 4,
					      .module = PROFILE_NO_MODULE };
	made->nodes[3].values[PROFILE_ALLOCATIONS] = 10;
	made->nodes[5].values[PROFILE_ALLOCATIONS] = 3;
	made->stacks = (struct stacks){
		.pid = pid,
		.known = 1 << PROFILE_ALLOCATIONS,
		.cut_count = 3,
		.lost_count = 1,
		.modules = made->modules,
		.module_count = 2,
		.nodes = made->nodes,
		.node_count = ARRAY_SIZE(made->nodes),
	};
}

static void equal_stacks_of_two_runs_of_a_program_are_merged(void **state)
{
	struct made one, other;
	struct stacks both[2];
	struct profile p;

	(void)state;
	make(&one, 30, 0x550000000000);
	make(&other, 40, 0x560000000000);
	both[0] = one.stacks;
	both[1] = other.stacks;
	profile_reader_read(both, 2, &p);
	assert_int_equal(p.pid, 0);
	assert_int_equal(p.known, 1 << PROFILE_ALLOCATIONS);
	assert_int_equal(p.module_count, 1);
	assert_string_equal(p.modules[0].path, NOWHERE);
	assert_int_equal(p.modules[0].build_id_bytes, 2);
	assert_int_equal(p.node_count, 5);
	assert_int_equal(p.cut_count, 6);
	assert_int_equal(p.lost_count, 2);
	profile_release(&p);
}

static void frames_of_the_counting_library_are_removed(void **state)
{
	char buffer[64];
	struct made made;
	struct profile p;

	(void)state;
	make(&made, 30, 0x550000000000);
	profile_reader_read(&made.stacks, 1, &p);
	assert_int_equal(p.pid, 30);
	assert_int_equal(p.node_count, 5);
	assert_int_equal(p.nodes[2].values[PROFILE_ALLOCATIONS], 10);
	/* the address of the call, not of its return */
	assert_int_equal(p.frames[p.nodes[2].frame].vaddr, 0x11f);
	assert_string_equal(profile_frame_name(&p, &p.frames[p.nodes[2].frame], buffer,
					       sizeof(buffer)),
			    "program+0x11f");
	assert_int_equal(p.frames[p.nodes[3].frame].kind, FRAME_CUT);
	assert_int_equal(p.frames[p.nodes[4].frame].vaddr, 0x7776);
	assert_int_equal(p.nodes[4].values[PROFILE_ALLOCATIONS], 3);
	profile_release(&p);
}

static void overflowing_sums_saturate(void **state)
{
	uint64_t sums[PROFILE_METRIC_COUNT_];
	struct made made;
	struct profile p;

	(void)state;
	make(&made, 30, 0x550000000000);
	made.nodes[3].values[PROFILE_BYTES] = INT64_MAX;
	made.nodes[5].values[PROFILE_BYTES] = 1;
	profile_reader_read(&made.stacks, 1, &p);
	profile_sum(&p, sums);
	assert_true(sums[PROFILE_BYTES] == INT64_MAX);
	assert_int_equal(p.lost_count, 2);
	profile_release(&p);
}

static void no_programs_give_an_empty_profile(void **state)
{
	struct profile p;

	(void)state;
	profile_reader_read(NULL, 0, &p);
	assert_int_equal(p.known, 0);
	assert_int_equal(p.node_count, 1);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_of_two_runs_of_a_program_are_merged),
		cmocka_unit_test(frames_of_the_counting_library_are_removed),
		cmocka_unit_test(overflowing_sums_saturate),
		cmocka_unit_test(no_programs_give_an_empty_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
