/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/exporter/sandbox.h"
#include "cmd/exporter/web_server.h"
#include "proc/process/own.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define NAME "memstate-web"

/*
 * Upper bound on the parent's descriptors. The parent has opened only a few files when it
 * starts the child.
 */
#define PARENT_FDS_MAX 1000

static void tell_scrape(void *context)
{
	const char message = WEB_MESSAGE_SCRAPE;

	/* one message is enough for the parent, even after several requests */
	(void)send(*(int *)context, &message, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell(int parent_fd, char message, const struct strbuf *problem)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_add_char(&text, message);
	strbuf_add_text(&text, strbuf_text(problem));
	(void)send(parent_fd, text.text, text.length, MSG_NOSIGNAL);
}

_Noreturn static void fail(int parent_fd, const struct strbuf *problem)
{
	tell(parent_fd, WEB_MESSAGE_FAILED, problem);
	_exit(1);
}

/*
 * Receive a message and the descriptor of its memfd. Return 1; 0 if there is no message;
 * or -EPIPE if the parent has ended.
 */
static int receive(int parent_fd, char *ret_message, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { ret_message, 1 };
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t length = recvmsg(parent_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *part;

	if (length < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	part = CMSG_FIRSTHDR(&header);
	if (length == 0 || !part || part->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(ret_fd, CMSG_DATA(part), sizeof(int));
	return 1;
}

static void set_config(struct web_server *server, int parent_fd, int fd)
{
	_cleanup_strbuf_ struct strbuf problem = STRBUF_INIT;
	const char *settings = "";
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0 || (fcntl(fd, F_GET_SEALS) & SEALS) != SEALS)
		return;
	if (st.st_size > 0)
		settings = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (settings == MAP_FAILED)
		return;
	r = web_server_set_config(server, settings, (size_t)st.st_size, &problem);
	tell(parent_fd, r < 0 ? WEB_MESSAGE_REFUSED : WEB_MESSAGE_ACCEPTED, &problem);
	if (st.st_size > 0)
		munmap((void *)(uintptr_t)settings, (size_t)st.st_size);
}

/* Handle all messages from the parent. Return 0, or -EPIPE if the parent has ended. */
static int handle_parent(struct web_server *server, int parent_fd)
{
	char message;
	int r, fd;

	while ((r = receive(parent_fd, &message, &fd)) > 0) {
		if (message == WEB_MESSAGE_LOOK)
			(void)web_server_set_look(server, fd);
		else if (message == WEB_MESSAGE_CONFIG)
			set_config(server, parent_fd, fd);
		close(fd);
	}
	return r;
}

_Noreturn static void serve(struct web_server *server, int parent_fd)
{
	struct pollfd polled[1 + WEB_POLLED_MAX];

	for (;;) {
		size_t count = web_server_polled(server, polled + 1);

		polled[0] = (struct pollfd){ .fd = parent_fd, .events = POLLIN };
		(void)poll(polled, (nfds_t)(1 + count), web_server_timeout_ms(server));
		if (handle_parent(server, parent_fd) < 0)
			_exit(0);
		web_server_run(server);
	}
}

/* Close the files of the parent, except standard error and the sockets. */
static void close_files(int parent_fd, const struct listeners *listeners)
{
	for (int fd = 0; fd < PARENT_FDS_MAX; fd++) {
		bool is_kept = fd == STDERR_FILENO || fd == parent_fd;

		for (size_t i = 0; i < listeners->count; i++)
			is_kept |= fd == listeners->fds[i];
		if (!is_kept)
			close(fd);
	}
}

_Noreturn void web_child_run(int parent_fd, const struct web_setup *setup)
{
	_cleanup_strbuf_ struct strbuf problem = STRBUF_INIT;
	struct web_server *server;
	int r;

	(void)prctl(PR_SET_NAME, NAME);
	close_files(parent_fd, setup->listeners);
	/*
	 * ignore the signals that end memstate, because the parent ends the child; ignore
	 * SIGPIPE, so that writing to a closed connection fails with EPIPE
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	/*
	 * load the time zone, which libc needs for the first date, before files
	 * are forbidden
	 */
	tzset();
	if (web_server_new(setup, tell_scrape, &parent_fd, &server, &problem) < 0 ||
	    web_server_set_config(server, strbuf_text(&setup->config->settings),
				  setup->config->settings.length, &problem) < 0)
		fail(parent_fd, &problem);
	/* release the code pages, because most of them are used only at startup */
	own_release_code_pages();
	r = sandbox_enter();
	if (r < 0) {
		strbuf_addf(&problem, "cannot give up rights: %s", strerror(-r));
		fail(parent_fd, &problem);
	}
	/*
	 * have the kernel kill this process when the parent ends; request it only now,
	 * because the change of the user clears the request
	 */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	tell(parent_fd, WEB_MESSAGE_READY, &problem);
	serve(server, parent_fd);
}
