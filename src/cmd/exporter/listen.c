/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"

#define BACKLOG 64
#define SYSTEMD_FIRST_FD 3

static int add_fd(struct listeners *listeners, int fd, const char *path)
{
	if (listeners->count == LISTEN_MAX) {
		close(fd);
		message("more than %d sockets to listen on", LISTEN_MAX);
		return EXIT_FAILED;
	}
	listeners->paths[listeners->count] = path;
	listeners->fds[listeners->count++] = fd;
	return EXIT_DONE;
}

/* Open a socket, bind it to the address, and listen. Return a descriptor or -errno. */
static int open_socket(const struct sockaddr *address, socklen_t length)
{
	int fd =
		socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (fd < 0)
		return -errno;
	if (address->sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, address, length) < 0 || listen(fd, BACKLOG) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* Return true if no process listens on the unix socket at the path. */
static bool is_stale(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	return lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && fd >= 0 &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

static int add_unix(struct listeners *listeners, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		message_error(path, -ENAMETOOLONG);
		return EXIT_FAILED;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	/* remove a socket that an earlier exporter left behind */
	if (is_stale(&address))
		unlink(path);
	fd = open_socket((const struct sockaddr *)&address, sizeof(address));
	if (fd < 0) {
		message_error(path, fd);
		return EXIT_FAILED;
	}
	return add_fd(listeners, fd, path);
}

/* Split "HOST:PORT". The host may be empty, or an IPv6 address in brackets. */
static bool split(char *text, char **ret_host, char **ret_port)
{
	char *colon = strrchr(text, ':');
	size_t length;
	uint64_t port;

	if (!colon || num_parse_u64(colon + 1, &port) < 0 || port > 65535)
		return false;
	*colon = '\0';
	length = strlen(text);
	if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
		text[length - 1] = '\0';
		text++;
	} else if (strpbrk(text, ":[]")) {
		return false;
	}
	*ret_host = text;
	*ret_port = colon + 1;
	return true;
}

static int add_all(struct listeners *listeners, const char *name,
		   const struct addrinfo *first)
{
	int status = EXIT_DONE, r = 0;
	bool has_any = false;

	for (const struct addrinfo *at = first; at && status == EXIT_DONE;
	     at = at->ai_next) {
		int fd = open_socket(at->ai_addr, at->ai_addrlen);

		if (fd >= 0) {
			status = add_fd(listeners, fd, NULL);
			has_any = true;
		} else if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL) {
			r = fd;
			break;
		} else {
			r = has_any ? 0 : fd;
		}
	}
	if (status == EXIT_DONE && (r < 0 && (!has_any || r == -EADDRINUSE))) {
		message_error(name, r);
		return EXIT_FAILED;
	}
	return status;
}

int listeners_add(struct listeners *listeners, const char *verb, const char *address)
{
	static const struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE,
	};
	_cleanup_free_ char *text = xstrdup(address);
	struct addrinfo *found;
	char *host, *port;
	int r, status;

	if (address[0] == '/')
		return add_unix(listeners, address);
	if (!split(text, &host, &port)) {
		message_usage(verb,
			      "--web.listen-address: '%s' is not ADDRESS:PORT or "
			      "the path of a socket",
			      address);
		return EXIT_BAD_USAGE;
	}
	r = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
	if (r != 0) {
		message("%s: %s", address, gai_strerror(r));
		return EXIT_FAILED;
	}
	status = add_all(listeners, address, found);
	freeaddrinfo(found);
	return status;
}

static uint64_t read_variable(const char *name)
{
	const char *text = getenv(name);
	uint64_t value;

	return text && num_parse_u64(text, &value) == 0 ? value : 0;
}

int listeners_add_systemd(struct listeners *listeners)
{
	uint64_t count = read_variable("LISTEN_FDS");
	int status = EXIT_DONE;

	if (read_variable("LISTEN_PID") != (uint64_t)getpid() || count == 0) {
		message("--web.systemd-socket: systemd has passed no socket");
		return EXIT_FAILED;
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (uint64_t i = 0; i < count && status == EXIT_DONE; i++) {
		int fd = SYSTEMD_FIRST_FD + (int)i, is_listening = 0;
		socklen_t length = sizeof(is_listening);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &length) <
			    0 ||
		    !is_listening) {
			message("--web.systemd-socket: descriptor %d is not a listening "
				"socket",
				fd);
			return EXIT_FAILED;
		}
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		status = add_fd(listeners, fd, NULL);
	}
	return status;
}

void listeners_close(struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++) {
		close(listeners->fds[i]);
		listeners->fds[i] = -1;
	}
}

void listeners_unlink(const struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++)
		if (listeners->paths[i])
			unlink(listeners->paths[i]);
}
