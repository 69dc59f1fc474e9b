/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/transform_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "../../support/unit.h"

static void rules_are_parsed_with_and_without_blanks(void **state)
{
	static const struct {
		const char *text;
		enum transform_kind kind;
		const char *pattern, *replacement;
	} rows[] = {
		{ "filter ^parse_", TRANSFORM_FILTER, "^parse_", NULL },
		{ "  remove\t gc \r", TRANSFORM_REMOVE, "gc", NULL },
		{ "replace a => b", TRANSFORM_REPLACE, "a", "b" },
		{ "replace a b  =>  c d ", TRANSFORM_REPLACE, "a b", "c d" },
		{ "replace std::.+ =>", TRANSFORM_REPLACE, "std::.+", "" },
		{ "replace ([a-z]+)=>([0-9]) => \\2\\\\\\1\\0", TRANSFORM_REPLACE,
		  "([a-z]+)=>([0-9])", "\\2\\\\\\1\\0" },
		{ "hide x", TRANSFORM_HIDE, "x", NULL },
		{ "from main", TRANSFORM_FROM, "main", NULL },
		{ "to \\bmalloc\\b", TRANSFORM_TO, "\\bmalloc\\b", NULL },
		{ "A", TRANSFORM_SET, "A", NULL },
		{ "my-set_2", TRANSFORM_SET, "my-set_2", NULL },
		{ "filter [^[:alnum:]_[x]{2,3}\\{\\}}(a|b)*$", TRANSFORM_FILTER,
		  "[^[:alnum:]_[x]{2,3}\\{\\}}(a|b)*$", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct transform_list list = TRANSFORM_LIST_INIT;
		struct transform_error error = { .why = "" };
		int r = transform_list_parse(&list, rows[i].text, &error);

		if (r < 0)
			fail_msg("%s: %s", rows[i].text, error.why);
		assert_row(list.count == 1, rows[i].text);
		assert_row(list.rules[0].kind == rows[i].kind, rows[i].text);
		assert_string_equal(list.rules[0].pattern, rows[i].pattern);
		if (rows[i].replacement)
			assert_string_equal(list.rules[0].text, rows[i].replacement);
		else
			assert_null(list.rules[0].text);
		transform_list_release(&list);
	}
}

static void invalid_rules_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "is not a rule" },
		{ "filtr x", "'filtr x' is not a rule" },
		{ "filter", "filter requires a regular expression" },
		{ "to  ", "to requires a regular expression" },
		{ "replace a b",
		  "replace requires a regular expression, =>, and a text" },
		{ "replace a=>b",
		  "replace requires a regular expression, =>, and a text" },
		{ "replace => b", "replace requires a regular expression" },
		{ "replace (a) => \\2", "\\2: the regular expression has only 1 ()" },
		{ "replace a => \\n", "\\\\, or begin \\0 to \\9" },
		{ "replace a => b\\", "\\\\, or begin \\0 to \\9" },
		{ "filter (a)\\1", "back-references are not supported" },
		{ "filter \\d+", "\\d is unknown" },
		{ "filter vector\\<int", "\\< is unknown: < needs no backslash" },
		{ "filter a\\", "ends in a backslash" },
		{ "filter [a", "[ without ]" },
		{ "filter []a]", "] is the first" },
		{ "filter [^]a]", "] is the first" },
		{ "filter [\\w]", "a backslash in []" },
		{ "filter [[:word:]]", "[: in []" },
		{ "filter [[.a.]]", "[. in []" },
		{ "filter (a", "( without )" },
		{ "filter a)", ") without (" },
		{ "filter operator()", "an empty ()" },
		{ "filter (?:a)", "(? is not supported" },
		{ "filter *a", "nothing to repeat before *" },
		{ "filter a|+", "nothing to repeat before +" },
		{ "filter (^*a)", "nothing to repeat before *" },
		{ "filter a+?", "? after another repetition" },
		{ "filter {{closure}}", "nothing to repeat before {" },
		{ "filter a{{", "write \\{" },
		{ "filter a{,2}", "write \\{" },
		{ "filter a{256}", "more than 255 repetitions" },
		{ "filter a{99999999999999999999}", "more than 255 repetitions" },
		{ "filter ((a{16}){16}){2}", "more than 255 repetitions" },
		{ "filter [z-a]", "range" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct transform_list list = TRANSFORM_LIST_INIT;
		struct transform_error error = { .why = "" };

		assert_row(transform_list_parse(&list, rows[i].text, &error) < 0,
			   rows[i].text);
		if (!strstr(error.why, rows[i].why))
			fail_msg("%s: '%s', and not '%s'", rows[i].text, error.why,
				 rows[i].why);
		assert_int_equal(list.count, 0);
		transform_list_release(&list);
	}
}

static void a_rule_that_is_too_long_is_refused(void **state)
{
	struct transform_list list = TRANSFORM_LIST_INIT;
	struct transform_error error;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_add_text(&text, "filter ");
	strbuf_add_repeat(&text, "a", TRANSFORM_RULE_MAX - 7);
	assert_int_equal(transform_list_parse(&list, text.text, &error), 0);
	strbuf_add_text(&text, "a");
	assert_int_not_equal(transform_list_parse(&list, text.text, &error), 0);
	strbuf_release(&text);
	transform_list_release(&list);
}

