/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/meter.h"

#include "render/table/bar.h"

#define EIGHTHS 8
#define FULL_BLOCK 0x2588

static bool is_solid(const struct canvas *c)
{
	return c->is_colored && !c->ascii;
}

static size_t find_largest(const size_t *lengths, size_t count)
{
	size_t largest = 0;

	for (size_t i = 1; i < count; i++)
		if (lengths[i] > lengths[largest])
			largest = i;
	return largest;
}

/*
 * Divide the width of a bar among its parts, in eighths of a cell. Each part has at least
 * one cell, at the cost of the largest part, so that no cell shows more than two parts.
 */
static void split(const struct meter *m, size_t width, size_t *ret_eighths)
{
	bar_split(m->parts, m->count, m->whole, width * EIGHTHS, ret_eighths);
	for (size_t i = 0; i < m->count; i++) {
		size_t largest = find_largest(ret_eighths, m->count);
		size_t lack = EIGHTHS - ret_eighths[i];

		if (ret_eighths[i] == 0 || ret_eighths[i] >= EIGHTHS ||
		    ret_eighths[largest] < EIGHTHS + lack)
			continue;
		ret_eighths[i] += lack;
		ret_eighths[largest] -= lack;
	}
}

/*
 * Draw one segment of a bar. The cell at its left edge may also show the
 * previous segment.
 */
static void draw_solid(const struct meter *m, const struct pen *pen, size_t part,
		       size_t begin, size_t end)
{
	enum role role = m->roles[part];
	int x = pen->x + (int)(begin / EIGHTHS);
	int right = pen->x + (int)(end / EIGHTHS);
	bool has_letter = false;

	if (begin % EIGHTHS > 0)
		canvas_set_back(pen->canvas, x++, pen->y, role);
	for (; x < right; x++) {
		canvas_put(pen->canvas, x, pen->y, role, FULL_BLOCK);
		if (!has_letter && m->letters[part] != METER_FILL)
			canvas_put_reversed(pen->canvas, x, pen->y, role,
					    (uint32_t)m->letters[part]);
		has_letter = true;
	}
	if (end % EIGHTHS > 0 && x == right)
		canvas_put(pen->canvas, x, pen->y, role,
			   FULL_BLOCK + EIGHTHS - (uint32_t)(end % EIGHTHS));
	/*
	 * if the segment does not fill any cell, draw its letter in the cell that
	 * contains most of it
	 */
	if (!has_letter && m->letters[part] != METER_FILL)
		canvas_put_reversed(pen->canvas,
				    EIGHTHS - begin % EIGHTHS >= end % EIGHTHS
					    ? pen->x + (int)(begin / EIGHTHS)
					    : right,
				    pen->y, role, (uint32_t)m->letters[part]);
}

static void draw_segments(const struct meter *m, const struct pen *pen, size_t width)
{
	size_t lengths[METER_PARTS_MAX];
	size_t begin = 0;

	split(m, width, lengths);
	for (size_t i = 0; i < m->count; i++) {
		if (lengths[i] > 0 && m->letters[i] != METER_EMPTY)
			draw_solid(m, pen, i, begin, begin + lengths[i]);
		begin += lengths[i];
	}
}

static void draw_letters(const struct meter *m, const struct pen *pen, size_t width)
{
	size_t lengths[METER_PARTS_MAX];
	int x = pen->x;

	bar_split(m->parts, m->count, m->whole, width, lengths);
	for (size_t i = 0; i < m->count; i++)
		for (size_t n = 0; n < lengths[i]; n++)
			canvas_put(pen->canvas, x++, pen->y, m->roles[i],
				   (uint32_t)m->letters[i]);
}

void meter_draw(const struct meter *m, struct pen *pen)
{
	int end = pen->end - 1;

	pen->role = ROLE_TEXT;
	if (end - pen->x < 2)
		return;
	pen_add(pen, "[");
	canvas_fill(pen->canvas, &(struct area){ pen->x, pen->y, end - pen->x, 1 },
		    ROLE_TEXT, ' ');
	if (is_solid(pen->canvas))
		draw_segments(m, pen, (size_t)(end - pen->x));
	else
		draw_letters(m, pen, (size_t)(end - pen->x));
	pen->x = end;
	pen_add(pen, "]");
}

void meter_add_letter(struct pen *pen, enum role role, char letter)
{
	enum role before = pen->role;

	pen->role = role;
	if (pen->x < pen->end && letter != METER_EMPTY && is_solid(pen->canvas))
		canvas_put_reversed(pen->canvas, pen->x++, pen->y, role,
				    (uint32_t)letter);
	else
		pen_addf(pen, "%c", letter);
	pen->role = before;
}
