/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/exporter/web_child.h"

#define MESSAGE_SIZE_MAX 512

/*
 * Maximum number of messages to receive at a time, so that a flood of messages does not
 * block the collection of figures.
 */
#define MESSAGES_MAX 64

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

/*
 * Print text from the child. The text is not trusted, because a client may have taken
 * control of the child.
 */
static void print_text(const char *text)
{
	_cleanup_strbuf_ struct strbuf printable = STRBUF_INIT;

	text_add_printable(&printable, text, strlen(text), false);
	message("%s", strbuf_text(&printable));
}

/* Wait for the child's first message. Return an exit status. */
static int await_ready(struct web *web)
{
	char text[MESSAGE_SIZE_MAX + 1];
	ssize_t length;

	do
		length = recv(web->fd, text, MESSAGE_SIZE_MAX, 0);
	while (length < 0 && errno == EINTR);
	if (length > 0 && text[0] == WEB_MESSAGE_READY)
		return EXIT_DONE;
	text[length > 0 ? length : 0] = '\0';
	if (length > 1)
		print_text(text + 1);
	else
		message("the process that serves the metrics has ended");
	web_stop(web);
	return EXIT_FAILED;
}

int web_start(struct web *web, const struct web_setup *setup)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		message_error("socketpair", -errno);
		return EXIT_FAILED;
	}
	web->pid = fork();
	if (web->pid < 0) {
		message_error("fork", -errno);
		return EXIT_FAILED;
	}
	if (web->pid == 0) {
		close(fds[0]);
		web_child_run(fds[1], setup);
	}
	close(fds[1]);
	web->fd = fds[0];
	listeners_close(setup->listeners);
	return await_ready(web);
}

/* Send a message with a sealed memfd. Return 0 or -errno. */
static int send_file(struct web *web, char message, int file_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { &message, 1 };
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *part = CMSG_FIRSTHDR(&header);

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &file_fd, sizeof(int));
	if (fcntl(file_fd, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	/* do not block if the child does not read, for example because it is stopped */
	if (sendmsg(web->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return 0;
}

static int make_file(void)
{
	int fd = memfd_create("memstate-exporter", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

int web_send_look(struct web *web, const struct strbuf texts[EXPOSITION_FORMAT_COUNT_])
{
	_cleanup_close_ int fd = make_file();
	struct web_look head;
	int r = fd < 0 ? fd : 0;

	for (int i = 0; i < EXPOSITION_FORMAT_COUNT_; i++)
		head.lengths[i] = texts[i].length;
	if (r == 0)
		r = io_write_all(fd, &head, sizeof(head));
	for (int i = 0; i < EXPOSITION_FORMAT_COUNT_ && r == 0; i++)
		r = io_write_all(fd, texts[i].text, texts[i].length);
	return r < 0 ? r : send_file(web, WEB_MESSAGE_LOOK, fd);
}

int web_send_config(struct web *web, const struct web_file *config)
{
	_cleanup_close_ int fd = make_file();
	int r = fd < 0 ? fd : 0;

	if (r == 0)
		r = io_write_all(fd, strbuf_text(&config->settings),
				 config->settings.length);
	return r < 0 ? r : send_file(web, WEB_MESSAGE_CONFIG, fd);
}

static void handle_message(const char *text, struct web_news *news)
{
	switch (text[0]) {
	case WEB_MESSAGE_SCRAPE: news->is_scraped = true; break;
	case WEB_MESSAGE_ACCEPTED: news->is_last_refused = false; break;
	case WEB_MESSAGE_REFUSED:
		news->refused_count++;
		news->is_last_refused = true;
		print_text(text + 1);
		break;
	default: break;
	}
}

int web_receive(struct web *web, struct web_news *news)
{
	char text[MESSAGE_SIZE_MAX + 1];

	for (int i = 0; i < MESSAGES_MAX; i++) {
		ssize_t length = recv(web->fd, text, MESSAGE_SIZE_MAX, MSG_DONTWAIT);

		if (length == 0 || (length < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (length < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		text[length] = '\0';
		handle_message(text, news);
	}
	return 0;
}

void web_stop(struct web *web)
{
	if (web->pid <= 0)
		return;
	close(web->fd);
	kill(web->pid, SIGKILL);
	while (waitpid(web->pid, NULL, 0) < 0 && errno == EINTR)
		;
	web->pid = 0;
}
