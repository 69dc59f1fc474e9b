/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../support/made_stacks.h"
#include "render/flame/colour.h"
#include "render/flame/html.h"
#include "render/flame/svg.h"
#include "render/flame/tree.h"
#include "../../support/unit.h"

static const char before_text[] =
	"main 1\nmain;parse;malloc 10\nmain;emit 5\nmain;emit;malloc 20\n"
	"start;free_all 4\n";
static const char after_text[] =
	"main 1\nmain;parse;malloc 40\nmain;emit;malloc 20\nmain;grow 7\n";

/* Return the first box whose function has this name. */
static const struct flame_box *find(const struct flame_tree *tree,
				    const struct flame_box *boxes, size_t count,
				    const char *name)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t frame = tree->stacks.nodes[boxes[i].node].frame;

		if (strcmp(tree->stacks.frames[frame].function, name) == 0)
			return &boxes[i];
	}
	fail_msg("no box '%s'", name);
	return NULL;
}

/*
 * Assert that children lie side by side in their parent, starting at its left edge. The
 * remaining width is the parent's own.
 */
static void check_boxes(const struct flame_tree *tree, const struct flame_box *boxes,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct flame_box *box = &boxes[i];
		uint64_t end = box->start;

		for (size_t c = i + 1; c < count; c++) {
			if (boxes[c].node == 0 ||
			    tree->stacks.nodes[boxes[c].node].parent != box->node)
				continue;
			assert_int_equal(boxes[c].depth, box->depth + 1);
			assert_int_equal(boxes[c].start, end);
			end += boxes[c].width;
		}
		assert_int_equal(
			end + (box->self > box->other_self ? box->self : box->other_self),
			box->start + box->width);
		assert_true(box->width >= box->total && box->width >= box->other_total);
	}
}

static void boxes_of_children_lie_inside_their_parents(void **state)
{
	struct profile p;
	struct flame_tree tree;
	struct flame_box *boxes;
	size_t count;

	(void)state;
	made_stacks(&p, before_text);
	flame_tree_init(&tree, &p, NULL);
	count = flame_tree_boxes(&tree, PROFILE_ALLOCATIONS, &boxes);
	assert_int_equal(count, 8);
	check_boxes(&tree, boxes, count);
	assert_int_equal(boxes[0].total, 40);
	assert_int_equal(boxes[0].depth, 0);
	assert_int_equal(find(&tree, boxes, count, "main")->total, 36);
	assert_int_equal(find(&tree, boxes, count, "emit")->self, 5);
	/* sorted by name: emit, then parse */
	assert_int_equal(find(&tree, boxes, count, "parse")->start, 25);
	free(boxes);
	flame_tree_release(&tree);
	profile_release(&p);
}

static void a_difference_is_wide_enough_for_both_profiles(void **state)
{
	struct profile before, after;
	struct flame_tree tree;
	struct flame_box *boxes;
	size_t count;

	(void)state;
	made_stacks(&before, before_text);
	made_stacks(&after, after_text);
	flame_tree_init(&tree, &before, &after);
	count = flame_tree_boxes(&tree, PROFILE_ALLOCATIONS, &boxes);
	check_boxes(&tree, boxes, count);
	assert_int_equal(boxes[0].total, 40);
	assert_int_equal(boxes[0].other_total, 68);
	assert_int_equal(boxes[0].width, 1 + 40 + 5 + 20 + 7 + 4);
	assert_int_equal(find(&tree, boxes, count, "grow")->total, 0);
	assert_int_equal(find(&tree, boxes, count, "grow")->other_total, 7);
	assert_int_equal(find(&tree, boxes, count, "start")->other_total, 0);
	free(boxes);
	flame_tree_release(&tree);
	profile_release(&before);
	profile_release(&after);
}

static uint32_t add(struct profile *p, uint32_t parent, const char *function,
		    const char *module, uint64_t calls)
{
	const struct profile_module of = { .path = module };
	struct profile_frame frame = { .function = function,
				       .module = PROFILE_NO_MODULE };
	uint32_t node;

	if (module)
		frame.module = profile_add_module(p, &of);
	frame.line = (uint32_t)calls; /* gives each call its own frame */
	node = profile_add_node(p, parent, profile_add_frame(p, &frame));
	p->nodes[node].values[PROFILE_ALLOCATIONS] += calls;
	p->known = 1U << PROFILE_ALLOCATIONS;
	return node;
}

