/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json_write.h"

#include <string.h>

#include "../support/unit.h"
#include "base/units.h"

static void commas_separate_members_and_elements(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json j = json_begin(&out);

	(void)state;
	json_begin_object(&j, NULL);
	json_begin_array(&j, "empty");
	json_end_array(&j);
	json_begin_array(&j, "numbers");
	json_add_number(&j, NULL, 1);
	json_add_signed(&j, NULL, -2);
	json_end_array(&j);
	json_begin_object(&j, "object");
	json_add_bool(&j, "yes", true);
	json_add_bool(&j, "no", false);
	json_end_object(&j);
	json_add_null(&j, "null");
	json_end_object(&j);
	assert_string_equal(strbuf_text(&out),
			    "{\"empty\":[],\"numbers\":[1,-2],"
			    "\"object\":{\"yes\":true,\"no\":false},\"null\":null}");
}

static void a_document_may_follow_other_text(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json j;

	(void)state;
	strbuf_add_text(&out, "1,\n");
	j = json_begin(&out);
	json_begin_array(&j, NULL);
	json_add_string(&j, NULL, "{");
	json_add_string(&j, NULL, ",");
	json_end_array(&j);
	assert_string_equal(strbuf_text(&out), "1,\n[\"{\",\",\"]");
}

static void line_breaks_follow_commas_and_precede_brackets(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json j = json_begin(&out);

	(void)state;
	json_begin_object(&j, NULL);
	json_break_line(&j);
	json_add_number(&j, "a", 1);
	json_break_line(&j);
	json_begin_array(&j, "b");
	json_break_line(&j);
	json_end_array(&j);
	json_end_object(&j);
	assert_string_equal(strbuf_text(&out), "{\n\"a\":1,\n\"b\":[\n]}");
}

/* One line break per call, before the first value or bracket after the call. */
static void a_line_break_is_not_repeated(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json j = json_begin(&out);

	(void)state;
	json_begin_object(&j, NULL);
	json_break_line(&j);
	json_begin_array(&j, "a");
	json_add_number(&j, NULL, 1);
	json_add_number(&j, NULL, 2);
	json_end_array(&j);
	json_begin_array(&j, "b");
	json_break_line(&j);
	json_end_array(&j);
	json_add_null(&j, "c");
	json_end_object(&j);
	assert_string_equal(strbuf_text(&out), "{\n\"a\":[1,2],\"b\":[\n],\"c\":null}");
}

static void strings_are_escaped(void **state)
{
	static const struct {
		const char *why, *text, *json, *in_html;
	} rows[] = {
		{ "quote, backslash", "a\"b\\c", "\"a\\\"b\\\\c\"", NULL },
		{ "control character", "a\nb\x7f", "\"a\\u000ab\\u007f\"", NULL },
		{ "control character above U+FFFF", "\xf3\xa0\x81\xbf",
		  "\"\\udb40\\udc7f\"", NULL },
		{ "UTF-8", "\xc3\xa4", "\"\xc3\xa4\"", NULL },
		{ "not UTF-8", "\xff", "\"\\\\xff\"", NULL },
		{ "markup", "</a>&", "\"</a>&\"", "\"\\u003c/a\\u003e\\u0026\"" },
		{ "empty", "", "\"\"", NULL },
		{ "NULL", NULL, "null", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct json j = json_begin(&out);

		json_add_string(&j, NULL, rows[i].text);
		assert_row(strcmp(strbuf_text(&out), rows[i].json) == 0, rows[i].why);
		strbuf_clear(&out);
		j = json_begin(&out);
		j.is_in_html = true;
		json_add_string(&j, NULL, rows[i].text);
		assert_row(strcmp(strbuf_text(&out),
				  rows[i].in_html ? rows[i].in_html : rows[i].json) == 0,
			   rows[i].why);
	}
}

static void numbers_keep_all_digits(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json j = json_begin(&out);

	(void)state;
	json_begin_array(&j, NULL);
	json_add_number(&j, NULL, UINT64_MAX);
	json_add_signed(&j, NULL, INT64_MIN);
	json_add_amount(&j, NULL, UINT64_MAX - 1);
	json_add_amount(&j, NULL, BYTES_UNKNOWN);
	json_add_address(&j, NULL, UINT64_MAX);
	json_add_seconds_ms(&j, NULL, 1 * NS_PER_S + 2 * NS_PER_MS + 999999);
	json_add_seconds_us(&j, NULL, 1 * NS_PER_S + 2 * NS_PER_US + 999);
	json_add_format(&j, NULL, "%.2f", 0.125);
	json_end_array(&j);
	assert_string_equal(strbuf_text(&out),
			    "[18446744073709551615,-9223372036854775808,"
			    "18446744073709551614,null,\"0xffffffffffffffff\","
			    "1.002,1.000002,0.12]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_separate_members_and_elements),
		cmocka_unit_test(a_document_may_follow_other_text),
		cmocka_unit_test(line_breaks_follow_commas_and_precede_brackets),
		cmocka_unit_test(a_line_break_is_not_repeated),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(numbers_keep_all_digits),
	};

	return cmocka_run_group_tests_name("json_write", tests, NULL, NULL);
}
