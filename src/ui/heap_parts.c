/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "render/bar.h"
#include "ui/view.h"

#define ADDRESS_WIDTH 13
#define BAR_WIDTH_MIN 10

struct page {
	const struct heap *heap;
	const struct usage *usage;
	struct lines *lines;
	bool exact_bytes;
	int width; /* of an amount, the blank before it included */
};

static void add_amount(const struct page *p, struct pen *pen, uint64_t bytes)
{
	char text[UNITS_TEXT_SIZE];

	if (p->exact_bytes && bytes_known(bytes)) {
		_cleanup_strbuf_ struct strbuf exact = STRBUF_INIT;

		strbuf_add_u64(&exact, bytes);
		pen_add_right(pen, p->width, exact.text);
		return;
	}
	pen_add_right(pen, p->width, bytes == 0 ? "." : units_format_bytes(bytes, text));
}

static void add_count(struct pen *pen, uint64_t count)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_add_u64(&text, count);
	pen_add_right(pen, 11, count == 0 ? "." : text.text);
}

static struct pen begin_heading(const struct page *p)
{
	struct pen pen = lines_next(p->lines);

	pen.role = ROLE_HEADING;
	if (pen.canvas) {
		struct area line = { p->lines->area.x, pen.y, p->lines->area.width, 1 };

		canvas_fill(pen.canvas, &line, ROLE_HEADING, ' ');
	}
	return pen;
}

/* What is resident, by owner */

static char owner_letter(unsigned int owner)
{
	return part_letter((enum part)(PART_OWNER + owner));
}

/* "[" parts, a letter for each cell, "]" */
static void add_bar(struct pen *pen, const uint64_t *parts, size_t count, uint64_t whole,
		    const char *letters, const enum role *roles)
{
	size_t cells[OWNER_COUNT_];
	int end = pen->end - 1;

	if (end - pen->x - 1 < BAR_WIDTH_MIN)
		return;
	pen_add(pen, "[");
	bar_split(parts, count, whole, (size_t)(end - pen->x), cells);
	for (size_t i = 0; i < count; i++) {
		pen->role = roles[i];
		for (size_t n = 0; n < cells[i]; n++)
			pen_add(pen, (char[2]){ letters[i], '\0' });
	}
	pen->role = ROLE_TEXT;
	pen_move_to(pen, end);
	pen_add(pen, "]");
}

static uint64_t sum_owners(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum = bytes_add(sum, heap->owner_bytes[o]);
	return sum;
}

static void add_share(struct pen *pen, uint64_t bytes, uint64_t whole)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	unsigned int per_mille = units_per_mille(bytes, whole);

	strbuf_addf(&text, "%u.%u%%", per_mille / 10, per_mille % 10);
	pen_add_right(pen, 8, text.text);
}

static void add_owner(const struct page *p, unsigned int owner, const char *meaning)
{
	struct pen pen = lines_next(p->lines);

	pen.role = (enum role)(ROLE_OWNER + (int)owner);
	pen_addf(&pen, "%c ", owner_letter(owner));
	pen.role = ROLE_TEXT;
	pen_addf(&pen, "%-16s", owner_names[owner]);
	add_amount(p, &pen, p->heap->owner_bytes[owner]);
	add_share(&pen, p->heap->owner_bytes[owner], sum_owners(p->heap));
	pen.role = ROLE_DIM;
	pen_addf(&pen, "  %s", meaning);
}

static void draw_owners(const struct page *p)
{
	static const char *const meanings[OWNER_HEAP_LAST + 1] = {
		[OWNER_LIVE] = "allocated and not freed",
		[OWNER_POOL_PAGES] = "free, whole pages",
		[OWNER_POOL_FRAGMENTS] = "free, on pages with live blocks",
		[OWNER_HEAP_META] = "the allocator's own",
	};
	char letters[OWNER_HEAP_LAST + 1];
	enum role roles[OWNER_HEAP_LAST + 1];
	uint64_t sum = sum_owners(p->heap);
	struct pen pen = lines_next(p->lines);

	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++) {
		letters[o] = owner_letter(o);
		roles[o] = (enum role)(ROLE_OWNER + (int)o);
	}
	pen_add(&pen, "heap ");
	add_bar(&pen, p->heap->owner_bytes, OWNER_HEAP_LAST + 1, sum, letters, roles);
	pen = begin_heading(p);
	pen_addf(&pen, "%-18s", "RESIDENT");
	pen_add_right(&pen, p->width, "BYTES");
	pen_add_right(&pen, 8, "SHARE");
	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++)
		add_owner(p, o, meanings[o]);
	pen = lines_next(p->lines);
	pen.role = ROLE_STRONG;
	pen_addf(&pen, "%-18s", "= heap");
	add_amount(p, &pen, sum);
	pen.role = ROLE_DIM;
	pen_addf(&pen, "%8s  %u%% of Rss", "",
		 (units_per_mille(sum, p->usage->total.bytes[SMAPS_RSS]) + 5) / 10);
	pen = lines_next(p->lines);
	pen_addf(&pen, "%-18s", "trimmable");
	add_amount(p, &pen, p->heap->trimmable_bytes);
	pen.role = ROLE_DIM;
	pen_addf(&pen, "%8s  what malloc_trim(0) would give back", "");
}

/* Blocks, by what became of them */

static void add_chunks(const struct page *p, const char *label, const struct chunk_sum *sum)
{
	struct pen pen = lines_next(p->lines);

	pen_addf(&pen, "%-34s", label);
	add_count(&pen, sum->count);
	add_amount(p, &pen, sum->bytes);
}

