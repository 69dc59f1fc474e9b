/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exporter_options - the options of memstate exporter. */
#ifndef MS_CMD_EXPORTER_EXPORTER_OPTIONS_H
#define MS_CMD_EXPORTER_EXPORTER_OPTIONS_H

#include "classify/exporter/group_name.h"
#include "cmd/core/options.h"

#define EXPORTER_ADDRESSES_MAX 8
#define EXPORTER_PATTERNS_MAX 16

struct exporter_options {
	struct options common;
	/* arguments of --web.listen-address */
	const char *addresses[EXPORTER_ADDRESSES_MAX];
	size_t address_count;
	bool has_systemd_socket;
	const char *web_file; /* name of the web configuration file, or NULL */
	const char *telemetry_path;
	bool is_once;
	const char *textfile; /* name of the text file to write, or NULL */
	enum grouping grouping;
	const char *patterns[EXPORTER_PATTERNS_MAX]; /* arguments of --match */
	size_t pattern_count;
	uint64_t top, series_max;
	uint64_t max_cpu; /* maximum CPU time, in thousandths of a percent of one CPU */
	bool has_owners;
	bool has_heaps;		  /* true if the user gave --heap walk */
	const char *heap_pattern; /* argument of --heap-match, or NULL */
	bool lists_metrics;
};

extern const struct option_row exporter_option_rows[];
extern const struct exporter_options exporter_option_defaults;

static inline struct exporter_options *exporter_options(struct options *o)
{
	return (struct exporter_options *)o;
}

#endif
