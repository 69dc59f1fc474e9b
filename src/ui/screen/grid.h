/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid - a table on the screen with column headings, a cursor, scrolling and sorting.
 */
#ifndef MS_UI_SCREEN_GRID_H
#define MS_UI_SCREEN_GRID_H

#include "render/table/column.h"
#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

struct grid {
	const struct column_set *set;
	struct column_list columns;
	struct sort_key sort;
	/* how many columns after column 0 are scrolled out of view on the left */
	size_t first_column;
	struct list list; /* cursor and page of the rows */
	bool is_chosen;	  /* the user has changed the columns */
	/* cut the front, not the end, of a last column that is too long */
	bool cuts_front;
	/* by index in the set; widths never shrink, so that columns do not jump */
	int *widths;
	int *xs;	  /* by index in `columns`: x of the heading; -1: not drawn */
	struct area area; /* where the grid was last drawn */
};

/* `names` has the syntax of -o, `sort` that of -s. Both must be valid. */
void grid_init(struct grid *g, const struct column_set *set, const char *names,
	       const char *sort);
void grid_release(struct grid *g);

/* Sort by the column, or reverse the order if it is the sort column already. */
void grid_sort_by(struct grid *g, const struct column *column);

/*
 * Show or hide a column. The last visible column cannot be hidden. New columns are
 * inserted in the order of the set.
 */
void grid_toggle_column(struct grid *g, const struct column *column);
bool grid_has_column(const struct grid *g, const struct column *column);

/* Show other columns. Widths and the sort column are unchanged. */
void grid_set_columns(struct grid *g, const char *names);

struct row_look {
	enum role role;
	char mark; /* drawn in the first screen column; ' ': none */
	/* to be filled in by look(); drawn before the last column */
	struct strbuf *prefix;
};

struct grid_rows {
	const void *const *rows; /* row pointers for the columns' get() functions */
	size_t count;
	bool exact_bytes;
	void (*look)(void *context, size_t row, struct row_look *ret); /* may be NULL */
	void *context;
};

/* Move the cursor or scroll. Returns false if the action does neither. */
bool grid_move(struct grid *g, size_t row_count, enum action action);

void grid_draw(struct grid *g, struct canvas *c, const struct area *area,
	       const struct grid_rows *rows);

/* Return the heading of the column, such as "RSS", or its name if it has no heading. */
const char *grid_heading(const struct column *column);

/*
 * Return true if a visible text column or the first column contains the words,
 * ignoring case.
 */
bool grid_row_matches(const struct grid *g, const void *row, const char *words);

/*
 * Return the index of a row that contains the words, or SIZE_MAX. The search wraps
 * around. It starts at the cursor (step 0), or goes from the next row down (1) or from
 * the previous row up (-1).
 */
size_t grid_search(const struct grid *g, const void *const *rows, size_t count,
		   const char *words, int step);

/* Return the column whose heading is at (x, y), or NULL; the row there, or SIZE_MAX. */
const struct column *grid_heading_at(const struct grid *g, int x, int y);
size_t grid_row_at(const struct grid *g, size_t row_count, int x, int y);

#endif
