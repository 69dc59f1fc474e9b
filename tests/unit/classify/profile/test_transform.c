/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/transform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "../../support/made_stacks.h"
#include "../../support/unit.h"

/* Apply rules in the format of a file. The built-in sets are known. */
static int transform(const char *rules, const struct profile *p, struct profile *ret)
{
	struct transform_sets sets = TRANSFORM_SETS_INIT;
	struct transform_list own = TRANSFORM_LIST_INIT, list;
	struct transform_error error = { .why = "" };
	int r;

	transform_sets_add_own(&sets);
	if (transform_sets_parse(&sets, &own, rules, &error) < 0 ||
	    transform_list_expand(&own, &sets, &list, &error) < 0)
		fail_msg("%s: %s", rules, error.why);
	r = profile_transform(p, &list, ret, &error);
	transform_list_release(&list);
	transform_list_release(&own);
	transform_sets_release(&sets);
	return r;
}

static const struct {
	const char *why, *rules, *before, *after;
} rule_rows[] = {
	{ "a filter keeps whole stacks", "filter ^parse",
	  "main;parse;new 1\nmain;draw;new 2\n", "main;parse;new 1\n" },
	{ "a filter keeps what the frame calls", "filter parse",
	  "main 4\nmain;parse 1\nmain;parse;x 2\n", "main;parse 1\nmain;parse;x 2\n" },
	{ "remove is the opposite", "remove parse",
	  "main 4\nmain;parse 1\nmain;parse;x 2\n", "main 4\n" },
	{ "each rule sees what the one before made", "replace a => b\nfilter b",
	  "a 1\nc 2\n", "b 1\n" },
	{ "in a name all matches are replaced", "replace [0-9]+ => N", "f1_22;g 1\n",
	  "fN_N;g 1\n" },
	{ "parts of the match", "replace ^(.+)<.+>::(.+)$ => \\1<>::\\2",
	  "vec<int>::add 1\nvec<char>::add 2\n", "vec<>::add 3\n" },
	{ "\\0 and a backslash", "replace b => [\\0\\\\]", "abc 1\n", "a[b\\]c 1\n" },
	{ "^ is where the name begins only", "replace ^a => b", "aaa 1\n", "baa 1\n" },
	{ "a match of nothing is none", "replace x* => -", "axb 1\n", "a-b 1\n" },
	{ "of what did not take part, nothing", "replace (a)|(b) => <\\1\\2>", "ab 1\n",
	  "<a><b> 1\n" },
	{ "an empty name takes the frame out", "replace ^std::.+ =>",
	  "main;std::f;std::g;x 1\n", "main;x 1\n" },
	{ "and gives its values to the caller", "hide ^lib",
	  "main;lib_a;lib_b 5\nmain 1\n", "main 6\n" },
	{ "a stack of which nothing is left is in no stack", "hide .", "main;f 3\n",
	  " 3\n" },
	{ "neighbours that a rule gave one name are one", "replace ^std::.+ => std",
	  "main;std::a;std::b;x 1\nmain;std::a;y;std::b 2\n",
	  "main;std;x 1\nmain;std;y;std 2\n" },
	{ "recursion is one frame where a rule says so", "replace ^(walk)$ => \\1",
	  "main;walk;walk;walk 3\nmain;walk 1\ndraw;draw 7\n",
	  "draw;draw 7\nmain;walk 4\n" },
	{ "also with a hidden frame between them", "replace ^t.*$ =>\nreplace ^w.$ => w",
	  "w1;t;w2 1\n", "w 1\n" },
	{ "one that had the name is none of them", "replace ^b$ => a", "a;b 1\n",
	  "a;a 1\n" },
	{ "from the outermost match on", "from ^run",
	  "start;main;run;f;run;g 1\nstart;init 2\n", "run;f;run;g 1\nstart;init 2\n" },
	{ "to the outermost match", "to ^run", "main;run;f;run;g 1\nmain;run 2\nmain 4\n",
	  "main 4\nmain;run 3\n" },
	{ "a cut stack has a name, too", "replace ^\\[cut\\]$ => ?", "[cut];f 1\n",
	  "?;f 1\n" },
	{ "bytes are bytes: no name is a line", "filter b$", "a\\b 1\nb c 2\n",
	  "a\\b 1\n" },
};

