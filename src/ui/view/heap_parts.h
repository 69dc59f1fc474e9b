/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_parts - the parts of the heap view, line by line. Internal to that view.
 */
#ifndef MS_UI_VIEW_HEAP_PARTS_H
#define MS_UI_VIEW_HEAP_PARTS_H

#include "sample/heap/findings.h"
#include "ui/screen/lines.h"
#include "ui/view/heap.h"

struct heap_sheet {
	const struct heap_findings *findings;
	struct lines *lines;
	bool exact_bytes;
	uint64_t now_ns;
	int amount_width; /* including the blank in front */
};

/* Draw the parts of the findings as lines, and record their first lines in the view. */
void heap_parts_draw(struct heap_view *v, struct lines *lines,
		     const struct heap_findings *f, uint64_t now_ns);

#define COUNT_WIDTH 11

/* Begin a new line in the style of a heading. */
struct pen sheet_begin_heading(const struct heap_sheet *s);

/*
 * Append a right-aligned amount, count or title. An amount or count of 0 is a dot.
 * Nothing is drawn if the column does not fit.
 */
void sheet_add_amount(const struct heap_sheet *s, struct pen *pen, uint64_t bytes);
void sheet_add_count(struct pen *pen, uint64_t count);
void sheet_add_title(const struct heap_sheet *s, struct pen *pen, const char *title);
void sheet_add_count_title(struct pen *pen, const char *title);

struct sheet_bar {
	const uint64_t *parts;
	size_t count; /* at most OWNER_COUNT_ */
	uint64_t whole;
	const char *letters;
	const enum role *roles;
};

/* Draw a bar up to the end of the line: "[", one letter per cell of each part, "]". */
void sheet_add_bar(struct pen *pen, const struct sheet_bar *bar);

/* heap_said_parts.c: draws nothing if the allocator was not queried */
void sheet_draw_said(const struct heap_sheet *s);

/* heap_leak_parts.c: draws nothing if no scan was made */
void sheet_draw_leaks(const struct heap_sheet *s);

/* heap_detail_parts.c: draws nothing if the details were not read */
void sheet_draw_fill(const struct heap_sheet *s);
void sheet_draw_types(const struct heap_sheet *s);
void sheet_draw_pins(const struct heap_sheet *s);

#endif
