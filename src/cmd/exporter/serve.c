/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/exporter/exporter_private.h"

#define DEFAULT_ADDRESS "localhost:9742"

/*
 * Time in ns without a request after which the exporter stops collecting figures. It
 * continues to count kills.
 */
#define UNUSED_NS (300 * NS_PER_S)

/* Time in ns between two checks of the web configuration file for changes. */
#define WEB_FILE_NS (1 * NS_PER_S)

static int open_sockets(struct exporter *x)
{
	const struct exporter_options *o = x->options;
	int status = EXIT_DONE;

	if (o->has_systemd_socket)
		return listeners_add_systemd(&x->listeners);
	for (size_t i = 0; i < o->address_count && status == EXIT_DONE; i++)
		status = listeners_add(&x->listeners, o->common.verb, o->addresses[i]);
	if (o->address_count == 0)
		status = listeners_add(&x->listeners, o->common.verb, DEFAULT_ADDRESS);
	return status;
}

static int read_web_file(struct exporter *x)
{
	int r = x->options->web_file ? web_file_read(x->options->web_file, &x->web_file,
						     &x->web_problem)
				     : 0;

	if (r == 0)
		return EXIT_DONE;
	message("%s: %s", x->options->web_file, strbuf_text(&x->web_problem));
	return EXIT_FAILED;
}

int exporter_begin_serving(struct exporter *x)
{
	const struct web_setup setup = {
		.listeners = &x->listeners,
		.config = &x->web_file,
		.telemetry_path = x->options->telemetry_path,
		.has_owners = x->options->has_owners,
		.has_heaps = x->options->has_heaps,
	};
	int status = read_web_file(x);

	if (status == EXIT_DONE)
		status = open_sockets(x);
	if (status == EXIT_DONE)
		status = web_start(&x->web, &setup);
	return status;
}

/*
 * Read the web configuration file again, and pass its settings to the child if the file
 * has changed. A damaged file is reported once; the previous settings remain in effect.
 */
static void check_web_file(struct exporter *x)
{
	_cleanup_strbuf_ struct strbuf problem = STRBUF_INIT;
	struct web_file now = WEB_FILE_INIT;
	int r = web_file_read(x->options->web_file, &now, &problem);

	if (r < 0 && strcmp(strbuf_text(&problem), strbuf_text(&x->web_problem)) != 0) {
		message("%s: %s; the previous settings remain in effect",
			x->options->web_file, strbuf_text(&problem));
		x->web_failure_count++;
	}
	strbuf_clear(&x->web_problem);
	strbuf_add_text(&x->web_problem, strbuf_text(&problem));
	if (r < 0 || now.stamp == x->web_file.stamp) {
		web_file_release(&now);
		return;
	}
	/*
	 * if the child does not accept the settings now, the next check sends them again
	 */
	if (web_send_config(&x->web, &now) < 0) {
		web_file_release(&now);
		return;
	}
	web_file_release(&x->web_file);
	x->web_file = now;
}

struct serving {
	uint64_t look_due_ns, file_due_ns;
	uint64_t used_ns; /* time of the last request for the metrics */
};

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Wait for a message from the child or the kernel, or until the next task is due. */
static void wait_for_next(struct exporter *x, const struct serving *serving)
{
	int log_fd = collector_log_fd(x->collector);
	struct pollfd polled[2] = {
		{ .fd = x->web.fd, .events = POLLIN },
		{ .fd = log_fd, .events = POLLIN },
	};
	uint64_t due_ns = min(serving->look_due_ns, collector_log_due_ns(x->collector));

	if (x->options->web_file)
		due_ns = min(due_ns, serving->file_due_ns);
	signals_poll(polled, log_fd >= 0 ? 2 : 1, due_ns);
}

/*
 * Collect the figures and send them to the child. Return 0, or -EPIPE if the
 * child has ended.
 */
static int look(struct exporter *x, struct serving *serving)
{
	uint64_t begin_ns = clock_now_ns(), cpu_ns = clock_thread_cpu_ns();
	int r;

	(void)exporter_take_look(x, LOOK_LIMIT_NS);
	for (int i = 0; i < EXPOSITION_FORMAT_COUNT_; i++)
		exporter_describe(x, (enum exposition_format)i);
	r = web_send_look(&x->web, x->texts);
	/* free the expositions, because the child now has a copy */
	for (int i = 0; i < EXPOSITION_FORMAT_COUNT_; i++)
		strbuf_release(&x->texts[i]);
	cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	serving->look_due_ns = exporter_next_due_ns(x, begin_ns, cpu_ns);
	if (clock_now_ns() - serving->used_ns >= UNUSED_NS)
		serving->look_due_ns = UINT64_MAX;
	return r == -EPIPE ? r : 0;
}

/* Receive the messages of the child. Return 0, or -EPIPE if it has ended. */
static int receive(struct exporter *x, struct serving *serving)
{
	struct web_news news = { .is_last_refused = x->is_web_refused };
	int r = web_receive(&x->web, &news);

	x->web_failure_count += news.refused_count;
	x->is_web_refused = news.is_last_refused;
	if (news.is_scraped) {
		serving->used_ns = clock_now_ns();
		/*
		 * resume the collection of figures, which was suspended for
		 * lack of requests
		 */
		if (serving->look_due_ns == UINT64_MAX)
			serving->look_due_ns = serving->used_ns;
	}
	return r;
}

int exporter_serve(struct exporter *x)
{
	struct serving serving = { .used_ns = clock_now_ns() };
	int r = look(x, &serving);

	exporter_report_unreadable(x);
	while (r == 0 && signals_stop_count() == 0) {
		uint64_t now_ns;

		wait_for_next(x, &serving);
		r = receive(x, &serving);
		now_ns = clock_now_ns();
		/*
		 * if the kernel log reports a new kill, collect figures
		 * immediately to include it
		 */
		if (collector_read_log(x->collector))
			serving.look_due_ns = now_ns;
		if (x->options->web_file && now_ns >= serving.file_due_ns) {
			check_web_file(x);
			serving.file_due_ns = now_ns + WEB_FILE_NS;
		}
		if (r == 0 && now_ns >= serving.look_due_ns)
			r = look(x, &serving);
	}
	if (r == 0)
		return EXIT_DONE;
	message("the process that serves the metrics has ended");
	return EXIT_FAILED;
}

void exporter_end_serving(struct exporter *x)
{
	web_stop(&x->web);
	listeners_unlink(&x->listeners);
	web_file_release(&x->web_file);
	strbuf_release(&x->web_problem);
}
