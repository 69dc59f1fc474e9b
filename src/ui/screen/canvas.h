/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canvas - the screen as a grid of cells, each with a character and a role. The
 * canvas does not depend on a terminal.
 */
#ifndef MS_UI_SCREEN_CANVAS_H
#define MS_UI_SCREEN_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/matrix.h"

/* The purpose of a cell; theme.h defines how cells of each role look. */
enum role {
	ROLE_TEXT,
	ROLE_DIM,    /* unknown, unreadable or secondary figures */
	ROLE_STRONG, /* the most important text */
	ROLE_STATUS,
	/* words in the status line that report a pause, an end or a slowdown */
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
	/* ROLE_OWNER + N is the role of enum owner's value N */
	ROLE_OWNER,
	/* ROLE_STATE + N is the role of enum page_state's value N */
	ROLE_STATE = ROLE_OWNER + OWNER_COUNT_,
	ROLE_COUNT_ = ROLE_STATE + STATE_COUNT_,
};

struct cell {
	uint32_t code_point;
	uint8_t role;
	/* width in terminal columns: 1 or 2; 0 for the right half of a wide character */
	uint8_t width;
	/*
	 * CELL_PLAIN, CELL_REVERSED, or 1 + the role whose
	 * foreground colour is the background of this cell
	 */
	uint8_t back;
	uint8_t unused; /* always 0, so that cells can be compared with memcmp() */
};

#define CELL_PLAIN 0
#define CELL_REVERSED 255

struct canvas {
	struct cell *cells;
	size_t capacity;
	int width, height;
	bool ascii; /* the terminal can display only ASCII */
	/* parts can be distinguished by colour; kept by canvas_begin() */
	bool is_colored;
};

struct area {
	int x, y, width, height;
};

void canvas_init(struct canvas *c);
void canvas_release(struct canvas *c);

/* Start a new screen of blank cells. A width or height below 1 is raised to 1. */
void canvas_begin(struct canvas *c, int width, int height, bool ascii);

static inline struct area canvas_area(const struct canvas *c)
{
	return (struct area){ 0, 0, c->width, c->height };
}

/* Set one cell. Coordinates outside the canvas are ignored. */
void canvas_put(struct canvas *c, int x, int y, enum role role, uint32_t code_point);

/* Set one cell, with the colours of the foreground and background exchanged. */
void canvas_put_reversed(struct canvas *c, int x, int y, enum role role,
			 uint32_t code_point);

/* Give a cell that is not reversed the foreground colour of the role as background. */
void canvas_set_back(struct canvas *c, int x, int y, enum role role);

/* Set every cell of the area, clipped to the canvas. */
void canvas_fill(struct canvas *c, const struct area *area, enum role role,
		 uint32_t code_point);

/* Clear the area and draw a frame along its edge, with the title in the top line. */
void canvas_box(struct canvas *c, const struct area *area, const char *title);

/* Append a character to out as UTF-8. */
void canvas_add_character(struct strbuf *out, uint32_t code_point);

/* Append the screen to out as lines of text, without trailing blanks. */
void canvas_add_text(const struct canvas *c, struct strbuf *out);

/*
 * The position of the next character: column x of line
 * y. Drawing stops before column `end`.
 */
struct pen {
	struct canvas *canvas;
	int x, y;
	int end;
	enum role role;
};

struct pen canvas_pen(struct canvas *c, int x, int y, int width);

/* Draw memstate's own text, ASCII or UTF-8. Text that does not fit is cut off. */
void pen_add(struct pen *pen, const char *text);
void pen_addf(struct pen *pen, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Draw text right-aligned in the next `width` columns. If
 * fewer columns are left, draw nothing.
 */
void pen_add_right(struct pen *pen, int width, const char *text);

/* Draw untrusted bytes, made printable. A mark shows where the text was cut off. */
void pen_add_foreign(struct pen *pen, const char *text, size_t length);

/*
 * Draw untrusted bytes like pen_add_foreign(), but cut off the front of long text,
 * because the end of a path is most useful.
 */
void pen_add_foreign_end(struct pen *pen, const char *text, size_t length);

/* Draw blanks up to column x. */
void pen_move_to(struct pen *pen, int x);

#endif
