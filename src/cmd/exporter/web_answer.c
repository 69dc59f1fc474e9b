/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/exporter/web_certificate.h"
#include "cmd/exporter/web_private.h"
#include "render/exporter/negotiate.h"
#include "render/exporter/selection.h"
#include "store/profile/gzip.h"

#if HAVE_MICROHTTPD

int web_connection_fd(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = mhd.MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

void web_look_release(void *context)
{
	struct served_look *look = context;

	if (--look->users > 0)
		return;
	munmap(look->map, look->length);
	free(look);
}

void web_look_forget_responses(struct served_look *look)
{
	for (int f = 0; f < EXPOSITION_FORMAT_COUNT_; f++) {
		for (int packed = 0; packed < 2; packed++) {
			if (look->responses[f][packed])
				mhd.MHD_destroy_response(look->responses[f][packed]);
			look->responses[f][packed] = NULL;
		}
	}
}

/* Add the headers that the web configuration file defines. */
static void add_headers(const struct web_server *server, struct MHD_Response *response)
{
	const char *header = NULL;

	while ((header = web_settings_next(server->settings, server->settings_length,
					   WEB_HEADER, header))) {
		char *name = xstrdup(header), *colon = strchr(name, ':');

		*colon = '\0';
		mhd.MHD_add_response_header(response, name, colon + 2);
		free(name);
	}
}

/* Queue the response, which remains owned by the caller. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned int status,
			     struct MHD_Response *response)
{
	return response ? mhd.MHD_queue_response(connection, status, response) : MHD_NO;
}

/* Answer with a short text, which is copied. */
static enum MHD_Result answer_text(const struct web_server *server,
				   struct MHD_Connection *connection, unsigned int status,
				   const char *type, const char *text)
{
	struct MHD_Response *response = mhd.MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	mhd.MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	add_headers(server, response);
	result = queue(connection, status, response);
	mhd.MHD_destroy_response(response);
	return result;
}

#	define PLAIN "text/plain; charset=utf-8"

static enum MHD_Result answer_index(struct web_server *server,
				    struct MHD_Connection *connection)
{
	struct strbuf page = STRBUF_INIT;
	struct MHD_Response *response;
	enum MHD_Result result;

	strbuf_add_text(&page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
			       "charset=\"utf-8\"><title>memstate exporter</title></head>"
			       "<body><h1>memstate exporter</h1><p><a href=\"");
	for (const char *at = server->telemetry_path; *at; at++) {
		if (strchr("&<>\"'", *at))
			strbuf_addf(&page, "&#%d;", *at);
		else
			strbuf_add_char(&page, *at);
	}
	strbuf_addf(&page, "\">Metrics</a></p><p>Version %s</p></body></html>\n",
		    PACKAGE_VERSION);
	response = mhd.MHD_create_response_from_buffer(page.length, page.text,
						       MHD_RESPMEM_MUST_COPY);
	strbuf_release(&page);
	if (!response)
		return MHD_NO;
	mhd.MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				    "text/html; charset=utf-8");
	add_headers(server, response);
	result = queue(connection, MHD_HTTP_OK, response);
	mhd.MHD_destroy_response(response);
	return result;
}

static const char *text_of(const struct served_look *look, enum exposition_format format,
			   size_t *ret_length)
{
	const struct web_look *head = look->map;
	const char *at = (const char *)(head + 1);

	for (int i = 0; i < (int)format; i++)
		at += head->lengths[i];
	*ret_length = (size_t)head->lengths[format];
	return at;
}

static void add_metrics_headers(const struct web_server *server,
				struct MHD_Response *response,
				enum exposition_format format, bool is_packed)
{
	mhd.MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				    exposition_content_types[format]);
	if (is_packed)
		mhd.MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING,
					    "gzip");
	mhd.MHD_add_response_header(response, MHD_HTTP_HEADER_VARY,
				    "Accept, Accept-Encoding");
	add_headers(server, response);
}

/*
 * Create the response that contains the figures in the given format. Return NULL if there
 * is not enough memory.
 */
static struct MHD_Response *make_response(const struct web_server *server,
					  struct served_look *look,
					  enum exposition_format format, bool is_packed)
{
	struct strbuf packed = STRBUF_INIT;
	struct MHD_Response *response;
	size_t length;
	const char *text = text_of(look, format, &length);

