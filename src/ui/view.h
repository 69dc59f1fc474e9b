/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view - the views: each takes actions and draws itself into an area. They know neither terminal
 * nor clock, and read nothing.
 */
#ifndef MS_UI_VIEW_H
#define MS_UI_VIEW_H

#include "ui/data.h"
#include "ui/graph.h"
#include "ui/grid.h"
#include "ui/lines.h"
#include "ui/tree.h"

/* What a list shows, and what is looked for in it. */
struct selection {
	struct strbuf filter;
	struct strbuf search;
};

/* The processes */

struct tag {
	int pid;
	uint64_t start_ticks;
};

struct processes_view {
	const struct data *data;
	bool exact_bytes;
	struct grid grid;
	struct selection selection;
	bool is_tree;
	int cursor_pid; /* that the cursor follows; 0: it stays in the first line */
	struct process_row *rows;
	size_t row_capacity;
	const void **order; /* of the rows that are shown */
	size_t order_capacity;
	struct tree_place *places;
	size_t place_capacity;
	size_t count;
	struct tag *tags;
	size_t tag_count, tag_capacity;
	bool ascii;
};

void processes_init(struct processes_view *v, const struct data *data, const char *sort,
		    bool exact_bytes);
void processes_release(struct processes_view *v);

/* After new data, or another filter, order or tree: make the rows anew. */
void processes_update(struct processes_view *v);

/* What its columns and its order need. */
unsigned int processes_needs(const struct processes_view *v);

/* The usage under the cursor, or NULL. */
const struct usage *processes_chosen(const struct processes_view *v);

/* The pids on the screen. Returns how many, at most `max`. */
size_t processes_visible(const struct processes_view *v, size_t max, int *ret_pids);

/* True if the action was one of this view's. */
bool processes_act(struct processes_view *v, enum action action);

/* Put the cursor on the next match after it (step 1), before it (-1), or from it on (0). */
bool processes_search(struct processes_view *v, int step);

void processes_choose_row(struct processes_view *v, size_t row);
void processes_draw(struct processes_view *v, struct canvas *c, const struct area *area);

/* One process */

enum cells_mode { CELLS_AMOUNT, CELLS_CHANGE, CELLS_RATE, CELLS_MODE_COUNT_ };

struct process_view {
	const struct data *data;
	bool exact_bytes;
	enum cells_mode mode;
	enum graph_style graph_style; /* where the screen shows more than ASCII */
	enum part chosen; /* shown in the second graph */
	uint32_t seen;	  /* parts that were not 0 once: their lines stay */
	int seen_pid;
};

void process_init(struct process_view *v, const struct data *data, bool exact_bytes);
void process_update(struct process_view *v);
bool process_act(struct process_view *v, enum action action);
void process_draw(struct process_view *v, struct canvas *c, const struct area *area,
		  uint64_t now_ns);

/* Whose line the cursor is in; OWNER_COUNT_: no owner's. */
enum owner process_chosen_owner(const struct process_view *v);

/* True if the part has a place on the screen. */
bool process_shows(const struct process_view *v, enum part part);

/* The matrix with its changes, from the top of the area on. Returns how many lines it took. */
int matrix_draw(const struct process_view *v, struct canvas *c, const struct area *area);
int matrix_height(const struct process_view *v);

/* A letter for an owner or a state, the same as in the bars. */
char part_letter(enum part part);

/* The mappings of that process */

enum grouping { GROUP_NONE, GROUP_FILE, GROUP_OWNER, GROUPING_COUNT_ };

struct mappings_view {
	const struct data *data;
	bool exact_bytes;
	struct grid grid;
	struct selection selection;
	enum grouping grouping;
	enum owner only_owner; /* OWNER_COUNT_: of all */
	int width; /* that the columns are for */
	uint64_t cursor_addr; /* that the cursor follows */
	bool is_following;
	struct mapping *groups; /* made of several mappings; names owned */
	size_t group_count, group_capacity;
	const void **order;
	size_t order_capacity;
	size_t count;
};

void mappings_init(struct mappings_view *v, const struct data *data, bool exact_bytes);
void mappings_release(struct mappings_view *v);
void mappings_update(struct mappings_view *v);

/*
 * Show those of one owner alone, or of all: OWNER_COUNT_. Of the heap's owners: all that
 * malloc has.
 */
void mappings_show_owner(struct mappings_view *v, enum owner owner);
bool mappings_act(struct mappings_view *v, enum action action);
bool mappings_search(struct mappings_view *v, int step);
void mappings_choose_row(struct mappings_view *v, size_t row);
void mappings_draw(struct mappings_view *v, struct canvas *c, const struct area *area);

/* The heap of that process */

#define HEAP_PARTS_MAX 10

struct heap_view {
	const struct data *data;
	bool exact_bytes;
	struct list list; /* of the lines below the head */
	size_t line_count; /* from the last drawing */
	size_t part_lines[HEAP_PARTS_MAX]; /* where each part begins */
	size_t part_count;
};

void heap_view_init(struct heap_view *v, const struct data *data, bool exact_bytes);
/* From the top, where what was asked for last stands. */
void heap_view_go_to_top(struct heap_view *v);
bool heap_view_act(struct heap_view *v, enum action action);
void heap_view_draw(struct heap_view *v, struct canvas *c, const struct area *area, uint64_t now_ns);

/* The parts of what was found, into its lines; their first ones are noted in the view. */
void heap_parts_draw(struct heap_view *v, struct lines *lines, const struct heap_findings *f,
		     uint64_t now_ns);

/* A group, and its processes */

struct group_view {
	const struct data *data;
	bool exact_bytes;
	struct list list; /* of the processes */
	int cursor_pid;	  /* that the cursor follows; 0: it stays in the first line */
	const struct usage **order;
	size_t order_capacity, count;
	int first_y; /* of the processes, from the last drawing */
};

void group_view_init(struct group_view *v, const struct data *data, bool exact_bytes);
void group_view_release(struct group_view *v);
void group_view_update(struct group_view *v);
bool group_view_act(struct group_view *v, enum action action);
/* The process under the cursor, or NULL. */
const struct usage *group_view_chosen(const struct group_view *v);
/* That of a line of the screen is it now, if there is one. */
void group_view_choose_line(struct group_view *v, int y);
void group_view_draw(struct group_view *v, struct canvas *c, const struct area *area);

/* The keys that work in a context, from line `list` on. */
void help_draw(struct list *list, bool is_replayed, struct canvas *c, const struct area *area);
size_t help_line_count(bool is_replayed);

#endif
