/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/lines.h"

struct pen lines_next(struct lines *l)
{
	size_t line = l->count++;
	bool is_seen = l->canvas && line >= l->top &&
		       line - l->top < (size_t)l->area.height;

	if (!is_seen)
		return (struct pen){ .canvas = NULL, .end = 0 };
	return canvas_pen(l->canvas, l->area.x + 1, l->area.y + (int)(line - l->top),
			  l->area.width - 1);
}
