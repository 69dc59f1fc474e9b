/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/similar.h"

#include <string.h>

#include "../support/unit.h"

static void each_error_has_its_cost(void **state)
{
	static const struct {
		const char *word, *name;
		unsigned int distance;
	} rows[] = {
		{ "heap", "heap", 0 },	 { "HEAP", "heap", 0 },	  { "haep", "heap", 0 },
		{ "hep", "heap", 1 },	 { "heep", "heap", 2 },	  { "heaap", "heap", 3 },
		{ "", "map", 3 },	 { "map", "", 9 },	  { "txet", "text", 0 },
		{ "cuont", "count", 0 }, { "cuomt", "count", 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(similar_distance(rows[i].word, rows[i].name) ==
				   rows[i].distance,
			   rows[i].word);
}

/* The hint for a word if these are the known names. */
static void assert_hint(const char *word, const char *expected)
{
	static const char *const names[] = { "map",   "heap",	"leaks",  "explain",
					     "count", "record", "replay", "no-stop" };
	struct strbuf hint = STRBUF_INIT;
	struct similar similar = { .word = word };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		similar_add(&similar, names[i]);
	similar_add_hint(&similar, "--", &hint);
	assert_string_equal(strbuf_text(&hint), expected);
	strbuf_release(&hint);
}

static void the_nearest_names_are_listed(void **state)
{
	(void)state;
	assert_hint("heep", "; did you mean '--heap'?");
	assert_hint("leek", "; did you mean '--leaks'?");
	assert_hint("re", "; did you mean '--record' or '--replay'?");
	assert_hint("recrod", "; did you mean '--record'?");
	assert_hint("nostop", "; did you mean '--no-stop'?");
}

static void a_word_unlike_all_names_has_no_hint(void **state)
{
	char long_word[4000];

	(void)state;
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_hint("", "");
	assert_hint("r", "");
	assert_hint("100", "");
	assert_hint("xyz", "");
	assert_hint("extra", "");
	assert_hint(long_word, "");
}

static void at_most_five_different_names_are_listed(void **state)
{
	static const char *const names[] = { "ab1", "ab2", "ab3", "ab4",
					     "ab5", "ab6", "ab7" };
	struct similar similar = { .word = "ab" };

	(void)state;
	for (size_t i = 0; i < 10; i++)
		similar_add(&similar, names[0]);
	assert_int_equal(similar.count, 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		similar_add(&similar, names[i]);
	assert_int_equal(similar.count, SIMILAR_NAMES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_has_its_cost),
		cmocka_unit_test(the_nearest_names_are_listed),
		cmocka_unit_test(a_word_unlike_all_names_has_no_hint),
		cmocka_unit_test(at_most_five_different_names_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
