/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/unit.h"

#define SECONDS 60 /* only a hang takes this long */

static int kept_fd;

/* Return whether the guard has a descriptor with this number. */
static int has_descriptor(void *context, int request, int *ret_fd)
{
	(void)context;
	(void)ret_fd;
	return fcntl(request, F_GETFD) >= 0;
}

static void tell_end(void *context)
{
	(void)context;
	(void)!write(kept_fd, "e", 1);
}

static struct uprobe_guard_work make_work(void)
{
	return (struct uprobe_guard_work){
		.inherited_fds = { kept_fd },
		.inherited_count = 1,
		.serve = has_descriptor,
		.end = tell_end,
	};
}

static void a_guard_can_end_while_a_later_one_runs(void **state)
{
	struct uprobe_guard first = UPROBE_GUARD_NONE, second = UPROBE_GUARD_NONE;
	struct uprobe_guard_work work;
	pid_t copy;

	(void)state;
	kept_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	work = make_work();
	assert_int_equal(uprobe_guard_start(&first, &work), 0);
	/* a child that inherits all of memstate's descriptors */
	copy = fork();
	if (copy == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(uprobe_guard_start(&second, &work), 0);
	alarm(SECONDS);
	uprobe_guard_end(&first);
	alarm(0);
	assert_int_equal(waitpid(copy, NULL, WNOHANG), 0);
	assert_true(uprobe_guard_is_alive(&second));
	uprobe_guard_end(&second);
	kill(copy, SIGKILL);
	waitpid(copy, NULL, 0);
	close(kept_fd);
}

static void a_guard_has_only_the_descriptors_it_needs(void **state)
{
	struct uprobe_guard first = UPROBE_GUARD_NONE, guard = UPROBE_GUARD_NONE;
	struct uprobe_guard_work work;
	struct pollfd polled;
	int fds[2], told[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC) | pipe2(told, O_CLOEXEC), 0);
	kept_fd = told[1];
	work = make_work();
	assert_int_equal(uprobe_guard_start(&first, &work), 0);
	assert_int_equal(uprobe_guard_start(&guard, &work), 0);
	assert_int_equal(uprobe_guard_ask(&guard, kept_fd, NULL), 1);
	assert_int_equal(uprobe_guard_ask(&guard, fds[0], NULL), 0);
	assert_int_equal(uprobe_guard_ask(&guard, fds[1], NULL), 0);
	assert_int_equal(uprobe_guard_ask(&guard, first.fd, NULL), 0);
	assert_int_equal(uprobe_guard_ask(&first, fds[1], NULL), 0);
	/* a reader of the pipe must notice that memstate has closed it */
	close(fds[1]);
	polled = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	assert_int_equal(poll(&polled, 1, 0), 1);
	assert_true(polled.revents & POLLHUP);
	uprobe_guard_end(&guard);
	assert_int_equal(read(told[0], &byte, 1), 1);
	uprobe_guard_end(&first);
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(fds[0]);
	close(told[0]);
	close(told[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guard_can_end_while_a_later_one_runs),
		cmocka_unit_test(a_guard_has_only_the_descriptors_it_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
