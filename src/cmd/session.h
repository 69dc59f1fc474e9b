/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session - what every command that looks at processes needs first.
 */
#ifndef MS_CMD_SESSION_H
#define MS_CMD_SESSION_H

#include "cmd/child.h"
#include "cmd/cmd.h"
#include "model/cgroup.h"
#include "render/column.h"
#include "sample/heap_keeper.h"
#include "sample/recorder.h"
#include "sample/replay.h"
#include "sample/sampler.h"

struct session {
	struct options *options;
	struct procfs fs;
	struct sampler *sampler;
	struct heap_keeper *heaps; /* NULL: heaps are not read */
	struct child child; /* pid 0 if no command is run */
	struct replay *replay; /* NULL: what runs is looked at */
	size_t replay_index;   /* the sample that --at means */
	struct cgroup_sampler *group; /* that of --cgroup, if it is recorded; or NULL */
	struct cgroup cgroup;	      /* as it was read last */
	struct recorder *recorder; /* of reports and the screen; NULL: nothing is recorded */
};

/* Returns EXIT_DONE, or the status to end with after the message has been given. */
int session_begin(struct session *session, struct options *options);

/*
 * From now on nothing is read: what was put into processes is taken out, and it is said
 * where that failed.
 */
void session_end_reading(struct session *session);

/* To be given to helpers_free(). */
void session_report_left(void *context, int pid, const char *what);

/* The same, and all is given back. */
void session_end(struct session *session);

/*
 * Start the options' command, if any, and make it the target. Returns as above.
 */
int session_start_command(struct session *session, const struct child_setup *setup);

/* The columns of -o, or the defaults. Returns as above. */
int session_columns(const struct options *options, const struct column_set *set,
		    const char *defaults, struct column_list *ret);

/* The key of -s, or of the default if there is one; *ret_has_key says. Returns as above. */
int session_sort_key(const struct options *options, const struct column_set *set,
		     const char *sort_default, struct sort_key *ret, bool *ret_has_key);

/* What is not in a sample, by which its processes are gone through one after the other. */
struct missing {
	size_t absent_count; /* of those that were asked for */
	size_t process_count;
	size_t unreadable_count;
	size_t denied_count; /* of these: for want of permission, and not asked for */
};

/* Count the process; if it could not be read, and not only because we may not, say why. */
void missing_add(struct missing *missing, const struct session *session, const struct usage *u);

/*
 * Say what was not said yet. Returns EXIT_DONE, EXIT_PARTIAL, or EXIT_FAILED when nothing
 * is left to show.
 */
int missing_report(const struct missing *missing, const struct session *session);

/*
 * Say which of the targets are not in the sample, or not readable in it. Returns as above.
 */
int session_report_missing(const struct session *session, const struct snapshot *snapshot);

#endif
