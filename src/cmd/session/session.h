/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - the setup that every command that looks at processes needs.
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
	struct heap_keeper *heaps; /* NULL: heaps are not read */
	struct child child;	   /* pid 0: no command was started */
	struct replay *replay;	   /* NULL: live processes */
	size_t replay_index;	   /* the sample that --at selects */
	/* the group of --cgroup if it is recorded, otherwise NULL */
	struct cgroup_sampler *group;
	struct cgroup cgroup; /* from the last reading */
	/* for reports and the screen; NULL: nothing is recorded */
	struct recorder *recorder;
};

/* Returns EXIT_DONE, or after a message the status to exit with. */
int session_begin(struct session *session, struct options *options);

/*
 * Stop reading processes and remove everything that memstate put into them. Reports what
 * could not be removed.
 */
void session_end_reading(struct session *session);

/* Report what a helper left behind in a process; a callback for helpers_free(). */
void session_report_left(void *context, int pid, const char *what);

/* Do what session_end_reading() does, and release the session. */
void session_end(struct session *session);

/*
 * Start the options' command, if there is one, and make it the target. Returns
 * like session_begin().
 */
int session_start_command(struct session *session, const struct child_setup *setup);

/* Set *ret to the columns of -o, or to the defaults. Returns like session_begin(). */
int session_columns(const struct options *options, const struct column_set *set,
		    const char *defaults, struct column_list *ret);

/*
 * Set *ret to the key of -s, or to that of the default if there is one. *ret_has_key says
 * whether there is a key. Returns like session_begin().
 */
int session_sort_key(const struct options *options, const struct column_set *set,
		     const char *sort_default, struct sort_key *ret, bool *ret_has_key);

/*
 * Counts of what is missing from a sample, filled while its processes are
 * visited one by one.
 */
struct missing {
	size_t absent_count; /* requested, but not found */
	size_t process_count;
	size_t unreadable_count;
	/* of unreadable_count: permission denied for processes that were not named */
	size_t denied_count;
};

/*
 * Count the process. If it could not be read for a reason other than missing permission,
 * or it was named, report why.
 */
void missing_add(struct missing *missing, const struct session *session,
		 const struct usage *u);

/*
 * Report what missing_add() has not reported. Returns EXIT_DONE, EXIT_PARTIAL, or
 * EXIT_FAILED if nothing remains to be shown.
 */
int missing_report(const struct missing *missing, const struct session *session);

/*
 * Report which targets are missing from the sample or unreadable. Returns
 * like missing_report().
 */
int session_report_missing(const struct session *session,
			   const struct snapshot *snapshot);

#endif
