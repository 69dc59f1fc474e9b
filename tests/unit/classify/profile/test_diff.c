/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "../../support/unit.h"

struct two {
	struct profile before, after;
	struct profile_diff_options options;
	struct profile_diff diff;
};

static void set_up(struct two *t)
{
	memset(t, 0, sizeof(*t));
	profile_init(&t->before);
	profile_init(&t->after);
	t->options.depth = 8;
}

static void tear_down(struct two *t)
{
	profile_diff_release(&t->diff);
	profile_release(&t->before);
	profile_release(&t->after);
}

/*
 * Add a stack such as "main;parse;grow", outermost first; "*" marks an inlined function.
 * Each frame gets a different line and address.
 */
static void add(struct profile *p, const char *stack, uint64_t calls)
{
	static uint32_t line;
	char *text = strdup(stack), *rest = text, *name;
	uint32_t node = 0;

	assert_non_null(text);
	while ((name = strsep(&rest, ";"))) {
		struct profile_frame frame = { .function = name,
					       .module = PROFILE_NO_MODULE,
					       .is_inlined = name[0] == '*' };

		frame.line = ++line;
		frame.vaddr = 16 * line;
		node = profile_add_node(p, node, profile_add_frame(p, &frame));
	}
	p->nodes[node].values[PROFILE_ALLOCATIONS] += calls;
	p->nodes[node].values[PROFILE_BYTES] += 100 * calls;
	free(text);
}

static void compare(struct two *t)
{
	profile_diff_make(&t->before, &t->after, &t->options, &t->diff);
}

/*
 * Compare a stack with "kind before after innermost;...;outermost";
 * "..." ends a shortened stack.
 */
static void check_stack(const struct two *t, size_t number, const char *wanted)
{
	const struct profile_diff_stack *stack = &t->diff.stacks[number];
	_cleanup_strbuf_ struct strbuf got = STRBUF_INIT;
	const char **names;
	size_t count;

	assert_true(number < t->diff.stack_count);
	strbuf_addf(&got, "%s %d %d ", profile_diff_kind_names[stack->kind],
		    (int)stack->before, (int)stack->after);
	count = profile_diff_functions(&t->diff, stack, &names);
	for (size_t i = 0; i < count; i++)
		strbuf_addf(&got, "%s%s", i > 0 ? ";" : "", names[i]);
	if (stack->has_more_callers)
		strbuf_add_text(&got, "...");
	free(names);
	assert_string_equal(got.text, wanted);
}

static void check_sum(const struct profile_diff_sum *sum, uint64_t stacks,
		      uint64_t before, uint64_t after)
{
	assert_int_equal(sum->stack_count, stacks);
	assert_int_equal(sum->before, before);
	assert_int_equal(sum->after, after);
}

static void check_that_sums_add_up(const struct two *t)
{
	struct profile_diff_sum all = { 0 };
	uint64_t before[PROFILE_METRIC_COUNT_], after[PROFILE_METRIC_COUNT_];

	for (int k = 0; k < DIFF_KIND_COUNT_; k++) {
		all.stack_count += t->diff.sums[k].stack_count;
		all.before += t->diff.sums[k].before;
		all.after += t->diff.sums[k].after;
	}
	check_sum(&t->diff.total, all.stack_count, all.before, all.after);
	profile_sum(&t->before, before);
	profile_sum(&t->after, after);
	assert_int_equal(all.before, before[t->options.metric]);
	assert_int_equal(all.after, after[t->options.metric]);
}

static void each_stack_has_one_kind_and_the_largest_change_comes_first(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	add(&t.before, "main;old", 5);
	add(&t.before, "main;parse;grow", 100);
	add(&t.before, "main;parse", 10);
	add(&t.before, "main;same", 7);
	add(&t.after, "main;same", 7);
	add(&t.after, "main;parse", 50);
	add(&t.after, "main;parse;grow", 10);
	add(&t.after, "main;new", 3);
	add(&t.after, "main;newer", 4);
	compare(&t);
	assert_int_equal(t.diff.stack_count, 5);
	check_stack(&t, 0, "only_before 5 0 old;main");
	check_stack(&t, 1, "only_after 0 4 newer;main");
	check_stack(&t, 2, "only_after 0 3 new;main");
	check_stack(&t, 3, "changed 100 10 grow;parse;main");
	check_stack(&t, 4, "changed 10 50 parse;main");
	check_sum(&t.diff.sums[DIFF_ONLY_BEFORE], 1, 5, 0);
	check_sum(&t.diff.sums[DIFF_ONLY_AFTER], 2, 0, 7);
	check_sum(&t.diff.sums[DIFF_CHANGED], 2, 110, 60);
	check_sum(&t.diff.sums[DIFF_EQUAL], 1, 7, 7);
	check_sum(&t.diff.sums[DIFF_LEFT_OUT], 0, 0, 0);
	check_that_sums_add_up(&t);
	tear_down(&t);
}

