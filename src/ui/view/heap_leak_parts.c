/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "ui/view/heap_parts.h"

static void add_sum(const struct heap_sheet *s, const char *label,
		    const struct chunk_sum *sum, uint64_t resident_bytes)
{
	struct pen pen = lines_next(s->lines);

	pen_addf(&pen, "%-22s", label);
	sheet_add_count(&pen, sum->count);
	sheet_add_amount(s, &pen, sum->bytes);
	if (bytes_known(resident_bytes))
		sheet_add_amount(s, &pen, resident_bytes);
}

static void draw_sums(const struct heap_sheet *s, const struct heap_leaks *l)
{
	const struct chunk_sum leaked = { l->direct.count + l->indirect.count,
					  l->direct.bytes + l->indirect.bytes };

	add_sum(s, "live", &l->live,
		l->reachable_resident_bytes + l->leaked_resident_bytes);
	add_sum(s, "  reachable", &l->reachable, l->reachable_resident_bytes);
	add_sum(s, "  leaked", &leaked, l->leaked_resident_bytes);
	add_sum(s, "    direct", &l->direct, BYTES_UNKNOWN);
	add_sum(s, "    indirect", &l->indirect, BYTES_UNKNOWN);
}

static void draw_note(const struct heap_sheet *s, const struct heap_leaks *l)
{
	char swapped[UNITS_TEXT_SIZE];
	struct pen pen;

	if (l->quality != QUALITY_BOUND)
		return;
	pen = lines_next(s->lines);
	pen.role = ROLE_STRONG;
	pen_addf(&pen, "upper bounds: %s (%s)", l->problem,
		 units_format_bytes(l->swapped_bytes, swapped));
}

/*
 * Draw the leaked blocks of one kind, and the blocks that can be reached only from them.
 */
static void add_kind(const struct heap_sheet *s, const struct leak_kind *kind)
{
	struct pen pen = lines_next(s->lines);

	if (!pen.canvas)
		return;
	sheet_add_count(&pen, kind->sum.count);
	sheet_add_amount(s, &pen, kind->sum.bytes);
	sheet_add_amount(s, &pen, kind->block_bytes);
	sheet_add_count(&pen, kind->indirect.count);
	sheet_add_amount(s, &pen, kind->indirect.bytes);
	pen_addf(&pen, "  %-12" PRIx64 "  ", kind->example_addr);
	if (kind->type)
		pen_add_foreign(&pen, kind->type, strlen(kind->type));
	else
		pen_addf(&pen, "(%s)", content_names[kind->content]);
}

static void draw_kinds(const struct heap_sheet *s, const struct heap_leaks *l)
{
	struct pen pen;

	if (l->kind_count == 0)
		return;
	pen = sheet_begin_heading(s);
	sheet_add_count_title(&pen, "DIRECT");
	sheet_add_title(s, &pen, "BYTES");
	sheet_add_title(s, &pen, "EACH");
	sheet_add_count_title(&pen, "INDIRECT");
	sheet_add_title(s, &pen, "BYTES");
	pen_add(&pen, "  EXAMPLE       TYPE");
	for (size_t i = 0; i < l->kind_count; i++)
		add_kind(s, &l->kinds[i]);
	if (l->kind_count < l->all_kind_count) {
		pen = lines_next(s->lines);
		pen_addf(&pen, "and %zu more kind%s", l->all_kind_count - l->kind_count,
			 l->all_kind_count - l->kind_count == 1 ? "" : "s");
	}
}

void sheet_draw_leaks(const struct heap_sheet *s)
{
	const struct heap_leaks *l = &s->findings->leaks;
	char age[UNITS_TEXT_SIZE];
	struct pen pen;

	if (!l->is_done)
		return;
	pen = sheet_begin_heading(s);
	pen_addf(&pen, "%-22s", "LEAKS");
	sheet_add_count_title(&pen, "BLOCKS");
	sheet_add_title(s, &pen, "USABLE");
	sheet_add_title(s, &pen, "RESIDENT");
	pen_addf(&pen, "  %s ago",
		 units_format_duration(
			 s->now_ns > l->taken_ns ? s->now_ns - l->taken_ns : 0, age));
	if (l->quality == QUALITY_UNKNOWN) {
		pen = lines_next(s->lines);
		pen_addf(&pen, "leaks cannot be determined: %s",
			 l->problem ? l->problem : "the heap's figures are not exact");
		return;
	}
	draw_note(s, l);
	draw_sums(s, l);
	draw_kinds(s, l);
}
