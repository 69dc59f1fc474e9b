/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_connections - the connections of a socket that serves metrics. A client that opens
 * many connections, or sends its requests slowly, cannot keep other requests from being
 * answered, even requests from its own address: when there are too many connections, the
 * oldest one that has not sent the header of a request is ended.
 */
#ifndef MS_CMD_EXPORTER_WEB_CONNECTIONS_H
#define MS_CMD_EXPORTER_WEB_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define WEB_CONNECTIONS_MAX 16
#define WEB_CONNECTIONS_PER_ADDRESS 4

/* Maximum number of connections, with those that have been ended but not yet closed. */
#define WEB_CONNECTIONS_OPEN_MAX 64

/* Maximum duration of the header of a request, including the TLS handshake. */
#define WEB_HEADER_NS (10 * NS_PER_S)
/* Maximum duration of a request, including its response. */
#define WEB_REQUEST_NS (30 * NS_PER_S)

/* The client's address. IPv6 addresses with the same first 64 bits count as one. */
struct web_address {
	/* false for a Unix socket, whose clients are not limited by address */
	bool is_known;
	unsigned char bytes[16];
};

struct web_connection {
	int fd; /* -1: free */
	/* time when the connection began or last completed a request */
	uint64_t since_ns;
	bool has_header; /* true from the header of a request until its response ends */
	bool is_ended;	 /* true if it was shut down, and will be closed soon */
	struct web_address address;
};

struct web_connections {
	struct web_connection items[2 * WEB_CONNECTIONS_OPEN_MAX];
};

void web_connections_init(struct web_connections *connections);

/* Add a connection. If there are too many of them, shut down one, which may be this. */
void web_connections_add(struct web_connections *connections, int fd, uint64_t now_ns);

/* Forget a connection that is being closed. */
void web_connections_remove(struct web_connections *connections, int fd);

/* Note that the header of a request has arrived on the connection. */
void web_connections_note_header(struct web_connections *connections, int fd);

/* Note that the response of a request has been sent. */
void web_connections_note_end(struct web_connections *connections, int fd,
			      uint64_t now_ns);

/*
 * Shut down the connections whose requests take too long. A client that sends or
 * receives a byte now and then never counts as idle.
 */
void web_connections_end_slow(struct web_connections *connections, uint64_t now_ns);

bool web_connections_are_none(const struct web_connections *connections);

#endif
