/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid - rows of columns on the screen, with headings, a cursor, scrolling and sorting.
 */
#ifndef MS_UI_GRID_H
#define MS_UI_GRID_H

#include "render/column.h"
#include "ui/canvas.h"
#include "ui/list.h"

struct grid {
	const struct column_set *set;
	struct column_list columns;
	struct sort_key sort;
	size_t first_column; /* scrolled: of those after the first, the first shown */
	struct list list;    /* of the rows */
	bool is_chosen;	     /* the user has chosen columns */
	bool cuts_front;     /* of the last column, where it is too long */
	int *widths;	     /* by place in the set; they only grow, so that nothing jumps */
	int *xs;	     /* by place in the list: where a heading was drawn, -1: not */
	struct area area;    /* of the last drawing */
};

/* names: as -o takes them. sort: as -s does. Both must be right. */
void grid_init(struct grid *g, const struct column_set *set, const char *names, const char *sort);
void grid_release(struct grid *g);

/* Sort by a column; by the one that is the key already: the other way round. */
void grid_sort_by(struct grid *g, const struct column *column);

/* Show or hide a column; the last one left stays. New ones come in the order of the set. */
void grid_toggle_column(struct grid *g, const struct column *column);
bool grid_has_column(const struct grid *g, const struct column *column);

/* Another choice of columns; widths and key stay. */
void grid_set_columns(struct grid *g, const char *names);

struct row_look {
	enum role role;
	char mark;	    /* in the first screen column, or ' ' */
	struct strbuf *prefix; /* to be filled: before the last column */
};

struct grid_rows {
	const void *const *rows; /* as get() of the columns wants */
	size_t count;
	bool exact_bytes;
	void (*look)(void *context, size_t row, struct row_look *ret); /* may be NULL */
	void *context;
};

/* The cursor moves; true if the action was one for that. */
bool grid_move(struct grid *g, size_t row_count, enum action action);

void grid_draw(struct grid *g, struct canvas *c, const struct area *area,
	       const struct grid_rows *rows);

/* "RSS": the machine name where there is no heading. */
const char *grid_heading(const struct column *column);

/* True if the words are in a text that the row shows, or in its first column; in either case. */
bool grid_row_matches(const struct grid *g, const void *row, const char *words);

/*
 * The row that has the words, round from where the cursor is: that row too with step 0,
 * the next one with 1, the former one with -1. SIZE_MAX if there is none.
 */
size_t grid_search(const struct grid *g, const void *const *rows, size_t count, const char *words,
		   int step);

/* What was drawn at x, y: a heading, or NULL. A row, or SIZE_MAX. */
const struct column *grid_heading_at(const struct grid *g, int x, int y);
size_t grid_row_at(const struct grid *g, size_t row_count, int x, int y);

#endif