	if (is_packed) {
		if (gzip_pack_fast(text, length, &packed) < 0)
			return NULL;
		response = mhd.MHD_create_response_from_buffer(packed.length, packed.text,
							       MHD_RESPMEM_MUST_FREE);
	} else {
		response = mhd.MHD_create_response_from_buffer_with_free_callback_cls(
			length, (void *)(uintptr_t)text, web_look_release, look);
		look->users += response != NULL;
	}
	if (!response) {
		strbuf_release(&packed);
		return NULL;
	}
	add_metrics_headers(server, response, format, is_packed);
	return response;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return mhd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

struct query {
	struct metric_selection selection;
	struct strbuf problem;
};

static enum MHD_Result add_parameter(void *context, enum MHD_ValueKind kind,
				     const char *key, const char *value)
{
	struct query *query = context;

	(void)kind;
	return metric_selection_add(&query->selection, key, value, &query->problem) < 0
		       ? MHD_NO
		       : MHD_YES;
}

/* Answer with the selected metric families of the latest figures. */
static enum MHD_Result answer_selection(const struct web_server *server,
					struct MHD_Connection *connection,
					const struct metric_selection *selection,
					enum exposition_format format, bool is_packed)
{
	struct strbuf selected = STRBUF_INIT, packed = STRBUF_INIT;
	struct MHD_Response *response;
	enum MHD_Result result;
	size_t length;
	const char *text = text_of(server->look, format, &length);

	metric_selection_copy(selection, text, length, &selected);
	/* without zlib, send the text uncompressed */
	is_packed = is_packed &&
		    gzip_pack_fast(strbuf_text(&selected), selected.length, &packed) == 0;
	text = strbuf_text(is_packed ? &packed : &selected);
	response = mhd.MHD_create_response_from_buffer(
		is_packed ? packed.length : selected.length, (void *)(uintptr_t)text,
		MHD_RESPMEM_MUST_COPY);
	strbuf_release(&selected);
	strbuf_release(&packed);
	if (!response)
		return MHD_NO;
	add_metrics_headers(server, response, format, is_packed);
	result = queue(connection, MHD_HTTP_OK, response);
	mhd.MHD_destroy_response(response);
	return result;
}

/*
 * Answer with all of the latest figures. All requests for the same format and compression
 * share one response.
 */
static enum MHD_Result answer_look(const struct web_server *server,
				   struct MHD_Connection *connection,
				   enum exposition_format format, bool is_packed)
{
	struct served_look *look = server->look;
	struct MHD_Response **response;

	response = &look->responses[format][is_packed];
	if (!*response)
		*response = make_response(server, look, format, is_packed);
	/* without zlib, send the text uncompressed */
	if (!*response && is_packed) {
		response = &look->responses[format][false];
		if (!*response)
			*response = make_response(server, look, format, false);
	}
	return queue(connection, MHD_HTTP_OK, *response);
}

static enum MHD_Result refuse_query(const struct web_server *server,
				    struct MHD_Connection *connection,
				    struct strbuf *problem)
{
	enum MHD_Result result;

