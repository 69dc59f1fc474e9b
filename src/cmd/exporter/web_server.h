/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_server - serve the latest figures over HTTP with libmicrohttpd, in one thread. The
 * caller polls the descriptors and calls web_server_run().
 */
#ifndef MS_CMD_EXPORTER_WEB_SERVER_H
#define MS_CMD_EXPORTER_WEB_SERVER_H

#include <poll.h>

#include "cmd/exporter/web.h"

struct web_server;

/* A function that is called for each request for the metrics. */
typedef void (*web_scrape_fn)(void *context);

/*
 * Create a server for the sockets. Return 0, or -errno with a message in *problem
 * (-EOPNOTSUPP if libmicrohttpd is missing).
 */
int web_server_new(const struct web_setup *setup, web_scrape_fn scraped, void *context,
		   struct web_server **ret, struct strbuf *problem);

/*
 * Apply new web settings (TLS, users and headers), which are copied. Open connections
 * keep their TLS settings. On failure, the previous settings remain in effect, and
 * *problem contains a message.
 */
int web_server_set_config(struct web_server *server, const char *settings, size_t length,
			  struct strbuf *problem);

/*
 * Serve the figures in the given memfd from now on. The memfd is mapped;
 * the caller closes fd.
 */
int web_server_set_look(struct web_server *server, int fd);

/* Maximum number of descriptors that web_server_polled() stores. */
#define WEB_POLLED_MAX (2 * LISTEN_MAX)

/*
 * Store the descriptors to poll in ret, which has room for WEB_POLLED_MAX of them. Return
 * the number of descriptors.
 */
size_t web_server_polled(struct web_server *server, struct pollfd *ret);

/* Return the maximum time in ms until the next call of web_server_run(). */
int web_server_timeout_ms(struct web_server *server);

/* Handle the events on the descriptors, and end connections that have timed out. */
void web_server_run(struct web_server *server);

#endif
