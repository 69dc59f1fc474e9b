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
#include "sample/heap/reader.h"

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
	 * false: the data comes from a recording, or from a captured tree, which is
	 * read once
	 */
	bool is_live;
	struct replay *replay; /* the recording to show, or NULL */
	size_t replay_index;   /* index of the sample to show first */
	/*
	 * True to start at the last OOM kill instead of replay_index. Without a kill,
	 * start at the last event; without events, start at the sample with the largest
	 * total Pss.
	 */
	bool opens_at_highlight;
	/*
	 * recorder of the targets while the screen is open; NULL if nothing is recorded
	 */
	struct recorder *recorder;
	/*
	 * Return the current state of the targets' cgroup for the recorder, or NULL if
	 * the cgroup cannot be read.
	 */
	const struct cgroup *(*read_recorded_group)(void *context);
	const struct procfs *procfs; /* the /proc from which to read cgroups */
	/* cgroup to show first, or NULL if the user named none */
	const struct cgroup_target *group;
	/* the /proc from which to read heaps; NULL: heaps must not be read */
	const struct procfs *fs;
	/*
	 * maximum time for which a heap read may stop a process: a read that the user
	 * requested, and an automatic read
	 */
	uint64_t max_pause_ns, auto_pause_ns;
	/*
	 * Whether a heap may be copied while its process is running, if the user named
	 * the process. The copy is kept until the next read.
	 */
	enum pre_copy pre_copy;
	bool no_stop; /* true to read all heaps without stopping the process */
	/*
	 * true to read a heap without stopping the process if the stop would
	 * exceed auto_pause_ns
	 */
	bool may_run;
	/*
	 * Whether helpers query the allocators of the processes that the user named, and
	 * whether memstate may inject a helper into these processes.
	 */
	bool asks_helper, may_inject;
	enum theme theme;
	/* true to show processes as a tree, with children below their parents */
	bool is_tree;
	/* columns of the list of processes, in the syntax of -o; NULL: the default */
	const char *columns;
	const char *notice; /* message shown first, or NULL */
	/* sort key in the syntax of -s, which must be valid; NULL: the default */
	const char *sort;

	/*
	 * Command that memstate runs. Without a command, all pointers are NULL and
	 * output_fd is -1.
	 */
	const char *command;
	bool (*command_has_ended)(void *context);
	/* function that reads the output available on output_fd; may be NULL */
	void (*drain_output)(void *context);
	int output_fd; /* descriptor of the command's output, or -1 */
	void *context;
};

#endif
