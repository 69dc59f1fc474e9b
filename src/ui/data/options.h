/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - what the screen shows, and what memstate may do to the targets. The caller
 * keeps everything that the pointers refer to until ui_run() returns.
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
	 * false: the data comes from a recording, or from a
	 * captured tree, which is read once
	 */
	bool is_live;
	struct replay *replay; /* the recording to show, or NULL */
	size_t replay_index;   /* index of the sample to show first */
	/*
	 * open at the last OOM kill instead of replay_index; without a kill, at the last
	 * event; without events, at the sample with the largest total Pss
	 */
	bool opens_at_highlight;
	/* records the targets while the screen is open; NULL: no recording */
	struct recorder *recorder;
	/*
	 * Returns the current state of the targets' cgroup for recording, or
	 * NULL if the cgroup cannot be read.
	 */
	const struct cgroup *(*read_recorded_group)(void *context);
	const struct procfs *procfs; /* procfs for reading cgroups */
	/* cgroup to show first; NULL: the user named none */
	const struct cgroup_target *group;
	/* procfs for reading heaps; NULL: heaps must not be read */
	const struct procfs *fs;
	/*
	 * Longest stop of a process for a heap read that the user requested, and
	 * for a heap read without a request.
	 */
	uint64_t max_pause_ns, auto_pause_ns;
	bool no_stop; /* read heaps without stopping the process */
	/* read the heap without a stop if the stop would exceed auto_pause_ns */
	bool may_run;
	/*
	 * Query the allocators of named processes through helpers, and allow memstate to
	 * inject a helper into these processes.
	 */
	bool asks_helper, may_inject;
	enum theme theme;
	bool is_tree; /* show children below their parents */
	/* columns of the list of processes, in the syntax of -o; NULL: the default */
	const char *columns;
	const char *notice; /* message to show first, or NULL */
	const char *sort;   /* valid sort order in the syntax of -s; NULL: the default */

	/*
	 * The command that memstate runs. Without a command, all
	 * pointers are NULL and output_fd is -1.
	 */
	const char *command;
	bool (*command_has_ended)(void *context);
	/* reads the data that is available on output_fd; may be NULL */
	void (*drain_output)(void *context);
	int output_fd; /* descriptor of the command's output, to be polled; -1: none */
	void *context;
};

#endif
