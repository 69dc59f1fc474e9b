/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/keymap.h"

#include <string.h>

#include "../../support/unit.h"

static const unsigned int places[] = {
	IN_PROCESSES, IN_PROCESS, IN_MAPPINGS, IN_HELP, IN_MENU, IN_CHECKLIST, IN_PROMPT,
};

static void a_key_has_one_action_per_context(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(places); p++) {
		for (size_t i = 0; i < key_row_count; i++) {
			unsigned int context = places[p] |
					       (key_rows[i].contexts & WHEN_MASK);

			if (!key_row_works(&key_rows[i], context))
				continue;
			for (size_t k = 0; k < KEYS_PER_ROW && key_rows[i].keys[k]; k++)
				assert_int_equal(
					keymap_find(key_rows[i].keys[k], context),
					key_rows[i].action);
		}
	}
}

static void every_action_has_a_key(void **state)
{
	(void)state;
	for (int action = ACTION_NONE + 1; action < ACTION_COUNT_; action++) {
		size_t i = 0;

		while (i < key_row_count && key_rows[i].action != (enum action)action)
			i++;
		assert_true(i < key_row_count);
	}
}

static void every_row_belongs_to_one_section(void **state)
{
	(void)state;
	for (size_t i = 0; i < key_row_count; i++) {
		int count = 0;

		for (size_t s = 0; s < key_section_count; s++)
			count += key_row_is_of(&key_rows[i], &key_sections[s]);
		assert_int_equal(count, 1);
	}
}

static void f10_quits_everywhere(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(places); p++)
		assert_int_equal(keymap_find(KEY_FUNCTION + 10, places[p]), ACTION_QUIT);
}

static void a_key_works_only_under_its_condition(void **state)
{
	(void)state;
	assert_int_equal(keymap_find('n', IN_PROCESSES), ACTION_NONE);
	assert_int_equal(keymap_find('n', IN_PROCESSES | WHEN_MATCHING),
			 ACTION_NEXT_MATCH);
	assert_int_equal(keymap_find('n', IN_PROMPT | WHEN_MATCHING), ACTION_NONE);
	assert_int_equal(keymap_find(KEY_ESCAPE, IN_PROCESSES), ACTION_NONE);
	assert_int_equal(
		keymap_find(KEY_ESCAPE, IN_MAPPINGS | WHEN_BELOW | WHEN_FILTERED),
		ACTION_CLEAR_FILTER);
	assert_int_equal(keymap_find(KEY_ESCAPE, IN_MAPPINGS | WHEN_BELOW), ACTION_BACK);
}

static void key_names_can_be_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < key_row_count; i++) {
		for (size_t k = 0; k < KEYS_PER_ROW && key_rows[i].keys[k]; k++) {
			char name[KEY_NAME_SIZE];

			keymap_format_key(key_rows[i].keys[k], name);
			/* ^H and Bksp are different keys, but ^M is Enter */
			assert_row(keymap_parse_key(name) == key_rows[i].keys[k], name);
		}
	}
	assert_int_equal(keymap_parse_key("F1"), KEY_FUNCTION + 1);
	assert_int_equal(keymap_parse_key("Nonsense"), KEY_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_one_action_per_context),
		cmocka_unit_test(every_action_has_a_key),
		cmocka_unit_test(every_row_belongs_to_one_section),
		cmocka_unit_test(f10_quits_everywhere),
		cmocka_unit_test(a_key_works_only_under_its_condition),
		cmocka_unit_test(key_names_can_be_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
