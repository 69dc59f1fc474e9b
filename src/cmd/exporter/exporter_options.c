/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/exporter_options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cmd/core/message.h"

static int add_address(const struct option_row *row, char *arg, struct options *o)
{
	struct exporter_options *own = exporter_options(o);

	(void)row;
	if (own->address_count == EXPORTER_ADDRESSES_MAX) {
		message_usage(o->verb, "at most %d addresses", EXPORTER_ADDRESSES_MAX);
		return -ECANCELED;
	}
	own->addresses[own->address_count++] = arg;
	return 0;
}

static int set_grouping(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	for (int i = 0; i < GROUPING_COUNT_; i++) {
		if (strcmp(arg, grouping_names[i]) != 0)
			continue;
		exporter_options(o)->grouping = (enum grouping)i;
		return 0;
	}
	return -EINVAL;
}

static int add_pattern(const struct option_row *row, char *arg, struct options *o)
{
	struct exporter_options *own = exporter_options(o);

	(void)row;
	if (own->pattern_count == EXPORTER_PATTERNS_MAX) {
		message_usage(o->verb, "at most %d patterns", EXPORTER_PATTERNS_MAX);
		return -ECANCELED;
	}
	own->patterns[own->pattern_count++] = arg;
	return 0;
}

static int set_heap(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	if (strcmp(arg, "walk") != 0 && strcmp(arg, "off") != 0)
		return -EINVAL;
	exporter_options(o)->has_heaps = strcmp(arg, "walk") == 0;
	return 0;
}

#define OFFSET(member) offsetof(struct exporter_options, member)

const struct exporter_options exporter_option_defaults = {
	.telemetry_path = "/metrics",
	.top = 50,
	.series_max = 5000,
	.max_cpu = 1000,
};

const struct option_row exporter_option_rows[] = {
	{ 0, "group-by", "auto|container|unit|cgroup|comm|exe|user",
	  "add up the processes of each group (default auto)", .group = OPTIONS_PROCESSES,
	  .set = set_grouping,
	  .want = "auto, container, unit, cgroup, comm, exe or user" },
	{ 0, "match", "REGEX", "put groups that match no REGEX in (rest)",
	  .group = OPTIONS_PROCESSES, .set = add_pattern },
	{ 0, "top", "N", "export the N largest groups (default 50)",
	  .group = OPTIONS_PROCESSES, .set = option_set_number, .value = OFFSET(top),
	  .max = 100000, .want = "a number up to 100000" },
	{ 0, "owners", NULL, "read mappings, and export the memory of each owner",
	  .group = OPTIONS_PROCESSES, .flag = OFFSET(has_owners) },
	{ 0, "heap", "off|walk", "pause processes to read their heaps (default off)",
	  .group = OPTIONS_HEAP, .set = set_heap, .want = "off or walk",
	  .needs = "owners" },
	{ 0, "heap-match", "REGEX", "read the heaps of commands that match REGEX",
	  .group = OPTIONS_HEAP, .set = option_set_word, .value = OFFSET(heap_pattern),
	  .needs = "heap" },
	{ 0, "once", NULL, "print the metrics once, in the text format, and exit",
	  .group = OPTIONS_OUTPUT, .flag = OFFSET(is_once) },
	{ 0, "textfile", "FILE", "write the metrics to FILE instead of serving them",
	  .group = OPTIONS_OUTPUT, .set = option_set_word, .value = OFFSET(textfile) },
	{ 0, "list-metrics", NULL, "list the metric families", .group = OPTIONS_OUTPUT,
	  .flag = OFFSET(lists_metrics) },
	{ 0, "web.listen-address", "ADDR:PORT|PATH",
	  "listen here (default localhost:9742)", .group = OPTIONS_OUTPUT,
	  .set = add_address },
	{ 0, "web.systemd-socket", NULL, "use the sockets that systemd passes",
	  .group = OPTIONS_OUTPUT, .flag = OFFSET(has_systemd_socket) },
	{ 0, "web.config.file", "FILE", "read TLS, passwords and headers from FILE",
	  .group = OPTIONS_OUTPUT, .set = option_set_word, .value = OFFSET(web_file) },
	{ 0, "web.telemetry-path", "PATH", "serve the metrics there (default /metrics)",
	  .group = OPTIONS_OUTPUT, .set = option_set_word,
	  .value = OFFSET(telemetry_path) },
	{ 0, "max-series", "N", "export at most N series (default 5000)",
	  .group = OPTIONS_LIMITS, .set = option_set_number, .value = OFFSET(series_max),
	  .min = 200, .max = 1000000, .want = "a number from 200 to 1000000" },
	{ 0, "max-cpu", "PERCENT", "use at most this share of one CPU (default 1%)",
	  .group = OPTIONS_LIMITS, .set = option_set_percent, .value = OFFSET(max_cpu),
	  .want = "a percentage, such as 1% or 0.5%" },
	{ 0 },
};
