/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - memstate --preload A,B... -- COMMAND: run the same work under each
 * allocator and show the results side by side.
 */
#ifndef MS_CMD_COMPARE_COMPARE_H
#define MS_CMD_COMPARE_COMPARE_H

#include <stdbool.h>

#include "cmd/core/options.h"

/* The options of cmd_watch. */
struct compare_options {
	struct options common;
	const char *workload; /* a shell script; NULL: the command ends on its own */
	uint64_t ready_ns;
	bool has_ready;
	uint64_t settle_ns;
	int stop_signal;
	uint64_t above_bytes;	/* BYTES_UNKNOWN: not given */
	const char *output_dir; /* folder, or NULL */
	bool count;		/* count allocations too */
};

/* o must be the options of cmd_watch. */
static inline const struct compare_options *compare_options(const struct options *o)
{
	return (const struct compare_options *)o;
}

/* Parse "TERM", "SIGTERM" or "15", for --stop-signal. */
int compare_set_stop_signal(const struct option_row *row, char *arg, struct options *o);

/* Whether --preload names two or more allocators. */
bool compare_is_wanted(const struct options *options);

/*
 * Run the comparison. Returns an enum exit_status: EXIT_PARTIAL if some runs failed,
 * EXIT_FAILED if all did.
 */
int compare_run(struct options *options);

#endif