static void add_sum(struct chunk_sum *sum, const struct chunk_sum *more)
{
	sum->count += more->count;
	sum->bytes += more->bytes;
}

static void draw_chunks(const struct page *p)
{
	struct heap_arena all = { 0 };
	struct pen pen = begin_heading(p);

	for (size_t i = 0; i < p->heap->arena_count; i++) {
		const struct heap_arena *arena = &p->heap->arenas[i];

		if (arena->problem)
			continue;
		add_sum(&all.live, &arena->live);
		add_sum(&all.cached, &arena->cached);
		add_sum(&all.fast, &arena->fast);
		add_sum(&all.bin, &arena->bin);
	}
	pen_addf(&pen, "%-34s", "BLOCKS, resident or not");
	pen_add_right(&pen, 11, "COUNT");
	pen_add_right(&pen, p->width, "BYTES");
	add_chunks(p, "live, in arenas", &all.live);
	add_chunks(p, "live, with a mapping of their own", &p->heap->mapped);
	add_chunks(p, "free, in threads' caches", &all.cached);
	add_chunks(p, "free, in fastbins", &all.fast);
	add_chunks(p, "free, in bins", &all.bin);
}

/* Arenas. What there is no room for is left out from the right. */

static void add_arena(const struct page *p, const struct heap_arena *arena)
{
	struct pen pen = lines_next(p->lines);

	pen_addf(&pen, "%#-*" PRIx64, ADDRESS_WIDTH + 2, arena->addr);
	add_amount(p, &pen, arena->system_bytes);
	if (arena->problem) {
		pen_addf(&pen, "  unknown: %s", arena->problem);
		return;
	}
	add_amount(p, &pen, arena->live.bytes);
	add_amount(p, &pen, arena->bin.bytes);
	add_amount(p, &pen, arena->top_bytes);
	add_amount(p, &pen, arena->trimmable_bytes);
	add_amount(p, &pen, arena->cached.bytes);
	add_amount(p, &pen, arena->fast.bytes);
	add_count(&pen, arena->heap_count);
	add_count(&pen, arena->attached_threads);
}

static void draw_arenas(const struct page *p)
{
	static const char *const titles[] = { "SYSTEM", "LIVE",	  "BINS", "TOP",
					      "TRIM",	"CACHED", "FAST" };
	struct pen pen = begin_heading(p);

	pen_addf(&pen, "%-*s", ADDRESS_WIDTH + 2, "ARENA");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		pen_add_right(&pen, p->width, titles[i]);
	pen_add_right(&pen, 11, "HEAPS");
	pen_add_right(&pen, 11, "THREADS");
	for (size_t i = 0; i < p->heap->arena_count; i++)
		add_arena(p, &p->heap->arenas[i]);
}

/* Size classes */

static uint64_t class_bytes(const struct heap_class *class)
{
	return class->live.bytes + class->cached.bytes + class->free.bytes;
}

static void add_class(const struct page *p, const struct heap_class *class, uint64_t most_bytes)
{
	static const enum role roles[] = {
		ROLE_OWNER + OWNER_LIVE,
		ROLE_OWNER + OWNER_POOL_FRAGMENTS,
		ROLE_OWNER + OWNER_POOL_PAGES,
	};
	const uint64_t parts[] = { class->live.bytes, class->cached.bytes, class->free.bytes };
	struct pen pen = lines_next(p->lines);
	char text[UNITS_TEXT_SIZE];

	pen_add_right(&pen, 8, units_format_bytes(class->upper_bytes, text));
	add_count(&pen, class->live.count);
	add_amount(p, &pen, class->live.bytes);
	add_count(&pen, class->cached.count + class->free.count);
	add_amount(p, &pen, class->cached.bytes + class->free.bytes);
	pen_add(&pen, "  ");
	add_bar(&pen, parts, 3, most_bytes, "Lcf", roles);
}

static void draw_classes(const struct page *p)
{
	uint64_t most_bytes = 0;
	struct pen pen = begin_heading(p);

	pen_add_right(&pen, 8, "SIZE TO");
	pen_add_right(&pen, 11, "LIVE");
	pen_add_right(&pen, p->width, "BYTES");
	pen_add_right(&pen, 11, "FREE");
	pen_add_right(&pen, p->width, "BYTES");
	pen_add(&pen, "   L live  c cached  f free");
	for (size_t i = 0; i < p->heap->class_count; i++)
		if (class_bytes(&p->heap->classes[i]) > most_bytes)
			most_bytes = class_bytes(&p->heap->classes[i]);
	for (size_t i = 0; i < p->heap->class_count; i++)
		if (class_bytes(&p->heap->classes[i]) > 0)
			add_class(p, &p->heap->classes[i], most_bytes);
}

static void (*const parts[])(const struct page *p) = {
	draw_owners,
	draw_chunks,
	draw_arenas,
	draw_classes,
};

void heap_parts_draw(struct heap_view *v, struct lines *lines, const struct heap_findings *f)
{
	const struct page page = {
		.heap = &f->heap,
		.usage = &f->usage,
		.lines = lines,
		.exact_bytes = v->exact_bytes,
		.width = v->exact_bytes ? 15 : 9,
	};

	v->part_count = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (i > 0)
			lines_next(lines);
		v->part_lines[v->part_count++] = lines->count;
		parts[i](&page);
	}
}
