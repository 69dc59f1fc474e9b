/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/conclusion.h"

#include <string.h>

#include "render/table/fit.h"
#include "../../support/unit.h"

static void sentences_are_wrapped_at_the_width(void **state)
{
	static const struct {
		int width;
		const char *text;
	} rows[] = {
		{ 20, "Rss 97.0M. 82.1M\n(85%) is allocated\nbut unreachable.\n" },
		{ 40, "Rss 97.0M. 82.1M (85%) is allocated but\nunreachable.\n" },
		{ 0, "Rss 97.0M. 82.1M (85%) is allocated but unreachable.\n" },
	};
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

	(void)state;
	conclusion_add(&c, "Rss %s.", "97.0M");
	conclusion_add(&c, "82.1M (%d%%) is allocated but unreachable.", 85);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct table_options options = { .max_width = rows[i].width };
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		conclusion_add_opening(&out, &c, &options);
		assert_string_equal(out.text, rows[i].text);
	}
}

static void the_next_command_is_on_one_line(void **state)
{
	static const char line[] = "\nnext: memstate diff 'a very long name' other\n";
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, fitted = STRBUF_INIT;

	(void)state;
	conclusion_set_next(&c, "memstate %s", "leaks");
	conclusion_set_next(&c, "memstate diff '%s' other", "a very long name");
	conclusion_add_next(&out, &c);
	assert_string_equal(out.text, line);
	fit_add_lines(&fitted, out.text, 24, false);
	assert_string_equal(fitted.text, line);
}

static void an_empty_conclusion_adds_nothing(void **state)
{
	const struct table_options options = { .max_width = 80 };
	const struct conclusion c = CONCLUSION_INIT;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	conclusion_add_opening(&out, &c, &options);
	conclusion_add_next(&out, &c);
	assert_int_equal(out.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_are_wrapped_at_the_width),
		cmocka_unit_test(the_next_command_is_on_one_line),
		cmocka_unit_test(an_empty_conclusion_adds_nothing),
	};

	return cmocka_run_group_tests_name("conclusion", tests, NULL, NULL);
}
