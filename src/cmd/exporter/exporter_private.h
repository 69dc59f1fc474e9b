/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exporter_private - the state of memstate exporter. Internal to cmd/exporter. */
#ifndef MS_CMD_EXPORTER_EXPORTER_PRIVATE_H
#define MS_CMD_EXPORTER_EXPORTER_PRIVATE_H

#include <regex.h>

#include "cmd/exporter/exporter_options.h"
#include "cmd/exporter/web.h"
#include "cmd/session/session.h"
#include "render/exporter/metrics.h"
#include "sample/exporter/collector.h"

/*
 * Time in ns after which each stage of a collection of figures (processes, mappings,
 * cgroups) begins no further reads. The limit applies only if the figures are served or
 * written to a file.
 */
#define LOOK_LIMIT_NS (1 * NS_PER_S)

struct exporter {
	struct exporter_options *options;
	struct session session;
	struct collector *collector;
	/*
	 * compiled patterns of --match, followed by the compiled pattern of --heap-match
	 */
	regex_t patterns[EXPORTER_PATTERNS_MAX + 1];
	size_t compiled_count;
	struct metric_limits limits;
	uint64_t start_unix_ms;
	struct recorder *recorder; /* recording for --record; NULL without this option */
	int record_error;	   /* last reported error from writing the recording */
	int reported_error;	   /* last reported error from writing the text file */
	struct strbuf texts[EXPOSITION_FORMAT_COUNT_];
	struct web web; /* the serving process; its pid is 0 if no process serves */
	struct web_file web_file;
	/* last reported problem with the web configuration file */
	struct strbuf web_problem;
	bool is_web_refused; /* true if the child has refused the last settings */
	uint64_t web_failure_count;
	struct listeners listeners;
};

/*
 * Collect the figures of all groups of processes, and of all cgroups, once.
 * Return 0 or -errno.
 */
int exporter_take_look(struct exporter *x, uint64_t limit_ns);

/*
 * Write the exposition of the last collected figures in the given format
 * to x->texts[format].
 */
void exporter_describe(struct exporter *x, enum exposition_format format);

/* Report how many processes are missing from the sums. */
void exporter_report_unreadable(struct exporter *x);

/*
 * Return the time of the next collection of figures: one interval after begin_ns, or
 * later if the last collection used more CPU time than the budget allows.
 */
uint64_t exporter_next_due_ns(const struct exporter *x, uint64_t begin_ns,
			      uint64_t cpu_ns);

/*
 * Open the sockets and start the serving process. Return EXIT_DONE, or print a message
 * and return another exit status.
 */
int exporter_begin_serving(struct exporter *x);

/* Collect figures and serve them until a signal ends memstate. Return an exit status. */
int exporter_serve(struct exporter *x);

void exporter_end_serving(struct exporter *x);

#endif
