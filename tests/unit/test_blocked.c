/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/blocked.h"

#include <errno.h>
#include <sys/syscall.h>

#include "unit.h"

#define RESTART_SYS (-512)

static void a_wait_for_work_is_told_from_other_calls(void **state)
{
	static const struct {
		long number;
		enum blocked_kind kind;
		const char *why;
	} rows[] = {
		{ SYS_ppoll, BLOCKED_IDLE, "waits for events" },
		{ SYS_recvfrom, BLOCKED_IDLE, "waits for a client" },
		{ SYS_futex, BLOCKED_MEMORY, "allocators wait for locks, too" },
		{ SYS_nanosleep, BLOCKED_OTHER, "some of them sleep" },
		{ SYS_read, BLOCKED_OTHER, "the loader reads files" },
		{ SYS_write, BLOCKED_FRAGILE, "half of it may be written" },
		{ SYS_connect, BLOCKED_FRAGILE, "cannot be begun twice" },
		{ -1, BLOCKED_OTHER, "in its own code" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(blocked_kind(rows[i].number) == rows[i].kind, rows[i].why);
}

static void a_bare_interruption_is_made_one_that_is_gone_on_with(void **state)
{
	(void)state;
	assert_int_equal(blocked_result(SYS_epoll_pwait, -EINTR),
			 BLOCKED_AGAIN_UNLESS_HANDLED);
	assert_int_equal(blocked_result(SYS_recvfrom, -EINTR), BLOCKED_AGAIN_UNLESS_HANDLED);
}

static void what_the_kernel_goes_on_with_itself_is_let_be(void **state)
{
	(void)state;
	assert_int_equal(blocked_result(SYS_epoll_pwait, RESTART_SYS), RESTART_SYS);
	assert_int_equal(blocked_result(SYS_epoll_pwait, 1), 1);
}

static void what_was_done_in_part_is_not_begun_again(void **state)
{
	(void)state;
	assert_int_equal(blocked_result(SYS_close, -EINTR), -EINTR);
	assert_int_equal(blocked_result(SYS_connect, -EINTR), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_work_is_told_from_other_calls),
		cmocka_unit_test(a_bare_interruption_is_made_one_that_is_gone_on_with),
		cmocka_unit_test(what_the_kernel_goes_on_with_itself_is_let_be),
		cmocka_unit_test(what_was_done_in_part_is_not_begun_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
