/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - what the screen shows, and what it may do to the targets. The caller keeps
 * everything that the pointers refer to until ui_run() returns.
 */
#ifndef MS_UI_DATA_OPTIONS_H
#define MS_UI_DATA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	bool is_live; /* false: a recording, or a captured tree, which is read once */
	struct replay *replay; /* the recording, or NULL */
	size_t replay_index;   /* the sample shown first */
	/* records the targets while the screen is open; NULL: no recording */
	struct recorder *recorder;
	/*
	 * Returns the current state of the targets' group for recording, or NULL if the
	 * group cannot be read.
	 */
	const struct cgroup *(*read_recorded_group)(void *context);
	const struct procfs *procfs;	   /* for reading groups */
	const struct cgroup_target *group; /* group to show first; NULL: none was named */
	const struct procfs *fs; /* for reading heaps; NULL: heaps must not be read */
	/*
	 * Longest stop of a process for a heap read, at the user's request
	 * and without one.
	 */
	uint64_t max_pause_ns, auto_pause_ns;
	bool no_stop; /* read heaps without stopping the process */
	bool may_run; /* read without a stop if the stop would exceed auto_pause_ns */
	/*
	 * Query the allocators of named processes through helpers; allow injecting a
	 * helper into these processes.
	 */
	bool asks_helper, may_inject;
	const char *sort; /* in the syntax of -s, valid; NULL: the default */

	/*
	 * The command that memstate runs. Without a command, all pointers are NULL and
	 * output_fd is -1.
	 */
	const char *command;
	bool (*command_has_ended)(void *context);
	/* read the data available on output_fd; may be NULL */
	void (*drain_output)(void *context);
	int output_fd; /* descriptor to poll; -1: none */
	void *context;
};

#endif
