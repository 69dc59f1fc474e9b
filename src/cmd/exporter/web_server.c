/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_server.h"

#include <errno.h>

#if HAVE_MICROHTTPD

#	include <fcntl.h>
#	include <stdlib.h>
#	include <string.h>
#	include <sys/mman.h>
#	include <sys/socket.h>
#	include <sys/stat.h>
#	include <unistd.h>

#	include "base/clock.h"
#	include "base/units.h"
#	include "base/xalloc.h"
#	include "cmd/exporter/web_private.h"
#	include "store/profile/gzip.h"

#	define TLS_PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3"
#	define TLS12_PRIORITIES TLS_PRIORITIES ":+VERS-TLS1.2"
#	define TLS12_ONLY_PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.2"

int web_server_new(const struct web_setup *setup, web_scrape_fn scraped, void *context,
		   struct web_server **ret, struct strbuf *problem)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
	struct web_server *server;

	if (!web_library_load()) {
		strbuf_add_text(problem,
				"libmicrohttpd is not installed; it is required for "
				"serving; --textfile and --once work without it");
		return -EOPNOTSUPP;
	}
	/* load all libraries now, because the sandbox forbids opening files */
	(void)gzip_pack_fast("", 0, &unused);
	(void)web_users_load();
	server = xcalloc(1, sizeof(*server));
	server->telemetry_path = setup->telemetry_path;
	server->has_owners = setup->has_owners;
	server->has_heaps = setup->has_heaps;
	server->scraped = scraped;
	server->context = context;
	server->daemon_count = setup->listeners->count;
	for (size_t i = 0; i < server->daemon_count; i++) {
		struct web_daemon *daemon = &server->daemons[i];

		daemon->server = server;
		daemon->listen_fd = setup->listeners->fds[i];
		web_connections_init(&daemon->connections);
	}
	*ret = server;
	return 0;
}

static void note_connection(void *context, struct MHD_Connection *connection,
			    void **socket_context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct web_daemon *daemon = context;
	int fd = web_connection_fd(connection);

	(void)socket_context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED && fd >= 0)
		web_connections_add(&daemon->connections, fd, clock_now_ns());
	else
		web_connections_remove(&daemon->connections, fd);
}

static void note_completed(void *context, struct MHD_Connection *connection,
			   void **request, enum MHD_RequestTerminationCode code)
{
	struct web_daemon *daemon = context;

	(void)request;
	(void)code;
	web_connections_note_end(&daemon->connections, web_connection_fd(connection),
				 clock_now_ns());
}

static const char *find(const char *settings, size_t length, enum web_setting setting)
{
	return web_settings_next(settings, length, setting, NULL);
}

static void ignore_log(void *context, const char *format, va_list args)
{
	(void)context;
	(void)format;
	(void)args;
}

static const char *find_priorities(const char *settings, size_t length)
{
	if (find(settings, length, WEB_TLS12_ONLY))
		return TLS12_ONLY_PRIORITIES;
	return find(settings, length, WEB_TLS13_ONLY) ? TLS_PRIORITIES : TLS12_PRIORITIES;
}

