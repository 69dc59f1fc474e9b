/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen - open the sockets on which the exporter listens. */
#ifndef MS_CMD_EXPORTER_LISTEN_H
#define MS_CMD_EXPORTER_LISTEN_H

#include <stddef.h>

#define LISTEN_MAX 16

struct listeners {
	int fds[LISTEN_MAX];
	size_t count;
	/*
	 * path of each unix socket, which is removed at the end; NULL for other sockets
	 */
	const char *paths[LISTEN_MAX];
};

/*
 * Open a socket for the address: "HOST:PORT", ":PORT", "[IPV6]:PORT", or the path of a
 * unix socket. A host name may resolve to several addresses. Return EXIT_DONE, or print
 * a message and return another exit status.
 */
int listeners_add(struct listeners *listeners, const char *verb, const char *address);

/*
 * Add the sockets that systemd passes (sd_listen_fds(3)). Return EXIT_DONE, or print a
 * message and return EXIT_FAILED if systemd passed no socket.
 */
int listeners_add_systemd(struct listeners *listeners);

/* Close all sockets. */
void listeners_close(struct listeners *listeners);

/* Remove the unix sockets. */
void listeners_unlink(const struct listeners *listeners);

#endif
