/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/fit.h"
#include "render/table/output.h"
#include "render/table/style.h"

#include <locale.h>
#include <string.h>

#include "render/table/bar.h"
#include "../../support/unit.h"

/* A row with a number and a text, either of which may be unknown. */
struct row {
	uint64_t number;
	const char *text;
};

static void get_number(const void *row, int arg, struct value *ret)
{
	(void)arg;
	ret->number = ((const struct row *)row)->number;
	ret->is_known = bytes_known(ret->number);
}

static void get_text(const void *row, int arg, struct value *ret)
{
	const struct row *r = row;

	(void)arg;
	ret->is_known = r->text != NULL;
	ret->text = r->text;
	ret->text_length = r->text ? strlen(r->text) : 0;
}

static const struct column number = { "n_bytes", "N", "", VALUE_BYTES,
				      true,	 0,   0,  get_number };
static const struct column text = {
	"text", "TEXT", "", VALUE_TEXT, false, 0, 0, get_text
};
static const struct column *const number_text[] = { &number, &text };
static const struct column *const text_number[] = { &text, &number };

static struct column_list list_of(const struct column *const columns[2])
{
	return (struct column_list){ (const struct column **)(uintptr_t)columns, 2, 2 };
}

static void csv_fields_are_quoted_if_necessary(void **state)
{
	static const struct {
		struct row row;
		const char *csv;
	} rows[] = {
		{ { 5, "plain" }, "5,plain\n" },
		{ { 0, "two words" }, "0,two words\n" },
		{ { UINT64_MAX - 1, "" }, "18446744073709551614,\n" },
		{ { BYTES_UNKNOWN, NULL }, ",\n" },
		{ { 1, "a,b" }, "1,\"a,b\"\n" },
		{ { 1, "say \"hi\"" }, "1,\"say \"\"hi\"\"\"\n" },
		{ { 1, "\"" }, "1,\"\"\"\"\n" },
		{ { 1, "two\nlines\r" }, "1,\"two\nlines\r\"\n" },
		{ { 1, "\x1b[31m" }, "1,\"\\x1b[31m\"\n" },
		{ { 1, "caf\xc3\xa9" }, "1,\"caf\xc3\xa9\"\n" },
		{ { 1, "caf\xe9" }, "1,\"caf\\xe9\"\n" },
		{ { 1, "back\\slash" }, "1,back\\slash\n" },
	};
	const struct column_list list = list_of(number_text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;

		csv_add_row(&out, &list, &rows[i].row);
		assert_string_equal(strbuf_text(&out), rows[i].csv);
		strbuf_release(&out);
	}
}

static void the_csv_header_contains_the_column_names(void **state)
{
	const struct column_list list = list_of(number_text);
	struct strbuf out = STRBUF_INIT;

	(void)state;
	csv_add_header(&out, &list);
	assert_string_equal(strbuf_text(&out), "n_bytes,text\n");
	strbuf_release(&out);
}

static void json_is_valid_for_any_bytes(void **state)
{
	static const struct {
		struct row row;
		const char *json;
	} rows[] = {
		{ { 5, "plain" }, "{\"n_bytes\":5,\"text\":\"plain\"}" },
		{ { BYTES_UNKNOWN, NULL }, "{\"n_bytes\":null,\"text\":null}" },
		{ { 0, "" }, "{\"n_bytes\":0,\"text\":\"\"}" },
		{ { 1, "\"\\/" }, "{\"n_bytes\":1,\"text\":\"\\\"\\\\/\"}" },
		{ { 1, "\n\t\x1b\x7f" },
		  "{\"n_bytes\":1,\"text\":\"\\u000a\\u0009\\u001b\\u007f\"}" },
		{ { 1, "\xff" }, "{\"n_bytes\":1,\"text\":\"\\\\xff\"}" },
		{ { 1, "\xed\xa0\x80" },
		  "{\"n_bytes\":1,\"text\":\"\\\\xed\\\\xa0\\\\x80\"}" },
		{ { 1, "\xc3\xa9\xf0\x9f\x98\x80" },
		  "{\"n_bytes\":1,\"text\":\"\xc3\xa9\xf0\x9f\x98\x80\"}" },
		{ { 1, "\xe2\x80\xae" }, "{\"n_bytes\":1,\"text\":\"\\u202e\"}" },
		{ { 1, "\xf3\xa0\x80\x81" },
		  "{\"n_bytes\":1,\"text\":\"\\udb40\\udc01\"}" },
	};
	const struct column_list list = list_of(number_text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;
		struct json j = json_begin(&out);

		json_add_row(&j, NULL, &list, &rows[i].row);
		assert_string_equal(strbuf_text(&out), rows[i].json);
		strbuf_release(&out);
	}
}

