/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_parts - the parts of the heap view, which are drawn line by line. Internal to the
 * heap view.
 */
#ifndef MS_UI_VIEW_HEAP_PARTS_H
#define MS_UI_VIEW_HEAP_PARTS_H

#include "sample/heap/findings.h"
#include "ui/screen/lines.h"
#include "ui/view/heap.h"

struct heap_sheet {
	const struct heap_findings *findings;
	/*
	 * The heap that the parts about a single heap describe, and the details of this
	 * heap, or NULL if the details are unknown.
	 */
	const struct heap *heap;
	const struct heap_detail *detail;
	struct lines *lines;
	bool exact_bytes;
	uint64_t now_ns;
	int amount_width; /* width of an amount, including a space before it */
};

/*
 * Draw the parts of the heap view from the findings of a heap read, and store the index
 * of the first line of each part in the view.
 */
void heap_parts_draw(struct heap_view *v, struct lines *lines,
		     const struct heap_findings *f, uint64_t now_ns);

#define COUNT_WIDTH 11

/* Begin a new line, and return a pen with the style of a heading. */
struct pen sheet_begin_heading(const struct heap_sheet *s);

/*
 * Draw an amount, a count or a column title, right-aligned. An amount or a count of 0 is
 * drawn as a dot. If the column does not fit, nothing is drawn.
 */
void sheet_add_amount(const struct heap_sheet *s, struct pen *pen, uint64_t bytes);
void sheet_add_count(struct pen *pen, uint64_t count);
void sheet_add_title(const struct heap_sheet *s, struct pen *pen, const char *title);
void sheet_add_count_title(struct pen *pen, const char *title);

/* Draw the allocator's own figures if memstate queried the allocator. */
void sheet_draw_reported(const struct heap_sheet *s);

/* If a process has heaps other than that of malloc, draw all of its heaps. */
void sheet_draw_heaps(const struct heap_sheet *s);

/* Draw the spaces of language runtimes' heaps, such as the eden space of HotSpot. */
void sheet_draw_spaces(const struct heap_sheet *s);

/* Draw the leaks if memstate has scanned the heap for leaks. */
void sheet_draw_leaks(const struct heap_sheet *s);

/*
 * Draw the fill levels of pages, the types of malloc's blocks, or the blocks that pin
 * pages of a heap. Draw nothing if this detail of the heap is unknown.
 */
void sheet_draw_fill(const struct heap_sheet *s);
void sheet_draw_types(const struct heap_sheet *s);
void sheet_draw_pins(const struct heap_sheet *s);

#endif
