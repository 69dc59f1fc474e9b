/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes - the view of all processes: a list or a tree, filtered and sorted. */
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
	struct strbuf user; /* show only processes of this user; "": of all users */
	bool is_tree;
	/* process that the cursor follows; 0: the cursor stays in the first line */
	int cursor_pid;
	uint64_t cursor_start_ticks;
	/* the user chose to follow the process, even in the first line */
	bool is_following;
	struct process_row *rows;
	size_t row_capacity;
	/* pointers to the visible rows, in their order on the screen */
	const void **order;
	size_t order_capacity;
	struct tree_place *places;
	size_t place_capacity;
	size_t count; /* number of visible rows */
	/* number of rows in `order`; after the visible rows follow those folded away */
	size_t match_count;
	struct process_set tags;
	struct process_set folded; /* processes whose children the tree hides */
	bool ascii;
};

void processes_init(struct processes_view *v, const struct data *data, const char *sort,
		    bool exact_bytes);
void processes_release(struct processes_view *v);

/* Rebuild the rows after a change of the data, filter, sort order or tree mode. */
void processes_update(struct processes_view *v);

/* Return the NEED_ flags for the visible columns and the sort column. */
unsigned int processes_needs(const struct processes_view *v);

/* Append the names of the users of all processes, as many as fit into `width`. */
void processes_add_users(const struct processes_view *v, size_t width,
			 struct strbuf *out);

/* Append the name of the user of the process under the cursor, if it is known. */
void processes_add_chosen_user(const struct processes_view *v, struct strbuf *out);

/* Return the usage of the process under the cursor, or NULL. */
const struct usage *processes_chosen(const struct processes_view *v);

/*
 * Get the pids of the processes on the screen, at most `max`. Returns the number of pids.
 */
size_t processes_visible(const struct processes_view *v, size_t max, int *ret_pids);

/* Perform the action. Returns false if the action does not belong to this view. */
bool processes_act(struct processes_view *v, enum action action);

/*
 * Move the cursor to the next match (step 1), the previous match (-1), or the
 * first match at or after the cursor (0).
 */
bool processes_search(struct processes_view *v, int step);

void processes_choose_row(struct processes_view *v, size_t row);
/*
 * Append the pid of the process that the cursor follows, and a note if that process is
 * not in the list. Append nothing if the cursor follows no process.
 */
void processes_add_followed(const struct processes_view *v, struct pen *pen);

void processes_draw(struct processes_view *v, struct canvas *c, const struct area *area);

#endif