static void assert_table(const struct column *const columns[2], const struct row *rows,
			 size_t count, struct table_options options, const char *want)
{
	const struct column_list list = list_of(columns);
	struct strbuf out = STRBUF_INIT;
	const void *order[8];

	for (size_t i = 0; i < count; i++)
		order[i] = &rows[i];
	table_add(&out, &list, order, count, &options);
	assert_string_equal(strbuf_text(&out), want);
	strbuf_release(&out);
}

static const struct row some_rows[] = { { 5, "a" },
					{ 123456, "name" },
					{ BYTES_UNKNOWN, NULL } };

static void numbers_are_right_aligned_and_text_is_left_aligned(void **state)
{
	(void)state;
	assert_table(number_text, some_rows, 3, (struct table_options){ 0 },
		     "     N TEXT\n     5 a\n120.6K name\n     - -\n");
	assert_table(text_number, some_rows, 3,
		     (struct table_options){ .exact_bytes = true },
		     "TEXT      N\na         5\nname 123456\n-         -\n");
	assert_table(text_number, some_rows, 1,
		     (struct table_options){ .no_headings = true }, "a 5\n");
	assert_table(text_number, some_rows, 0, (struct table_options){ 0 }, "TEXT N\n");
	assert_table(text_number, some_rows, 0,
		     (struct table_options){ .no_headings = true }, "");
}

static void trailing_text_is_truncated_but_numbers_are_not(void **state)
{
	static const struct row rows[] = { { 1234567, "a long name" } };

	(void)state;
	assert_table(number_text, rows, 1,
		     (struct table_options){
			     .exact_bytes = true, .no_headings = true, .max_width = 13 },
		     "1234567 a lo…\n");
	assert_table(text_number, rows, 1,
		     (struct table_options){
			     .exact_bytes = true, .no_headings = true, .max_width = 13 },
		     "a long name\nOmitted to\n  fit the\n  width: N\n");
}

static void columns_that_do_not_fit_are_omitted_and_named(void **state)
{
	static const struct row rows[] = { { 1234567, "/usr/lib/a/long/name/of/a.so" } };

	(void)state;
	assert_table(number_text, rows, 1,
		     (struct table_options){ .exact_bytes = true, .max_width = 24 },
		     "      N TEXT\n1234567 /usr/…me/of/a.so\n");
	assert_table(text_number, rows, 1,
		     (struct table_options){ .exact_bytes = true, .max_width = 16 },
		     "TEXT\n/usr/…me/of/a.so\nOmitted to fit\n  the width: N\n");
}

static void columns_of_zeros_are_omitted_before_texts_are_shortened(void **state)
{
	static const struct row zeros[] = { { 0, "/usr/lib/long/a.so" }, { 0, "b" } },
				mixed[] = { { 0, "/usr/lib/long/a.so" }, { 7, "b" } };
	struct table_options options = { .max_width = 19, .may_omit_zeros = true };

	(void)state;
	assert_table(
		text_number, zeros, 2, options,
		"TEXT\n/usr/lib/long/a.so\nb\nOmitted to fit the\n  width: N (all 0)\n");
	assert_table(text_number, mixed, 2, options,
		     "TEXT              N\n/usr/l…/long/a.so 0\nb                 7\n");
	/* the table fits */
	options.max_width = 20;
	assert_table(
		text_number, zeros, 2, options,
		"TEXT               N\n/usr/lib/long/a.so 0\nb                  0\n");
	/* columns that were requested are not omitted for this reason */
	options = (struct table_options){ .max_width = 19 };
	assert_table(text_number, zeros, 2, options,
		     "TEXT              N\n/usr/l…/long/a.so 0\nb                 0\n");
}

