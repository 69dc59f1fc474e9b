/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t now_ns;

uint64_t __wrap_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void)
{
	return now_ns;
}

/* A terminal, or a pipe, as standard error. */
struct fixture {
	int read_fd, saved_fd;
};

static void set_up(struct fixture *f, bool is_terminal, const char *term)
{
	int write_fd, pipe_fds[2];

	if (is_terminal) {
		f->read_fd = posix_openpt(O_RDWR | O_NOCTTY);
		assert_true(f->read_fd >= 0);
		assert_int_equal(grantpt(f->read_fd), 0);
		assert_int_equal(unlockpt(f->read_fd), 0);
		write_fd = open(ptsname(f->read_fd), O_RDWR | O_NOCTTY);
	} else {
		assert_int_equal(pipe(pipe_fds), 0);
		f->read_fd = pipe_fds[0];
		write_fd = pipe_fds[1];
	}
	assert_true(write_fd >= 0);
	assert_int_equal(fcntl(f->read_fd, F_SETFL, O_NONBLOCK), 0);
	f->saved_fd = dup(STDERR_FILENO);
	dup2(write_fd, STDERR_FILENO);
	close(write_fd);
	setenv("TERM", term, 1);
	now_ns = 1;
}

static void tear_down(struct fixture *f)
{
	dup2(f->saved_fd, STDERR_FILENO);
	close(f->saved_fd);
	close(f->read_fd);
}

/* Check what was written since the last call. */
static void expect(const struct fixture *f, const char *text)
{
	char got[256];
	ssize_t length = read(f->read_fd, got, sizeof(got) - 1);

	got[length > 0 ? length : 0] = '\0';
	assert_string_equal(got, text);
}

static void a_long_operation_shows_a_line_and_erases_it(void **state)
{
	struct progress p;
	struct fixture f;

	(void)state;
	set_up(&f, true, "xterm");
	progress_begin(&p, "searching");
	now_ns += PROGRESS_DELAY_NS - 1;
	assert_false(progress_report(&p, 3 * MIB, 10 * MIB));
	expect(&f, "");
	now_ns++;
	assert_false(progress_report(&p, 4 * MIB, 10 * MIB));
	expect(&f, "\r\033[Kmemstate: searching: 4.0M of 10.0M");
	now_ns += PROGRESS_INTERVAL_NS - 1;
	progress_report(&p, 5 * MIB, 10 * MIB);
	expect(&f, "");
	now_ns++;
	progress_report(&p, 6 * MIB, 10 * MIB);
	expect(&f, "\r\033[Kmemstate: searching: 6.0M of 10.0M");
	progress_end(&p);
	expect(&f, "\r\033[K");
	tear_down(&f);
}

static void a_short_operation_shows_nothing(void **state)
{
	struct progress p;
	struct fixture f;

	(void)state;
	set_up(&f, true, "xterm");
	progress_begin(&p, "searching");
	progress_report(&p, 4 * MIB, 10 * MIB);
	progress_end(&p);
	expect(&f, "");
	tear_down(&f);
}

static void only_a_terminal_that_can_erase_shows_progress(void **state)
{
	(void)state;
	for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
		struct progress p;
		struct fixture f;

		set_up(&f, is_terminal, is_terminal ? "dumb" : "xterm");
		progress_begin(&p, "searching");
		now_ns += PROGRESS_DELAY_NS;
		progress_report(&p, 4 * MIB, 10 * MIB);
		progress_end(&p);
		expect(&f, "");
		tear_down(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_operation_shows_a_line_and_erases_it),
		cmocka_unit_test(a_short_operation_shows_nothing),
		cmocka_unit_test(only_a_terminal_that_can_erase_shows_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
