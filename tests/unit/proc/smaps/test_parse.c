/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "../../support/smaps_ways.h"
#include "../../support/unit.h"

static void every_field_of_the_newest_layout_is_read(void **state)
{
	static const struct {
		enum smaps_field field;
		uint64_t kib;
	} rows[SMAPS_FIELD_COUNT_] = {
		{ SMAPS_SIZE, 132 },
		{ SMAPS_RSS, 100 },
		{ SMAPS_PSS, 50 },
		{ SMAPS_PSS_DIRTY, 10 },
		{ SMAPS_SHARED_CLEAN, 40 },
		{ SMAPS_SHARED_DIRTY, 20 },
		{ SMAPS_PRIVATE_CLEAN, 12 },
		{ SMAPS_PRIVATE_DIRTY, 28 },
		{ SMAPS_REFERENCED, 96 },
		{ SMAPS_ANONYMOUS, 28 },
		{ SMAPS_KSM, 1 },
		{ SMAPS_LAZYFREE, 8 },
		{ SMAPS_ANON_HUGE, 2 },
		{ SMAPS_SHMEM_PMD, 3 },
		{ SMAPS_FILE_PMD, 5 },
		{ SMAPS_SHARED_HUGETLB, 6 },
		{ SMAPS_PRIVATE_HUGETLB, 7 },
		{ SMAPS_SWAP, 9 },
		{ SMAPS_SWAP_PSS, 11 },
		{ SMAPS_LOCKED, 13 },
	};

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		struct mapping_list list;

		assert_int_equal(parse_text(way, THREE_RECORDS, &list), 0);
		assert_int_equal(list.count, 3);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			assert_true(field_bytes(&list, 2, rows[i].field) ==
				    KIB(rows[i].kib));
		mapping_list_release(&list);
	}
}

static void header_fields_are_parsed(void **state)
{
	struct mapping_list list;
	const struct mapping *m;

	(void)state;
	assert_int_equal(parse_text(WAY_FRESH, THREE_RECORDS, &list), 0);
	m = &list.items[0];
	assert_true(m->start_addr == 0x55c8df37c000 && m->end_addr == 0x55c8df39d000);
	assert_true(m->file_offset_bytes == 0x2000 && m->inode == 247498);
	assert_true(m->dev_major == 0xfe && m->dev_minor == 0);
	assert_true(m->flags == (MAPPING_READ | MAPPING_EXEC | MAPPING_NO_HUGE));
	assert_string_equal(m->name, "/usr/bin/head");
	assert_string_equal(list.items[1].name, "");
	assert_string_equal(list.items[2].name, "[stack]");
	mapping_list_release(&list);
}

