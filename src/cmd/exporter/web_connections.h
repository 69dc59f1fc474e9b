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

/*
 * Maximum number of connections, including those that have been ended but not yet closed.
 */
#define WEB_CONNECTIONS_OPEN_MAX 64

/*
 * Maximum time in ns until the header of a request is complete, including
 * the TLS handshake.
 */
#define WEB_HEADER_NS (10 * NS_PER_S)
/* Maximum duration of a request in ns, including its response. */
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
	/* true from the arrival of a request's header until the end of the response */
	bool has_header;
	/* true if the connection was shut down and will be closed soon */
	bool is_ended;
	struct web_address address;
};

struct web_connections {
	struct web_connection items[2 * WEB_CONNECTIONS_OPEN_MAX];
};

void web_connections_init(struct web_connections *connections);

/*
 * Add a connection. If there are too many connections, shut down one of them, which may
 * be the new one.
 */
void web_connections_add(struct web_connections *connections, int fd, uint64_t now_ns);

/* Forget a connection that is being closed. */
void web_connections_remove(struct web_connections *connections, int fd);

/* Record that the header of a request has arrived on the connection. */
void web_connections_note_header(struct web_connections *connections, int fd);

/* Record that the response to a request has been sent. */
void web_connections_note_end(struct web_connections *connections, int fd,
			      uint64_t now_ns);

/*
 * Shut down the connections whose requests take too long. An idle timeout would
 * not suffice, because a client that sends or receives a byte now and then never
 * counts as idle.
 */
void web_connections_end_slow(struct web_connections *connections, uint64_t now_ns);

bool web_connections_are_none(const struct web_connections *connections);

#endif
