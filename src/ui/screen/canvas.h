/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canvas - the contents of the screen as a grid of cells, each with a character and a
 * role. A canvas does not depend on a terminal.
 */
#ifndef MS_UI_SCREEN_CANVAS_H
#define MS_UI_SCREEN_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/matrix.h"

/* The purpose of a cell. theme.h defines the appearance of each role. */
enum role {
	ROLE_TEXT,
	ROLE_DIM,    /* figures that are unknown, unreadable or of minor interest */
	ROLE_STRONG, /* the most important text on the screen */
	ROLE_STATUS,
	/*
	 * words in the status line that report that reading is paused, slowed
	 * down or finished
	 */
	ROLE_ALERT,
	ROLE_HEADING,
	ROLE_HEADING_SORTED,
	ROLE_SELECTED,
	ROLE_TAGGED,
	ROLE_KEY,
	ROLE_KEY_LABEL,
	ROLE_GROWN,
	ROLE_SHRUNK,
	ROLE_GRAPH,
	/* ROLE_OWNER + a value of enum owner is the role of that memory owner */
	ROLE_OWNER,
	/* ROLE_STATE + a value of enum page_state is the role of that page state */
	ROLE_STATE = ROLE_OWNER + OWNER_COUNT_,
	ROLE_COUNT_ = ROLE_STATE + STATE_COUNT_,
};

struct cell {
	uint32_t code_point;
	uint8_t role;
	/*
	 * width of the cell in columns: 1, 2, or 0 for the right half of a wide character
	 */
	uint8_t width;
	/*
	 * Background of the cell: CELL_PLAIN, CELL_REVERSED, or 1 + the role whose
	 * foreground colour is the background.
	 */
	uint8_t back;
	uint8_t unused; /* padding, always 0, so that memcmp() works */
};

#define CELL_PLAIN 0
#define CELL_REVERSED 255

struct canvas {
	struct cell *cells;
	size_t capacity;
	int width, height;
	bool ascii; /* true if the terminal displays ASCII only */
	/*
	 * True if colours distinguish the parts of bars. canvas_begin() does not change
	 * this member.
	 */
	bool is_colored;
};

struct area {
	int x, y, width, height;
};

void canvas_init(struct canvas *c);
void canvas_release(struct canvas *c);

/* Start a new screen of empty cells. The width and the height must be at least 1. */
void canvas_begin(struct canvas *c, int width, int height, bool ascii);

static inline struct area canvas_area(const struct canvas *c)
{
	return (struct area){ 0, 0, c->width, c->height };
}

/* Set one cell. Coordinates outside the canvas have no effect. */
void canvas_put(struct canvas *c, int x, int y, enum role role, uint32_t code_point);

/* Set one cell with swapped foreground and background colours. */
void canvas_put_reversed(struct canvas *c, int x, int y, enum role role,
			 uint32_t code_point);

/*
 * Use the foreground colour of a role as the background of a cell, unless the cell
 * is reversed.
 */
void canvas_set_back(struct canvas *c, int x, int y, enum role role);

/* Set every cell in an area, clipped to the canvas. */
void canvas_fill(struct canvas *c, const struct area *area, enum role role,
		 uint32_t code_point);

/* Clear an area and draw a frame along its edge, with the title in the top line. */
void canvas_box(struct canvas *c, const struct area *area, const char *title);

/* Append a character to the string as UTF-8. */
void canvas_add_character(struct strbuf *out, uint32_t code_point);

/* Append the contents of the canvas as lines of text, without trailing spaces. */
void canvas_add_text(const struct canvas *c, struct strbuf *out);

/*
 * A drawing position: column x of line y, where the next character is drawn. Drawing
 * stops before column `end`.
 */
struct pen {
	struct canvas *canvas;
	int x, y;
	int end;
	enum role role;
};

struct pen canvas_pen(struct canvas *c, int x, int y, int width);

/*
 * Draw text that memstate generated, in ASCII or UTF-8. Cut off text that does not fit.
 */
void pen_add(struct pen *pen, const char *text);
void pen_addf(struct pen *pen, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Draw text right-aligned in the next `width` columns. Draw nothing if fewer columns
 * are left.
 */
void pen_add_right(struct pen *pen, int width, const char *text);

/*
 * Draw untrusted text, made printable. If the text does not fit, a mark shows where it
 * was cut off.
 */
void pen_add_foreign(struct pen *pen, const char *text, size_t length);

/*
 * Draw untrusted text like pen_add_foreign(), but cut off the beginning of long text,
 * because the end of a path is its most useful part.
 */
void pen_add_foreign_end(struct pen *pen, const char *text, size_t length);

/* Draw spaces up to column x. */
void pen_move_to(struct pen *pen, int x);

#endif