static void rules_change_stacks(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rule_rows); i++) {
		_cleanup_free_ char *text = NULL;
		struct profile before, after;

		made_stacks(&before, rule_rows[i].before);
		assert_row(transform(rule_rows[i].rules, &before, &after) == 0,
			   rule_rows[i].why);
		text = made_stacks_text(&after, PROFILE_ALLOCATIONS);
		if (strcmp(text, rule_rows[i].after) != 0)
			fail_msg("%s: made\n%snot\n%s", rule_rows[i].why, text,
				 rule_rows[i].after);
		profile_release(&before);
		profile_release(&after);
	}
}

static void the_set_A_makes_allocation_wrappers_one_frame(void **state)
{
	static const char *const before =
		"main;operator new(unsigned long) 1\n"
		"main;operator new[](unsigned long, std::align_val_t);malloc 1\n"
		"main;std::vector<int, std::allocator<int> >::push_back(int const&);"
		"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long);"
		"std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned long);"
		"__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*);"
		"operator new(unsigned long) 1\n"
		"main;std::__new_allocator<char>::allocate(unsigned long, void const*) 1\n"
		"rs::main;alloc::raw_vec::RawVec<T,A>::grow_amortized;alloc::raw_vec::finish_grow;"
		"<alloc::alloc::Global as core::alloc::Allocator>::allocate;__rust_alloc 1\n"
		"$main;swift_allocObject;swift_slowAlloc 1\n"
		"$main;_swift_allocObject_;swift::swift_slowAlloc(unsigned long, unsigned long) 1\n"
		"gtk_main;g_malloc0 1\n"
		"gtk_main;g_slice_alloc 1\n"
		"pymain;PyList_New;_PyObject_GC_New;_PyObject_Malloc;PyMem_RawMalloc;_PyMem_RawMalloc 1\n"
		"pymain;PyObject_Malloc;pymalloc_alloc;new_arena 1\n"
		"main;mallocate;operator newer(int) 1\n";
	static const char *const after =
		"$main;A 2\n"
		"gtk_main;A 2\n"
		"main;A 3\n"
		"main;mallocate;operator newer(int) 1\n"
		"main;std::vector<int, std::allocator<int> >::push_back(int const&);A 1\n"
		"pymain;A 1\n"
		"pymain;PyList_New;A 1\n"
		"rs::main;A 1\n";
	_cleanup_free_ char *text = NULL;
	struct profile p, q;

	(void)state;
	made_stacks(&p, before);
	assert_int_equal(transform("A", &p, &q), 0);
	text = made_stacks_text(&q, PROFILE_ALLOCATIONS);
	assert_string_equal(text, after);
	profile_release(&p);
	profile_release(&q);
}

static void the_set_short_makes_names_short(void **state)
{
	static const char *const before =
		"std::vector<int, std::allocator<int> >::push_back(int const&) 1\n"
		"std::_Hashtable<std::pair<std::string const, std::vector<std::set<int> > > >::_Node::add<a<b<c<d<e> > > > >(int, void (*)(int)) const 1\n"
		"main::{lambda(int)#1}::operator()(int) const 1\n"
		"std::ostream& std::operator<< <char, std::char_traits<char> >(std::ostream&, char) 1\n"
		"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop 1\n"
		"void f<int>(int) 1\nplain 1\n[libc.so.6] 1\noperator-> 1\n"
		"Swift.Array.append(contentsOf: Swift.Array<Swift.Int>) 1\n";
	static const char *const after =
		"<alloc::vec::Vec as core::ops::drop::Drop>::drop 1\n"
		"Swift.Array.append 1\n"
		"[libc.so.6] 1\n"
		"main::{lambda(int)#1}::operator() 1\n"
		"operator-> 1\n"
		"plain 1\n"
		"std::_Hashtable::_Node::add 1\n"
		"std::ostream& std::operator<< <char, std::char_traits > 1\n"
		"std::vector::push_back 1\n"
		"void f 1\n";
	_cleanup_free_ char *text = NULL;
	struct profile p, q;

	(void)state;
	made_stacks(&p, before);
	assert_int_equal(transform("short", &p, &q), 0);
	text = made_stacks_text(&q, PROFILE_ALLOCATIONS);
	assert_string_equal(text, after);
	profile_release(&p);
	profile_release(&q);
}

