/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data - what the views show: the processes, and one of them mapping by mapping, as a feed
 * has them.
 */
#ifndef MS_UI_DATA_H
#define MS_UI_DATA_H

#include "sample/sampler.h"
#include "ui/data_group.h"
#include "ui/data_heap.h"
#include "ui/history.h"

struct feed;
struct ui_options;

struct data {
	const struct ui_options *options;
	struct feed *feed;
	const struct snapshot *processes; /* what is known of them; never NULL */
	struct snapshot last_processes;	  /* kept when every target has ended */
	int list_error;			  /* -errno: the processes could not be listed */
	bool has_ended;			  /* all targets have */

	/* the one process; pid 0: none was opened */
	int detail_pid;
	struct target_pid detail_target;
	struct snapshot detail;	      /* its usage, once it was read */
	struct mapping_list mappings; /* and its mappings */
	struct data_heap heap;
	struct history history;
	size_t history_index; /* of a recording: the sample it goes up to */
	size_t graph_samples; /* and how many it is made of at first */
	bool detail_has_ended;
	struct seen_growth need;	/* of it, all the time */
	struct seen_growth live;	/* and of its live blocks, where the heap was read */
	uint64_t start_ns; /* of the history */

	struct data_group group;

	uint64_t taken_ns; /* when the last refresh of what is shown began */
	uint64_t cost_ns;  /* and what it took */
	bool is_slowed;	   /* longer than the interval, for the target's sake */
};

void data_init(struct data *d, const struct ui_options *options);
void data_release(struct data *d);

/* Read the list of processes and what is visible of it. */
void data_refresh_processes(struct data *d, unsigned int needs, const int *visible_pids,
			    size_t visible_count);

/* From now on, this is the one process. The same one as before keeps its history. */
void data_open(struct data *d, const struct process *p);

/* Read the one process; interval_ns is how long after the last one this read was due. */
void data_refresh_detail(struct data *d, uint64_t interval_ns);

/* Its usage, or NULL while it was not read. */
const struct usage *data_detail(const struct data *d);

/* How long to wait before the one process may be read again: at least interval_ns. */
uint64_t data_detail_interval_ns(const struct data *d, uint64_t interval_ns);

#endif
