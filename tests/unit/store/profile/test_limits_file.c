/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/limits_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../support/unit.h"

static const char sample[] = "# of the parser\n"
			     "allocations <= 1234\n"
			     "\n"
			     "[parse small]   # one\n"
			     "  requested_bytes=5678 +- 2%# tight\n"
			     "peak_live_bytes <= 1.5M +- 4K\n"
			     "temporary_blocks = 12.5\n"
			     "# the end\n"
			     "\n"
			     "[other]\n";

static struct limits_file parsed(const char *text)
{
	struct strbuf why = STRBUF_INIT;
	struct limits_file file;

	if (limits_file_parse(text, strlen(text), &file, &why) < 0)
		fail_msg("%s", strbuf_text(&why));
	return file;
}

static void assert_is_text(const struct limits_file *file, const char *wanted)
{
	struct strbuf text = STRBUF_INIT;

	limits_file_format(file, &text);
	assert_string_equal(strbuf_text(&text), wanted);
	strbuf_release(&text);
}

static void limits_are_parsed_with_operator_unit_and_tolerance(void **state)
{
	struct limits_file file = parsed(sample);
	size_t begin, end;

	(void)state;
	assert_int_equal(limits_file_find(&file, "parse small", &begin, &end), 0);
	assert_int_equal(begin, 4);
	assert_int_equal(end, 9);
	assert_int_equal(file.lines[4].limit.figure, COUNTED_REQUESTED);
	assert_int_equal(file.lines[4].limit.kind, LIMIT_EQUAL);
	assert_int_equal(file.lines[4].limit.value_thousandths, 5678000);
	assert_int_equal(file.lines[4].limit.tolerance_thousandths, 2000);
	assert_true(file.lines[4].limit.is_percent);
	assert_int_equal(file.lines[5].limit.kind, LIMIT_AT_MOST);
	assert_int_equal(file.lines[5].limit.value_thousandths, UINT64_C(1572864000));
	assert_int_equal(file.lines[5].limit.tolerance_thousandths, 4096000);
	assert_false(file.lines[5].limit.is_percent);
	assert_int_equal(file.lines[6].limit.value_thousandths, 12500);
	assert_false(file.lines[7].is_limit);
	assert_int_equal(limits_file_find(&file, "other", &begin, &end), 0);
	assert_int_equal(begin, end);
	assert_int_equal(limits_file_find(&file, NULL, &begin, &end), 0);
	assert_int_equal(end, 3);
	assert_int_equal(limits_file_find(&file, "parse", &begin, &end), -ENOENT);
	assert_is_text(&file, sample);
	limits_file_release(&file);
}

static void errors_name_their_line(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "# a\nallocation <= 1\n", "2: 'allocation': unknown figure" },
		{ "malloc_calls < 1\n", "1: '< 1': expected <= or =, and a number" },
		{ "malloc_calls 1\n", "1: '1': expected <= or =, and a number" },
		{ "malloc_calls\n", "1: '': expected <= or =, and a number" },
		{ "malloc_calls <= 1K\n", "1: '1K': is not a number" },
		{ "malloc_calls <= -1\n", "1: '-1': is not a number" },
		{ "malloc_calls <=\n", "1: '': is not a number" },
		{ "malloc_calls <= 1.2345\n", "1: '1.2345': is not a number" },
		{ "live_bytes <= 1Q\n", "1: '1Q': is not a number of bytes" },
		{ "live_bytes <= 18446744073709551615\n",
		  "1: '18446744073709551615': is not a number" },
		{ "live_bytes <= 15999999T\n",
		  "1: '15999999T': is not a number of bytes" },
		{ "live_blocks <= 1 2\n", "1: '2': unexpected text" },
		{ "live_blocks <= 1 +- x\n", "1: 'x': is not a tolerance" },
		{ "live_blocks <= 1 +- 1K%\n", "1: '1K%': is not a tolerance" },
		{ "live_blocks <= 1 +- %\n", "1: '%': is not a tolerance" },
		{ "[a\n", "1: '[a': expected the name of a test" },
		{ "[a] b\n", "1: '[a] b': expected the name of a test" },
		{ "[]\n", "1: '[]': is not a valid name of a test" },
		{ "[ a]\n", "1: '[ a]': is not a valid name of a test" },
		{ "[a]\n[b]\n[a]\n", "3: 'a': this test appears twice" },
		{ "[a]\nallocations = 1\nallocation_calls <= 2\n",
		  "3: 'allocation_calls <= 2': this figure already has a limit" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf why = STRBUF_INIT;
		struct limits_file file;

		assert_int_equal(limits_file_parse(cases[i].text, strlen(cases[i].text),
						   &file, &why),
				 -EBADMSG);
		if (strncmp(strbuf_text(&why), cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("%s: %s", cases[i].text, strbuf_text(&why));
		strbuf_release(&why);
	}
}

static void one_figure_may_be_in_several_tests(void **state)
{
	struct limits_file file =
		parsed("allocations=1\n[a]\nallocations=2\n[b]\nallocations=3");

	(void)state;
	assert_int_equal(file.count, 5);
	limits_file_release(&file);
}

static void setting_a_number_keeps_the_rest_of_the_line(void **state)
{
	struct limits_file file =
		parsed("\t requested_bytes=1.5K +- 2%# tight\r\nlive_blocks <= 1");

	(void)state;
	file.lines[0].limit.value_thousandths = 123456789;
	limits_line_set(&file.lines[0]);
	assert_is_text(
		&file,
		"\t requested_bytes=123456.789 +- 2%# tight\r\nlive_blocks <= 1\n");
	file.lines[0].limit.value_thousandths = 7000;
	limits_line_set(&file.lines[0]);
	assert_is_text(&file, "\t requested_bytes=7 +- 2%# tight\r\nlive_blocks <= 1\n");
	limits_file_release(&file);
}

static void new_limits_are_added_to_the_section_of_their_test(void **state)
{
	const struct count_limit limit = { COUNTED_LIVE_BLOCKS, LIMIT_AT_MOST, 9000, 0,
					   false };
	struct limits_file file = parsed("[a]\nallocations <= 1\n\n# of b\n[b]\n");

	(void)state;
	limits_file_add(&file, "a", &limit);
	limits_file_add(&file, "b", &limit);
	limits_file_add(&file, "c", &limit);
	assert_is_text(&file, "[a]\nallocations <= 1\nlive_blocks <= 9\n\n# of b\n[b]\n"
			      "live_blocks <= 9\n\n[c]\nlive_blocks <= 9\n");
	limits_file_release(&file);
}

static void a_new_file_starts_with_an_explanation(void **state)
{
	const struct count_limit limit = { COUNTED_ALLOCATIONS, LIMIT_AT_MOST, 9500, 0,
					   false };
	struct limits_file file = LIMITS_FILE_INIT, again;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	limits_file_add(&file, "tool", &limit);
	limits_file_format(&file, &text);
	assert_int_equal(text.text[0], '#');
	again = parsed(strbuf_text(&text));
	assert_int_equal(again.lines[again.count - 1].limit.value_thousandths, 9500);
	limits_file_release(&file);
	limits_file_release(&again);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_parsed_with_operator_unit_and_tolerance),
		cmocka_unit_test(errors_name_their_line),
		cmocka_unit_test(one_figure_may_be_in_several_tests),
		cmocka_unit_test(setting_a_number_keeps_the_rest_of_the_line),
		cmocka_unit_test(new_limits_are_added_to_the_section_of_their_test),
		cmocka_unit_test(a_new_file_starts_with_an_explanation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
