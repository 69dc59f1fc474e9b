/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data - the data that the views show: the list of processes, and one selected process
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
	const struct snapshot *processes; /* latest list from the feed; never NULL */
	/* copy of the list, shown after all targets have ended */
	struct snapshot last_processes;
	int list_error; /* -errno if the processes could not be listed, else 0 */
	bool has_ended; /* all targets have ended */

	/* pid of the selected process; 0: none is selected */
	int detail_pid;
	struct target_pid detail_target;
	/* usage of the selected process; empty until it has been read */
	struct snapshot detail;
	struct mapping_list mappings; /* mappings of the selected process */
	struct data_heap heap;
	struct history history;
	size_t history_index; /* replay: index of the newest sample in the history */
	/* replay: number of samples to read for a new history; 0: the default */
	size_t graph_samples;
	bool detail_has_ended;
	/* memory need of the selected process since it was opened */
	struct seen_growth need;
	/* live blocks of the selected process, one value per heap read */
	struct seen_growth live;

	struct data_group group;

	uint64_t taken_ns; /* when the last refresh of the visible data began */
	uint64_t cost_ns;  /* how long the last refresh of the visible data took */
	/* refreshes are further apart than the interval, to spare the target */
	bool is_slowed;
};

void data_init(struct data *d, const struct ui_options *options);
void data_release(struct data *d);

/*
 * Read the list of processes. For the visible processes, also
 * read the values that `needs` names.
 */
void data_refresh_processes(struct data *d, unsigned int needs, const int *visible_pids,
			    size_t visible_count);

/* Select this process. If it is already the selected process, keep its history. */
void data_open(struct data *d, const struct process *p);

/* Read the selected process. interval_ns is the planned time between two reads. */
void data_refresh_detail(struct data *d, uint64_t interval_ns);

/* Return the usage of the selected process, or NULL if it has not been read yet. */
const struct usage *data_detail(const struct data *d);

/*
 * Return how long to wait before the next read of the selected process: at least
 * interval_ns, or longer if reads would take more than their share of the time.
 */
uint64_t data_detail_interval_ns(const struct data *d, uint64_t interval_ns);

#endif