	strbuf_add_char(problem, '\n');
	result = answer_text(server, connection, MHD_HTTP_BAD_REQUEST, PLAIN,
			     strbuf_text(problem));
	strbuf_release(problem);
	return result;
}

static enum MHD_Result answer_metrics(struct web_server *server,
				      struct MHD_Connection *connection)
{
	enum exposition_format format =
		negotiate_format(header_of(connection, MHD_HTTP_HEADER_ACCEPT));
	bool is_packed =
		negotiate_gzip(header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	struct query query = { .problem = STRBUF_INIT };

	query.selection.has_owners = server->has_owners;
	query.selection.has_heaps = server->has_heaps;
	mhd.MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_parameter,
				      &query);
	if (query.problem.length > 0)
		return refuse_query(server, connection, &query.problem);
	server->scraped(server->context);
	if (!server->look)
		return answer_text(server, connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				   PLAIN, "The first collection is not complete yet.\n");
	if (metric_selection_is_all(&query.selection))
		return answer_look(server, connection, format, is_packed);
	return answer_selection(server, connection, &query.selection, format, is_packed);
}

/* Return true if the client's certificate is allowed, or none is required. */
static bool has_certificate(const struct web_server *server,
			    struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info;

	if (!web_settings_next(server->settings, server->settings_length,
			       WEB_NEEDS_CLIENT_CERT, NULL))
		return true;
	info = mhd.MHD_get_connection_info(connection,
					   MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info && info->tls_session &&
	       web_certificate_is_allowed((gnutls_session_t)info->tls_session,
					  server->settings, server->settings_length);
}

/* Check the user's name and password. */
static enum web_user_result check_user(struct web_server *server,
				       struct MHD_Connection *connection)
{
	enum web_user_result result = WEB_USER_WRONG;
	char *password = NULL, *name;

	if (!web_settings_next(server->settings, server->settings_length, WEB_USER, NULL))
		return WEB_USER_RIGHT;
	name = mhd.MHD_basic_auth_get_username_password(connection, &password);
	if (name && password)
		result = web_users_check(&server->users, server->settings,
					 server->settings_length, name, password);
	if (password) {
		explicit_bzero(password, strlen(password));
		mhd.MHD_free(password);
	}
	if (name)
		mhd.MHD_free(name);
	return result;
}

static enum MHD_Result refuse_user(struct web_server *server,
				   struct MHD_Connection *connection,
				   enum web_user_result result)
{
	static char text[] = "Unauthorized\n";
	struct MHD_Response *response;
	enum MHD_Result queued;

	if (result == WEB_USER_BUSY)
		return answer_text(server, connection, MHD_HTTP_TOO_MANY_REQUESTS, PLAIN,
				   "Too many passwords to check.\n");
	response = mhd.MHD_create_response_from_buffer(strlen(text), text,
						       MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	add_headers(server, response);
	queued = mhd.MHD_queue_basic_auth_fail_response(connection, "memstate", response);
	mhd.MHD_destroy_response(response);
	return queued;
}

/*
 * Answer a request for a page, after checking the password if the settings require one.
 */
static enum MHD_Result answer_page(struct web_server *server,
				   struct MHD_Connection *connection, const char *url)
{
	enum web_user_result user = check_user(server, connection);

	if (user != WEB_USER_RIGHT)
		return refuse_user(server, connection, user);
	if (strcmp(url, server->telemetry_path) == 0)
		return answer_metrics(server, connection);
	if (strcmp(url, "/") == 0)
		return answer_index(server, connection);
	return answer_text(server, connection, MHD_HTTP_NOT_FOUND, PLAIN, "Not found\n");
}

enum MHD_Result web_answer(void *context, struct MHD_Connection *connection,
			   const char *url, const char *method, const char *version,
			   const char *upload, size_t *upload_length, void **request)
{
	static int is_begun;
	struct web_daemon *daemon = context;
	struct web_server *server = daemon->server;

	(void)version;
	(void)upload;
	/*
	 * libmicrohttpd first calls this function before the body of the
	 * request has arrived
	 */
	if (!*request) {
		*request = &is_begun;
		web_connections_note_header(&daemon->connections,
					    web_connection_fd(connection));
		return MHD_YES;
	}
	if (*upload_length > 0) {
		*upload_length = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED, PLAIN,
				   "Only GET and HEAD are allowed.\n");
	if (!has_certificate(server, connection))
		return answer_text(server, connection, MHD_HTTP_FORBIDDEN, PLAIN,
				   "An allowed client certificate is required.\n");
	if (!web_rate_allow(&server->rate, clock_now_ns()))
		return answer_text(server, connection, MHD_HTTP_TOO_MANY_REQUESTS, PLAIN,
				   "Too many requests.\n");
	if (strcmp(url, "/-/healthy") == 0)
		return answer_text(server, connection, MHD_HTTP_OK, PLAIN, "Healthy\n");
	if (strcmp(url, "/-/ready") == 0)
		return server->look ? answer_text(server, connection, MHD_HTTP_OK, PLAIN,
						  "Ready\n")
				    : answer_text(server, connection,
						  MHD_HTTP_SERVICE_UNAVAILABLE, PLAIN,
						  "Not ready\n");
	return answer_page(server, connection, url);
}

#endif
