/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view - the views: each handles actions and draws itself into an area. Views know
 * neither the terminal nor the clock, and read nothing.
 */
#ifndef MS_UI_VIEW_VIEW_H
#define MS_UI_VIEW_VIEW_H

#include "ui/data/data.h"
#include "ui/data/tree.h"
#include "ui/screen/graph.h"
#include "ui/screen/grid.h"
#include "ui/screen/lines.h"

/* The filter of a list, and the text searched for in it. */
struct selection {
	struct strbuf filter;
	struct strbuf search;
};

/* The list of processes */

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
	/* process that the cursor follows; 0: the cursor stays in the first line */
	int cursor_pid;
	struct process_row *rows;
	size_t row_capacity;
	const void **order; /* pointers to the visible rows, in order */
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

/* Rebuild the rows after a change of the data, filter, sort order or tree mode. */
void processes_update(struct processes_view *v);

/* Return the NEED_ flags for the visible columns and the sort column. */
unsigned int processes_needs(const struct processes_view *v);

/* Return the usage of the process under the cursor, or NULL. */
const struct usage *processes_chosen(const struct processes_view *v);

/* Get the pids of the processes on the screen, at most `max`. Returns their number. */
size_t processes_visible(const struct processes_view *v, size_t max, int *ret_pids);

/* Perform the action. Returns false if it does not belong to this view. */
bool processes_act(struct processes_view *v, enum action action);

/*
 * Move the cursor to the next match (step 1), the previous match (-1), or the first match
 * at or after the cursor (0).
 */
bool processes_search(struct processes_view *v, int step);

void processes_choose_row(struct processes_view *v, size_t row);
void processes_draw(struct processes_view *v, struct canvas *c, const struct area *area);

/* The selected process */

enum cells_mode {
	CELLS_AMOUNT,
	CELLS_CHANGE,
	CELLS_RATE,
	CELLS_MODE_COUNT_
};

struct process_view {
	const struct data *data;
	bool exact_bytes;
	enum cells_mode mode;
	enum graph_style graph_style; /* used if the terminal is not limited to ASCII */
	enum part chosen;	      /* shown in the second graph */
	/* bitmap of the parts that were ever above 0; their lines stay visible */
	uint32_t seen;
	int seen_pid;
};

void process_init(struct process_view *v, const struct data *data, bool exact_bytes);
void process_update(struct process_view *v);
bool process_act(struct process_view *v, enum action action);
void process_draw(struct process_view *v, struct canvas *c, const struct area *area,
		  uint64_t now_ns);

/* Return the owner in the cursor's line; OWNER_COUNT_ if the line has none. */
enum owner process_chosen_owner(const struct process_view *v);

/* Return true if the part is on the screen. */
bool process_shows(const struct process_view *v, enum part part);

/*
 * Draw the matrix with its changes at the top of the area. Returns the number
 * of lines used.
 */
int matrix_draw(const struct process_view *v, struct canvas *c, const struct area *area);
int matrix_height(const struct process_view *v);

/* Return the letter of an owner or state, which is also used in the bars. */
char part_letter(enum part part);

/* The mappings of the selected process */

enum grouping {
	GROUP_NONE,
	GROUP_FILE,
	GROUP_OWNER,
	GROUPING_COUNT_
};

struct mappings_view {
	const struct data *data;
	bool exact_bytes;
	struct grid grid;
	struct selection selection;
	enum grouping grouping;
	enum owner only_owner; /* OWNER_COUNT_: all owners */
	int width;	       /* screen width for which the columns were chosen */
	uint64_t cursor_addr;  /* address that the cursor follows */
	bool is_following;
	struct mapping *groups; /* each combines several mappings; names are owned */
	size_t group_count, group_capacity;
	const void **order;
	size_t order_capacity;
	size_t count;
};

void mappings_init(struct mappings_view *v, const struct data *data, bool exact_bytes);
void mappings_release(struct mappings_view *v);
void mappings_update(struct mappings_view *v);

/*
 * Show the mappings of one owner, or of all owners with OWNER_COUNT_. An owner within the
 * heap selects all mappings of the allocator.
 */
void mappings_show_owner(struct mappings_view *v, enum owner owner);
bool mappings_act(struct mappings_view *v, enum action action);
bool mappings_search(struct mappings_view *v, int step);
void mappings_choose_row(struct mappings_view *v, size_t row);
void mappings_draw(struct mappings_view *v, struct canvas *c, const struct area *area);

/* The heap of the selected process */

#define HEAP_PARTS_MAX 10

struct heap_view {
	const struct data *data;
	bool exact_bytes;
	struct list list;		   /* lines below the head */
	size_t line_count;		   /* from the last drawing */
	size_t part_lines[HEAP_PARTS_MAX]; /* first line of each part */
	size_t part_count;
};

void heap_view_init(struct heap_view *v, const struct data *data, bool exact_bytes);
/* Scroll to the top, where the result of the last request is. */
void heap_view_go_to_top(struct heap_view *v);
bool heap_view_act(struct heap_view *v, enum action action);
void heap_view_draw(struct heap_view *v, struct canvas *c, const struct area *area,
		    uint64_t now_ns);

/* Draw the parts of the findings as lines, and record their first lines in the view. */
void heap_parts_draw(struct heap_view *v, struct lines *lines,
		     const struct heap_findings *f, uint64_t now_ns);

/* A group and its processes */

struct group_view {
	const struct data *data;
	bool exact_bytes;
	struct list list; /* cursor in the processes */
	/* process that the cursor follows; 0: the cursor stays in the first line */
	int cursor_pid;
	const struct usage **order;
	size_t order_capacity, count;
	int first_y; /* first line of the processes, from the last drawing */
};

void group_view_init(struct group_view *v, const struct data *data, bool exact_bytes);
void group_view_release(struct group_view *v);
void group_view_update(struct group_view *v);
bool group_view_act(struct group_view *v, enum action action);
/* Return the usage of the process under the cursor, or NULL. */
const struct usage *group_view_chosen(const struct group_view *v);
/* Move the cursor to the process in line y of the screen, if there is one. */
void group_view_choose_line(struct group_view *v, int y);
void group_view_draw(struct group_view *v, struct canvas *c, const struct area *area);

/* Draw the keys that work in each context, scrolled to the position of `list`. */
void help_draw(struct list *list, bool is_replayed, struct canvas *c,
	       const struct area *area);
size_t help_line_count(bool is_replayed);

#endif
