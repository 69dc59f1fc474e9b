/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - memstate --preload A,B... -- COMMAND: run the same work under each
 * allocator and show the results side by side.
 */
#ifndef MS_CMD_COMPARE_COMPARE_H
#define MS_CMD_COMPARE_COMPARE_H

#include <stdbool.h>

#include "cmd/core/options.h"

/*
 * Options of memstate without a command name (cmd_watch), including
 * those of a comparison.
 */
struct compare_options {
	struct options common;
	/* shell script that puts load on the command; NULL: there is no script */
	const char *workload;
	uint64_t ready_ns;
	bool has_ready;
	uint64_t settle_ns;
	int stop_signal;
	/* measure how long Rss exceeds this limit; BYTES_UNKNOWN: there is no limit */
	uint64_t above_bytes;
	const char *output_dir; /* folder for the output of the runs, or NULL */
	bool count;		/* true to also count the allocations */
};

/*
 * Convert a pointer to the shared options into a pointer to the options of cmd_watch that
 * contain them. `o` must point to the shared options of that command.
 */
static inline const struct compare_options *compare_options(const struct options *o)
{
	return (const struct compare_options *)o;
}

/* Parse and store the argument of --stop-signal: "TERM", "SIGTERM" or "15". */
int compare_set_stop_signal(const struct option_row *row, char *arg, struct options *o);

/* Return true if --preload names two or more allocators. */
bool compare_is_wanted(const struct options *options);

/*
 * Run the comparison. Return an enum exit_status: EXIT_PARTIAL if some runs failed,
 * EXIT_FAILED if all runs failed.
 */
int compare_run(struct options *options);

#endif
