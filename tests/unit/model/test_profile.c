/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/profile.h"

#include <stdio.h>
#include <string.h>

#include "../support/unit.h"

static uint32_t add(struct profile *p, uint32_t parent, const char *function,
		    uint64_t calls)
{
	struct profile_frame frame = { .function = function,
				       .module = PROFILE_NO_MODULE };
	uint32_t node = profile_add_node(p, parent, profile_add_frame(p, &frame));

	p->nodes[node].values[PROFILE_ALLOCATIONS] += calls;
	return node;
}

static void equal_stacks_share_a_node(void **state)
{
	struct profile p;
	char name[] = "parse";
	uint32_t root, parse;

	(void)state;
	profile_init(&p);
	root = add(&p, 0, "main", 0);
	parse = add(&p, root, "parse", 1);
	assert_int_equal(add(&p, root, name, 2), parse);
	assert_int_not_equal(add(&p, parse, "parse", 4), parse);
	assert_int_equal(p.node_count, 4);
	assert_int_equal(p.frame_count, 2);
	assert_int_equal(p.nodes[parse].values[PROFILE_ALLOCATIONS], 3);
	profile_release(&p);
}

static void the_sum_includes_all_stacks(void **state)
{
	struct profile p;
	uint64_t sums[PROFILE_METRIC_COUNT_];
	uint32_t root, a;

	(void)state;
	profile_init(&p);
	root = add(&p, 0, "main", 1);
	a = add(&p, root, "a", 10);
	add(&p, a, "b", 100);
	add(&p, root, "c", 1000);
	profile_sum(&p, sums);
	assert_int_equal(sums[PROFILE_ALLOCATIONS], 1111);
	profile_release(&p);
}

static void many_stacks_are_found_again(void **state)
{
	struct profile p;
	uint32_t first[1000];
	char name[16];

	(void)state;
	profile_init(&p);
	for (int turn = 0; turn < 2; turn++)
		for (unsigned int i = 0; i < 1000; i++) {
			uint32_t node;

			snprintf(name, sizeof(name), "f%u", i % 37);
			node = add(&p, i ? first[i / 2] : 0, name, 1);
			if (turn == 0)
				first[i] = node;
			assert_int_equal(first[i], node);
		}
	assert_int_equal(p.frame_count, 37);
	profile_release(&p);
}

static void metrics_are_found_by_name(void **state)
{
	enum profile_metric metric = PROFILE_PEAK;

	(void)state;
	assert_int_equal(profile_metric_find("live", &metric), 0);
	assert_int_equal(metric, PROFILE_LIVE);
	assert_int_not_equal(profile_metric_find("liv", &metric), 0);
	assert_int_equal(metric, PROFILE_LIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_share_a_node),
		cmocka_unit_test(the_sum_includes_all_stacks),
		cmocka_unit_test(many_stacks_are_found_again),
		cmocka_unit_test(metrics_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