static const struct {
	const char *header;
	int r;
	const char *name;
} header_rows[] = {
	{ "0-1000 ---p 00000000 00:00 0", 0, "" },
	{ "0-1000 ---p 00000000 00:00 0 /a b  c", 0, "/a b  c" },
	{ "0-1000 ---p 00000000 00:00 0   /a (deleted)", 0, "/a (deleted)" },
	{ "0-1000 ---p 00000000 00:00 0 /a ", 0, "/a " },
	{ "0-1000 rwxs 00000000 00:00 0 /SYSV00000000 (deleted)", 0,
	  "/SYSV00000000 (deleted)" },
	{ "0-1000 ---p 00000000 00:00 0 /a\\012b", 0, "/a\\012b" },
	{ "0-1000 ---p 00000000 00:00 0 /\x1b[31m\xff\x01", 0, "/\x1b[31m\xff\x01" },
	{ "0-1000 ---p 00000000 00:00 0 /Rss: 4 kB", 0, "/Rss: 4 kB" },
	{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", 0,
	  "[vsyscall]" },
	{ "0-ffffffffffffffff ---p ffffffffffffffff ffffffff:ffffffff "
	  "18446744073709551615 /a",
	  0, "/a" },
	{ "1000-1000 ---p 00000000 00:00 0", 0, "" },
	/* ends before it starts */
	{ "2000-1000 ---p 00000000 00:00 0", -EBADMSG, NULL },
	{ "0-10000000000000000 ---p 00000000 00:00 0", -EBADMSG, NULL },
	{ "0-1000 ---p 00000000 100000000:00 0", -EBADMSG, NULL },
	{ "0-1000 ---p 00000000 00:00 18446744073709551616", -EBADMSG, NULL },
	{ "0-1000 ---p 00000000 00:00 12x", -EBADMSG, NULL },
	{ "0-1000 ---p 00000000 00:00 ", -EBADMSG, NULL },
	{ "0-1000 ---p 00000000 00:00", -EBADMSG, NULL },
	{ "0-1000 ---p 00000000 0000 0", -EBADMSG, NULL },
	{ "0-1000 --p 00000000 00:00 0", -EBADMSG, NULL },
	{ "0-1000 rwzp 00000000 00:00 0", -EBADMSG, NULL },
	{ "0-1000 ---q 00000000 00:00 0", -EBADMSG, NULL },
	{ "0-1000 ", -EBADMSG, NULL },
	{ "0-1000", -EBADMSG, NULL },
	{ "0-", -EBADMSG, NULL },
	{ "0", -EBADMSG, NULL },
	{ "0 1000 ---p 00000000 00:00 0", -EBADMSG, NULL },
	{ "-1000 ---p 00000000 00:00 0", -EBADMSG, NULL },
	{ "0-1000 ---p -0000000 00:00 0", -EBADMSG, NULL },
	{ "ABCD-FFFF ---p 00000000 00:00 0", -EBADMSG, NULL },
	{ "", -EBADMSG, NULL },
};

static void valid_headers_are_parsed_and_others_refused(void **state)
{
	(void)state;
	learn_6_18();
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t i = 0; i < ARRAY_SIZE(header_rows); i++) {
			struct mapping_list list;
			char text[2048];

			snprintf(text, sizeof(text), "%s\n%s", header_rows[i].header,
				 SMAPS_AMOUNTS_6_18 SMAPS_FLAGS);
			assert_row(parse_text(way, text, &list) == header_rows[i].r,
				   header_rows[i].header);
			assert_int_equal(list.count, header_rows[i].r == 0);
			if (list.count)
				assert_string_equal(list.items[0].name,
						    header_rows[i].name);
			mapping_list_release(&list);
		}
	}
}

static void a_path_of_maximum_length_is_read_completely(void **state)
{
	size_t size = sizeof(THREE_RECORDS) + 4 * 4096;
	char *text = malloc(size);
	char path[4 * 4096];
	struct mapping_list list;

	(void)state;
	/* a name of PATH_MAX bytes, full of newlines as the kernel escapes them */
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = "\\012"[i % 4];
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	snprintf(text, size, "0-1000 ---p 00000000 00:00 7 %s\n%s%s", path,
		 SMAPS_AMOUNTS_6_18 SMAPS_FLAGS, SMAPS_RECORD_6_18(SMAPS_ANON_HEADER));
	assert_int_equal(parse_text(WAY_FRESH, text, &list), 0);
	assert_string_equal(list.items[0].name, path);
	mapping_list_release(&list);
	free(text);
}

static void missing_fields_are_unknown(void **state)
{
	static const enum smaps_field missing[] = {
		SMAPS_PSS_DIRTY, SMAPS_ANONYMOUS,      SMAPS_KSM,
		SMAPS_LAZYFREE,	 SMAPS_ANON_HUGE,      SMAPS_SHMEM_PMD,
		SMAPS_FILE_PMD,	 SMAPS_SHARED_HUGETLB, SMAPS_PRIVATE_HUGETLB,
		SMAPS_SWAP_PSS,	 SMAPS_LOCKED,
	};
	static const char text[] = SMAPS_RECORD_2_6_32(SMAPS_TEXT_HEADER)
		SMAPS_RECORD_2_6_32(SMAPS_STACK_HEADER);

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		struct mapping_list list;

		assert_int_equal(parse_text(way, text, &list), 0);
		assert_int_equal(list.count, 2);
		for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
			assert_true(field_bytes(&list, 1, missing[i]) == BYTES_UNKNOWN);
		assert_true(field_bytes(&list, 1, SMAPS_SHARED_CLEAN) == KIB(36));
		assert_true(field_bytes(&list, 1, SMAPS_SWAP) == 0);
		assert_true(list.items[1].flags == (MAPPING_READ | MAPPING_WRITE));
		mapping_list_release(&list);
	}
}