/* Start a daemon for the socket, with the TLS settings. Return NULL on failure. */
static struct MHD_Daemon *start(struct web_daemon *daemon, const char *settings,
				size_t length)
{
	const char *cert = find(settings, length, WEB_CERT);
	const char *ca = find(settings, length, WEB_CLIENT_CA);
	const char *priorities = find_priorities(settings, length);
	struct MHD_OptionItem items[8];
	/* libmicrohttpd closes the descriptor, even on failure */
	int n = 0, fd = fcntl(daemon->listen_fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
#	define ITEM(option, number, pointer)        \
		items[n++] = (struct MHD_OptionItem) \
		{                                    \
			option, number, pointer      \
		}
	if (cert) {
		const char *key = find(settings, length, WEB_KEY);

		ITEM(MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)cert);
		ITEM(MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key);
		ITEM(MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)priorities);
	}
	if (ca)
		ITEM(MHD_OPTION_HTTPS_MEM_TRUST, 0, (void *)(uintptr_t)ca);
	ITEM(MHD_OPTION_END, 0, NULL);
	return mhd.MHD_start_daemon(
		MHD_USE_EPOLL | (cert ? MHD_USE_TLS : 0) | MHD_USE_ERROR_LOG, 0, NULL,
		NULL, web_answer, daemon, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)WEB_CONNECTIONS_OPEN_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)WEB_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)WEB_MEMORY_BYTES, MHD_OPTION_NOTIFY_CONNECTION, note_connection,
		daemon, MHD_OPTION_NOTIFY_COMPLETED, note_completed, daemon,
		MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static void end_former(struct web_daemon *daemon)
{
	if (daemon->former)
		mhd.MHD_stop_daemon(daemon->former);
	daemon->former = NULL;
}

/*
 * Replace the daemon with a daemon that has the given settings. The previous daemon
 * continues to serve its connections.
 */
static bool restart(struct web_daemon *daemon, const char *settings, size_t length)
{
	struct MHD_Daemon *before = daemon->mhd, *now;

	if (before) {
		int fd = mhd.MHD_quiesce_daemon(before);

		if (fd >= 0)
			close(fd);
	}
	now = start(daemon, settings, length);
	if (!now)
		return false;
	daemon->mhd = now;
	end_former(daemon);
	daemon->former = before;
	daemon->former_since_ns = clock_now_ns();
	return true;
}

static bool is_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_same_tls(const struct web_server *server, const char *settings,
			 size_t length)
{
	static const enum web_setting of_tls[] = { WEB_CERT, WEB_KEY, WEB_CLIENT_CA,
						   WEB_TLS13_ONLY, WEB_TLS12_ONLY };

	for (size_t i = 0; i < sizeof(of_tls) / sizeof(of_tls[0]); i++)
		if (!is_equal(find(settings, length, of_tls[i]),
			      find(server->settings, server->settings_length, of_tls[i])))
			return false;
	return true;
}

/*
 * Restart all daemons with the given settings. If one fails, restore the previous
 * settings of all.
 */
static int restart_all(struct web_server *server, const char *settings, size_t length,
		       struct strbuf *problem)
{
	for (size_t i = 0; i < server->daemon_count; i++) {
		if (restart(&server->daemons[i], settings, length))
			continue;
		strbuf_add_text(problem, find(settings, length, WEB_CERT)
						 ? "web file: the certificate or the key "
						   "is not valid"
						 : "cannot serve on the socket");
		if (server->settings)
			for (size_t k = 0; k <= i; k++)
				(void)restart(&server->daemons[k], server->settings,
					      server->settings_length);
		return -EINVAL;
	}
	return 0;
}

static void set_rate(struct web_server *server)
{
	const char *limit =
		find(server->settings, server->settings_length, WEB_RATE_LIMIT);
	const char *colon = limit ? strchr(limit, ':') : NULL;

	web_rate_set(&server->rate, limit ? strtoull(limit, NULL, 10) : 0,
		     colon ? strtoull(colon + 1, NULL, 10) : 0, clock_now_ns());
}

int web_server_set_config(struct web_server *server, const char *settings, size_t length,
			  struct strbuf *problem)
{
	int r = 0;

	if (find(settings, length, WEB_USER) && !web_users_load()) {
		strbuf_add_text(problem, "web file: libcrypt is not installed; it is "
					 "required for passwords");
		return -EOPNOTSUPP;
	}
	if (!server->settings || !has_same_tls(server, settings, length))
		r = restart_all(server, settings, length, problem);
	if (r < 0)
		return r;
	free(server->settings);
	server->settings = xmalloc(length + 1);
	memcpy(server->settings, settings, length);
	server->settings_length = length;
	web_users_clear(&server->users);
	set_rate(server);
	if (server->look)
		web_look_forget_responses(server->look);
	return 0;
}