static void frames_with_the_same_name_are_merged(void **state)
{
	struct profile p;
	struct flame_tree tree;

	(void)state;
	profile_init(&p);
	add(&p, add(&p, 0, "main", "/bin/prog", 0), "f", "/lib/liba.so.1", 3);
	add(&p, add(&p, 0, "main", "/bin/prog", 1), "f", "/lib/libb.so", 4);
	add(&p, 0, NULL, "/usr/lib/libc.so.6", 5);
	flame_tree_init(&tree, &p, NULL);
	assert_int_equal(tree.stacks.node_count, 4);
	assert_int_equal(tree.stacks.nodes[1].values[PROFILE_ALLOCATIONS], 1);
	assert_int_equal(tree.stacks.nodes[2].values[PROFILE_ALLOCATIONS], 7);
	assert_int_equal(tree.names[0].kind, FLAME_PROGRAM);
	assert_int_equal(tree.names[1].kind, FLAME_LIBRARY);
	assert_string_equal(tree.stacks.frames[2].function, "libc.so.6+0x0");
	assert_int_equal(tree.names[2].kind, FLAME_NAMELESS);
	flame_tree_release(&tree);
	profile_release(&p);
}

static void overflowing_sums_saturate(void **state)
{
	struct profile p;
	struct flame_tree tree;
	struct flame_box *boxes;
	size_t count;

	(void)state;
	profile_init(&p);
	add(&p, 0, "a", NULL, UINT64_MAX - 1);
	add(&p, 0, "b", NULL, UINT64_MAX - 1);
	flame_tree_init(&tree, &p, NULL);
	count = flame_tree_boxes(&tree, PROFILE_ALLOCATIONS, &boxes);
	assert_int_equal(count, 3);
	assert_true(boxes[0].total == UINT64_MAX);
	assert_true(boxes[2].start == UINT64_MAX - 1);
	free(boxes);
	flame_tree_release(&tree);
	profile_release(&p);
}

static size_t count_of(const char *text, const char *wanted)
{
	size_t count = 0;

	for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted))
		count++;
	return count;
}

/* A hostile function name that tries to break out of the markup it is printed in. */
static const char hostile[] =
	"</script><img src=x onerror=alert(1)>]]>\"'`&amp;<!--\x1b[31m\xff\xef\xbf\xbf";

static void hostile_names_are_escaped(void **state)
{
	struct profile p;
	struct strbuf svg = STRBUF_INIT, html = STRBUF_INIT;
	const struct flame_page page = { .title = hostile,
					 .metric = PROFILE_ALLOCATIONS };

	(void)state;
	profile_init(&p);
	add(&p, add(&p, 0, hostile, hostile, 1), "\n", NULL, 2);
	p.command = hostile;
	flame_svg_add(&svg, &p, PROFILE_ALLOCATIONS, hostile);
	flame_html_add(&html, &p, &page);
	assert_null(strstr(svg.text, "<img"));
	assert_null(strstr(html.text, "<img"));
	assert_null(strpbrk(svg.text, "\x1b\xff"));
	assert_null(strpbrk(html.text, "\x1b\xff"));
	assert_null(strstr(svg.text, "\xef\xbf\xbf"));
	assert_int_equal(count_of(svg.text, "]]>"), 2);
	assert_int_equal(count_of(svg.text, "</script"), 1);
	assert_int_equal(count_of(html.text, "</script"), 2);
	assert_int_equal(count_of(html.text, "<!--"), 0);
	assert_non_null(strstr(svg.text, "&lt;/script&gt;&lt;img"));
	assert_non_null(strstr(svg.text, "<title>\\x0a\n2 allocations"));
	assert_non_null(strstr(html.text, "\"\\u003c/script\\u003e\\u003cimg"));
	strbuf_release(&svg);
	strbuf_release(&html);
	profile_release(&p);
}

static void an_empty_profile_gives_a_picture_and_a_page(void **state)
{
	struct profile p;
	struct strbuf svg = STRBUF_INIT, html = STRBUF_INIT;
	const struct flame_page page = { .title = "none", .metric = PROFILE_BYTES };

	(void)state;
	profile_init(&p);
	p.known = 1U << PROFILE_BYTES;
	flame_svg_add(&svg, &p, PROFILE_BYTES, "none");
	flame_html_add(&html, &p, &page);
	assert_int_equal(count_of(svg.text, "<g data-x="), 1);
	assert_non_null(strstr(html.text, "\"parents\":[1],"));
	strbuf_release(&svg);
	strbuf_release(&html);
	profile_release(&p);
}