static void assert_lines(const char *lines, size_t width, const char *want)
{
	struct strbuf out = STRBUF_INIT;

	fit_add_lines(&out, lines, width, false);
	assert_string_equal(strbuf_text(&out), want);
	strbuf_release(&out);
}

static void wide_lines_are_wrapped_or_end_with_a_shortened_name(void **state)
{
	(void)state;
	assert_lines("fits  in\n\n", 8, "fits  in\n\n");
	assert_lines("one two three\nfour", 10, "one two\n  three\nfour");
	assert_lines("need  1.5M  some words that are wrapped\n", 30,
		     "need  1.5M  some words that\n            are wrapped\n");
	assert_lines("  in /a/path/that/is/too/long/for/it.so\n", 24,
		     "  in /a/pat…ng/for/it.so\n");
	assert_lines("\033[31mone two\033[0m\n", 7, "\033[31mone two\033[0m\n");
}

static void every_line_fits_each_width(void **state)
{
	static const char *const lines[] = {
		"one two three four",
		"          one two",
		"a                    b                    c",
		"label  1.5M  some words that are wrapped",
		"                    /a/path/that/is/too/long.so",
		"x                    /a/path/that/is/too/long.so",
		"need   namespace::of_a::function_with_a_long_name",
		"\xe4\xb8\xad\xe6\x96\x87 \xe4\xb8\xad/\xe6\x96\x87\xe4\xb8\xad",
		"   \033[31m                    red\033[0m",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		for (size_t width = 1; width <= 20; width++)
			for (int ascii = 0; ascii < 2; ascii++) {
				struct strbuf out = STRBUF_INIT;
				size_t length;

				fit_add_lines(&out, lines[i], width, ascii);
				for (const char *at = out.text; *at;
				     at += length + (at[length] == '\n')) {
					length = strcspn(at, "\n");
					assert_row(fit_width(at, length) <= width,
						   out.text);
				}
				strbuf_release(&out);
			}
}

static void one_line_is_marked_with_a_style(void **state)
{
	struct strbuf out = STRBUF_INIT;
	size_t begin;

	(void)state;
	strbuf_add_text(&out, "before\n");
	begin = out.length;
	strbuf_add_text(&out, "\n  PID  RSS\nafter");
	style_mark_line(&out, begin, STYLE_HEADING, false);
	style_mark_line(&out, begin, STYLE_PLAIN, true);
	assert_string_equal(out.text, "before\n\n  PID  RSS\nafter");
	style_mark_line(&out, begin, STYLE_HEADING, true);
	assert_string_equal(out.text, "before\n\n\033[1m  PID  RSS\033[0m\nafter");
	style_mark_line(&out, out.length - strlen("after"), STYLE_PROBLEM, true);
	assert_string_equal(out.text, "before\n\n\033[1m  PID  RSS\033[0m\n"
				      "\033[31mafter\033[0m");
	strbuf_release(&out);
}

static void wide_and_combining_characters_keep_columns_aligned(void **state)
{
	static const struct row rows[] = {
		/* two characters, each two columns wide */
		{ 1, "\xe4\xb8\xad\xe6\x96\x87" },
		/* a letter and its accent in one column */
		{ 2, "e\xcc\x81" },
		{ 3, "abcd" },
	};

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_table(text_number, rows, 3, (struct table_options){ .no_headings = true },
		     "\xe4\xb8\xad\xe6\x96\x87 1\ne\xcc\x81    2\nabcd 3\n");
	assert_int_equal(text_display_width("\xe4\xb8\xad"
					    "a",
					    4),
			 3);
	/* half of a wide character does not fit */
	assert_int_equal(text_cut_to_width("a\xe4\xb8\xad", 4, 2), 1);
	assert_int_equal(text_cut_to_width("a\xe4\xb8\xad", 4, 3), 4);
	setlocale(LC_CTYPE, "C");
}

static void ascii_mode_prints_only_ascii(void **state)
{
	static const struct row rows[] = { { 1, "caf\xc3\xa9\x1b" } };

	(void)state;
	assert_table(number_text, rows, 1,
		     (struct table_options){ .no_headings = true, .ascii = true },
		     "1 caf\\xc3\\xa9\\x1b\n");
}

static void the_cells_of_a_bar_add_up(void **state)
{
	static const struct {
		uint64_t parts[4], whole;
		size_t width;
		size_t cells[4];
	} rows[] = {
		{ { 25, 25, 25, 25 }, 100, 8, { 2, 2, 2, 2 } },
		{ { 100, 0, 0, 0 }, 100, 8, { 8, 0, 0, 0 } },
		/* any part above 0 is visible */
		{ { 1, 1000000, 0, 0 }, 1000001, 8, { 1, 7, 0, 0 } },
		{ { 1, 1, 1, 0 }, 3, 10, { 4, 3, 3, 0 } },
		{ { 50, 0, 0, 0 }, 100, 8, { 4, 0, 0, 0 } },
		{ { BYTES_UNKNOWN, 50, 0, 0 }, 100, 8, { 0, 4, 0, 0 } },
		{ { 0, 0, 0, 0 }, 100, 8, { 0 } },
		{ { 5, 5, 0, 0 }, 0, 8, { 0 } },
		{ { 5, 5, 0, 0 }, BYTES_UNKNOWN, 8, { 0 } },
		{ { UINT64_MAX / 2, UINT64_MAX / 2, 0, 0 },
		  UINT64_MAX - 1,
		  8,
		  { 4, 4, 0, 0 } },
		{ { 1, 1, 1, 1 }, 4, 2, { 1, 1, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t cells[4] = { 99, 99, 99, 99 };

		bar_split(rows[i].parts, 4, rows[i].whole, rows[i].width, cells);
		for (size_t c = 0; c < 4; c++)
			if (cells[c] != rows[i].cells[c])
				fail_msg("row %zu, part %zu: %zu cells", i, c, cells[c]);
	}
}

static void a_bar_is_letters_in_ascii_and_solid_otherwise(void **state)
{
	static const struct bar_part parts[] = {
		{ 4, 'L', "31" },
		{ 0, 'P', "33" },
		{ 2, 'A', "91" },
		{ 3, 'F', "34" },
		{ BYTES_UNKNOWN, 'H', "36" },
		{ 2, '.', NULL },
	};
	static const struct {
		bool ascii, colour;
		uint64_t whole;
		const char *bar;
	} rows[] = {
		{ true, false, 11, "[LLLLAAFFF..]" },
		{ false, false, 11, "[L███A▒F██..]" },
		{ true, true, 11,
		  "[\033[7;31mL\033[0m\033[31mLLL\033[0m\033[7;91mA\033[0m\033[91mA\033[0m"
		  "\033[7;34mF\033[0m\033[34mFF\033[0m..]" },
		{ false, true, 11,
		  "[\033[7;31mL\033[0m\033[31m███\033[0m\033[7;91mA\033[0m\033[91m█\033[0m"
		  "\033[7;34mF\033[0m\033[34m██\033[0m..]" },
		{ false, false, 22, "[L█AF█.     ]" },
		{ true, false, 0, "[           ]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_strbuf_ struct strbuf bar = STRBUF_INIT;

		bar_add(&bar, parts, ARRAY_SIZE(parts), rows[i].whole, 11, rows[i].ascii,
			rows[i].colour);
		assert_string_equal(bar.text, rows[i].bar);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_fields_are_quoted_if_necessary),
		cmocka_unit_test(the_csv_header_contains_the_column_names),
		cmocka_unit_test(json_is_valid_for_any_bytes),
		cmocka_unit_test(numbers_are_right_aligned_and_text_is_left_aligned),
		cmocka_unit_test(trailing_text_is_truncated_but_numbers_are_not),
		cmocka_unit_test(columns_that_do_not_fit_are_omitted_and_named),
		cmocka_unit_test(columns_of_zeros_are_omitted_before_texts_are_shortened),
		cmocka_unit_test(wide_lines_are_wrapped_or_end_with_a_shortened_name),
		cmocka_unit_test(every_line_fits_each_width),
		cmocka_unit_test(one_line_is_marked_with_a_style),
		cmocka_unit_test(wide_and_combining_characters_keep_columns_aligned),
		cmocka_unit_test(ascii_mode_prints_only_ascii),
		cmocka_unit_test(the_cells_of_a_bar_add_up),
		cmocka_unit_test(a_bar_is_letters_in_ascii_and_solid_otherwise),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
