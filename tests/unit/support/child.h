/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child - a child process that carries out commands of one letter, one after another, and
 * waits in between. The child is killed when the test ends.
 */
#ifndef MS_TESTS_CHILD_H
#define MS_TESTS_CHILD_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

struct child {
	pid_t pid;
	int socket;
};

static inline struct child child_start(void (*obey)(char command))
{
	struct child child;
	int sockets[2];
	char command;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid > 0) {
		close(sockets[1]);
		child.socket = sockets[0];
		return child;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(sockets[0]);
	while (read(sockets[1], &command, 1) == 1) {
		obey(command);
		if (write(sockets[1], &command, 1) != 1)
			break;
	}
	_exit(0);
}

/* Let the child carry out a command, and wait until it has done so. */
static inline void child_do(const struct child *child, char command)
{
	char answer = 0;

	assert_int_equal(write(child->socket, &command, 1), 1);
	assert_int_equal(read(child->socket, &answer, 1), 1);
	assert_int_equal(answer, command);
}

static inline void child_end(const struct child *child)
{
	close(child->socket);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

#endif
