/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes - the view that shows all processes as a list or a tree, filtered and sorted.
 */
#ifndef MS_UI_VIEW_PROCESSES_H
#define MS_UI_VIEW_PROCESSES_H

#include "ui/data/tree.h"
#include "ui/screen/grid.h"
#include "ui/view/selection.h"

struct data;

struct processes_view {
	const struct data *data;
	bool exact_bytes;
	struct grid grid;
	struct selection selection;
	struct strbuf user; /* user whose processes are shown; "": all users */
	bool is_tree;
	/* pid that the cursor follows; 0: the cursor stays in the first line */
	int cursor_pid;
	uint64_t cursor_start_ticks;
	/*
	 * true if the user explicitly chose to follow the process, so that the cursor
	 * follows it even if it was in the first line
	 */
	bool is_following;
	struct process_row *rows;
	size_t row_capacity;
	/* pointers to rows in screen order */
	const void **order;
	size_t order_capacity;
	struct tree_place *places;
	size_t place_capacity;
	size_t count; /* number of visible rows */
	/*
	 * number of rows in `order`: visible rows, followed by rows that are folded away
	 */
	size_t match_count;
	struct process_set tags;
	struct process_set folded; /* processes with hidden children in the tree */
	bool ascii;
};

void processes_init(struct processes_view *v, const struct data *data, const char *sort,
		    bool exact_bytes);
void processes_release(struct processes_view *v);

/*
 * Rebuild the rows after the data, the filter, the sort order or the tree mode
 * has changed.
 */
void processes_update(struct processes_view *v);

/* Return the NEED_ flags of the data for the visible columns and the sort column. */
unsigned int processes_needs(const struct processes_view *v);

/* Append as many user names of processes as fit into `width`. */
void processes_add_users(const struct processes_view *v, size_t width,
			 struct strbuf *out);

/* Append the user name of the process under the cursor if it is known. */
void processes_add_chosen_user(const struct processes_view *v, struct strbuf *out);

/* Return the usage of the process under the cursor, or NULL if there is no process. */
const struct usage *processes_chosen(const struct processes_view *v);

/* Get the pids of the processes on the screen, at most `max`. Return their number. */
size_t processes_visible(const struct processes_view *v, size_t max, int *ret_pids);

/* Perform an action if it belongs to the list of processes; otherwise return false. */
bool processes_act(struct processes_view *v, enum action action);

/*
 * Move the cursor to a row that matches the search: the next row (step 1), the previous
 * row (-1), or the first row at or after the cursor (0).
 */
bool processes_search(struct processes_view *v, int step);

void processes_choose_row(struct processes_view *v, size_t row);
/*
 * Append the pid of the process that the cursor follows, with a note if the process is
 * not in the list. Append nothing if the cursor follows no process.
 */
void processes_add_followed(const struct processes_view *v, struct pen *pen);

void processes_draw(struct processes_view *v, struct canvas *c, const struct area *area);

#endif