static void stacks_up_to_the_minimum_are_left_out_and_summed(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	t.options.minimum = 1000;
	add(&t.before, "main;at", 1000);
	add(&t.before, "main;above", 1001);
	add(&t.before, "main;below", 1);
	add(&t.after, "main;at", 10);
	add(&t.after, "main;above", 1000);
	add(&t.after, "main;fresh", 999);
	compare(&t);
	assert_int_equal(t.diff.stack_count, 1);
	check_stack(&t, 0, "changed 1001 1000 above;main");
	check_sum(&t.diff.sums[DIFF_LEFT_OUT], 3, 1001, 1009);
	check_sum(&t.diff.total, 4, 2002, 2009);
	check_that_sums_add_up(&t);
	/* a limit considers left-out stacks, too */
	assert_int_equal(t.diff.most_grown.after, 999);
	assert_int_equal(t.diff.most_grown.kind, DIFF_LEFT_OUT);
	tear_down(&t);
}

/*
 * The minimum applies to the sum of stacks that count as the same, not to each of them.
 */
static void stacks_match_by_their_innermost_functions(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	t.options.depth = 2;
	t.options.minimum = 10;
	add(&t.before, "main;a;parse;grow", 6);
	add(&t.before, "main;b;parse;grow", 6);
	add(&t.after, "other;parse;grow", 20);
	add(&t.after, "parse;grow", 1);
	compare(&t);
	assert_int_equal(t.diff.stack_count, 1);
	check_stack(&t, 0, "changed 12 21 grow;parse...");
	check_that_sums_add_up(&t);
	tear_down(&t);
}

static void inlined_functions_do_not_count_for_the_depth(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	t.options.depth = 2;
	add(&t.before, "main;load;store;*wrap;*grow", 6);
	add(&t.after, "main;read;store;*wrap;*grow", 6);
	compare(&t);
	assert_int_equal(t.diff.stack_count, 2);
	check_stack(&t, 0, "only_before 6 0 *grow;*wrap;store;load...");
	check_stack(&t, 1, "only_after 0 6 *grow;*wrap;store;read...");
	tear_down(&t);
}

static void with_depth_0_whole_stacks_are_compared(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	t.options.depth = 0;
	add(&t.before, "m;1;2;3;4;5;6;7;8;9", 6);
	add(&t.after, "n;1;2;3;4;5;6;7;8;9", 6);
	compare(&t);
	assert_int_equal(t.diff.stack_count, 2);
	check_stack(&t, 0, "only_before 6 0 9;8;7;6;5;4;3;2;1;m");
	check_stack(&t, 1, "only_after 0 6 9;8;7;6;5;4;3;2;1;n");
	tear_down(&t);
}

static void the_requested_metric_is_compared(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	t.options.metric = PROFILE_BYTES;
	add(&t.before, "main;a", 1);
	add(&t.after, "main;a", 2);
	compare(&t);
	check_stack(&t, 0, "changed 100 200 a;main");
	tear_down(&t);
}

static void profiles_may_be_empty_or_have_allocations_without_a_stack(void **state)
{
	struct two t;

	(void)state;
	set_up(&t);
	compare(&t);
	assert_int_equal(t.diff.stack_count, 0);
	check_sum(&t.diff.total, 0, 0, 0);
	profile_diff_release(&t.diff);
	add(&t.after, "main", 0);
	t.after.nodes[0].values[PROFILE_ALLOCATIONS] = 4;
	compare(&t);
	assert_int_equal(t.diff.stack_count, 1);
	check_stack(&t, 0, "only_after 0 4 ");
	check_that_sums_add_up(&t);
	tear_down(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_stack_has_one_kind_and_the_largest_change_comes_first),
		cmocka_unit_test(stacks_up_to_the_minimum_are_left_out_and_summed),
		cmocka_unit_test(stacks_match_by_their_innermost_functions),
		cmocka_unit_test(inlined_functions_do_not_count_for_the_depth),
		cmocka_unit_test(with_depth_0_whole_stacks_are_compared),
		cmocka_unit_test(the_requested_metric_is_compared),
		cmocka_unit_test(
			profiles_may_be_empty_or_have_allocations_without_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