static void lines_of_a_newer_kernel_are_skipped(void **state)
{
	static const char *const lines[] = {
		"NewAmount:          999 kB\n",
		"NewCount:             3\n",
		"NewWord:        hello\n",
		"AVeryLongKeyIndeed:           999 kB\n",
		"Short: 1\n",
		"Nonlinear:            4 kB\n",
		"ProtectionKey:           0\n",
		"RssX:               999 kB\n",
		"Rs:                 999 kB\n",
		"Empty:\n",
		":\n",
	};

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
			struct mapping_list list;
			char text[4096];

			snprintf(text, sizeof(text), "%s\n%s%s%s%s\n%s%s%s",
				 SMAPS_TEXT_HEADER, SMAPS_AMOUNTS_6_18, lines[i],
				 SMAPS_FLAGS, SMAPS_STACK_HEADER, SMAPS_AMOUNTS_6_18,
				 lines[i], SMAPS_FLAGS);
			assert_row(parse_text(way, text, &list) == 0, lines[i]);
			assert_int_equal(list.count, 2);
			assert_true(field_bytes(&list, 1, SMAPS_RSS) == KIB(100));
			mapping_list_release(&list);
		}
	}
}

static void the_order_of_the_lines_does_not_matter(void **state)
{
	static const char text[] = SMAPS_TEXT_HEADER
		"\n"
		"VmFlags: rd gd \n"
		"Rss:                   8 kB\n"
		"Size:                 16 kB\n" SMAPS_STACK_HEADER "\n"
		"Size:                 16 kB\n"
		"VmFlags: rd gd \n"
		"Rss:                   8 kB\n";

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		struct mapping_list list;

		assert_int_equal(parse_text(way, text, &list), 0);
		assert_int_equal(list.count, 2);
		for (size_t i = 0; i < 2; i++) {
			assert_true(field_bytes(&list, i, SMAPS_RSS) == KIB(8));
			assert_true(field_bytes(&list, i, SMAPS_SIZE) == KIB(16));
			assert_true(list.items[i].flags & MAPPING_GROWS_DOWN);
		}
		mapping_list_release(&list);
	}
}

