/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data - the data shown by the views: the list of processes, and one selected process
 * with its mappings. Both come from a feed.
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
	/* copy that is shown after all targets have ended */
	struct snapshot last_processes;
	int list_error; /* -errno if the processes could not be listed, else 0 */
	bool has_ended; /* all targets have ended */

	/* the selected process; pid 0: none is selected */
	int detail_pid;
	struct target_pid detail_target;
	struct snapshot detail;	      /* its usage; empty until it has been read */
	struct mapping_list mappings; /* its mappings */
	struct data_heap heap;
	struct history history;
	size_t history_index; /* replay: index of the newest sample in the history */
	/* replay: samples to read for a new history; 0: the default */
	size_t graph_samples;
	bool detail_has_ended;
	struct seen_growth need; /* need of the process since it was opened */
	struct seen_growth live; /* size of its live blocks, one value per heap read */

	struct data_group group;

	uint64_t taken_ns; /* when the last refresh of the visible data began */
	uint64_t cost_ns;  /* how long that refresh took */
	/* refreshes are further apart than the interval, to spare the target */
	bool is_slowed;
};

void data_init(struct data *d, const struct ui_options *options);
void data_release(struct data *d);

/*
 * Read the list of processes. For the visible ones, read also the values
 * named by `needs`.
 */
void data_refresh_processes(struct data *d, unsigned int needs, const int *visible_pids,
			    size_t visible_count);

/* Select this process. Its history is kept if it is already the selected process. */
void data_open(struct data *d, const struct process *p);

/* Read the selected process. interval_ns is the planned time since its previous read. */
void data_refresh_detail(struct data *d, uint64_t interval_ns);

/* Return the usage of the selected process, or NULL if it has not been read yet. */
const struct usage *data_detail(const struct data *d);

/*
 * Return how long to wait before the next read of the selected process: at least
 * interval_ns, or longer to keep to the limit on the share of time spent in reads.
 */
uint64_t data_detail_interval_ns(const struct data *d, uint64_t interval_ns);

#endif
