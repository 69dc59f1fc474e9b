/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/window.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/made_file.h"
#include "../../support/unit.h"

static uint8_t contents[3 * ELF_WINDOW_BYTES + 5];

static int open_contents(void)
{
	for (size_t i = 0; i < sizeof(contents); i++)
		contents[i] = (uint8_t)(1 + i % 251);
	return made_file(contents, sizeof(contents));
}

static void all_offsets_return_the_bytes_of_the_file(void **state)
{
	uint64_t left_bytes = 100 * ELF_WINDOW_BYTES;
	int fd = open_contents();
	struct elf_window *window = elf_window_new(fd, &left_bytes);

	(void)state;
	for (size_t at = 0; at <= sizeof(contents); at += 997) {
		size_t wanted = sizeof(contents) - at < 600 ? sizeof(contents) - at : 600;
		const uint8_t *bytes;
		size_t length;

		assert_int_equal(elf_window_read(window, at, 600, &bytes, &length), 0);
		assert_true(length >= wanted);
		assert_memory_equal(bytes, contents + at, length);
	}
	/* three windows, and some more at the end of the file */
	assert_true(left_bytes >= 90 * ELF_WINDOW_BYTES);
	free(window);
	close(fd);
}

static void zeros_follow_the_end_of_the_file(void **state)
{
	static const uint8_t zeros[ELF_WINDOW_ZERO_BYTES];
	uint64_t left_bytes = 9 * ELF_WINDOW_BYTES;
	int fd = open_contents();
	struct elf_window *window = elf_window_new(fd, &left_bytes);
	const uint8_t *bytes;
	size_t length;

	(void)state;
	assert_int_equal(elf_window_read(window, 0, 1, &bytes, &length), 0);
	assert_int_equal(
		elf_window_read(window, sizeof(contents) - 3, 4, &bytes, &length), 0);
	assert_int_equal(length, 3);
	assert_memory_equal(bytes + 3, zeros, sizeof(zeros));
	assert_int_equal(elf_window_read(window, UINT64_MAX, 4, &bytes, &length),
			 -EBADMSG);
	free(window);
	close(fd);
}

static void windows_share_a_limit(void **state)
{
	uint64_t left_bytes = 3 * ELF_WINDOW_BYTES;
	int fd = open_contents();
	struct elf_window *windows[] = { elf_window_new(fd, &left_bytes),
					 elf_window_new(fd, &left_bytes) };
	const uint8_t *bytes;
	size_t length;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(elf_window_read(windows[i % 2], i * ELF_WINDOW_BYTES, 1,
						 &bytes, &length),
				 0);
	assert_int_equal(elf_window_read(windows[1], 0, 1, &bytes, &length), -E2BIG);
	for (size_t i = 0; i < 2; i++)
		free(windows[i]);
	close(fd);
}

static void a_pending_signal_ends_the_reading(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t left_bytes = 3 * ELF_WINDOW_BYTES;
		int fd = open_contents(), number;
		struct elf_window *window = elf_window_new(fd, &left_bytes);
		const uint8_t *bytes;
		sigset_t blocked;
		size_t length;

		sigemptyset(&blocked);
		sigaddset(&blocked, numbers[i]);
		assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
		assert_int_equal(elf_window_read(window, 0, 1, &bytes, &length), 0);
		assert_int_equal(raise(numbers[i]), 0);
		assert_int_equal(
			elf_window_read(window, ELF_WINDOW_BYTES, 1, &bytes, &length),
			-EINTR);
		assert_int_equal(sigwait(&blocked, &number), 0);
		assert_int_equal(number, numbers[i]);
		assert_int_equal(
			elf_window_read(window, ELF_WINDOW_BYTES, 1, &bytes, &length), 0);
		free(window);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_offsets_return_the_bytes_of_the_file),
		cmocka_unit_test(zeros_follow_the_end_of_the_file),
		cmocka_unit_test(windows_share_a_limit),
		cmocka_unit_test(a_pending_signal_ends_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
