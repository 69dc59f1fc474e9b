/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "../../support/smaps_ways.h"
#include "../../support/unit.h"

/*
 * A cut between two records cannot be detected. A cut at a line end in the first record
 * cannot either, because there is no record to compare with; missing amounts are unknown
 * then. Any other cut is an error.
 */
static void a_truncated_text_gives_no_wrong_figures(void **state)
{
	static const char text[] = THREE_RECORDS;
	const char *second = strstr(text, SMAPS_ANON_HEADER);
	const char *third = strstr(text, SMAPS_STACK_HEADER);
	struct mapping_list whole;

	(void)state;
	learn_6_18();
	assert_int_equal(parse_text(WAY_LINES, text, &whole), 0);
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t length = 0; length < sizeof(text) - 1; length++) {
			const char *end = text + length;
			bool is_told = end > second && end != third;
			struct mapping_list list;
			int r = parse_parts(way, text, length, length / 2, &list);

			if (is_told || (length > 0 && end[-1] != '\n'))
				assert_int_equal(r, -EBADMSG);
			else
				assert_int_equal(r, 0);
			for (size_t m = 0; m < list.count; m++)
				for (enum smaps_field f = 0; f < SMAPS_FIELD_COUNT_; f++)
					assert_true(field_bytes(&list, m, f) ==
							    BYTES_UNKNOWN ||
						    field_bytes(&list, m, f) ==
							    field_bytes(&whole, m, f));
			mapping_list_release(&list);
		}
	}
	mapping_list_release(&whole);
}

static void a_record_with_fewer_lines_than_the_first_is_refused(void **state)
{
	static const char *const second[] = {
		SMAPS_STACK_HEADER "\n",
		SMAPS_STACK_HEADER "\nSize:                132 kB\n",
		SMAPS_STACK_HEADER "\n" SMAPS_AMOUNTS_6_18, /* all lines except VmFlags */
	};

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t i = 0; i < ARRAY_SIZE(second); i++) {
			struct mapping_list list;
			char text[4096];

			snprintf(text, sizeof(text), "%s%s",
				 SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER), second[i]);
			assert_row(parse_text(way, text, &list) == -EBADMSG, second[i]);
			assert_int_equal(list.count, 0);
			mapping_list_release(&list);

			snprintf(text, sizeof(text), "%s%s%s",
				 SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER), second[i],
				 SMAPS_RECORD_6_18(SMAPS_ANON_HEADER));
			assert_row(parse_text(way, text, &list) == -EBADMSG, second[i]);
			mapping_list_release(&list);
		}
	}
}

/*
 * The header between two records is missing. The second record's amounts must
 * not count as the first one's.
 */
static void a_duplicate_line_is_refused(void **state)
{
	static const char *const texts[] = {
		SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) SMAPS_AMOUNTS_6_18 SMAPS_FLAGS,
		SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) SMAPS_FLAGS,
		SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) "Rss:                 100 kB\n",
	};

	(void)state;
	learn_6_18();
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
			struct mapping_list list;

			assert_row(parse_text(way, texts[i], &list) == -EBADMSG,
				   texts[i]);
			mapping_list_release(&list);
		}
	}
}

static void the_boundary_of_the_parts_does_not_matter(void **state)
{
	static const char text[] = THREE_RECORDS;
	struct mapping_list whole;

	(void)state;
	assert_int_equal(parse_text(WAY_LINES, text, &whole), 0);
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t cut = 0; cut <= sizeof(text) - 1; cut++) {
			struct mapping_list list;

			assert_int_equal(
				parse_parts(way, text, sizeof(text) - 1, cut, &list), 0);
			assert_same_mappings(&whole, &list);
			mapping_list_release(&list);
		}
	}
	mapping_list_release(&whole);
}

/* The line is in one record only, so no layout contains it. */
static void a_line_after_the_flags_is_skipped(void **state)
{
	static const char text[] = SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER)
		SMAPS_RECORD_6_18(SMAPS_ANON_HEADER) "NewAmount:          999 kB\n" SMAPS_RECORD_6_18(
			SMAPS_STACK_HEADER);
	struct mapping_list whole;

	(void)state;
	learn_6_18();
	assert_int_equal(parse_text(WAY_LINES, THREE_RECORDS, &whole), 0);
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t cut = 0; cut < sizeof(text); cut++) {
			struct mapping_list list;

			assert_int_equal(
				parse_parts(way, text, sizeof(text) - 1, cut, &list), 0);
			assert_same_mappings(&whole, &list);
			mapping_list_release(&list);
		}
	}
	mapping_list_release(&whole);
}

/*
 * Change each byte of a record to other values. The result must be the
 * same with and without a layout.
 */
static void a_layout_does_not_change_the_result(void **state)
{
	static const char bytes[] = { ' ', '0', '9',  '\n',   ':',
				      'a', 'R', '\0', '\x7f', '\xb5' };
	char text[] = THREE_RECORDS;
	const size_t length = sizeof(text) - 1;

	(void)state;
	for (size_t at = length / 3; at < length / 3 * 2; at++) {
		for (size_t b = 0; b < sizeof(bytes); b++) {
			struct mapping_list slow, fast;
			char before = text[at];
			int r_slow, r_fast;

			learn_6_18();
			text[at] = bytes[b];
			r_slow = parse_parts(WAY_LINES, text, length, 0, &slow);
			r_fast = parse_parts(WAY_LEARNT, text, length, 0, &fast);
			if (r_slow != r_fast)
				fail_msg(
					"byte %zu as 0x%02x: %d line by line, %d by layout",
					at, (unsigned char)bytes[b], r_slow, r_fast);
			/* after an error, one of them may have parsed a record more */
			if (r_slow == 0)
				assert_same_mappings(&slow, &fast);
			mapping_list_release(&slow);
			mapping_list_release(&fast);
			text[at] = before;
		}
	}
}

static void the_layout_of_another_kernel_does_no_harm(void **state)
{
	static const char old[] = SMAPS_RECORD_2_6_32(SMAPS_TEXT_HEADER)
		SMAPS_RECORD_2_6_32(SMAPS_ANON_HEADER);
	struct mapping_list slow, fast;

	(void)state;
	learn_6_18();
	assert_int_equal(parse_text(WAY_LINES, old, &slow), 0);
	assert_int_equal(parse_text(WAY_LEARNT, old, &fast), 0);
	assert_same_mappings(&slow, &fast);
	mapping_list_release(&slow);
	mapping_list_release(&fast);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_reader, close_reader)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_truncated_text_gives_no_wrong_figures),
		test(a_record_with_fewer_lines_than_the_first_is_refused),
		test(a_duplicate_line_is_refused),
		test(the_boundary_of_the_parts_does_not_matter),
		test(a_layout_does_not_change_the_result),
		test(the_layout_of_another_kernel_does_no_harm),
		test(a_line_after_the_flags_is_skipped),
	};

	return cmocka_run_group_tests_name("smaps_layout", tests, NULL, NULL);
}
