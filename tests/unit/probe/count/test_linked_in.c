/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/linked_in.h"

#include <string.h>
#include <unistd.h>

#include "../../support/made_program.h"
#include "../../support/unit.h"

#define PIECE_BYTES 65536

/* Split, so that a search of this test program does not find it. */
static const char sign_start[] = "mi", sign_end[] = "malloc: warning: ";

static void write_sign(char *to)
{
	memcpy(to, sign_start, sizeof(sign_start) - 1);
	memcpy(to + sizeof(sign_start) - 1, sign_end, sizeof(sign_end) - 1);
}

/* A stripped program; it exports a function, but not malloc. */
static struct made_program program_with(const void *contents, size_t length)
{
	return (struct made_program){
		.symbols_type = SHT_DYNSYM,
		.symbols = { { "program", MADE_CONTENTS_OFFSET, 1 } },
		.parts = { made_program_part(MADE_CONTENTS_OFFSET, length, PF_R) },
		.part_count = 1,
		.contents = contents,
		.length = length,
	};
}

static const char *find(const struct made_program *program)
{
	int fd = made_program_open(program);
	const char *found = linked_in_find(fd);

	close(fd);
	return found;
}

static void a_message_is_found_at_any_offset(void **state)
{
	static char contents[2 * PIECE_BYTES];
	const size_t length = sizeof(sign_start) + sizeof(sign_end) - 2;
	struct made_program program = program_with(contents, sizeof(contents));
	const char *found;

	(void)state;
	assert_null(find(&program));
	for (size_t at = PIECE_BYTES - 100; at <= PIECE_BYTES; at++) {
		memset(contents, 0, sizeof(contents));
		write_sign(contents + at);
		found = find(&program);
		assert_non_null(found);
		assert_string_equal(found, "mimalloc in this stripped program");
	}
	memset(contents, 0, sizeof(contents));
	write_sign(contents + sizeof(contents) - length);
	assert_non_null(find(&program));
	/* the message ends beyond the part */
	program.parts[0].p_filesz--;
	assert_null(find(&program));
}

static void a_message_in_the_second_of_two_overlapping_parts_is_found(void **state)
{
	static char contents[2 * PIECE_BYTES];
	struct made_program program = program_with(contents, sizeof(contents));

	(void)state;
	program.part_count = 2;
	program.parts[1] = program.parts[0];
	/* in the wrong order, and the message begins in both */
	program.parts[1].p_filesz = PIECE_BYTES;
	program.parts[0].p_offset += PIECE_BYTES - 10;
	program.parts[0].p_filesz -= PIECE_BYTES - 10;
	write_sign(contents + PIECE_BYTES - 8);
	assert_non_null(find(&program));
	memset(contents, 0, sizeof(contents));
	write_sign(contents + 2 * PIECE_BYTES - 30);
	assert_non_null(find(&program));
}

static void bytes_that_many_parts_share_are_searched_once(void **state)
{
	static char contents[20 * PIECE_BYTES];
	struct made_program program = program_with(contents, sizeof(contents));
	uint64_t before = made_program_io("rchar"), read_bytes;

	(void)state;
	program.part_count = MADE_PARTS_MAX;
	for (size_t i = 1; i < MADE_PARTS_MAX; i++) {
		program.parts[i] = program.parts[0];
		program.parts[i].p_offset += i;
		program.parts[i].p_filesz -= i % 2 ? i : 0;
	}
	assert_null(find(&program));
	read_bytes = made_program_io("rchar") - before;
	assert_in_range(read_bytes, sizeof(contents), 3 * sizeof(contents));
}

static void a_program_without_end_is_not_declared_free_of_allocators(void **state)
{
	static const char contents[1];
	struct made_program program = program_with(contents, sizeof(contents));
	uint64_t before = made_program_io("rchar"), read_bytes;
	const char *found;

	(void)state;
	program.parts[0].p_filesz = KIB(1) << 21;
	program.file_bytes = program.parts[0].p_filesz + MADE_CONTENTS_OFFSET;
	found = find(&program);
	read_bytes = made_program_io("rchar") - before;
	assert_non_null(found);
	assert_non_null(strstr(found, "a possible allocator"));
	assert_in_range(read_bytes, 1, KIB(1) << 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_found_at_any_offset),
		cmocka_unit_test(
			a_message_in_the_second_of_two_overlapping_parts_is_found),
		cmocka_unit_test(bytes_that_many_parts_share_are_searched_once),
		cmocka_unit_test(
			a_program_without_end_is_not_declared_free_of_allocators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
