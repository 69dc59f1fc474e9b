/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/text.h"

#include <string.h>

#include "../support/unit.h"

static void only_well_formed_utf8_is_decoded(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		size_t size; /* 0: not well-formed */
		uint32_t code_point;
	} rows[] = {
		{ "A", 1, 1, 'A' },
		{ "\0", 1, 1, 0 },
		{ "\x7f", 1, 1, 0x7f },
		{ "\xc2\x80", 2, 2, 0x80 },
		{ "\xdf\xbf", 2, 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "", 0, 0, 0 },
		{ "\x80", 1, 0, 0 },		 /* continuation alone */
		{ "\xc0\xaf", 2, 0, 0 },	 /* overlong '/' */
		{ "\xc1\xbf", 2, 0, 0 },	 /* overlong DEL */
		{ "\xe0\x9f\xbf", 3, 0, 0 },	 /* overlong U+07FF */
		{ "\xf0\x8f\xbf\xbf", 4, 0, 0 }, /* overlong U+FFFF */
		{ "\xed\xa0\x80", 3, 0, 0 },	 /* surrogate */
		{ "\xed\xbf\xbf", 3, 0, 0 },	 /* surrogate */
		{ "\xf4\x90\x80\x80", 4, 0, 0 }, /* U+110000 */
		{ "\xf5\x80\x80\x80", 4, 0, 0 },
		{ "\xff", 1, 0, 0 },
		{ "\xc3", 1, 0, 0 },	     /* truncated */
		{ "\xe2\x82", 2, 0, 0 },     /* truncated */
		{ "\xf0\x9f\x98", 3, 0, 0 }, /* truncated */
		/* truncated by the given length, not by a NUL */
		{ "\xe2\x82\xac", 2, 0, 0 },
		{ "\xc3(", 2, 0, 0 },
		{ "\xe2(\xa1", 3, 0, 0 },
		{ "\xe2\x82(", 3, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t code_point = 77;
		size_t size = text_utf8_next(rows[i].bytes, rows[i].length, &code_point);

		assert_int_equal(size, rows[i].size);
		assert_int_equal(code_point, size ? rows[i].code_point : 77);
	}
}

static void control_characters_are_recognized(void **state)
{
	static const uint32_t controls[] = {
		0,	0x07,	0x0a,	0x1b,	0x1f,	0x7f,	 0x80,	  0x9b,	  0x9f,
		0x061c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029,	 0x202a,  0x202e, 0x2060,
		0x2066, 0x2069, 0x206f, 0xfeff, 0xfff9, 0xe0001, 0xe007f,
	};
	static const uint32_t shown[] = {
		' ',	'~',	'\\',	0xa0,	0xe9,	0x0301, 0x200d,	 0x2010,   0x2030,
		0x2070, 0x20ac, 0x4e2d, 0xfe0f, 0xff21, 0xfffd, 0x1f600, 0x10ffff,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(controls); i++)
		if (!text_is_control(controls[i]))
			fail_msg("U+%04X is not a control", controls[i]);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		if (text_is_control(shown[i]))
			fail_msg("U+%04X is a control", shown[i]);
}

static void foreign_bytes_are_escaped(void **state)
{
	static const struct {
		const char *bytes;
		const char *utf8;
		const char *ascii;
	} rows[] = {
		{ "plain name", "plain name", "plain name" },
		{ "", "", "" },
		{ "a\\b", "a\\b", "a\\b" },
		{ "\x1b[31mred", "\\x1b[31mred", "\\x1b[31mred" },
		{ "two\nlines\ttab", "two\\x0alines\\x09tab", "two\\x0alines\\x09tab" },
		{ "\x7f", "\\x7f", "\\x7f" },
		{ "caf\xc3\xa9", "caf\xc3\xa9", "caf\\xc3\\xa9" },
		{ "caf\xe9!", "caf\\xe9!", "caf\\xe9!" },
		/* C1: a CSI in one character */
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m", "\\xc2\\x9b31m" },
		{ "\xe2\x80\xae"
		  "gpj.exe",
		  "\\xe2\\x80\\xaegpj.exe", "\\xe2\\x80\\xaegpj.exe" },
		{ "\xf0\x9f\x98", "\\xf0\\x9f\\x98", "\\xf0\\x9f\\x98" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;

		text_add_printable(&out, rows[i].bytes, strlen(rows[i].bytes), false);
		assert_string_equal(strbuf_text(&out), rows[i].utf8);
		strbuf_clear(&out);
		text_add_printable(&out, rows[i].bytes, strlen(rows[i].bytes), true);
		assert_string_equal(strbuf_text(&out), rows[i].ascii);
		strbuf_release(&out);
	}
}

static void nul_bytes_are_escaped(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	text_add_printable(&out, "a\0b", 3, false);
	assert_string_equal(strbuf_text(&out), "a\\x00b");
	strbuf_release(&out);
}

static void random_bytes_become_printable(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct strbuf out = STRBUF_INIT;
		char bytes[12];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[i] = (char)(seed >> 24);
		}
		text_add_printable(&out, bytes, sizeof(bytes), false);
		for (size_t at = 0; at < out.length;) {
			uint32_t code_point;
			size_t size = text_utf8_next(out.text + at, out.length - at,
						     &code_point);

			assert_true(size > 0 && !text_is_control(code_point));
			at += size;
		}
		strbuf_release(&out);
	}
}

