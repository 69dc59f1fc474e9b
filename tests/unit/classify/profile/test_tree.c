/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "../../support/made_stacks.h"
#include "../../support/unit.h"

static const char *name_of(const struct function_names *names, uint32_t number)
{
	return number == FUNCTION_NONE ? "-" : names->names[number];
}

/* Return the function list as lines "f self/total < caller total, caller total". */
static char *list_text(const struct profile *p, enum profile_metric metric)
{
	struct strbuf out = STRBUF_INIT;
	struct function_names names;
	struct function_list list;

	function_names_init(&names, p);
	function_list_init(&list, p, &names, metric);
	for (size_t i = 0; i < list.count; i++) {
		const struct function_sums *f = &list.functions[i];

		strbuf_addf(&out, "%s %" PRIu64 "/%" PRIu64 " <",
			    name_of(&names, f->name), f->self[metric], f->total[metric]);
		for (size_t c = 0; c < f->caller_count; c++) {
			const struct function_caller *caller =
				&list.callers[f->first_caller + c];

			strbuf_addf(&out, " %s %" PRIu64, name_of(&names, caller->caller),
				    caller->total[metric]);
		}
		strbuf_add_char(&out, '\n');
	}
	function_list_release(&list);
	function_names_release(&names);
	return strbuf_take(&out);
}

/* Return the tree with one line for each node, indented by one blank per level. */
static char *tree_text(const struct profile *p, const struct call_tree_options *options)
{
	struct strbuf out = STRBUF_INIT;
	struct function_names names;
	struct call_tree tree;
	uint32_t i = 0;

	function_names_init(&names, p);
	call_tree_init(&tree, p, &names, options);
	do {
		const struct call_node *node = &tree.nodes[i];
		uint64_t parts = node->self[options->metric];

		strbuf_add_repeat(&out, " ", node->depth);
		if (node->cut_count > 0)
			strbuf_addf(&out, "(%u)", node->cut_count);
		else
			strbuf_add_text(&out, name_of(&names, node->name));
		strbuf_addf(&out, " %" PRIu64 "/%" PRIu64 "\n",
			    node->self[options->metric], node->total[options->metric]);
		for (uint32_t c = 0; c < node->child_count; c++) {
			assert_int_equal(tree.nodes[node->first_child + c].parent, i);
			parts += tree.nodes[node->first_child + c].total[options->metric];
		}
		if (node->cut_count == 0)
			assert_int_equal(parts, node->total[options->metric]);
		i = call_tree_next(&tree, i);
	} while (i > 0);
	call_tree_release(&tree);
	function_names_release(&names);
	return strbuf_take(&out);
}

static void check_list(const char *stacks, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	struct profile p;

	made_stacks(&p, stacks);
	text = list_text(&p, PROFILE_ALLOCATIONS);
	assert_string_equal(text, expected);
	profile_release(&p);
}

static void check_tree(const char *stacks, const struct call_tree_options *options,
		       const char *expected)
{
	_cleanup_free_ char *text = NULL;
	struct profile p;

	made_stacks(&p, stacks);
	text = tree_text(&p, options);
	assert_string_equal(text, expected);
	profile_release(&p);
}

static void functions_have_self_and_total_values(void **state)
{
	(void)state;
	check_list("main;parse;new 10\nmain;parse 1\nmain;draw;new 5\nmain;draw 2\n",
		   "new 15/15 < parse 10 draw 5\n"
		   "draw 2/7 < main 7\n"
		   "parse 1/11 < main 11\n"
		   "main 0/18 < - 18\n");
}

static void recursion_counts_once_in_the_total(void **state)
{
	(void)state;
	check_list("main;f;g;f;f 4\nmain;f 1\ng;f 2\n", "f 7/7 < main 5 g 2\n"
							"g 0/6 < f 4 - 2\n"
							"main 0/5 < - 5\n");
}

static void functions_are_sorted_by_the_metric(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct profile p;

	(void)state;
	made_stacks(&p, "main;a 5 10\nmain;b 1 100\n");
	text = list_text(&p, PROFILE_BYTES);
	assert_string_equal(
		text, "b 100/100 < main 100\na 10/10 < main 10\nmain 0/110 < - 110\n");
	profile_release(&p);
}

