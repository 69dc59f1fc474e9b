/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/bar.h"

#include <stdlib.h>

#include "base/units.h"
#include "base/xalloc.h"

static uint64_t known(uint64_t bytes)
{
	return bytes_known(bytes) ? bytes : 0;
}

/* Return the exact number of cells for a part of a bar, in units of 1/65536 cell. */
static uint64_t exact_cells(uint64_t part, uint64_t whole, size_t width)
{
	return (uint64_t)((unsigned __int128)part * width * 65536 / whole);
}

/*
 * Return the index of the part of a bar whose number of cells is furthest below
 * the exact number.
 */
static size_t find_largest_gap(const uint64_t *parts, size_t count, uint64_t whole,
			       size_t width, const size_t *cells)
{
	int64_t max = INT64_MIN;
	size_t largest = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t part = known(parts[i]);
		int64_t lack = (int64_t)exact_cells(part, whole, width) -
			       (int64_t)cells[i] * 65536;

		if (part > 0 && lack > max) {
			max = lack;
			largest = i;
		}
	}
	return largest;
}

void bar_split(const uint64_t *parts, size_t count, uint64_t whole, size_t width,
	       size_t *ret_cells)
{
	uint64_t sum = 0;
	size_t used = 0;
	size_t target;

	for (size_t i = 0; i < count; i++) {
		sum = bytes_add(sum, known(parts[i]));
		ret_cells[i] = 0;
	}
	if (!bytes_known(whole) || !bytes_known(sum) || whole == 0 || sum == 0)
		return;
	if (sum > whole)
		whole = sum;
	target = (size_t)((exact_cells(sum, whole, width) + 32768) / 65536);
	for (size_t i = 0; i < count && used < target; i++) {
		ret_cells[i] = known(parts[i]) > 0;
		used += ret_cells[i];
	}
	for (; used < target; used++)
		ret_cells[find_largest_gap(parts, count, whole, width, ret_cells)]++;
}

void bar_add_letter(struct strbuf *out, const struct bar_part *part, bool colour)
{
	if (colour && part->colour) /* reverse video fills the cell with the colour */
		strbuf_addf(out, "\033[7;%sm%c\033[0m", part->colour, part->letter);
	else
		strbuf_add_char(out, part->letter);
}

static void add_segment(struct strbuf *out, const struct bar_part *part, size_t cells,
			const char *fill, bool colour)
{
	bool is_coloured = colour && part->colour && cells > 1;

	bar_add_letter(out, part, colour);
	if (is_coloured)
		strbuf_addf(out, "\033[%sm", part->colour);
	strbuf_add_repeat(out, fill, cells - 1);
	if (is_coloured)
		strbuf_add_text(out, "\033[0m");
}

void bar_add(struct strbuf *out, const struct bar_part *parts, size_t count,
	     uint64_t whole, size_t width, bool ascii, bool colour)
{
	uint64_t *bytes = xcalloc(count, sizeof(*bytes));
	size_t *cells = xcalloc(count, sizeof(*cells));
	bool is_dark = true;

	for (size_t i = 0; i < count; i++)
		bytes[i] = parts[i].bytes;
	bar_split(bytes, count, whole, width, cells);
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		char letter[] = { parts[i].letter, '\0' };
		bool is_solid = !ascii && parts[i].letter != '.';

		if (cells[i] == 0)
			continue;
		/*
		 * with colour, all parts use solid cells, because the colours
		 * distinguish them
		 */
		add_segment(out, &parts[i], cells[i],
			    !is_solid		? letter
			    : is_dark || colour ? "█"
						: "▒",
			    colour);
		is_dark = !is_dark;
		width -= cells[i];
	}
	strbuf_add_repeat(out, " ", width);
	strbuf_add_char(out, ']');
	free(bytes);
	free(cells);
}