static void valid_amounts_are_parsed_and_others_refused(void **state)
{
	static const struct {
		const char *line; /* replaces the Rss line */
		int r;
		uint64_t bytes;
	} rows[] = {
		{ "Rss:                   0 kB\n", 0, 0 },
		{ "Rss:            00000001 kB\n", 0, 1024 },
		{ "Rss:            99999999 kB\n", 0, KIB(99999999) },
		/* wider than the 8 columns */
		{ "Rss:            100000000 kB\n", 0, KIB(100000000) },
		{ "Rss:            18014398509481983 kB\n", 0, UINT64_MAX - 1023 },
		{ "Rss: 5 kB\n", 0, KIB(5) },
		{ "Rss:            18014398509481984 kB\n", -EBADMSG,
		  0 }, /* 2^64 bytes */
		{ "Rss:            18446744073709551615 kB\n", -EBADMSG, 0 },
		{ "Rss:            18446744073709551616 kB\n", -EBADMSG, 0 },
		{ "Rss:            -0000001 kB\n", -EBADMSG, 0 },
		{ "Rss:                  -1 kB\n", -EBADMSG, 0 },
		{ "Rss:                     kB\n", -EBADMSG, 0 },
		{ "Rss:                 1 2 kB\n", -EBADMSG, 0 },
		{ "Rss:                  12 MB\n", -EBADMSG, 0 },
		{ "Rss:                  12 kb\n", -EBADMSG, 0 },
		{ "Rss:                  12kB \n", -EBADMSG, 0 },
		{ "Rss:                  1: kB\n", -EBADMSG, 0 },
		{ "Rss:                  1/ kB\n", -EBADMSG, 0 },
		{ "Rss:                 0x1 kB\n", -EBADMSG, 0 },
		{ "Rss:                  1p kB\n", -EBADMSG, 0 },
		{ "Rss:               \t  12 kB\n", -EBADMSG, 0 },
		{ "Rss:               \t 12 kB\n", -EBADMSG, 0 },
		{ "Rss:                  \xb1 kB\n", -EBADMSG, 0 },
		{ "Rss:                  12\n", -EBADMSG, 0 },
		{ "Rss:\n", -EBADMSG, 0 },
		{ "Rss \n", -EBADMSG, 0 },
		{ "\n", -EBADMSG, 0 },
	};
	static const char text[] = THREE_RECORDS;
	const char *rss = strstr(strstr(text, SMAPS_STACK_HEADER), "Rss:");

	(void)state;
	learn_6_18();
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct mapping_list list;
			char changed[4096];

			snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(rss - text),
				 text, rows[i].line, strchr(rss, '\n') + 1);
			assert_row(parse_text(way, changed, &list) == rows[i].r,
				   rows[i].line);
			if (rows[i].r == 0)
				assert_row(field_bytes(&list, 2, SMAPS_RSS) ==
						   rows[i].bytes,
					   rows[i].line);
			else /* the previous record is kept back until the next header */
				assert_int_equal(list.count, 1);
			mapping_list_release(&list);
		}
	}
}

static void numbers_of_up_to_eight_columns_are_parsed(void **state)
{
	(void)state;
	learn_6_18();
	for (uint64_t kib = 0; kib < 100000000; kib = kib * 21 / 20 + 1) {
		struct mapping_list list;
		char text[2048];

		snprintf(text, sizeof(text), "%s\n%s%s", SMAPS_ANON_HEADER,
			 SMAPS_AMOUNTS_6_18, SMAPS_FLAGS);
		/* Size is the first line after the header */
		snprintf(text + strlen(SMAPS_ANON_HEADER) + 17, 9, "%8u",
			 (unsigned int)kib);
		text[strlen(SMAPS_ANON_HEADER) + 25] = ' ';
		assert_int_equal(parse_text(WAY_LEARNT, text, &list), 0);
		assert_true(field_bytes(&list, 0, SMAPS_SIZE) == KIB(kib));
		mapping_list_release(&list);
	}
}

static void an_error_has_the_line_number(void **state)
{
	static const struct {
		const char *text;
		size_t line;
	} rows[] = {
		{ "Rss:                   4 kB\n", 1 }, /* belongs to no mapping */
		{ "junk\n", 1 },
		{ "no newline", 1 },
		{ SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) "junk\n", 26 },
		{ SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) SMAPS_ANON_HEADER "\nRss: x kB\n",
		  27 },
		{ THREE_RECORDS "7fff-", 76 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping_list list = MAPPING_LIST_INIT;
		size_t line = 0;

		assert_row(smaps_parse(&reader, rows[i].text, strlen(rows[i].text),
				       keep_mapping, &list, &line) == -EBADMSG,
			   rows[i].text);
		assert_int_equal(line, rows[i].line);
		mapping_list_release(&list);
	}
}

static int refuse_second(void *context, struct mapping *m)
{
	int *count = context;

	(void)m;
	return ++*count == 2 ? -ECANCELED : 0;
}

static void a_callback_error_ends_the_parse(void **state)
{
	size_t line = 77;
	int count = 0;

	(void)state;
	assert_int_equal(smaps_parse(&reader, THREE_RECORDS, strlen(THREE_RECORDS),
				     refuse_second, &count, &line),
			 -ECANCELED);
	assert_int_equal(count, 2);
	assert_int_equal(line, 77);
}

