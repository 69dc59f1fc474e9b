/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json_read.h"

#include <errno.h>
#include <string.h>

#include "../support/unit.h"

static struct json_part part(const char *text)
{
	return (struct json_part){ text, strlen(text) };
}

static void only_members_of_the_object_itself_are_found(void **state)
{
	static const struct {
		const char *object, *want;
	} rows[] = {
		{ "{\"Name\":\"/web\"}", "\"/web\"" },
		{ " { \"Other\" : {\"Name\":1} , \"Name\" : 2 } ", "2" },
		{ "{\"a\":\"Name\",\"b\":[\"}\",{\"x\":\"]\\\"\"}],\"Name\":[1,[2]]}",
		  "[1,[2]]" },
		{ "{\"Names\":0,\"Nam\":1,\"Name\":null}", "null" },
		{ "{\"a\":true,\"Name\":-1.5e3}", "-1.5e3" },
	};
	struct json_part got;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_row(json_find_member(part(rows[i].object), "Name", &got) == 0,
			   rows[i].object);
		assert_row(got.length == strlen(rows[i].want), rows[i].object);
		assert_memory_equal(got.text, rows[i].want, got.length);
	}
}

static void a_missing_member_is_not_found(void **state)
{
	struct json_part got = { NULL, 7 };

	(void)state;
	assert_int_equal(json_find_member(part("{}"), "a", &got), -ENOENT);
	assert_int_equal(json_find_member(part("{\"b\":{\"a\":1}}"), "a", &got), -ENOENT);
	assert_int_equal(got.length, 7);
}

static void text_that_is_not_an_object_is_refused(void **state)
{
	static const char *const texts[] = {
		"",	      "[]",	 "{",		"{\"",
		"{\"a",	      "{\"b\"}", "{\"b\":}",	"{\"b\":1",
		"{\"b\":[}",  "{b:1}",	 "{\"b\":\"\\", "{\"b\":1 \"a\":2}",
		"{\"b\":{\"}"
	};
	struct json_part got = { NULL, 7 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_row(json_find_member(part(texts[i]), "a", &got) == -EBADMSG,
			   texts[i]);
	assert_int_equal(got.length, 7);
}

static void array_elements_are_returned_one_by_one(void **state)
{
	static const char *const want[] = { "1", "[2,3]", "{\"a\":[]}", "\"x,]\"" };
	struct json_part array = part(" [1, [2,3] ,{\"a\":[]},\"x,]\" ]"), got;
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(json_next_element(array, &at, &got), 0);
		assert_int_equal(got.length, strlen(want[i]));
		assert_memory_equal(got.text, want[i], got.length);
	}
	assert_int_equal(json_next_element(array, &at, &got), -ENOENT);
	at = 0;
	assert_int_equal(json_next_element(part("[]"), &at, &got), -ENOENT);
	assert_int_equal(json_next_element(part("{}"), &at, &got), -EBADMSG);
	assert_int_equal(json_next_element(part("[1"), &at, &got), 0);
	assert_int_equal(json_next_element(part("[1"), &at, &got), -EBADMSG);
}

static void escapes_in_strings_are_decoded(void **state)
{
	static const struct {
		const char *string, *want;
	} rows[] = {
		{ "\"\"", "" },
		{ "\"/web\"", "/web" },
		{ "\"a\\\"b\\\\c\\/d\\n\"", "a\"b\\c/d\n" },
		{ "\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac" },
		{ "\"\\ud83d\\ude00 \\uD800\\uDC00\\udbff\\udfff\"",
		  "\xf0\x9f\x98\x80 \xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
		{ "\"\xf0\x9f\x98\x80\"", "\xf0\x9f\x98\x80" },
		{ "5", NULL },
		{ "\"", NULL },
		{ "\"\\u12\"", NULL },
		{ "\"\\ud800\"", NULL },
		{ "\"\\ud83d\\u0041\"", NULL },
		{ "\"\\ud83d\\ud83d\"", NULL },
		{ "\"\\ud83dxude00\"", NULL },
		{ "\"\\ud83d\\ude0\"", NULL },
		{ "\"\\ud83d\\\"", NULL },
		{ "\"\\ude00\\ud83d\"", NULL },
		{ "\"\\u0000\"", NULL },
		{ "\"\\x\"", NULL },
		{ "\"\\\"", NULL },
		{ "\"a", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;
		int r = json_read_text(part(rows[i].string), &out);

		assert_row(r == (rows[i].want ? 0 : -EBADMSG), rows[i].string);
		assert_string_equal(strbuf_text(&out), rows[i].want ? rows[i].want : "");
		strbuf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_members_of_the_object_itself_are_found),
		cmocka_unit_test(a_missing_member_is_not_found),
		cmocka_unit_test(text_that_is_not_an_object_is_refused),
		cmocka_unit_test(array_elements_are_returned_one_by_one),
		cmocka_unit_test(escapes_in_strings_are_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
