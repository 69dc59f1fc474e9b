/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_runs - memstate count of several runs of a command (--runs), and what is done with
 * them.
 */
#ifndef MS_CMD_COUNT_RUNS_H
#define MS_CMD_COUNT_RUNS_H

#include "cmd/options.h"
#include "model/comparison.h"
#include "model/count_runs.h"

/* What is to be run; strings are borrowed. */
struct run_plan {
	char **command;			 /* argv */
	const struct variant *allocator; /* NULL: its own */
	bool calls_only, with_children;
	uint64_t run_count, warm_up_count;
	bool with_hints; /* said of the last one */
};

/*
 * Make the runs, one after the other, and add them to *runs. *ret_status is the status of
 * the first that did not end with 0, as a shell has it, or 0. Returns EXIT_DONE; or the
 * status to end with, after the message has been given.
 */
int count_runs_make(const struct run_plan *plan, struct count_runs *runs, int *ret_status);

/* Whether more is asked for than one run. */
bool count_runs_are_wanted(const struct options *options);

/* What does not go together with it is refused. Returns EXIT_DONE, or EXIT_BAD_USAGE. */
int count_runs_check_usage(const struct options *options);

/* Run, show, check. The command has been looked at. Returns the status to end with. */
int count_runs_run(const struct options *options, const struct variant *allocator);

/* Of a command for a person, and for no shell. The caller frees it. */
char *count_runs_join(char *const *words);

#endif
