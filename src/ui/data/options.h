/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - what the screen shows, and what memstate may do to the targets. The data to
 * which the pointers refer must exist until ui_run() returns.
 */
#ifndef MS_UI_DATA_OPTIONS_H
#define MS_UI_DATA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/settings.h"

struct cgroup;
struct cgroup_target;
struct procfs;
struct recorder;
struct replay;
struct sampler;
struct targets;

struct ui_options {
	struct sampler *sampler;
	struct targets *targets;
	uint64_t interval_ns;
	unsigned int max_share_per_mille;
	bool exact_bytes;
	/*
	 * False if the data comes from a recording, or from a captured tree, which is
	 * read only once.
	 */
	bool is_live;
	struct replay *replay; /* the recording to show, or NULL */
	size_t replay_index;   /* index of the sample to show first */
	/*
	 * Start at the last OOM kill instead of replay_index. Without a kill, start at
	 * the last event; without any events, start at the sample with the largest
	 * total Pss.
	 */
	bool opens_at_highlight;
	/* records the targets while the screen is open, or NULL */
	struct recorder *recorder;
	/*
	 * Returns the current state of the targets' cgroup for the recorder, or NULL if
	 * the cgroup cannot be read.
	 */
	const struct cgroup *(*read_recorded_group)(void *context);
	const struct procfs *procfs; /* the /proc through which cgroups are read */
	/* the cgroup to show first, or NULL if the user named none */
	const struct cgroup_target *group;
	/* the /proc through which heaps are read; NULL: heaps must not be read */
	const struct procfs *fs;
	/*
	 * The maximum time for which a heap read may stop a process, with a request by
	 * the user and without one.
	 */
	uint64_t max_pause_ns, auto_pause_ns;
	bool no_stop; /* read all heaps without stopping the process */
	/* read a heap without a stop if a stop would be longer than auto_pause_ns */
	bool may_run;
	/*
	 * Whether helpers query the allocators of the processes that the user named, and
	 * whether memstate may inject a helper into these processes.
	 */
	bool asks_helper, may_inject;
	enum theme theme;
	/* whether to show processes as a tree, with children below their parents */
	bool is_tree;
	/* columns of the list of processes, in the syntax of -o; NULL: the default */
	const char *columns;
	const char *notice; /* message that the screen shows first, or NULL */
	/* sort order in the syntax of -s, which must be valid; NULL: default */
	const char *sort;

	/*
	 * The command that memstate runs. If there is no command, all pointers are NULL
	 * and output_fd is -1.
	 */
	const char *command;
	bool (*command_has_ended)(void *context);
	/* function that reads the output available on output_fd; may be NULL */
	void (*drain_output)(void *context);
	int output_fd; /* descriptor from which the command's output is read, or -1 */
	void *context;
};

#endif
