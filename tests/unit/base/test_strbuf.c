/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

#include "../support/unit.h"

static void an_empty_buffer_is_an_empty_text(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	char *taken;

	(void)state;
	assert_string_equal(strbuf_text(&sb), "");
	strbuf_clear(&sb);
	taken = strbuf_take(&sb);
	assert_string_equal(taken, "");
	free(taken);
	strbuf_release(&sb);
}

static void text_stays_terminated_while_it_grows(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < 5000; i++) {
		strbuf_add_char(&sb, 'x');
		assert_true(sb.length == i + 1 && sb.text[i + 1] == '\0');
	}
	strbuf_release(&sb);
}

static void bytes_may_contain_nul(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_add(&sb, NULL, 0);
	strbuf_add(&sb, "a\0b", 3);
	assert_true(sb.length == 3 && memcmp(sb.text, "a\0b", 4) == 0);
	strbuf_release(&sb);
}

static void long_formats_are_written_completely(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	for (int width = 0; width < 300; width++) {
		strbuf_clear(&sb);
		strbuf_addf(&sb, "<%*d>", width, 7);
		assert_int_equal(sb.length, (width > 1 ? width : 1) + 2);
		assert_true(sb.text[sb.length - 1] == '>' && sb.text[sb.length] == '\0');
		strbuf_release(&sb);
	}
}

static void integers_are_written_completely(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_add_u64(&sb, 0);
	strbuf_add_char(&sb, ' ');
	strbuf_add_u64(&sb, 10);
	strbuf_add_char(&sb, ' ');
	strbuf_add_u64(&sb, UINT64_MAX);
	assert_string_equal(strbuf_text(&sb), "0 10 18446744073709551615");
	strbuf_release(&sb);
}

static void truncate_only_shortens(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_add_text(&sb, "abc");
	strbuf_truncate(&sb, 5);
	assert_string_equal(strbuf_text(&sb), "abc");
	strbuf_truncate(&sb, 1);
	assert_string_equal(strbuf_text(&sb), "a");
	strbuf_add_repeat(&sb, "-=", 3);
	assert_string_equal(strbuf_text(&sb), "a-=-=-=");
	strbuf_release(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_is_an_empty_text),
		cmocka_unit_test(text_stays_terminated_while_it_grows),
		cmocka_unit_test(bytes_may_contain_nul),
		cmocka_unit_test(long_formats_are_written_completely),
		cmocka_unit_test(integers_are_written_completely),
		cmocka_unit_test(truncate_only_shortens),
	};

	return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
