/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runs - run a command several times (memstate count --runs), then show and
 * check the counts.
 */
#ifndef MS_CMD_COUNT_RUNS_H
#define MS_CMD_COUNT_RUNS_H

#include "cmd/core/options.h"
#include "model/comparison.h"
#include "model/count_runs.h"

/* The command to run, and how often. Strings are borrowed. */
struct run_plan {
	char **command;			 /* argv */
	const struct variant *allocator; /* NULL: the command's own */
	bool calls_only, with_children;
	uint64_t run_count, warm_up_count;
	bool with_hints; /* print hints after the last run */
};

/*
 * Make the runs one after another and append them to *runs. *ret_status is the status, in
 * the shell's convention, of the first run that did not exit with 0; or 0. Returns
 * EXIT_DONE, or after a message the status to exit with.
 */
int count_runs_make(const struct run_plan *plan, struct count_runs *runs,
		    int *ret_status);

/* Whether the options ask for more than one run. */
bool count_runs_are_wanted(const struct options *options);

/*
 * Reject options that exclude several runs. Returns EXIT_DONE, or EXIT_BAD_USAGE
 * after a message.
 */
int count_runs_check_usage(const struct options *options);

/*
 * Run, show and check. The caller has checked the command. Returns the
 * status to exit with.
 */
int count_runs_run(const struct options *options, const struct variant *allocator);

/*
 * Join the words of a command with blanks, for display; nothing is quoted for a shell.
 * The caller frees the string.
 */
char *count_runs_join(char *const *words);

#endif
