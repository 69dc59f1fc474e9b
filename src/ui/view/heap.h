/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap - the view that shows the heap of the selected process. */
#ifndef MS_UI_VIEW_HEAP_H
#define MS_UI_VIEW_HEAP_H

#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

struct data;

/*
 * Maximum number of parts of the view: at most 3 for the process as a whole, and 9 for
 * each of its heaps. Further parts are not drawn.
 */
#define HEAP_PARTS_MAX 128

struct heap_view {
	const struct data *data;
	bool exact_bytes;
	/* scroll position of the lines below the header of the view */
	struct list list;
	size_t line_count; /* number of lines below the header when last drawn */
	/* index of the first line of each part of the view */
	size_t part_lines[HEAP_PARTS_MAX];
	size_t part_count;
};

void heap_view_init(struct heap_view *v, const struct data *data, bool exact_bytes);
/* Scroll to the top of the view, where the result of the last request is shown. */
void heap_view_go_to_top(struct heap_view *v);
bool heap_view_act(struct heap_view *v, enum action action);
void heap_view_draw(struct heap_view *v, struct canvas *c, const struct area *area,
		    uint64_t now_ns);

#endif
