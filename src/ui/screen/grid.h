/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid - a table on the screen, with column headings, a cursor, scrolling and sorting. */
#ifndef MS_UI_SCREEN_GRID_H
#define MS_UI_SCREEN_GRID_H

#include "render/table/column.h"
#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

struct grid {
	const struct column_set *set;
	struct column_list columns;
	struct sort_key sort;
	/* number of columns scrolled out of view to the left, not counting column 0 */
	size_t first_column;
	struct list list; /* the cursor and the current page of rows */
	bool is_chosen;	  /* true if the user has changed the columns */
	/*
	 * true to cut off the beginning instead of the end of a text too long for the
	 * last column
	 */
	bool cuts_front;
	/*
	 * width of each column, by index in the column set; never shrinks, so that
	 * columns stay in place
	 */
	int *widths;
	/*
	 * x position of each heading, by index in `columns`; -1: the column is not drawn
	 */
	int *xs;
	struct area area; /* area of the grid when last drawn */
};

/*
 * Initialise a grid. `names` lists the columns in the syntax of option -o, and `sort` is
 * a sort key in the syntax of option -s. Both must be valid.
 */
void grid_init(struct grid *g, const struct column_set *set, const char *names,
	       const char *sort);
void grid_release(struct grid *g);

/* Sort by a column, or reverse the order if the grid is already sorted by the column. */
void grid_sort_by(struct grid *g, const struct column *column);

/*
 * Show or hide a column. The last visible column cannot be hidden. A column is inserted
 * at its place in the order of the column set.
 */
void grid_toggle_column(struct grid *g, const struct column *column);
bool grid_has_column(const struct grid *g, const struct column *column);

/* Replace the columns of a grid. The widths and the sort column remain unchanged. */
void grid_set_columns(struct grid *g, const char *names);

struct row_style {
	enum role role;
	char mark; /* character before the row; ' ': no mark */
	/* text to draw before the last column of the row; style() appends to it */
	struct strbuf *prefix;
};

struct grid_rows {
	/* rows, which are passed to the get() functions of the columns */
	const void *const *rows;
	size_t count;
	bool exact_bytes;
	/* sets the role, mark and prefix of a row; may be NULL */
	void (*style)(void *context, size_t row, struct row_style *ret);
	void *context;
};

/*
 * Move the cursor or scroll the grid. Return false if the action is neither a movement
 * nor scrolling.
 */
bool grid_move(struct grid *g, size_t row_count, enum action action);

void grid_draw(struct grid *g, struct canvas *c, const struct area *area,
	       const struct grid_rows *rows);

/*
 * Return true if the text of a row contains the words, in the syntax of text_has_words().
 * The text consists of the first column and all visible text columns.
 */
bool grid_row_matches(const struct grid *g, const void *row, const char *words);

/*
 * Return the index of a row that contains the words, or SIZE_MAX. The search starts at
 * the cursor if step is 0, in the next row if step is 1, or upwards from the previous row
 * if step is -1. At the end of the grid, the search wraps around.
 */
size_t grid_search(const struct grid *g, const void *const *rows, size_t count,
		   const char *words, int step);

/* Return the column whose heading is at (x, y), or NULL if not found. */
const struct column *grid_heading_at(const struct grid *g, int x, int y);
size_t grid_row_at(const struct grid *g, size_t row_count, int x, int y);

#endif
