/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of the connections to end if there are too many, with real sockets. */
#include "config.h"

#include "cmd/exporter/web_connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../support/unit.h"

#define SECOND NS_PER_S
#define CLIENTS_MAX 32
#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static struct web_connections connections;
static struct sockaddr_in at;
static int listener;
static struct client {
	int fd, served_fd;
} clients[CLIENTS_MAX];
static size_t client_count;

static int begin(void **state)
{
	socklen_t length = sizeof(at);

	(void)state;
	at = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, CLIENTS_MAX), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &length), 0);
	web_connections_init(&connections);
	client_count = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < client_count; i++) {
		close(clients[i].fd);
		close(clients[i].served_fd);
	}
	close(listener);
	return 0;
}

/* Connect from 127.0.0.HOST, send the text, and add the connection. Return its index. */
static size_t add(unsigned int host, const char *text, uint64_t now_ns)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr = { htonl(0x7f000000 + host) } };
	struct client *c = &clients[client_count];
	struct pollfd polled;

	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(c->fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(c->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	c->served_fd = accept(listener, NULL, NULL);
	assert_true(c->served_fd >= 0);
	if (text[0]) {
		assert_int_equal(write(c->fd, text, strlen(text)), strlen(text));
		polled = (struct pollfd){ .fd = c->served_fd, .events = POLLIN };
		assert_int_equal(poll(&polled, 1, 10000), 1);
	}
	web_connections_add(&connections, c->served_fd, now_ns);
	return client_count++;
}

/* Return true if the client sees the end of the connection. */
static bool is_ended(size_t i)
{
	char byte;

	return recv(clients[i].fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void the_oldest_without_a_request_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < 6; i++)
		add(1, "GET / HT", (i + 1) * SECOND);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(is_ended(i), i < 2);
}

static void other_addresses_do_not_count(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		add(1 + i / 4, "", SECOND);
	for (size_t i = 0; i < 8; i++)
		assert_false(is_ended(i));
}

static void a_request_that_has_arrived_protects_its_connection(void **state)
{
	(void)state;
	/* the server has read the first request, but not yet the second one */
	add(1, "", SECOND);
	web_connections_note_header(&connections, clients[0].served_fd);
	add(1, REQUEST, SECOND);
	for (size_t i = 0; i < 10; i++)
		add(1, "X", 2 * SECOND);
	assert_false(is_ended(0));
	assert_false(is_ended(1));
	for (size_t i = 2; i < 10; i++)
		assert_true(is_ended(i));
	assert_false(is_ended(10));
	assert_false(is_ended(11));
}

static void after_a_response_a_connection_is_idle(void **state)
{
	(void)state;
	add(1, "", SECOND);
	web_connections_note_header(&connections, clients[0].served_fd);
	web_connections_note_end(&connections, clients[0].served_fd, 2 * SECOND);
	for (size_t i = 0; i < 4; i++)
		add(1, "", 3 * SECOND);
	assert_true(is_ended(0));
	assert_false(is_ended(1));
}

static void clients_that_never_read_give_way_after_ten_seconds(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		add(1, "", SECOND);
		web_connections_note_header(&connections, clients[i].served_fd);
	}
	assert_true(is_ended(add(1, REQUEST, SECOND + WEB_HEADER_NS - 1)));
	assert_false(is_ended(0));
	assert_false(is_ended(add(1, REQUEST, SECOND + WEB_HEADER_NS)));
	assert_true(is_ended(0));
	assert_false(is_ended(1));
}

static void a_socket_has_at_most_sixteen_connections(void **state)
{
	size_t open_count = 0;

	(void)state;
	for (unsigned int i = 0; i < 24; i++)
		add(1 + i, "", (i + 1) * SECOND);
	for (size_t i = 0; i < 24; i++)
		open_count += !is_ended(i);
	assert_int_equal(open_count, WEB_CONNECTIONS_MAX);
	assert_true(is_ended(7));
	assert_false(is_ended(8));
}

static void slow_headers_and_slow_responses_end(void **state)
{
	(void)state;
	add(1, "X", SECOND);
	add(1, "", SECOND);
	web_connections_note_header(&connections, clients[1].served_fd);
	web_connections_end_slow(&connections, SECOND + WEB_HEADER_NS - 1);
	assert_false(is_ended(0));
	web_connections_end_slow(&connections, SECOND + WEB_HEADER_NS);
	assert_true(is_ended(0));
	web_connections_end_slow(&connections, SECOND + WEB_REQUEST_NS - 1);
	assert_false(is_ended(1));
	web_connections_end_slow(&connections, SECOND + WEB_REQUEST_NS);
	assert_true(is_ended(1));
}

static void removed_connections_do_not_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		size_t added = add(1, "", SECOND);

		assert_false(web_connections_are_none(&connections));
		web_connections_remove(&connections, clients[added].served_fd);
		assert_true(web_connections_are_none(&connections));
	}
	for (size_t i = 0; i < 8; i++)
		assert_false(is_ended(i));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_oldest_without_a_request_ends),
		CASE(other_addresses_do_not_count),
		CASE(a_request_that_has_arrived_protects_its_connection),
		CASE(after_a_response_a_connection_is_idle),
		CASE(clients_that_never_read_give_way_after_ten_seconds),
		CASE(a_socket_has_at_most_sixteen_connections),
		CASE(slow_headers_and_slow_responses_end),
		CASE(removed_connections_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
