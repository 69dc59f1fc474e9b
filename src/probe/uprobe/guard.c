/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"

/* Buffer for a control message (SCM_RIGHTS) that transfers at most one descriptor. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_result(int socket_fd, int result, int fd)
{
	union control control = { .bytes = { 0 } };
	struct iovec word = { &result, sizeof(result) };
	struct msghdr message = { .msg_iov = &word, .msg_iovlen = 1 };

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int receive_result(int socket_fd, int *ret_fd)
{
	union control control = { .bytes = { 0 } };
	int result;
	struct iovec word = { &result, sizeof(result) };
	struct msghdr message = {
		.msg_iov = &word,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;
	ssize_t n;

	do
		n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(result))
		return -ECHILD;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	/*
	 * MSG_CTRUNC means that the guard sent a descriptor that memstate could not
	 * receive, because memstate has reached its limit on open files
	 */
	else if (message.msg_flags & MSG_CTRUNC)
		return -EMFILE;
	return result;
}

static void serve(const struct uprobe_guard_work *work, int socket_fd)
{
	int request;
	ssize_t n;

	for (;;) {
		int fd = -1, r;

		n = recv(socket_fd, &request, sizeof(request), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(request))
			break;
		r = work->serve(work->context, request, &fd);
		if (send_result(socket_fd, r, fd) < 0)
			break;
	}
	work->end(work->context);
}

static int compare_numbers(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/*
 * Close all descriptors above 2, except the socket and those in `work`. Before Linux 5.9,
 * which introduced close_range(2), all descriptors stay open.
 */
static void close_others(const struct uprobe_guard_work *work, int socket_fd)
{
	int kept[UPROBE_GUARD_FDS_MAX + 1];
	size_t count = work->inherited_count;
	unsigned int next = STDERR_FILENO + 1;

	memcpy(kept, work->inherited_fds, count * sizeof(*kept));
	kept[count++] = socket_fd;
	qsort(kept, count, sizeof(*kept), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		unsigned int fd = (unsigned int)kept[i];

		if (kept[i] < 0 || fd < next)
			continue;
		if (fd > next)
			close_range(next, fd - 1, 0);
		next = fd + 1;
	}
	close_range(next, ~0U, 0);
}

/*
 * Run the guard process in its own session, so that it does not receive signals to
 * memstate's process group or from its terminal.
 */
static _Noreturn void run(const struct uprobe_guard_work *work, int socket_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/*
	 * The guard process must close memstate's standard output. If the output is a
	 * pipe, its reader would otherwise wait until the guard exits.
	 */
	for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null_fd, fd);
	close_others(work, socket_fd);
	serve(work, socket_fd);
	_exit(0);
}

int uprobe_guard_start(struct uprobe_guard *guard, const struct uprobe_guard_work *work)
{
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	guard->pid = fork();
	if (guard->pid == 0) {
		close(fds[0]);
		run(work, fds[1]);
	}
	r = guard->pid < 0 ? -errno : 0;
	close(fds[1]);
	if (r < 0) {
		close(fds[0]);
		return r;
	}
	guard->fd = fds[0];
	return 0;
}

int uprobe_guard_ask(struct uprobe_guard *guard, int request, int *ret_fd)
{
	int fd = -1, r;

	if (guard->fd < 0 || send(guard->fd, &request, sizeof(request), MSG_NOSIGNAL) !=
				     (ssize_t)sizeof(request))
		return -ECHILD;
	r = receive_result(guard->fd, &fd);
	if (ret_fd)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	return r;
}

bool uprobe_guard_is_alive(const struct uprobe_guard *guard)
{
	struct pollfd polled = { .fd = guard->fd };

	return guard->fd >= 0 && poll(&polled, 1, 0) == 0;
}

void uprobe_guard_end(struct uprobe_guard *guard)
{
	if (guard->fd < 0)
		return;
	/*
	 * in addition to close(), call shutdown(), because another child process may have
	 * a copy of the descriptor
	 */
	shutdown(guard->fd, SHUT_RDWR);
	close(guard->fd);
	guard->fd = -1;
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