/*
 * [heap] appears three times, each with the start and the end that it had when a read
 * began. The last record of the mapping counts.
 */
static void a_mapping_that_grew_between_two_reads_counts_once(void **state)
{
	static const char text[] = SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) SMAPS_RECORD_6_18(
		"55c8e0000000-55c8e0100000 rw-p 00000000 00:00 0          [heap]")
		SMAPS_RECORD_6_18(
			"55c8e0000000-55c8e0200000 rw-p 00000000 00:00 0          [heap]")
			SMAPS_RECORD_6_18(
				"55c8e0000000-55c8e0300000 rw-p 00000000 00:00 0          [heap]")
				SMAPS_RECORD_6_18(
					"55c8e0300000-55c8e0400000 rw-p 00000000 00:00 0 ")
					SMAPS_RECORD_6_18(SMAPS_STACK_HEADER);

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		struct mapping_list list;

		assert_int_equal(parse_text(way, text, &list), 0);
		assert_int_equal(list.count, 4);
		assert_string_equal(list.items[0].name, "/usr/bin/head");
		assert_string_equal(list.items[1].name, "[heap]");
		assert_int_equal(list.items[1].end_addr, 0x55c8e0300000);
		/* a mapping that starts where another ends is a different mapping */
		assert_string_equal(list.items[2].name, "");
		assert_string_equal(list.items[3].name, "[stack]");
		mapping_list_release(&list);
	}
}

static void known_flags_are_parsed(void **state)
{
	static const struct {
		const char *line;
		uint32_t flags;
	} rows[] = {
		{ "VmFlags: rd wr mr mw me ac \n", 0 },
		{ "VmFlags: rd nh ht lo gd \n", MAPPING_NO_HUGE | MAPPING_HUGETLB |
							MAPPING_LOCKED |
							MAPPING_GROWS_DOWN },
		{ "VmFlags:\n", 0 },
		{ "VmFlags: \n", 0 },
		{ "VmFlags: n\n", 0 },
		{ "VmFlags: zz nh", 0 }, /* no newline: this line is refused */
		{ "VmFlags:nh\n", MAPPING_NO_HUGE },
		{ "VmFlags: nh", 0 },
	};

	(void)state;
	for (enum way way = WAY_LINES; way <= WAY_LEARNT; way++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			bool is_whole = strchr(rows[i].line, '\n');
			struct mapping_list list;
			char text[4096];

			snprintf(text, sizeof(text), "%s%s\n%s%s",
				 SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER),
				 "0-1000 ---p 00000000 00:00 0", SMAPS_AMOUNTS_6_18,
				 rows[i].line);
			assert_row(parse_text(way, text, &list) ==
					   (is_whole ? 0 : -EBADMSG),
				   rows[i].line);
			if (is_whole)
				assert_row(list.items[1].flags == rows[i].flags,
					   rows[i].line);
			mapping_list_release(&list);
		}
	}
}

static void an_empty_text_has_no_mappings_and_is_valid(void **state)
{
	struct mapping_list list;

	(void)state;
	assert_int_equal(parse_text(WAY_FRESH, "", &list), 0);
	assert_int_equal(list.count, 0);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_reader, close_reader)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(every_field_of_the_newest_layout_is_read),
		test(header_fields_are_parsed),
		test(valid_headers_are_parsed_and_others_refused),
		test(a_path_of_maximum_length_is_read_completely),
		test(missing_fields_are_unknown),
		test(lines_of_a_newer_kernel_are_skipped),
		test(the_order_of_the_lines_does_not_matter),
		test(valid_amounts_are_parsed_and_others_refused),
		test(numbers_of_up_to_eight_columns_are_parsed),
		test(an_error_has_the_line_number),
		test(a_callback_error_ends_the_parse),
		test(a_mapping_that_grew_between_two_reads_counts_once),
		test(known_flags_are_parsed),
		test(an_empty_text_has_no_mappings_and_is_valid),
	};

	return cmocka_run_group_tests_name("smaps_parse", tests, NULL, NULL);
}
