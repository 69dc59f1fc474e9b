/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "model/allocator_signs.h"
#include "model/image.h"
#include "ui/view/heap_parts.h"

#define STRIP_LINES 6

/* characters for the fill levels of pages, from empty to full, as in the heap report */
static const char fill_signs[FILL_COUNT_] = { '.', ':', '-', '+', '*', '#' };

/*
 * Colours for the fill levels of pages. Free memory is most visible, because users look
 * for it.
 */
static const enum role fill_roles[FILL_COUNT_] = {
	ROLE_OWNER + OWNER_POOL_PAGES,	   ROLE_OWNER + OWNER_POOL_FRAGMENTS,
	ROLE_OWNER + OWNER_POOL_FRAGMENTS, ROLE_OWNER + OWNER_POOL_FRAGMENTS,
	ROLE_OWNER + OWNER_LIVE,	   ROLE_OWNER + OWNER_LIVE,
};

static struct page_sum sum_cells(const struct heap_strip *strip, size_t first,
				 size_t count)
{
	struct page_sum sum = { 0, 0 };

	for (size_t i = first; i < first + count && i < strip->cell_count; i++) {
		sum.page_count += strip->cells[i].page_count;
		sum.free_bytes += strip->cells[i].free_bytes;
	}
	return sum;
}

/* Draw as many fill levels as fit into the line, starting at index `first`. */
static void add_cells(struct pen *pen, const struct heap_strip *strip, size_t first,
		      size_t per_sign)
{
	pen_add(pen, "  ");
	for (size_t i = first; i < strip->cell_count && pen->x < pen->end - 1;
	     i += per_sign) {
		struct page_sum sum = sum_cells(strip, i, per_sign);
		enum page_fill fill =
			page_fill_of(sum.free_bytes, sum.page_count * IMAGE_PAGE_BYTES);

		pen->role = fill_roles[fill];
		pen_add(pen, (char[2]){ fill_signs[fill], '\0' });
	}
}

static void add_strip(const struct heap_sheet *s, const struct heap_strip *strip)
{
	size_t width = s->lines->area.width > 6 ? (size_t)s->lines->area.width - 4 : 2;
	size_t per_sign =
		(strip->cell_count + width * STRIP_LINES - 1) / (width * STRIP_LINES);
	struct pen pen = lines_next(s->lines);

	pen.role = ROLE_DIM;
	if (!allocator_is_malloc(s->heap->allocator))
		pen_add(&pen, "pages in address order");
	else if (strip->is_mapped)
		pen_add(&pen, "blocks in their own mappings");
	else
		pen_addf(&pen, "arena %" PRIu32, strip->arena);
	pen_addf(&pen, ": %" PRIu64 " page%s, %" PRIu64 " per character",
		 strip->sum.page_count, strip->sum.page_count == 1 ? "" : "s",
		 strip->pages_per_cell * per_sign);
	for (size_t i = 0; i < strip->cell_count; i += per_sign * width) {
		pen = lines_next(s->lines);
		if (pen.canvas)
			add_cells(&pen, strip, i, per_sign);
	}
}

void sheet_draw_fill(const struct heap_sheet *s)
{
	const struct heap_detail *d = s->detail;
	struct pen pen;

	if (!d)
		return;
	pen = sheet_begin_heading(s);
	pen_addf(&pen, "%-16s", "PAGES IN USE");
	sheet_add_count_title(&pen, "PAGES");
	sheet_add_title(s, &pen, "BYTES");
	sheet_add_title(s, &pen, "FREE");
	for (unsigned int i = 0; i < FILL_COUNT_; i++) {
		uint64_t bytes = d->fill[i].page_count * IMAGE_PAGE_BYTES;

		pen = lines_next(s->lines);
		pen.role = fill_roles[i];
		pen_addf(&pen, "%c ", fill_signs[i]);
		pen.role = ROLE_TEXT;
		pen_addf(&pen, "%-14s", page_fill_names[i]);
		sheet_add_count(&pen, d->fill[i].page_count);
		sheet_add_amount(s, &pen, bytes);
		sheet_add_amount(s, &pen, d->fill[i].free_bytes);
	}
	for (size_t i = 0; i < d->strip_count; i++)
		add_strip(s, &d->strips[i]);
}

static void add_type_name(struct pen *pen, const struct heap_type *type)
{
	pen_add(pen, "  ");
	if (type->name)
		pen_add_foreign(pen, type->name, strlen(type->name));
	else
		pen_add(pen, "-");
}

static void add_size(const struct heap_sheet *s, struct pen *pen,
		     const struct heap_type *type)
{
	if (type->size_bytes)
		sheet_add_amount(s, pen, type->size_bytes);
	else
		sheet_add_title(s, pen, "differs");
}

void sheet_draw_types(const struct heap_sheet *s)
{
	const struct heap_detail *d = s->detail;
	struct pen pen;

	/*
	 * skip heaps of language runtimes, because their table of size classes shows
	 * the blocks by size
	 */
	if (!d || !d->has_blocks || !allocator_is_malloc(s->heap->allocator))
		return;
	pen = sheet_begin_heading(s);
	sheet_add_count_title(&pen, "LIVE");
	sheet_add_title(s, &pen, "BYTES");
	sheet_add_title(s, &pen, "RESIDENT");
	sheet_add_title(s, &pen, "EACH");
	pen_add(&pen, "  TYPE");
	for (size_t i = 0; i < d->type_count; i++) {
		const struct heap_type *type = &d->types[i];

		pen = lines_next(s->lines);
		if (!pen.canvas)
			continue;
		sheet_add_count(&pen, type->live.count);
		sheet_add_amount(s, &pen, type->live.bytes);
		sheet_add_amount(s, &pen, type->resident_bytes);
		add_size(s, &pen, type);
		add_type_name(&pen, type);
	}
	if (d->problem) {
		pen = lines_next(s->lines);
		pen.role = ROLE_DIM;
		pen_addf(&pen, "some types are unknown: %s", d->problem);
	}
}

void sheet_draw_pins(const struct heap_sheet *s)
{
	const struct heap_detail *d = s->detail;
	char text[UNITS_TEXT_SIZE];
	struct pen pen;

	if (!d || d->pin_count == 0)
		return;
	pen = lines_next(s->lines);
	pen_addf(&pen, "%" PRIu64 " page%s at least half free: %s is free but pinned by:",
		 d->fragmented.page_count,
		 d->fragmented.page_count == 1 ? " is" : "s are",
		 units_format_bytes(d->fragmented.free_bytes, text));
	pen = sheet_begin_heading(s);
	sheet_add_count_title(&pen, "BLOCKS");
	sheet_add_count_title(&pen, "ON PAGES");
	sheet_add_count_title(&pen, "ALONE ON");
	sheet_add_title(s, &pen, "EACH");
	pen_add(&pen, "  TYPE");
	for (size_t i = 0; i < d->pin_count; i++) {
		const struct heap_type *type = &d->types[d->pins[i]];

		pen = lines_next(s->lines);
		if (!pen.canvas)
			continue;
		sheet_add_count(&pen, type->pin.block_count);
		sheet_add_count(&pen, type->pin.pages.page_count);
		sheet_add_count(&pen, type->pin.alone_page_count);
		add_size(s, &pen, type);
		add_type_name(&pen, type);
	}
}