static void names_are_truncated_to_their_boxes(void **state)
{
	struct profile p;
	struct strbuf svg = STRBUF_INIT;

	(void)state;
	made_stacks(&p, "a_name_that_is_longer_than_its_box 10\nz 90\n");
	flame_svg_add(&svg, &p, PROFILE_ALLOCATIONS, "cut");
	/* 118 pixels less two of 3 hold 15 characters of 7.25 */
	assert_non_null(strstr(svg.text, ">a_name_that_i..</text>"));
	assert_non_null(strstr(
		svg.text, "<title>a_name_that_is_longer_than_its_box\n10 allocations, "
			  "10.0%; itself 10</title>"));
	strbuf_release(&svg);
	profile_release(&p);
}

static void boxes_that_are_too_narrow_are_counted(void **state)
{
	struct profile p;
	struct strbuf svg = STRBUF_INIT;

	(void)state;
	made_stacks(&p, "a 1000000\nb 1\nc 1\n");
	flame_svg_add(&svg, &p, PROFILE_ALLOCATIONS, "narrow");
	assert_int_equal(count_of(svg.text, "<g data-x="), 2);
	assert_non_null(strstr(svg.text, "(2 too narrow to show)"));
	strbuf_release(&svg);
	profile_release(&p);
}

static void an_increase_is_red_and_a_decrease_is_blue(void **state)
{
	struct flame_colour more = flame_colour_of_change(10, 20);
	struct flame_colour less = flame_colour_of_change(20, 10);
	struct flame_colour new = flame_colour_of_change(0, 1);
	struct flame_colour same = flame_colour_of_change(7, 7);

	(void)state;
	assert_true(more.red > more.blue && less.blue > less.red);
	assert_true(new.blue < more.blue);
	assert_memory_equal(&same, &flame_change_colours[FLAME_SAME], sizeof(same));
	same = flame_colour_of_change(0, 0);
	assert_memory_equal(&same, &flame_change_colours[FLAME_SAME], sizeof(same));
}

static void a_page_contains_the_rules_as_given(void **state)
{
	static const char *const rules[] = { "filter a|b", "replace ^(x)$ => <\\1>", "A",
					     "replace y =>" };
	struct transform_list list = TRANSFORM_LIST_INIT;
	struct transform_sets sets = TRANSFORM_SETS_INIT;
	struct transform_error error;
	struct strbuf html = STRBUF_INIT;
	struct flame_page page = { "rules", PROFILE_ALLOCATIONS, &list, &sets };
	struct profile p;

	(void)state;
	assert_int_equal(transform_sets_parse(&sets, NULL, "[A]\nhide malloc\n", &error),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		assert_int_equal(transform_list_parse(&list, rules[i], &error), 0);
	made_stacks(&p, before_text);
	flame_html_add(&html, &p, &page);
	assert_non_null(strstr(
		html.text, "\"rules\":[\"filter a|b\",\"replace ^(x)$ =\\u003e "
			   "\\u003c\\\\1\\u003e\",\"A\",\"replace y =\\u003e \"],\n"
			   "\"sets\":[{\"name\":\"A\",\"rules\":[\"hide malloc\"]}],"));
	strbuf_release(&html);
	transform_list_release(&list);
	transform_sets_release(&sets);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_of_children_lie_inside_their_parents),
		cmocka_unit_test(a_difference_is_wide_enough_for_both_profiles),
		cmocka_unit_test(frames_with_the_same_name_are_merged),
		cmocka_unit_test(overflowing_sums_saturate),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(an_empty_profile_gives_a_picture_and_a_page),
		cmocka_unit_test(names_are_truncated_to_their_boxes),
		cmocka_unit_test(boxes_that_are_too_narrow_are_counted),
		cmocka_unit_test(an_increase_is_red_and_a_decrease_is_blue),
		cmocka_unit_test(a_page_contains_the_rules_as_given),
	};

	return cmocka_run_group_tests_name("flame", tests, NULL, NULL);
}
