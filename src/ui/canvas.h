/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canvas - a screen as a grid of cells, each a character and the role it plays. Knows no
 * terminal.
 */
#ifndef MS_UI_CANVAS_H
#define MS_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/matrix.h"

/* What a cell is for; theme.h says how it looks. */
enum role {
	ROLE_TEXT,
	ROLE_DIM,    /* unknown, unreadable, beside the point */
	ROLE_STRONG, /* what the eye should find */
	ROLE_STATUS,
	ROLE_ALERT, /* in the status line: paused, ended, slowed */
	ROLE_HEADING,
	ROLE_HEADING_SORTED,
	ROLE_SELECTED,
	ROLE_TAGGED,
	ROLE_KEY,
	ROLE_KEY_LABEL,
	ROLE_GROWN,
	ROLE_SHRUNK,
	ROLE_GRAPH,
	ROLE_OWNER, /* + enum owner */
	ROLE_STATE = ROLE_OWNER + OWNER_COUNT_, /* + enum page_state */
	ROLE_COUNT_ = ROLE_STATE + STATE_COUNT_,
};

struct cell {
	uint32_t code_point;
	uint8_t role;
	uint8_t width; /* terminal columns: 1 or 2; 0 in the right half of a wide character */
	uint16_t unused; /* 0, so that cells compare as bytes */
};

struct canvas {
	struct cell *cells;
	size_t capacity;
	int width, height;
	bool ascii; /* the terminal shows nothing else */
};

struct area {
	int x, y, width, height;
};

void canvas_init(struct canvas *c);
void canvas_release(struct canvas *c);

/* Start over with blanks. Sizes below 1 count as 1. */
void canvas_begin(struct canvas *c, int width, int height, bool ascii);

static inline struct area canvas_area(const struct canvas *c)
{
	return (struct area){ 0, 0, c->width, c->height };
}

/* One cell; out of the canvas is nothing. */
void canvas_put(struct canvas *c, int x, int y, enum role role, uint32_t code_point);

/* Every cell of the area, cut to the canvas. */
void canvas_fill(struct canvas *c, const struct area *area, enum role role, uint32_t code_point);
void canvas_set_role(struct canvas *c, const struct area *area, enum role role);

/* A blank area with a frame inside its edge, and a title in it. */
void canvas_box(struct canvas *c, const struct area *area, const char *title);

/* A character as UTF-8. */
void canvas_add_character(struct strbuf *out, uint32_t code_point);

/* Lines of text, without the blanks at their ends. */
void canvas_add_text(const struct canvas *c, struct strbuf *out);

/* Where text goes: from x on in line y, never past end. */
struct pen {
	struct canvas *canvas;
	int x, y;
	int end;
	enum role role;
};

struct pen canvas_pen(struct canvas *c, int x, int y, int width);

/* Own text, plain or UTF-8. What does not fit is cut. */
void pen_add(struct pen *pen, const char *text);
void pen_addf(struct pen *pen, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Right-aligned in the next `width` columns; not at all where they are not all there. */
void pen_add_right(struct pen *pen, int width, const char *text);

/* Foreign bytes, made printable; a mark stands at the end of what had to be cut. */
void pen_add_foreign(struct pen *pen, const char *text, size_t length);

/* The same, but it is the front that is cut: of a path, the end says most. */
void pen_add_foreign_end(struct pen *pen, const char *text, size_t length);

/* Blanks up to column x. */
void pen_move_to(struct pen *pen, int x);

#endif
