/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/allocator_signs.h"
#include "ui/view/heap_parts.h"

#define TITLE_WIDTH 19
#define SPACE_WIDTH 30

void sheet_draw_heaps(const struct heap_sheet *s)
{
	static const char *const titles[] = { "LIVE", "PAGES", "FRAGM", "OWN", "TRIM" };
	const struct heap *heap = &s->findings->heap;
	struct pen pen;

	if (heap->other_count == 0 && allocator_is_malloc(heap->allocator))
		return;
	pen = sheet_begin_heading(s);
	pen_addf(&pen, "%-*s", TITLE_WIDTH, "RESIDENT IN");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		sheet_add_title(s, &pen, titles[i]);
	pen_add(&pen, "  QUALITY");
	for (size_t i = 0; i < heap_count(heap); i++) {
		const struct heap *part = heap_at(heap, i);

		pen = lines_next(s->lines);
		pen_addf(&pen, "%-*s", TITLE_WIDTH, allocator_titles[part->allocator]);
		if (part->quality == QUALITY_UNKNOWN) {
			pen_addf(&pen, "unknown: %s", part->problem);
			continue;
		}
		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			sheet_add_amount(s, &pen, part->owner_bytes[o]);
		sheet_add_amount(s, &pen, part->trimmable_bytes);
		pen_addf(&pen, "  %s", quality_names[part->quality]);
	}
}

static void draw_spaces_of(const struct heap_sheet *s, const struct heap *heap)
{
	struct pen pen = sheet_begin_heading(s);

	pen_addf(&pen, "%-*s", SPACE_WIDTH, allocator_titles[heap->allocator]);
	sheet_add_count_title(&pen, "COUNT");
	sheet_add_title(s, &pen, "LIVE");
	sheet_add_title(s, &pen, "FREE");
	sheet_add_title(s, &pen, "RESIDENT");
	for (size_t i = 0; i < heap->space_count; i++) {
		const struct heap_space *space = &heap->spaces[i];

		pen = lines_next(s->lines);
		pen_addf(&pen, "%-*s", SPACE_WIDTH, space->name);
		sheet_add_count(&pen, space->count);
		sheet_add_amount(s, &pen, space->live_bytes);
		sheet_add_amount(s, &pen, space->free_bytes);
		sheet_add_amount(s, &pen, space->resident_bytes);
	}
}

void sheet_draw_spaces(const struct heap_sheet *s)
{
	const struct heap *heap = &s->findings->heap;

	for (size_t i = 0; i < heap_count(heap); i++)
		if (heap_at(heap, i)->space_count > 0)
			draw_spaces_of(s, heap_at(heap, i));
}
