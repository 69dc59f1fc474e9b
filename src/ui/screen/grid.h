/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid - a table on the screen with column headings, a cursor, scrolling and sorting. */
#ifndef MS_UI_SCREEN_GRID_H
#define MS_UI_SCREEN_GRID_H

#include "render/table/column.h"
#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

struct grid {
	const struct column_set *set;
	struct column_list columns;
	struct sort_key sort;
	/* number of columns after column 0 that are scrolled out of view to the left */
	size_t first_column;
	struct list list; /* cursor and current page in the list of rows */
	bool is_chosen;	  /* the user has changed the selection of columns */
	/*
	 * Cut off the front instead of the end of the text in
	 * the last column, if it is too long.
	 */
	bool cuts_front;
	/*
	 * Widths of the columns, by index in the set; they never
	 * shrink, so that columns do not jump.
	 */
	int *widths;
	/* x of each heading, by index in `columns`; -1: the column is not drawn */
	int *xs;
	struct area area; /* where the grid was last drawn */
};

/*
 * Initialize a grid. `names` has the syntax of option -o, and `sort` has the syntax of
 * option -s; both must be valid.
 */
void grid_init(struct grid *g, const struct column_set *set, const char *names,
	       const char *sort);
void grid_release(struct grid *g);

/*
 * Sort by the column, or reverse the order if the grid is already sorted by the column.
 */
void grid_sort_by(struct grid *g, const struct column *column);

/*
 * Show or hide a column. The last visible column cannot be hidden. New columns
 * are inserted in the order of the set.
 */
void grid_toggle_column(struct grid *g, const struct column *column);
bool grid_has_column(const struct grid *g, const struct column *column);

/* Show other columns. Widths and the sort column are unchanged. */
void grid_set_columns(struct grid *g, const char *names);

struct row_style {
	enum role role;
	char mark; /* mark to draw in the first screen column; ' ': none */
	/* text to draw before the last column; style() appends it */
	struct strbuf *prefix;
};

struct grid_rows {
	const void *const *rows; /* pointers that the columns' get() functions receive */
	size_t count;
	bool exact_bytes;
	/* sets the role, mark and prefix of a row; may be NULL */
	void (*style)(void *context, size_t row, struct row_style *ret);
	void *context;
};

/*
 * Move the cursor or scroll. Returns false if the action
 * is neither a movement nor scrolling.
 */
bool grid_move(struct grid *g, size_t row_count, enum action action);

void grid_draw(struct grid *g, struct canvas *c, const struct area *area,
	       const struct grid_rows *rows);

/*
 * Return true if the visible text columns and the first column contain the words, in the
 * syntax of text_has_words().
 */
bool grid_row_matches(const struct grid *g, const void *row, const char *words);

/*
 * Return the index of a row that contains the words, or SIZE_MAX. The search starts at
 * the cursor if step is 0, in the next row if step is 1, or upwards from the previous
 * row if step is -1, and wraps around.
 */
size_t grid_search(const struct grid *g, const void *const *rows, size_t count,
		   const char *words, int step);

/* Return the column whose heading is at (x, y), or NULL. */
const struct column *grid_heading_at(const struct grid *g, int x, int y);
size_t grid_row_at(const struct grid *g, size_t row_count, int x, int y);

#endif
