/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runs - run a command several times (memstate count --runs), and show and check
 * the counts.
 */
#ifndef MS_CMD_COUNT_RUNS_H
#define MS_CMD_COUNT_RUNS_H

#include "cmd/core/options.h"
#include "model/comparison.h"
#include "model/count_runs.h"

/* The command to run, and the number of runs. Strings are borrowed. */
struct run_plan {
	char **command; /* the command and its arguments */
	/* allocator to preload; NULL: the command's own allocator */
	const struct variant *allocator;
	bool calls_only, with_children;
	uint64_t run_count, warm_up_count;
	bool with_hints; /* true to print hints after the last run */
};

/*
 * Make the runs one after another, and append them to *runs. *ret_status is the exit
 * status of the first command that failed, as a shell reports it, or 0. Return EXIT_DONE,
 * or print a message and return another exit status.
 */
int count_runs_make(const struct run_plan *plan, struct count_runs *runs,
		    int *ret_status);

/* Return true if the options request several runs, or limits to check. */
bool count_runs_are_wanted(const struct options *options);

/*
 * Reject options that cannot be combined with several runs. Return EXIT_DONE, or print
 * a message and return EXIT_BAD_USAGE.
 */
int count_runs_check_usage(const struct options *options);

/*
 * Make the runs, show the counts, and check them against the limits. The caller must have
 * called count_child_check() for the command. Return memstate's exit status.
 */
int count_runs_run(const struct options *options, const struct variant *allocator);

#endif