static void a_file_contains_rules_and_sets(void **state)
{
	struct transform_sets sets = TRANSFORM_SETS_INIT;
	struct transform_list own = TRANSFORM_LIST_INIT;
	struct transform_error error;
	const struct transform_set *found;

	(void)state;
	assert_int_equal(
		transform_sets_parse(&sets, &own,
				     "# mine\r\n\nremove ^gc_\n[one]\nhide a\n  [two] \n"
				     "to b\n[one]\nhide c",
				     &error),
		0);
	assert_int_equal(own.count, 1);
	assert_string_equal(own.rules[0].pattern, "^gc_");
	assert_int_equal(sets.count, 2);
	found = transform_sets_find(&sets, "one");
	assert_non_null(found);
	assert_int_equal(found->list.count, 2);
	assert_string_equal(found->list.rules[1].pattern, "c");
	assert_null(transform_sets_find(&sets, "three"));
	transform_list_release(&own);
	transform_sets_release(&sets);
}

static void errors_in_a_file_name_their_line(void **state)
{
	static const struct {
		const char *text, *why;
		unsigned int line;
	} rows[] = {
		{ "\n# x\n[a]\nfilter (", "( without", 4 },
		{ "[a]\n[]\n", "is not a set name", 2 },
		{ "[filter]", "is not a set name", 1 },
		{ "[a b]", "is not a set name", 1 },
		{ "[a", "is not a set name", 1 },
		{ "hide x\n[a]\n", "precedes the first [NAME]", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct transform_sets sets = TRANSFORM_SETS_INIT;
		struct transform_error error = { .line = 0 };

		assert_row(transform_sets_parse(&sets, NULL, rows[i].text, &error) < 0,
			   rows[i].text);
		assert_row(strstr(error.why, rows[i].why), rows[i].text);
		assert_int_equal(error.line, rows[i].line);
		transform_sets_release(&sets);
	}
}

static int expand(const char *text, struct transform_list *ret,
		  struct transform_error *error)
{
	struct transform_sets sets = TRANSFORM_SETS_INIT;
	struct transform_list own = TRANSFORM_LIST_INIT;
	int r;

	assert_int_equal(transform_sets_parse(&sets, &own, text, error), 0);
	r = transform_list_expand(&own, &sets, ret, error);
	transform_list_release(&own);
	transform_sets_release(&sets);
	return r;
}

static void sets_expand_to_their_rules_in_order(void **state)
{
	struct transform_list list;
	struct transform_error error;

	(void)state;
	assert_int_equal(
		expand("hide 1\nx\nhide 5\n[x]\nhide 2\ny\nhide 4\n[y]\nreplace 3 => 4\n",
		       &list, &error),
		0);
	assert_int_equal(list.count, 5);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.rules[i].pattern[0], '1' + (int)i);
	assert_string_equal(list.rules[2].text, "4");
	transform_list_release(&list);
}

static void a_set_that_contains_itself_is_refused(void **state)
{
	struct transform_list list;
	struct transform_error error;

	(void)state;
	assert_int_not_equal(expand("x\n[x]\ny\n[y]\nx\n", &list, &error), 0);
	assert_non_null(strstr(error.why, "contains itself"));
	assert_int_not_equal(expand("x\n[x]\nz\n", &list, &error), 0);
	assert_non_null(strstr(error.why, "unknown set 'z'"));
}

/*
 * Each set uses the next one twice, so the last set, which is empty, is used 2^30 times.
 */
static void nested_sets_are_expanded_quickly(void **state)
{
	struct transform_list list;
	struct transform_error error;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_add_text(&text, "s0\n");
	for (int i = 0; i < 30; i++)
		strbuf_addf(&text, "[s%d]\ns%d\ns%d\n", i, i + 1, i + 1);
	strbuf_add_text(&text, "[s30]\n");
	assert_int_not_equal(expand(text.text, &list, &error), 0);
	assert_non_null(strstr(error.why, "more than 1000 rules"));
	strbuf_release(&text);
}

static void built_in_sets_can_be_extended(void **state)
{
	struct transform_sets sets = TRANSFORM_SETS_INIT;
	struct transform_error error;
	size_t before;

	(void)state;
	transform_sets_add_own(&sets);
	assert_non_null(transform_sets_find(&sets, "A"));
	before = transform_sets_find(&sets, "A")->list.count;
	assert_true(before > 5);
	assert_int_equal(transform_sets_parse(&sets, NULL,
					      "[A]\nreplace ^xmalloc$ => A\n", &error),
			 0);
	assert_int_equal(transform_sets_find(&sets, "A")->list.count, before + 1);
	transform_sets_release(&sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_parsed_with_and_without_blanks),
		cmocka_unit_test(invalid_rules_are_refused_with_a_reason),
		cmocka_unit_test(a_rule_that_is_too_long_is_refused),
		cmocka_unit_test(a_file_contains_rules_and_sets),
		cmocka_unit_test(errors_in_a_file_name_their_line),
		cmocka_unit_test(sets_expand_to_their_rules_in_order),
		cmocka_unit_test(a_set_that_contains_itself_is_refused),
		cmocka_unit_test(nested_sets_are_expanded_quickly),
		cmocka_unit_test(built_in_sets_can_be_extended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
