/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/demangle.h"

#include <string.h>

#include "../support/unit.h"

static void mangled_names_become_source_names(void **state)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{ "_ZTVN6shapes6CircleE", "vtable for shapes::Circle" },
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
	};

	(void)state;
	if (!HAVE_LIBIBERTY)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;

		strbuf_add_text(&out, "is: ");
		assert_row(demangle_add(&out, rows[i].name), rows[i].name);
		assert_string_equal(out.text + 4, rows[i].text);
		strbuf_release(&out);
	}
}

static void names_that_are_not_mangled_are_unchanged(void **state)
{
	static const char *const rows[] = {
		"", "_", "_Z", "main", "_ZN", "_R", "$s4main3FooCN", "_Znot a name"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = STRBUF_INIT;

		strbuf_add_text(&out, "is: ");
		assert_row(!demangle_add(&out, rows[i]), rows[i]);
		assert_string_equal(out.text, "is: ");
		strbuf_release(&out);
	}
}

/* Each of 60 types is a pair of the previous one: 2^60 words. */
static void a_name_that_expands_exponentially_is_refused(void **state)
{
	struct strbuf name = STRBUF_INIT, out = STRBUF_INIT;
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	(void)state;
	strbuf_add_text(&name, "_Z1f1a1pIS_S_E");
	for (size_t i = 1; i < 60; i++) {
		char last[8] = { 'S', 0 };
		size_t at = 1;

		if (i >= 36)
			last[at++] = digits[i / 36];
		last[at++] = digits[i % 36];
		last[at] = '_';
		strbuf_addf(&name, "S0_I%s%sE", last, last);
	}
	assert_false(demangle_add(&out, name.text));
	assert_int_equal(out.length, 0);
	strbuf_release(&name);
	strbuf_release(&out);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	struct strbuf name = STRBUF_INIT, out = STRBUF_INIT;

	(void)state;
	strbuf_add_text(&name, "_Z1f");
	strbuf_add_repeat(&name, "P", 100000);
	strbuf_add_char(&name, 'i');
	assert_false(demangle_add(&out, name.text));
	strbuf_release(&name);
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mangled_names_become_source_names),
		cmocka_unit_test(names_that_are_not_mangled_are_unchanged),
		cmocka_unit_test(a_name_that_expands_exponentially_is_refused),
		cmocka_unit_test(a_name_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
