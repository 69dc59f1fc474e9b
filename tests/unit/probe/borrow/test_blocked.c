/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/blocked.h"

#include <errno.h>
#include <sys/syscall.h>

#include "../../support/unit.h"

#define RESTART_SYS (-512)

static void waiting_for_work_is_distinguished_from_other_calls(void **state)
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

static void a_plain_eintr_is_turned_into_a_restart(void **state)
{
	(void)state;
	assert_int_equal(blocked_result(SYS_epoll_pwait, -EINTR),
			 BLOCKED_AGAIN_UNLESS_HANDLED);
	assert_int_equal(blocked_result(SYS_recvfrom, -EINTR),
			 BLOCKED_AGAIN_UNLESS_HANDLED);
}

static void results_that_the_kernel_restarts_are_unchanged(void **state)
{
	(void)state;
	assert_int_equal(blocked_result(SYS_epoll_pwait, RESTART_SYS), RESTART_SYS);
	assert_int_equal(blocked_result(SYS_epoll_pwait, 1), 1);
}

static void calls_with_partial_effects_are_not_restarted(void **state)
{
	(void)state;
	assert_int_equal(blocked_result(SYS_close, -EINTR), -EINTR);
	assert_int_equal(blocked_result(SYS_connect, -EINTR), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_for_work_is_distinguished_from_other_calls),
		cmocka_unit_test(a_plain_eintr_is_turned_into_a_restart),
		cmocka_unit_test(results_that_the_kernel_restarts_are_unchanged),
		cmocka_unit_test(calls_with_partial_effects_are_not_restarted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
