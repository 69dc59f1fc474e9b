/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meter - a bar that shows the parts of a whole. With colours and UTF-8, each part is a
 * solid segment that begins with the letter of the part. Otherwise, the segment consists
 * of repetitions of the letter.
 */
#ifndef MS_UI_SCREEN_METER_H
#define MS_UI_SCREEN_METER_H

#include "ui/screen/canvas.h"

#define METER_PARTS_MAX 8

/*
 * Letter of free space. In a bar of solid segments, a part with this letter is drawn as
 * empty space.
 */
#define METER_EMPTY '.'

/*
 * Letter of a part that needs no label. In a bar of solid segments, the segment of such a
 * part contains no letter.
 */
#define METER_FILL '#'

struct meter {
	const uint64_t *parts; /* amounts of the parts; unknown counts as 0 */
	size_t count;	       /* number of parts, at most METER_PARTS_MAX */
	uint64_t whole;
	const char *letters;
	const enum role *roles;
};

/*
 * Draw a bar from the pen's position to the end of its line, with "[" before and
 * "]" after the segments. Each part above 0 is at least one cell wide, if there
 * are enough cells.
 */
void meter_draw(const struct meter *m, struct pen *pen);

/* Draw the letter of a part in a legend, in the same style as in the bar. */
void meter_add_letter(struct pen *pen, enum role role, char letter);

#endif
