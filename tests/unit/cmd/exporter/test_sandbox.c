/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rights of the serving process, tried in a child. */
#include "config.h"

#include "cmd/exporter/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/unit.h"

#if defined(__x86_64__) || defined(__aarch64__)
#	define IS_FILTERED true
#else
#	define IS_FILTERED false
#endif

/* A call that the child tries, on a descriptor that it already has. */
enum attempt {
	GET_FLAGS,
	SET_FLAGS,
	DUPLICATE,
	SET_CLOSE_ON_EXEC,
	SET_OWNER,
	SET_OWNER_EX,
	SET_SIGNAL,
	SET_LEASE,
	SET_PIPE_SIZE,
	SET_LOCK,
	SEND_SIGNAL,
	OPEN_FILE,
	SET_OWNER_BY_IOCTL,
};

static int try_it(enum attempt attempt, int fd)
{
	struct f_owner_ex owner = { F_OWNER_PID, getppid() };
	struct flock lock = { .l_type = F_RDLCK };
	int pid = getppid();

	switch (attempt) {
	case GET_FLAGS: return fcntl(fd, F_GETFL);
	case SET_FLAGS: return fcntl(fd, F_SETFL, O_NONBLOCK);
	case DUPLICATE: return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	case SET_CLOSE_ON_EXEC: return fcntl(fd, F_SETFD, FD_CLOEXEC);
	case SET_OWNER: return fcntl(fd, F_SETOWN, pid);
	case SET_OWNER_EX: return fcntl(fd, F_SETOWN_EX, &owner);
	case SET_SIGNAL: return fcntl(fd, F_SETSIG, SIGUSR1);
	case SET_LEASE: return fcntl(fd, F_SETLEASE, F_UNLCK);
	case SET_PIPE_SIZE: return fcntl(fd, F_SETPIPE_SZ, 4096);
	case SET_LOCK: return fcntl(fd, F_SETLK, &lock);
	case SEND_SIGNAL: return kill(pid, 0);
	case OPEN_FILE: return open("/", O_RDONLY | O_CLOEXEC);
	default: return ioctl(fd, FIOSETOWN, &pid);
	}
}

/* Return 0, or the errno of the attempt, or -1 if the sandbox failed. */
static int result_of(enum attempt attempt)
{
	int status, fds[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (sandbox_enter() < 0)
			_exit(255);
		_exit(try_it(attempt, fds[0]) < 0 ? errno : 0);
	}
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

static void a_server_may_change_its_own_descriptors(void **state)
{
	static const enum attempt attempts[] = { GET_FLAGS, SET_FLAGS, DUPLICATE,
						 SET_CLOSE_ON_EXEC };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		assert_int_equal(result_of(attempts[i]), 0);
}

static void a_server_cannot_have_signals_sent(void **state)
{
	static const enum attempt attempts[] = { SET_OWNER, SET_OWNER_EX, SET_SIGNAL,
						 SEND_SIGNAL, SET_OWNER_BY_IOCTL };

	(void)state;
	if (!IS_FILTERED)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		assert_int_equal(result_of(attempts[i]), EPERM);
}

static void other_calls_are_forbidden(void **state)
{
	static const enum attempt attempts[] = { SET_LEASE, SET_PIPE_SIZE, SET_LOCK,
						 OPEN_FILE };

	(void)state;
	if (!IS_FILTERED)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		assert_int_equal(result_of(attempts[i]), EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_may_change_its_own_descriptors),
		cmocka_unit_test(a_server_cannot_have_signals_sent),
		cmocka_unit_test(other_calls_are_forbidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
