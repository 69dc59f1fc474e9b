/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "../../support/unit.h"

#define COUNT_MAX 128

/*
 * Assert the tree of processes. pairs holds pid, ppid, pid, ppid …, 0 in display order;
 * want holds a line "prefix pid" for each process. `folded` may be NULL.
 */
static void assert_folded_tree(const int *pairs, const struct process_set *folded,
			       const char *want)
{
	struct usage usages[COUNT_MAX];
	struct process_row rows[COUNT_MAX];
	const void *order[COUNT_MAX];
	struct tree_place places[COUNT_MAX];
	struct strbuf got = STRBUF_INIT;
	size_t count = 0;

	for (; pairs[2 * count]; count++) {
		usage_init(&usages[count]);
		usages[count].process.pid = pairs[2 * count];
		usages[count].process.ppid = pairs[2 * count + 1];
		rows[count] = (struct process_row){ NULL, &usages[count] };
		order[count] = &rows[count];
	}
	tree_order(order, count, places);
	if (folded)
		count = tree_fold(order, count, places, folded);
	strbuf_add_text(&got, "");
	for (size_t i = 0; i < count; i++) {
		tree_add_prefix(&got, &places[i], true);
		strbuf_addf(&got, "%d\n",
			    ((const struct process_row *)order[i])->usage->process.pid);
	}
	assert_string_equal(strbuf_text(&got), want);
	strbuf_release(&got);
}

static void assert_tree(const int *pairs, const char *want)
{
	assert_folded_tree(pairs, NULL, want);
}

static void children_are_placed_below_their_parents_in_the_given_order(void **state)
{
	static const int pairs[] = { 30, 1, 20, 1, 1, 0, 31, 30, 40, 30, 21, 20, 0 };

	(void)state;
	assert_tree(pairs, "1\n"
			   "|- 30\n"
			   "|  |- 31\n"
			   "|  `- 40\n"
			   "`- 20\n"
			   "   `- 21\n");
}

static void processes_without_a_listed_parent_are_roots(void **state)
{
	static const int pairs[] = { 5, 1, 7, 2, 6, 5, 0 };

	(void)state;
	assert_tree(pairs, "5\n`- 6\n7\n");
}

static void a_cycle_of_parents_loses_no_process(void **state)
{
	static const int pairs[] = { 5, 6, 6, 5, 7, 7, 8, 6, 0 };

	(void)state;
	assert_tree(pairs, "7\n5\n`- 6\n   `- 8\n");
}

static void a_deep_tree_is_drawn_up_to_the_maximum_depth(void **state)
{
	int pairs[2 * 100 + 1] = { 0 };
	struct strbuf want = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 100; i++) {
		int depth = i < TREE_DEPTH_MAX ? i : TREE_DEPTH_MAX - 1;

		pairs[2 * i] = i + 1;
		pairs[2 * i + 1] = i;
		for (int d = 1; d < depth; d++)
			strbuf_add_text(&want, "   ");
		strbuf_addf(&want, "%s%d\n", depth > 0 ? "`- " : "", i + 1);
	}
	assert_tree(pairs, want.text);
	strbuf_release(&want);
}

static void a_folded_process_hides_all_below_it(void **state)
{
	static const int pairs[] = { 30, 1, 20, 1, 1, 0, 31, 30, 40, 31, 21, 20, 0 };
	struct process_set folded = { NULL, 0, 0 };
	struct process p = { .pid = 30 }, other = { .pid = 20, .start_ticks = 5 };

	(void)state;
	process_set_add(&folded, &p);
	/* a process that reuses the pid of a folded one is not folded */
	process_set_add(&folded, &other);
	assert_folded_tree(pairs, &folded,
			   "1\n"
			   "|- [+2] 30\n"
			   "`- 20\n"
			   "   `- 21\n");
	p.pid = 1;
	process_set_add(&folded, &p);
	process_set_add(&folded, &p);
	assert_int_equal(folded.count, 3);
	assert_folded_tree(pairs, &folded, "[+5] 1\n");
	process_set_remove(&folded, &p);
	p.pid = 30;
	process_set_remove(&folded, &p);
	assert_folded_tree(pairs, &folded,
			   "1\n"
			   "|- 30\n"
			   "|  `- 31\n"
			   "|     `- 40\n"
			   "`- 20\n"
			   "   `- 21\n");
	process_set_release(&folded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			children_are_placed_below_their_parents_in_the_given_order),
		cmocka_unit_test(processes_without_a_listed_parent_are_roots),
		cmocka_unit_test(a_cycle_of_parents_loses_no_process),
		cmocka_unit_test(a_deep_tree_is_drawn_up_to_the_maximum_depth),
		cmocka_unit_test(a_folded_process_hides_all_below_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