static void frames_with_the_same_name_are_one_function(void **state)
{
	struct profile p;
	struct profile_module modules[] = { { .path = "/lib/a.so" },
					    { .path = "/lib/b.so" } };
	struct profile_frame frames[] = {
		{ .function = "f", .file = "f.c", .line = 1, .module = 0 },
		{ .function = "f", .file = "f.c", .line = 2, .module = 1 },
		{ .function = "g", .file = "g.c", .line = 2, .module = 1 },
	};
	struct function_names names;
	struct function_list list;

	(void)state;
	made_stacks(&p, "");
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		profile_add_module(&p, &modules[i]);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		uint32_t node =
			profile_add_node(&p, 0, profile_add_frame(&p, &frames[i]));

		p.nodes[node].values[PROFILE_ALLOCATIONS] = 10 - i;
	}
	function_names_init(&names, &p);
	function_list_init(&list, &p, &names, PROFILE_ALLOCATIONS);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.functions[0].self[PROFILE_ALLOCATIONS], 19);
	assert_string_equal(list.functions[0].file, "f.c");
	assert_int_equal(list.functions[0].source.line, 1);
	assert_true(list.functions[0].source.has_others);
	assert_int_equal(list.functions[1].source.line, 2);
	assert_false(list.functions[1].source.has_others);
	assert_null(list.functions[0].module);
	assert_string_equal(list.functions[1].module, "/lib/b.so");
	function_list_release(&list);
	function_names_release(&names);
	profile_release(&p);
}

static const char *const some =
	"main;parse;new 60\nmain;parse;copy;new 20\nmain;draw;new 15\n"
	"main;exit 3\nmain;log 2\n";

/* Three stacks of f at two lines, added in different orders. */
static void the_source_is_the_line_of_the_largest_stack(void **state)
{
	static const struct {
		uint32_t line, allocations;
	} calls[] = { { 7, 3 }, { 9, 8 }, { 7, 4 } };
	struct function_names names;
	struct function_list list;
	struct call_tree tree;
	struct profile p;

	(void)state;
	for (int is_inverted = 0; is_inverted < 2; is_inverted++) {
		made_stacks(&p, "");
		for (uint32_t i = 0; i < ARRAY_SIZE(calls); i++) {
			struct profile_frame caller = { .function = "g",
							.line = i + 1,
							.module = PROFILE_NO_MODULE };
			struct profile_frame f = { .function = "f",
						   .file = "f.c",
						   .line = calls[i].line,
						   .module = PROFILE_NO_MODULE };
			uint32_t node =
				profile_add_node(&p, 0, profile_add_frame(&p, &caller));

			node = profile_add_node(&p, node, profile_add_frame(&p, &f));
			p.nodes[node].values[PROFILE_ALLOCATIONS] = calls[i].allocations;
		}
		function_names_init(&names, &p);
		function_list_init(&list, &p, &names, PROFILE_ALLOCATIONS);
		assert_string_equal(name_of(&names, list.functions[0].name), "f");
		assert_int_equal(list.functions[0].source.line, 9);
		assert_true(list.functions[0].source.has_others);
		call_tree_init(&tree, &p, &names,
			       &(struct call_tree_options){ .is_inverted = is_inverted });
		/* f is node 1 in the inverted tree, and below g in the other */
		assert_int_equal(tree.nodes[is_inverted ? 1 : 2].source.line, 9);
		assert_true(tree.nodes[is_inverted ? 1 : 2].source.has_others);
		call_tree_release(&tree);
		function_list_release(&list);
		function_names_release(&names);
		profile_release(&p);
	}
}

static void functions_without_names_are_never_merged(void **state)
{
	struct profile p;
	struct profile_module module = { .path = "/usr/bin/tool" };
	struct function_names names;

	(void)state;
	made_stacks(&p, "");
	profile_add_module(&p, &module);
	for (uint64_t vaddr = 0x1000; vaddr < 0x1003; vaddr++)
		profile_add_frame(&p,
				  &(struct profile_frame){ .module = 0, .vaddr = vaddr });
	function_names_init(&names, &p);
	assert_int_equal(names.count, 3);
	assert_string_equal(names.names[0], "tool+0x1000");
	assert_string_equal(names.names[2], "tool+0x1002");
	function_names_release(&names);
	profile_release(&p);
}

static void a_tree_starts_at_the_outermost_function(void **state)
{
	(void)state;
	check_tree(some, &(struct call_tree_options){ .min = 0 },
		   "- 0/100\n"
		   " main 0/100\n"
		   "  parse 0/80\n"
		   "   new 60/60\n"
		   "   copy 0/20\n"
		   "    new 20/20\n"
		   "  draw 0/15\n"
		   "   new 15/15\n"
		   "  exit 3/3\n"
		   "  log 2/2\n");
}

