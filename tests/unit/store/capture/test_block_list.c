/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture/block_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "../../support/unit.h"

static const struct {
	uint64_t addr, bytes;
} blocks[] = {
	{ 0x10, 24 },
	{ 0x28, 1 },
	{ UINT64_C(0x555555560010), 40 },
	{ UINT64_C(0x7fffffffe000), 0x123456789 },
	{ UINT64_C(0xfffffffffffffff0), 15 },
};

/* Write a file with the test's blocks, and return its text in out. */
static void write_list(struct strbuf *out)
{
	const struct block_list_head head = { .pid = 4242,
					      .start_ticks = 7,
					      .unix_ms = 99 };
	struct block_list_writer writer = BLOCK_LIST_WRITER_INIT;
	char path[64];

	snprintf(path, sizeof(path), "block-list.%d", (int)getpid());
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		block_list_add(&writer, blocks[i].addr, blocks[i].bytes);
	assert_int_equal(block_list_save(&writer, &head, path), 0);
	block_list_writer_release(&writer);
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 4096, out), 0);
	unlink(path);
}

static void a_written_list_is_read_back(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct block_list list;

	(void)state;
	write_list(&text);
	assert_int_equal(block_list_parse(&text, &list), 0);
	assert_int_equal(list.head.pid, 4242);
	assert_int_equal(list.head.start_ticks, 7);
	assert_int_equal(list.head.unix_ms, 99);
	assert_int_equal(list.head.count, ARRAY_SIZE(blocks));
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		assert_true(block_list_next(&list));
		assert_int_equal(list.addr, blocks[i].addr);
		assert_int_equal(list.bytes, blocks[i].bytes);
	}
	assert_false(block_list_next(&list));
	block_list_release(&list);
}

static void a_truncated_list_is_refused(void **state)
{
	struct strbuf whole = STRBUF_INIT;
	struct block_list list;

	(void)state;
	write_list(&whole);
	for (size_t length = 0; length < whole.length; length++) {
		struct strbuf text = STRBUF_INIT;
		int r;

		strbuf_add(&text, whole.text, length);
		r = block_list_parse(&text, &list);
		assert_true(r == -EBADMSG || r == -EPROTONOSUPPORT);
	}
	strbuf_release(&whole);
}

static void another_version_and_another_format_have_different_errors(void **state)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
		{ "memstate blocks 2\npid 1\n", -EPROTONOSUPPORT },
		{ "memstate blocks 10\npid 1\n", -EPROTONOSUPPORT },
		{ "memstate bloc", -EBADMSG },
		{ "#!/bin/sh\n", -EBADMSG },
		{ "memstate blocks 1\npid 1\nstart_ticks 1\nunix_ms 1\ncount 0\n\n", 0 },
		{ "memstate blocks 1\npid 0\nstart_ticks 1\nunix_ms 1\ncount 0\n\n",
		  -EBADMSG },
		{ "memstate blocks 1\npid 1\nstart_ticks 1\nunix_ms 1\ncount 1\n\n",
		  -EBADMSG },
		{ "memstate blocks 1\npid 1\nstart_ticks x\nunix_ms 1\ncount 0\n\n",
		  -EBADMSG },
		/* a block of 0 bytes */
		{ "memstate blocks 1\npid 1\nstart_ticks 1\nunix_ms 1\ncount 1\n\n\1",
		  -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf text = STRBUF_INIT;
		struct block_list list;

		strbuf_add_text(&text, rows[i].text);
		assert_row(block_list_parse(&text, &list) == rows[i].result,
			   rows[i].text);
		if (rows[i].result == 0)
			block_list_release(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_list_is_read_back),
		cmocka_unit_test(a_truncated_list_is_refused),
		cmocka_unit_test(
			another_version_and_another_format_have_different_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