static void metrics_and_metadata_are_kept(void **state)
{
	struct profile p, q;
	uint64_t sums[PROFILE_METRIC_COUNT_];

	(void)state;
	made_stacks(&p, "main;f;g 3 300\nmain;f 1 50\nmain;h 7 70\n");
	p.by_pointer_count = 3;
	p.cut_count = 5;
	p.lost_count = 6;
	p.sample_bytes = 512;
	p.sample_count = 9;
	p.pid = 42;
	p.command = profile_string(&p, "made");
	assert_int_equal(transform("remove h\nto f", &p, &q), 0);
	profile_release(&p);
	profile_sum(&q, sums);
	assert_int_equal(sums[PROFILE_ALLOCATIONS], 4);
	assert_int_equal(sums[PROFILE_BYTES], 350);
	assert_int_equal(q.known, 1U << PROFILE_ALLOCATIONS | 1U << PROFILE_BYTES);
	assert_int_equal(q.by_pointer_count, 3);
	assert_int_equal(q.cut_count, 5);
	assert_int_equal(q.lost_count, 6);
	assert_int_equal(q.sample_count, 9);
	assert_string_equal(q.command, "made");
	profile_release(&q);
}

static void modules_are_kept(void **state)
{
	struct profile p, q;
	struct profile_module modules[] = { { .path = "/usr/bin/a" },
					    { .path = "/lib/libb.so" } };
	struct profile_frame frame = { .function = "f", .line = 7 };
	uint32_t node;

	(void)state;
	made_stacks(&p, "main 1\n");
	profile_add_module(&p, &modules[0]);
	frame.module = profile_add_module(&p, &modules[1]);
	node = profile_add_node(&p, 0, profile_add_frame(&p, &frame));
	p.nodes[node].values[PROFILE_ALLOCATIONS] = 2;
	assert_int_equal(transform("remove main", &p, &q), 0);
	profile_release(&p);
	assert_int_equal(q.node_count, 2);
	assert_string_equal(q.modules[q.frames[q.nodes[1].frame].module].path,
			    "/lib/libb.so");
	assert_int_equal(q.frames[q.nodes[1].frame].line, 7);
	profile_release(&q);
}

static void a_name_that_grows_exponentially_is_refused(void **state)
{
	struct profile p, q;
	struct strbuf rules = STRBUF_INIT;

	(void)state;
	made_stacks(&p, "abcdefgh 1\n");
	for (int i = 0; i < 30; i++)
		strbuf_add_text(&rules,
				"replace ^(.+)$ => \\1\\1\\1\\1\\1\\1\\1\\1\\1\n");
	assert_int_equal(transform(rules.text, &p, &q), -E2BIG);
	strbuf_release(&rules);
	profile_release(&p);
}

/* Each search takes time proportional to the square of the length of such a name. */
static void a_search_that_takes_too_long_is_aborted(void **state)
{
	const uint64_t limit_ns = profile_transform_limit_ns;
	struct strbuf stacks = STRBUF_INIT;
	struct profile p, q;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		strbuf_add_repeat(&stacks, "a", 4080);
		strbuf_addf(&stacks, "%d 1\n", i);
	}
	made_stacks(&p, stacks.text);
	assert_int_equal(transform("filter ^a", &p, &q), 0);
	profile_release(&q);
	profile_transform_limit_ns = 50000000;
	assert_int_equal(transform("filter (a|aa)+$", &p, &q), -ETIMEDOUT);
	assert_int_equal(transform("replace (a|aa)+$ => b", &p, &q), -ETIMEDOUT);
	profile_transform_limit_ns = limit_ns;
	strbuf_release(&stacks);
	profile_release(&p);
}

/* A backtracking matcher would need years. */
static void patterns_with_exponential_backtracking_are_fast(void **state)
{
	struct profile p, q;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_add_repeat(&text, "a", 3000);
	strbuf_add_text(&text, "! 1\n");
	made_stacks(&p, text.text);
	assert_int_equal(
		transform("remove ^(a+)+$\nremove ^(a|a|aa)+$\nremove (.*a){9}b\n", &p,
			  &q),
		0);
	assert_int_equal(q.node_count, 2);
	strbuf_release(&text);
	profile_release(&p);
	profile_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_change_stacks),
		cmocka_unit_test(the_set_A_makes_allocation_wrappers_one_frame),
		cmocka_unit_test(the_set_short_makes_names_short),
		cmocka_unit_test(metrics_and_metadata_are_kept),
		cmocka_unit_test(modules_are_kept),
		cmocka_unit_test(a_name_that_grows_exponentially_is_refused),
		cmocka_unit_test(a_search_that_takes_too_long_is_aborted),
		cmocka_unit_test(patterns_with_exponential_backtracking_are_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
