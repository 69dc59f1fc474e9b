/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/settings/text.h"

#include <errno.h>
#include <string.h>

#include "../../support/unit.h"

static const bool none[SETTING_COUNT_];

/* Parse a text that must be valid; return the number of the first bad line. */
static size_t parse(const char *text, struct settings *ret)
{
	const struct strbuf sb = { (char *)text, strlen(text), 0 };
	size_t bad_line = 77;

	assert_int_equal(settings_text_parse(&sb, ret, &bad_line), 0);
	return bad_line;
}

static void assert_setting(const char *text, enum setting setting, const char *want)
{
	struct settings s;

	(void)parse(text, &s);
	if (want)
		assert_string_equal(s.texts[setting], want);
	else
		assert_null(s.texts[setting]);
	settings_release(&s);
}

static void assert_changed(const char *text, const struct settings *changes,
			   const bool *is_rejected, const char *want)
{
	const struct strbuf sb = { (char *)text, strlen(text), 0 };
	struct strbuf got = STRBUF_INIT;

	settings_text_change(&sb, changes, is_rejected, &got);
	assert_string_equal(strbuf_text(&got), want);
	strbuf_release(&got);
}

static void all_settings_are_read(void **state)
{
	const char *text = "version=1\ncolumns=pid,rss_bytes\nsort=-pid\ntree=yes\n"
			   "theme=light\ninterval=2s\n";
	static const char *const want[SETTING_COUNT_] = { "pid,rss_bytes", "-pid", "yes",
							  "light", "2s" };
	struct settings s;

	(void)state;
	assert_int_equal(parse(text, &s), 0);
	for (int i = 0; i < SETTING_COUNT_; i++)
		assert_string_equal(s.texts[i], want[i]);
	settings_release(&s);
}

static void blanks_comments_and_unknown_keys_are_ignored(void **state)
{
	struct settings s;

	(void)state;
	assert_int_equal(
		parse("# sort=a\n; sort=b\n\n \t\nother = x = y\nsorted=c\n", &s), 0);
	for (int i = 0; i < SETTING_COUNT_; i++)
		assert_null(s.texts[i]);
	settings_release(&s);
	assert_setting(" \tsort\t =  pid \t# by id\n", SETTING_SORT, "pid");
	assert_setting("sort=a#b\n", SETTING_SORT, "a#b");
	assert_setting("sort=pid\r\n", SETTING_SORT, "pid");
	assert_setting("\xef\xbb\xbfsort=pid", SETTING_SORT, "pid");
	assert_setting("sort=# nothing\n", SETTING_SORT, NULL);
	assert_setting("Sort=pid\n", SETTING_SORT, NULL);
}

static void the_last_of_several_lines_counts(void **state)
{
	(void)state;
	assert_setting("sort=a\nsort=b\n", SETTING_SORT, "b");
	assert_setting("sort=a\nsort=\n", SETTING_SORT, NULL);
}

static void the_first_bad_line_is_found(void **state)
{
	struct settings s;

	(void)state;
	assert_int_equal(parse("sort=a\n\ntree\n=b\n", &s), 3);
	assert_string_equal(s.texts[SETTING_SORT], "a");
	settings_release(&s);
	assert_int_equal(parse("=b", &s), 1);
	settings_release(&s);
}

static void other_versions_and_other_files_are_refused(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		int result;
	} rows[] = {
		{ "version=2\nsort=a\n", 17, -EPROTONOSUPPORT },
		{ "sort=a\n version = 99", 20, -EPROTONOSUPPORT },
		{ "version=\n", 9, -EPROTONOSUPPORT },
		{ "version=0\n", 10, -EPROTONOSUPPORT },
		{ "version=one\n", 12, -EPROTONOSUPPORT },
		{ "version=2\nversion=1\n", 20, -EPROTONOSUPPORT },
		{ "sort=a\n\0tree=b\n", 15, -EBADMSG },
		{ "\0", 1, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct strbuf sb = { (char *)rows[i].text, rows[i].length, 0 };
		struct settings s = { { NULL } };
		size_t bad_line = 5;

		assert_int_equal(settings_text_parse(&sb, &s, &bad_line), rows[i].result);
		assert_int_equal(bad_line, 5);
		assert_null(s.texts[SETTING_SORT]);
	}
}

static void a_change_keeps_everything_else(void **state)
{
	struct settings changes = { { [SETTING_SORT] = (char *)"-pid" } };

	(void)state;
	assert_changed("# mine\nversion=1\n  sort = rss  # why\nfuture=1\ntree=no",
		       &changes, none,
		       "# mine\nversion=1\n  sort = -pid  # why\nfuture=1\ntree=no\n");
	assert_changed("version=1\r\nsort=rss\r\nbad\r\n", &changes, none,
		       "version=1\r\nsort=-pid\r\nbad\r\n");
	assert_changed("sort=a\nsort=b\nversion=1\n", &changes, none,
		       "sort=a\nsort=-pid\nversion=1\n");
	assert_changed("sort=#x\nsort=\r\nversion=1\n", &changes, none,
		       "sort=#x\nsort=-pid\r\nversion=1\n");
	assert_changed("version=1\nsort=# x\n", &changes, none,
		       "version=1\nsort=-pid # x\n");
	assert_changed("\xef\xbb\xbfsort=a", &changes, none,
		       "\xef\xbb\xbfsort=-pid\nversion=1\n");
}

static void missing_settings_are_added(void **state)
{
	struct settings changes = {
		{ [SETTING_TREE] = (char *)"yes", [SETTING_THEME] = (char *)"mono" }
	};

	(void)state;
	assert_changed("version=1\n# end", &changes, none,
		       "version=1\n# end\ntree=yes\ntheme=mono\n");
	assert_changed("# tree=no\n", &changes, none,
		       "# tree=no\nversion=1\ntree=yes\ntheme=mono\n");
}

static void a_new_file_explains_itself(void **state)
{
	struct settings changes = { { [SETTING_TREE] = (char *)"yes" } }, s;
	struct strbuf empty = STRBUF_INIT, text = STRBUF_INIT;

	(void)state;
	settings_text_change(&empty, &changes, none, &text);
	assert_int_equal(strncmp(text.text, "# Settings", 10), 0);
	assert_non_null(strstr(text.text, "\nversion=1\n"));
	assert_int_equal(parse(text.text, &s), 0);
	assert_string_equal(s.texts[SETTING_TREE], "yes");
	settings_release(&s);
	strbuf_release(&text);
}

static void a_rejected_value_becomes_a_comment(void **state)
{
	struct settings changes = { { [SETTING_SORT] = (char *)"pid" } };
	const bool is_rejected[SETTING_COUNT_] = {
		[SETTING_SORT] = true, [SETTING_TREE] = true
	};

	(void)state;
	assert_changed("version=1\n sort=rrs # mine\ntree=maybe\n", &changes, is_rejected,
		       "version=1\n # sort=rrs # mine\nsort=pid\ntree=maybe\n");
	assert_changed("version=1\nsort=rrs", &changes, is_rejected,
		       "version=1\n# sort=rrs\nsort=pid\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_settings_are_read),
		cmocka_unit_test(blanks_comments_and_unknown_keys_are_ignored),
		cmocka_unit_test(the_last_of_several_lines_counts),
		cmocka_unit_test(the_first_bad_line_is_found),
		cmocka_unit_test(other_versions_and_other_files_are_refused),
		cmocka_unit_test(a_change_keeps_everything_else),
		cmocka_unit_test(missing_settings_are_added),
		cmocka_unit_test(a_new_file_explains_itself),
		cmocka_unit_test(a_rejected_value_becomes_a_comment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