/* Return true if the lengths in the header add up to the size of the memfd. */
static bool is_whole(const struct web_look *head, size_t length)
{
	size_t left = length - sizeof(*head);

	for (int i = 0; i < EXPOSITION_FORMAT_COUNT_; i++) {
		if (head->lengths[i] > left)
			return false;
		left -= (size_t)head->lengths[i];
	}
	return left == 0;
}

int web_server_set_look(struct web_server *server, int fd)
{
	struct served_look *look;
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0 || (size_t)st.st_size < sizeof(struct web_look))
		return -EBADMSG;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	if (!is_whole(map, (size_t)st.st_size)) {
		munmap(map, (size_t)st.st_size);
		return -EBADMSG;
	}
	look = xcalloc(1, sizeof(*look));
	look->map = map;
	look->length = (size_t)st.st_size;
	look->users = 1;
	if (server->look) {
		web_look_forget_responses(server->look);
		web_look_release(server->look);
	}
	server->look = look;
	return 0;
}

static int epoll_fd_of(struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info =
		mhd.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

size_t web_server_polled(struct web_server *server, struct pollfd *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < server->daemon_count; i++) {
		struct web_daemon *daemon = &server->daemons[i];

		ret[count++] = (struct pollfd){ .fd = epoll_fd_of(daemon->mhd),
						.events = POLLIN };
		if (daemon->former)
			ret[count++] = (struct pollfd){ .fd = epoll_fd_of(daemon->former),
							.events = POLLIN };
	}
	return count;
}

int web_server_timeout_ms(struct web_server *server)
{
	int timeout = 60000;

	for (size_t i = 0; i < server->daemon_count; i++) {
		struct web_daemon *daemon = &server->daemons[i];
		MHD_UNSIGNED_LONG_LONG ms;

		if (mhd.MHD_get_timeout(daemon->mhd, &ms) == MHD_YES &&
		    ms < (MHD_UNSIGNED_LONG_LONG)timeout)
			timeout = (int)ms;
		/*
		 * wake up at least once per second to end slow connections and
		 * previous daemons
		 */
		if (timeout > 1000 &&
		    (daemon->former || !web_connections_are_none(&daemon->connections)))
			timeout = 1000;
	}
	return timeout;
}

void web_server_run(struct web_server *server)
{
	for (size_t i = 0; i < server->daemon_count; i++) {
		struct web_daemon *daemon = &server->daemons[i];

		mhd.MHD_run(daemon->mhd);
		if (daemon->former)
			mhd.MHD_run(daemon->former);
		web_connections_end_slow(&daemon->connections, clock_now_ns());
		if (daemon->former &&
		    clock_now_ns() - daemon->former_since_ns >= WEB_REQUEST_NS)
			end_former(daemon);
	}
}

#else

int web_server_new(const struct web_setup *setup, web_scrape_fn scraped, void *context,
		   struct web_server **ret, struct strbuf *problem)
{
	(void)setup;
	(void)scraped;
	(void)context;
	(void)ret;
	strbuf_add_text(problem,
			"this memstate was built without libmicrohttpd, which is "
			"required for serving; use --textfile or --once");
	return -EOPNOTSUPP;
}

int web_server_set_config(struct web_server *server, const char *settings, size_t length,
			  struct strbuf *problem)
{
	(void)server;
	(void)settings;
	(void)length;
	(void)problem;
	return -EOPNOTSUPP;
}

int web_server_set_look(struct web_server *server, int fd)
{
	(void)server;
	(void)fd;
	return -EOPNOTSUPP;
}

size_t web_server_polled(struct web_server *server, struct pollfd *ret)
{
	(void)server;
	(void)ret;
	return 0;
}

int web_server_timeout_ms(struct web_server *server)
{
	(void)server;
	return -1;
}

void web_server_run(struct web_server *server)
{
	(void)server;
}

#endif