static void an_inverted_tree_starts_at_the_allocating_function(void **state)
{
	(void)state;
	check_tree(some, &(struct call_tree_options){ .is_inverted = true },
		   "- 0/100\n"
		   " new 0/95\n"
		   "  parse 0/60\n"
		   "   main 60/60\n"
		   "  copy 0/20\n"
		   "   parse 0/20\n"
		   "    main 20/20\n"
		   "  draw 0/15\n"
		   "   main 15/15\n"
		   " exit 0/3\n"
		   "  main 3/3\n"
		   " log 0/2\n"
		   "  main 2/2\n");
}

static void nodes_that_are_left_out_are_summed(void **state)
{
	(void)state;
	check_tree(some, &(struct call_tree_options){ .min = 16 },
		   "- 0/100\n main 0/100\n  parse 0/80\n   new 60/60\n   copy 0/20\n"
		   "    new 20/20\n  (3) 0/20\n");
	check_tree(
		some, &(struct call_tree_options){ .top = 1 },
		"- 0/100\n main 0/100\n  parse 0/80\n   new 60/60\n   (1) 0/20\n  (3) 0/20\n");
	check_tree(
		some, &(struct call_tree_options){ .top = 1, .is_inverted = true },
		"- 0/100\n new 0/95\n  parse 0/60\n   main 60/60\n  (2) 0/35\n (2) 0/5\n");
}

static void a_tree_can_be_sorted_by_name(void **state)
{
	(void)state;
	check_tree("b;y 1\nb;x 2\na 3\n",
		   &(struct call_tree_options){ .is_by_name = true },
		   "- 0/6\n a 3/3\n b 0/3\n  x 2/2\n  y 1/1\n");
}

static void allocations_without_a_stack_count_in_the_sums(void **state)
{
	_cleanup_free_ char *down = NULL, *up = NULL;
	struct profile p;

	(void)state;
	made_stacks(&p, "main 1\n");
	p.nodes[0].values[PROFILE_ALLOCATIONS] = 4;
	down = tree_text(&p, &(struct call_tree_options){ .min = 0 });
	up = tree_text(&p, &(struct call_tree_options){ .is_inverted = true });
	assert_string_equal(down, "- 4/5\n main 1/1\n");
	assert_string_equal(up, "- 4/5\n main 1/1\n");
	profile_release(&p);
}

static void an_empty_profile_has_one_node(void **state)
{
	struct profile p;
	_cleanup_free_ char *text = NULL, *list = NULL;

	(void)state;
	profile_init(&p);
	text = tree_text(&p, &(struct call_tree_options){ .is_inverted = true });
	list = list_text(&p, PROFILE_ALLOCATIONS);
	assert_string_equal(text, "- 0/0\n");
	assert_string_equal(list, "");
	profile_release(&p);
}

/* The stack of a program that recurses without end. */
static void a_stack_of_a_million_frames_is_handled(void **state)
{
	struct profile p;
	struct profile_frame frames[] = {
		{ .function = "f", .module = PROFILE_NO_MODULE },
		{ .function = "g", .module = PROFILE_NO_MODULE }
	};
	uint32_t node = 0;
	struct function_names names;
	struct function_list list;
	struct call_tree tree;

	(void)state;
	made_stacks(&p, "");
	for (int i = 0; i < 1000000; i++)
		node = profile_add_node(&p, node, profile_add_frame(&p, &frames[i % 2]));
	p.nodes[node].values[PROFILE_ALLOCATIONS] = 3;
	function_names_init(&names, &p);
	function_list_init(&list, &p, &names, PROFILE_ALLOCATIONS);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.functions[1].total[PROFILE_ALLOCATIONS], 3);
	call_tree_init(&tree, &p, &names,
		       &(struct call_tree_options){ .is_inverted = true });
	assert_int_equal(tree.count, 1000001);
	assert_int_equal(tree.nodes[1000000].self[PROFILE_ALLOCATIONS], 3);
	call_tree_release(&tree);
	function_list_release(&list);
	function_names_release(&names);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_self_and_total_values),
		cmocka_unit_test(recursion_counts_once_in_the_total),
		cmocka_unit_test(functions_are_sorted_by_the_metric),
		cmocka_unit_test(frames_with_the_same_name_are_one_function),
		cmocka_unit_test(the_source_is_the_line_of_the_largest_stack),
		cmocka_unit_test(functions_without_names_are_never_merged),
		cmocka_unit_test(a_tree_starts_at_the_outermost_function),
		cmocka_unit_test(an_inverted_tree_starts_at_the_allocating_function),
		cmocka_unit_test(nodes_that_are_left_out_are_summed),
		cmocka_unit_test(a_tree_can_be_sorted_by_name),
		cmocka_unit_test(allocations_without_a_stack_count_in_the_sums),
		cmocka_unit_test(an_empty_profile_has_one_node),
		cmocka_unit_test(a_stack_of_a_million_frames_is_handled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