static void wrapped_lines_are_indented(void **state)
{
	static const struct {
		const char *words;
		size_t indent, width;
		const char *text;
	} rows[] = {
		{ "", 2, 10, "\n" },
		{ "one", 2, 10, "one\n" },
		{ "one two three", 2, 10, "one two\n  three\n" },
		{ "one two", 2, 9, "one two\n" },
		{ "one two", 2, 8, "one\n  two\n" },
		{ "a-word-that-is-too-long b", 2, 10, "a-word-that-is-too-long\n  b\n" },
		{ "one  two", 0, 80, "one two\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;

		text_add_wrapped(&out, rows[i].words, rows[i].indent, rows[i].width);
		assert_string_equal(strbuf_text(&out), rows[i].text);
		strbuf_release(&out);
	}
}

static void copies_are_truncated_at_a_character(void **state)
{
	static const struct {
		const char *from;
		size_t size;
		const char *to;
	} rows[] = {
		{ "abc", 4, "abc" },
		{ "abcd", 4, "abc" },
		{ "", 1, "" },
		{ "a", 1, "" },
		{ "ab\xc3\xa9", 4, "ab" },
		{ "ab\xc3\xa9", 5, "ab\xc3\xa9" },
		{ "\xe2\x82\xac\xe2\x82\xac", 6, "\xe2\x82\xac" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char to[16];

		memset(to, '#', sizeof(to));
		text_copy(to, rows[i].size, rows[i].from);
		assert_string_equal(to, rows[i].to);
		assert_true(to[rows[i].size] == '#');
	}
}

static void words_are_found_in_any_order(void **state)
{
	static const struct {
		const char *words;
		bool matches;
	} rows[] = {
		{ "", true },
		{ "  ", true },
		{ "|", true },
		{ "worker", true },
		{ "WORKER", true },
		{ "mail python", true },
		{ "  mail   root ", true },
		{ "mail ruby", false },
		{ "ruby", false },
		{ "ruby|mail", true },
		{ "ruby | mail root", true },
		{ "ruby|perl", false },
		{ "ruby|", false },
		{ "|ruby", false },
		{ "root python", true },
		/* a word does not match across columns */
		{ "rootpython", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(text_has_words("root\npython3 worker.py --queue=mail\n",
					  rows[i].words) == rows[i].matches,
			   rows[i].words);
}

static void a_shell_reads_quoted_text_as_one_word(void **state)
{
	static const struct {
		const char *text, *word;
	} rows[] = {
		{ "", "''" },
		{ "4242", "4242" },
		{ "/srv/a-b_c.msr@12:30", "/srv/a-b_c.msr@12:30" },
		{ "two words", "'two words'" },
		{ "$(reboot)", "'$(reboot)'" },
		{ "a;b", "'a;b'" },
		{ "~", "'~'" },
		{ "it's", "'it'\\''s'" },
		{ "back\\slash", "'back\\slash'" },
		{ "ä", "'ä'" },
		{ "\n'\\x\033[m\xff", "$'\\x0a\\'\\\\x\\x1b[m\\xff'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

		text_add_shell_word(&word, rows[i].text);
		assert_string_equal(word.text, rows[i].word);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_well_formed_utf8_is_decoded),
		cmocka_unit_test(control_characters_are_recognized),
		cmocka_unit_test(foreign_bytes_are_escaped),
		cmocka_unit_test(nul_bytes_are_escaped),
		cmocka_unit_test(random_bytes_become_printable),
		cmocka_unit_test(wrapped_lines_are_indented),
		cmocka_unit_test(copies_are_truncated_at_a_character),
		cmocka_unit_test(words_are_found_in_any_order),
		cmocka_unit_test(a_shell_reads_quoted_text_as_one_word),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
