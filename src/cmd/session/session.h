/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - the state that all commands about processes share: options, targets,
 * sampler and child.
 */
#ifndef MS_CMD_SESSION_SESSION_H
#define MS_CMD_SESSION_SESSION_H

#include "cmd/core/cmd.h"
#include "cmd/run/child.h"
#include "model/cgroup.h"
#include "render/table/column.h"
#include "sample/heap/keeper.h"
#include "sample/process/sampler.h"
#include "sample/recording/recorder.h"
#include "sample/recording/replay.h"

struct session {
	struct options *options;
	struct procfs fs;
	struct sampler *sampler;
	/* reads and stores heaps; NULL if heaps are not read */
	struct heap_keeper *heaps;
	/* the command that memstate runs; its pid is 0 if there is no command */
	struct child child;
	/* the recording that is shown; NULL if memstate reads /proc or a capture */
	struct replay *replay;
	size_t replay_index; /* index of the sample selected by --at */
	/* the cgroup of --cgroup if its state is recorded; otherwise NULL */
	struct cgroup_sampler *group;
	struct cgroup cgroup; /* state of the cgroup when last read */
	/* recorder for reports and the screen; NULL if nothing is recorded */
	struct recorder *recorder;
};

/*
 * Initialise the session. Return EXIT_DONE, or print a message and return another
 * exit status.
 */
int session_begin(struct session *session, struct options *options);

/*
 * Stop reading processes, and remove everything that memstate has injected into them.
 * Print a message about anything that could not be removed.
 */
void session_end_reading(struct session *session);

/*
 * Report that a helper remains in a process. `what` is the reason why the helper could
 * not be removed. This function is a callback for heap_keeper_free().
 */
void session_report_left(void *context, int pid, const char *what);

/* Call session_end_reading(), and release the session. */
void session_end(struct session *session);

/*
 * Start the command in the options, if any, and make it the target. Return EXIT_DONE, or
 * print a message and return another exit status.
 */
int session_start_command(struct session *session, const struct child_setup *setup);

/*
 * Set *ret to the columns given with -o, or to the default columns. Return EXIT_DONE, or
 * print a message and return another exit status.
 */
int session_columns(const struct options *options, const struct column_set *set,
		    const char *defaults, struct column_list *ret);

/*
 * Set *ret to the sort key given with -s, or to the default key. *ret_has_key is
 * false if there is neither. Return EXIT_DONE, or print a message and return
 * another exit status.
 */
int session_sort_key(const struct options *options, const struct column_set *set,
		     const char *sort_default, struct sort_key *ret, bool *ret_has_key);

/*
 * List the target processes like sampler_list(). Return EXIT_DONE, or print a message
 * and return EXIT_FAILED.
 */
int session_list(const struct session *session, unsigned int needs, struct snapshot *ret);

/*
 * Counts of the processes that are missing from a sample, updated while the processes are
 * visited one by one.
 */
struct missing {
	size_t absent_count; /* requested targets that were not found */
	size_t process_count;
	size_t unreadable_count;
	/*
	 * unreadable processes that the user did not name, and that memstate lacks the
	 * permission to read
	 */
	size_t denied_count;
};

/*
 * Add the process to the counts in *missing. Report why it could not be read, unless the
 * reason is missing permission and the user did not name the process.
 */
void missing_add(struct missing *missing, const struct session *session,
		 const struct usage *u);

/*
 * Report what is missing from the sample, except what missing_add() has already reported.
 * Return EXIT_DONE, EXIT_PARTIAL, or EXIT_FAILED if there is nothing to show.
 */
int missing_report(const struct missing *missing, const struct session *session);

/*
 * Report which targets are missing from the sample or unreadable. Return the same values
 * as missing_report().
 */
int session_report_missing(const struct session *session,
			   const struct snapshot *snapshot);

#endif
