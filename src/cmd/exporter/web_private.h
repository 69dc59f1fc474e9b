/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_private - the state of the server, shared by web_server.c, which manages the
 * sockets and the collected figures, and web_answer.c, which answers requests.
 */
#ifndef MS_CMD_EXPORTER_WEB_PRIVATE_H
#define MS_CMD_EXPORTER_WEB_PRIVATE_H

#include "cmd/exporter/web_connections.h"
#include "cmd/exporter/web_library.h"
#include "cmd/exporter/web_rate.h"
#include "cmd/exporter/web_server.h"
#include "cmd/exporter/web_users.h"

#if HAVE_MICROHTTPD

/*
 * Collected figures that are being served. Each response borrows its text from this
 * struct, which is freed with its last reference.
 */
struct served_look {
	void *map;
	size_t length;
	/*
	 * number of references: one for each response, and one for the server if these
	 * are the latest figures
	 */
	unsigned int users;
	/*
	 * The cached responses, by format, uncompressed and compressed. NULL:
	 * not yet requested.
	 */
	struct MHD_Response *responses[EXPOSITION_FORMAT_COUNT_][2];
};

#	define WEB_IDLE_S 10
#	define WEB_MEMORY_BYTES 32768

struct web_daemon {
	struct web_server *server;
	int listen_fd;
	struct MHD_Daemon *mhd;
	/* daemon for remaining connections with the previous TLS settings, or NULL */
	struct MHD_Daemon *former;
	uint64_t former_since_ns;
	struct web_connections connections;
};

struct web_server {
	const char *telemetry_path;
	bool has_owners, has_heaps; /* which optional figures the exporter reads */
	web_scrape_fn scraped;
	void *context;
	struct web_daemon daemons[LISTEN_MAX];
	size_t daemon_count;
	char *settings; /* copy of the bytes in web_file.settings (web_file.h); owned */
	size_t settings_length;
	struct web_users users;
	struct web_rate rate;
	/* the latest figures; NULL if none have been received yet */
	struct served_look *look;
};

/* Return the descriptor of the connection, or -1. */
int web_connection_fd(struct MHD_Connection *connection);

/*
 * Answer a request. A daemon of libmicrohttpd calls this function with its struct
 * web_daemon as the context.
 */
enum MHD_Result web_answer(void *context, struct MHD_Connection *connection,
			   const char *url, const char *method, const char *version,
			   const char *upload, size_t *upload_length, void **request);

/* Drop a reference to the collected figures, and free them with the last reference. */
void web_look_release(void *look);

/*
 * Destroy the cached responses. Call this function after a change of the configured
 * headers, and before newer figures replace these figures.
 */
void web_look_forget_responses(struct served_look *look);

#endif
#endif
