/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_connections.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/*
 * Number of bytes in which to look for the end of a request's header. The headers of
 * typical requests are shorter.
 */
#define PEEKED_BYTES_MAX 2048

#define OPEN_MAX (2 * WEB_CONNECTIONS_OPEN_MAX)

void web_connections_init(struct web_connections *connections)
{
	for (size_t i = 0; i < OPEN_MAX; i++)
		connections->items[i] = (struct web_connection){ .fd = -1 };
}

/*
 * Return the entry of the connection with this descriptor, or a free entry if fd is -1.
 * Return NULL if not found.
 */
static struct web_connection *find(struct web_connections *connections, int fd)
{
	for (size_t i = 0; i < OPEN_MAX; i++)
		if (connections->items[i].fd == fd)
			return &connections->items[i];
	return NULL;
}

static struct web_address read_address(int fd)
{
	struct web_address address = { .is_known = false };
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} peer;
	socklen_t length = sizeof(peer);

	memset(&peer, 0, sizeof(peer));
	if (getpeername(fd, &peer.any, &length) < 0)
		return address;
	if (peer.any.sa_family == AF_INET) {
		address.is_known = true;
		memcpy(address.bytes, &peer.v4.sin_addr, sizeof(peer.v4.sin_addr));
	} else if (peer.any.sa_family == AF_INET6) {
		/*
		 * ignore the second half of an IPv6 address, because one client may have
		 * all addresses of a /64, but compare IPv4 addresses in full
		 */
		bool is_v4 = IN6_IS_ADDR_V4MAPPED(&peer.v6.sin6_addr);

		address.is_known = true;
		memcpy(address.bytes, &peer.v6.sin6_addr, is_v4 ? 16 : 8);
	}
	return address;
}

static bool is_same(const struct web_address *a, const struct web_address *b)
{
	return a->is_known && b->is_known &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static void end(struct web_connection *c)
{
	c->is_ended = true;
	shutdown(c->fd, SHUT_RDWR);
}

/*
 * Return true if the header of a request has arrived, even if the server has not read it
 * yet. A header inside TLS records cannot be recognised.
 */
static bool has_header(const struct web_connection *c)
{
	char start[PEEKED_BYTES_MAX];
	ssize_t length;

	if (c->has_header)
		return true;
	length = recv(c->fd, start, sizeof(start), MSG_PEEK | MSG_DONTWAIT);
	return length > 0 && memmem(start, (size_t)length, "\r\n\r\n", 4);
}

/*
 * Return true if connection a should be ended before connection b. Connections that have
 * not sent a request come first, then older connections.
 */
static bool is_before(const struct web_connection *a, const struct web_connection *b)
{
	bool has_a = has_header(a), has_b = has_header(b);

	return has_a != has_b ? has_b : a->since_ns < b->since_ns;
}

/*
 * If there are more than `max` connections, end one of them. If address is not NULL,
 * consider only the connections from this address. If the requests of all other
 * connections may still be answered in time, end the new connection.
 */
static void limit(struct web_connections *connections, struct web_connection *added,
		  const struct web_address *address, size_t max)
{
	struct web_connection *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < OPEN_MAX; i++) {
		struct web_connection *c = &connections->items[i];

		if (c->fd < 0 || c->is_ended ||
		    (address && !is_same(&c->address, address)))
			continue;
		count++;
		if (c != added && (!first || is_before(c, first)))
			first = c;
	}
	if (count <= max)
		return;
	if (first && has_header(first) &&
	    added->since_ns - first->since_ns < WEB_HEADER_NS)
		first = added;
	end(first ? first : added);
}

void web_connections_add(struct web_connections *connections, int fd, uint64_t now_ns)
{
	struct web_connection *c = find(connections, -1);

	if (!c) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	*c = (struct web_connection){ .fd = fd,
				      .since_ns = now_ns,
				      .address = read_address(fd) };
	limit(connections, c, &c->address, WEB_CONNECTIONS_PER_ADDRESS);
	if (!c->is_ended)
		limit(connections, c, NULL, WEB_CONNECTIONS_MAX);
}

void web_connections_remove(struct web_connections *connections, int fd)
{
	struct web_connection *c = fd >= 0 ? find(connections, fd) : NULL;

	if (c)
		c->fd = -1;
}

void web_connections_note_header(struct web_connections *connections, int fd)
{
	struct web_connection *c = fd >= 0 ? find(connections, fd) : NULL;

	if (c)
		c->has_header = true;
}

void web_connections_note_end(struct web_connections *connections, int fd,
			      uint64_t now_ns)
{
	struct web_connection *c = fd >= 0 ? find(connections, fd) : NULL;

	if (!c)
		return;
	c->has_header = false;
	c->since_ns = now_ns;
}

void web_connections_end_slow(struct web_connections *connections, uint64_t now_ns)
{
	for (size_t i = 0; i < OPEN_MAX; i++) {
		struct web_connection *c = &connections->items[i];
		uint64_t max_ns = c->has_header ? WEB_REQUEST_NS : WEB_HEADER_NS;

		if (c->fd >= 0 && now_ns - c->since_ns >= max_ns)
			end(c);
	}
}

bool web_connections_are_none(const struct web_connections *connections)
{
	for (size_t i = 0; i < OPEN_MAX; i++)
		if (connections->items[i].fd >= 0)
			return false;
	return true;
}
