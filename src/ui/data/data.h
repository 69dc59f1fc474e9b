/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data - the data that the views show: the list of processes, and the selected process
 * with its mappings. A feed provides both.
 */
#ifndef MS_UI_DATA_DATA_H
#define MS_UI_DATA_DATA_H

#include "sample/process/targets.h"
#include "ui/data/group.h"
#include "ui/data/heap.h"
#include "ui/data/history.h"

struct feed;
struct ui_options;

struct data {
	const struct ui_options *options;
	struct feed *feed;
	/* latest list of processes from the feed; never NULL */
	const struct snapshot *processes;
	/* copy of the list of processes, shown after all targets have ended */
	struct snapshot last_processes;
	int list_error; /* -errno from listing the processes, or 0 */
	bool has_ended; /* true if all targets have ended */

	/* pid of the selected process, or 0 if no process is selected */
	int detail_pid;
	struct target_pid detail_target;
	/* usage of the selected process; empty until the process has been read */
	struct snapshot detail;
	struct mapping_list mappings; /* mappings of the selected process */
	struct data_heap heap;
	struct history history;
	size_t history_index; /* replay: index of the newest sample in `history` */
	/* replay: number of samples to read for a new history; 0: the default */
	size_t graph_samples;
	bool detail_has_ended;
	/* memory need of the selected process since the user opened it */
	struct seen_growth need;
	/* live blocks of the selected process, with one value per heap read */
	struct seen_growth live;

	struct data_group group;

	uint64_t taken_ns; /* time at which the last refresh of the visible data began */
	uint64_t cost_ns;  /* duration of the last refresh of the visible data */
	/*
	 * true if refreshes are less frequent than the interval, to reduce the
	 * load on the target
	 */
	bool is_slowed;
};

void data_init(struct data *d, const struct ui_options *options);
void data_release(struct data *d);

/*
 * Read the list of processes. For visible processes, also read the values selected by the
 * bits of `needs`.
 */
void data_refresh_processes(struct data *d, unsigned int needs, const int *visible_pids,
			    size_t visible_count);

/* Select a process. Keep its history if it is already selected. */
void data_open(struct data *d, const struct process *p);

/* Read the selected process. interval_ns is the planned time between two reads. */
void data_refresh_detail(struct data *d, uint64_t interval_ns);

/* Return the usage of the selected process, or NULL if it has not been read yet. */
const struct usage *data_detail(const struct data *d);

/*
 * Return the time to wait before the next read of the selected process: interval_ns, or
 * longer if reads would otherwise take more than their maximum share of the time.
 */
uint64_t data_detail_interval_ns(const struct data *d, uint64_t interval_ns);

#endif
