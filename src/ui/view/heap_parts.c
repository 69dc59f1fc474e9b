/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/heap_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "model/allocator_signs.h"
#include "render/heap/page.h"
#include "ui/data/history.h"
#include "ui/screen/meter.h"

#define BAR_WIDTH_MIN 10
#define LABEL_WIDTH 34

struct pen sheet_begin_heading(const struct heap_sheet *s)
{
	struct pen pen = lines_next(s->lines);

	pen.role = ROLE_HEADING;
	if (pen.canvas) {
		struct area line = { s->lines->area.x, pen.y, s->lines->area.width, 1 };

		canvas_fill(pen.canvas, &line, ROLE_HEADING, ' ');
	}
	return pen;
}

void sheet_add_amount(const struct heap_sheet *s, struct pen *pen, uint64_t bytes)
{
	char text[UNITS_TEXT_SIZE];

	if (s->exact_bytes && bytes_known(bytes)) {
		_cleanup_strbuf_ struct strbuf exact = STRBUF_INIT;

		strbuf_add_u64(&exact, bytes);
		pen_add_right(pen, s->amount_width, exact.text);
		return;
	}
	pen_add_right(pen, s->amount_width,
		      bytes == 0 ? "." : units_format_bytes(bytes, text));
}

void sheet_add_count(struct pen *pen, uint64_t count)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_add_u64(&text, count);
	pen_add_right(pen, COUNT_WIDTH, count == 0 ? "." : text.text);
}

void sheet_add_title(const struct heap_sheet *s, struct pen *pen, const char *title)
{
	pen_add_right(pen, s->amount_width, title);
}

void sheet_add_count_title(struct pen *pen, const char *title)
{
	pen_add_right(pen, COUNT_WIDTH, title);
}

/* Draw a bar up to the end of the line if there is enough room. */
static void sheet_add_bar(struct pen *pen, const struct meter *meter)
{
	if (pen->end - pen->x - 2 >= BAR_WIDTH_MIN)
		meter_draw(meter, pen);
}

/* The functions below draw the part of the view about resident memory by owner. */

static uint64_t sum_owners(const struct heap *heap)
{
	uint64_t sum = 0;

	/* skip unknown amounts, which are included in the amounts of other owners */
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		if (bytes_known(heap->owner_bytes[o]))
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

static void add_owner(const struct heap_sheet *s, unsigned int owner, const char *meaning)
{
	const struct heap *heap = s->heap;
	struct pen pen = lines_next(s->lines);
	char spread[UNITS_TEXT_SIZE];

	meter_add_letter(&pen, (enum role)(ROLE_OWNER + (int)owner),
			 part_letter((enum part)(PART_OWNER + owner)));
	pen_addf(&pen, " %-16s", owner_names[owner]);
	sheet_add_amount(s, &pen, heap->owner_bytes[owner]);
	if (!bytes_known(heap->owner_bytes[owner]))
		return;
	add_share(&pen, heap->owner_bytes[owner], sum_owners(heap));
	pen.role = ROLE_DIM;
	if (heap->reading_count > 0)
		pen_addf(&pen, "  readings within %s",
			 units_format_bytes(heap->spread_bytes[owner], spread));
	else
		pen_addf(&pen, "  %s",
			 heap->is_reported ? "upper bound, as reported" : meaning);
}

static void draw_bar(const struct heap_sheet *s)
{
	const struct heap *heap = s->heap;
	char letters[OWNER_HEAP_LAST + 1];
	enum role roles[OWNER_HEAP_LAST + 1];
	uint64_t bytes[OWNER_HEAP_LAST + 1];
	const struct meter bar = {
		bytes, OWNER_HEAP_LAST + 1, sum_owners(heap), letters, roles,
	};
	struct pen pen = lines_next(s->lines);

	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++) {
		bytes[o] = bytes_known(heap->owner_bytes[o]) ? heap->owner_bytes[o] : 0;
		letters[o] = part_letter((enum part)(PART_OWNER + o));
		roles[o] = (enum role)(ROLE_OWNER + (int)o);
	}
	pen_add(&pen, "heap ");
	sheet_add_bar(&pen, &bar);
}

static void draw_owners(const struct heap_sheet *s)
{
	bool is_malloc = allocator_is_malloc(s->heap->allocator);
	const char *const meanings[OWNER_HEAP_LAST + 1] = {
		[OWNER_LIVE] = is_malloc ? "allocated and not freed"
					 : "allocated and not yet collected",
		[OWNER_POOL_PAGES] = "free, whole pages",
		[OWNER_POOL_FRAGMENTS] = "free, on pages with live blocks",
		[OWNER_HEAP_META] = "the allocator's own",
	};
	const struct heap *heap = s->heap;
	uint64_t rss_bytes = s->findings->usage.total.bytes[SMAPS_RSS];
	struct pen pen;

	draw_bar(s);
	pen = sheet_begin_heading(s);
	pen_addf(&pen, "%-18s", "RESIDENT");
	sheet_add_title(s, &pen, "BYTES");
	pen_add_right(&pen, 8, "SHARE");
	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++)
		add_owner(s, o, meanings[o]);
	pen = lines_next(s->lines);
	pen.role = ROLE_STRONG;
	pen_addf(&pen, "%-18s", "= heap");
	sheet_add_amount(s, &pen, sum_owners(heap));
	pen.role = ROLE_DIM;
	pen_addf(&pen, "%8s  %u%% of Rss", "",
		 (units_per_mille(sum_owners(heap), rss_bytes) + 5) / 10);
	if (heap->is_reported || !heap_trim_call(heap->allocator))
		return;
	pen = lines_next(s->lines);
	pen_addf(&pen, "%-18s", "trimmable");
	sheet_add_amount(s, &pen, heap->trimmable_bytes);
	pen.role = ROLE_DIM;
	pen_addf(&pen, "%8s  would be returned by %s", "",
		 heap_trim_call(heap->allocator));
}

/* Draw a line of the table of blocks by state. */
static void add_chunks(const struct heap_sheet *s, const char *label,
		       const struct chunk_sum *sum)
{
	struct pen pen = lines_next(s->lines);

	pen_addf(&pen, "%-*s", LABEL_WIDTH, label);
	sheet_add_count(&pen, sum->count);
	sheet_add_amount(s, &pen, sum->bytes);
}

static const char *live_label(const struct heap *heap)
{
	if (heap->allocator == ALLOCATOR_MUSL)
		return heap_is_oldmalloc(heap) ? "live, in regions" : "live, in groups";
	if (heap->allocator == ALLOCATOR_MIMALLOC)
		return "live";
	if (heap->allocator == ALLOCATOR_TCMALLOC)
		return "live, in spans";
	return heap_lists_known(heap) ? "live, in arenas" : "live or cached, in arenas";
}

static const char *free_label(const struct heap *heap)
{
	switch (heap->allocator) {
	case ALLOCATOR_JEMALLOC: return "free, in slabs";
	case ALLOCATOR_MUSL:
		return heap_is_oldmalloc(heap) ? "free, in bins" : "free, in groups";
	case ALLOCATOR_MIMALLOC: return "free, in pages in use";
	case ALLOCATOR_TCMALLOC: return "free, in the central lists";
	default: return "free, in bins";
	}
}

static void draw_chunks(const struct heap_sheet *s)
{
	const struct heap *heap = s->heap;
	bool is_jemalloc = heap->allocator == ALLOCATOR_JEMALLOC;
	struct heap_arena all;
	struct pen pen;

	/* skip the heap of a language runtime, which sheet_draw_spaces() shows */
	if (!allocator_is_malloc(heap->allocator))
		return;
	pen = sheet_begin_heading(s);

	heap_sum_arenas(heap, &all);
	pen_addf(&pen, "%-*s", LABEL_WIDTH, "BLOCKS, resident or not");
	sheet_add_count_title(&pen, "COUNT");
	sheet_add_title(s, &pen, "BYTES");
	add_chunks(s, live_label(heap), &all.live);
	if (heap->allocator == ALLOCATOR_GLIBC || heap->allocator == ALLOCATOR_MUSL)
		add_chunks(s, "live, in their own mappings", &heap->mapped);
	if (heap_caches_known(heap))
		add_chunks(s, "free, in threads' caches", &all.cached);
	if (heap_lists_known(heap) && heap->allocator == ALLOCATOR_GLIBC)
		add_chunks(s, "free, in fastbins", &all.fast);
	add_chunks(s, free_label(heap), &all.bin);
	if (heap_lists_known(heap) && is_jemalloc)
		add_chunks(s, "of jemalloc itself", &all.own);
}

/*
 * Maximum number of columns in the part about arenas. Columns that do not fit are
 * omitted, starting at the right with the least important column.
 */
#define ARENA_AMOUNTS 8

static void get_glibc_amounts(const struct heap_arena *arena, bool are_lists_known,
			      uint64_t ret[ARENA_AMOUNTS])
{
	const uint64_t amounts[ARENA_AMOUNTS] = {
		arena->system_bytes,
		arena->live.bytes,
		arena->bin.bytes,
		arena->top_bytes,
		arena->trimmable_bytes,
		are_lists_known ? arena->cached.bytes : BYTES_UNKNOWN,
		are_lists_known ? arena->fast.bytes : BYTES_UNKNOWN,
	};

	memcpy(ret, amounts, sizeof(amounts));
}

static void get_jemalloc_amounts(const struct heap_arena *arena, bool are_lists_known,
				 uint64_t ret[ARENA_AMOUNTS])
{
	const uint64_t amounts[ARENA_AMOUNTS] = {
		arena->stretches[HEAP_ACTIVE].bytes,
		arena->live.bytes,
		arena->bin.bytes,
		arena->stretches[HEAP_DIRTY].bytes,
		arena->stretches[HEAP_MUZZY].bytes,
		arena->stretches[HEAP_RETAINED].bytes,
		arena->trimmable_bytes,
		are_lists_known ? arena->cached.bytes : BYTES_UNKNOWN,
	};

	memcpy(ret, amounts, sizeof(amounts));
}

struct arena_table {
	/* headings of the columns, terminated by NULL unless all entries are used */
	const char *titles[ARENA_AMOUNTS];
	void (*get)(const struct heap_arena *arena, bool are_lists_known,
		    uint64_t ret[ARENA_AMOUNTS]);
	/* true if arenas are identified by numbers instead of addresses */
	bool has_numbers;
};

static const struct arena_table glibc_table = {
	{ "SYSTEM", "LIVE", "BINS", "TOP", "TRIM", "CACHED", "FAST" },
	get_glibc_amounts,
	false,
};

static const struct arena_table jemalloc_table = {
	{ "ACTIVE", "LIVE", "FREE", "DIRTY", "MUZZY", "RETAINED", "PURGE", "CACHED" },
	get_jemalloc_amounts,
	true,
};

static void add_arena(const struct heap_sheet *s, const struct arena_table *table,
		      const struct heap_arena *arena)
{
	struct pen pen = lines_next(s->lines);
	uint64_t amounts[ARENA_AMOUNTS];

	if (!pen.canvas)
		return;
	if (table->has_numbers)
		pen_addf(&pen, "%-6" PRIu32, arena->number);
	else
		pen_addf(&pen, "%#-15" PRIx64, arena->addr);
	if (arena->problem) {
		pen_addf(&pen, " unknown: %s", arena->problem);
		return;
	}
	table->get(arena, heap_lists_known(s->heap), amounts);
	for (size_t i = 0; i < ARENA_AMOUNTS && table->titles[i]; i++)
		sheet_add_amount(s, &pen, amounts[i]);
	if (table->has_numbers)
		return;
	sheet_add_count(&pen, arena->heap_count);
	sheet_add_count(&pen, arena->attached_threads);
}

static void draw_arenas(const struct heap_sheet *s)
{
	const struct heap *heap = s->heap;
	const struct arena_table *table =
		heap->allocator == ALLOCATOR_JEMALLOC ? &jemalloc_table : &glibc_table;
	struct pen pen;

	/* other allocators have a single arena */
	if (heap->allocator != ALLOCATOR_GLIBC && heap->allocator != ALLOCATOR_JEMALLOC)
		return;
	pen = sheet_begin_heading(s);
	pen_addf(&pen, "%-*s", table->has_numbers ? 6 : 15, "ARENA");
	for (size_t i = 0; i < ARENA_AMOUNTS && table->titles[i]; i++)
		sheet_add_title(s, &pen, table->titles[i]);
	if (!table->has_numbers) {
		sheet_add_count_title(&pen, "HEAPS");
		sheet_add_count_title(&pen, "THREADS");
	}
	for (size_t i = 0; i < heap->arena_count; i++)
		add_arena(s, table, &heap->arenas[i]);
}

/* The functions below draw the part of the view about size classes. */

static uint64_t class_bytes(const struct heap_class *class)
{
	return class->live.bytes + class->cached.bytes + class->free.bytes;
}

static void add_class(const struct heap_sheet *s, const struct heap_class *class,
		      uint64_t max_bytes)
{
	static const enum role roles[] = {
		ROLE_OWNER + OWNER_LIVE,
		ROLE_OWNER + OWNER_POOL_FRAGMENTS,
		ROLE_OWNER + OWNER_POOL_PAGES,
	};
	const uint64_t parts[] = { class->live.bytes, class->cached.bytes,
				   class->free.bytes };
	const struct meter bar = { parts, 3, max_bytes, "Lcf", roles };
	struct pen pen = lines_next(s->lines);
	char text[UNITS_TEXT_SIZE];

	if (!pen.canvas)
		return;
	pen_add_right(&pen, 8, units_format_bytes(class->upper_bytes, text));
	sheet_add_count(&pen, class->live.count);
	sheet_add_amount(s, &pen, class->live.bytes);
	sheet_add_count(&pen, class->cached.count + class->free.count);
	sheet_add_amount(s, &pen, class->cached.bytes + class->free.bytes);
	pen_add(&pen, "  ");
	sheet_add_bar(&pen, &bar);
}

static bool has_classes(const struct heap *heap)
{
	for (size_t i = 0; i < heap->class_count; i++)
		if (class_bytes(&heap->classes[i]) > 0)
			return true;
	return false;
}

static void draw_classes(const struct heap_sheet *s)
{
	const struct heap *heap = s->heap;
	uint64_t max_bytes = 0;
	struct pen pen;

	/* the heaps of V8 and HotSpot have no size classes */
	if (!allocator_is_malloc(heap->allocator) && !has_classes(heap))
		return;
	pen = sheet_begin_heading(s);
	pen_add_right(&pen, 8, "SIZE TO");
	sheet_add_count_title(&pen, "LIVE");
	sheet_add_title(s, &pen, "BYTES");
	sheet_add_count_title(&pen, "FREE");
	sheet_add_title(s, &pen, "BYTES");
	pen_add(&pen, "   L live  c cached  f free");
	for (size_t i = 0; i < heap->class_count; i++)
		if (class_bytes(&heap->classes[i]) > max_bytes)
			max_bytes = class_bytes(&heap->classes[i]);
	for (size_t i = 0; i < heap->class_count; i++)
		if (class_bytes(&heap->classes[i]) > 0)
			add_class(s, &heap->classes[i], max_bytes);
}

/* Draw the title of one of several heaps. */
static void draw_title(const struct heap_sheet *s)
{
	struct pen pen = lines_next(s->lines);

	pen.role = ROLE_STRONG;
	pen_add(&pen, allocator_titles[s->heap->allocator]);
	if (s->heap->version[0] != '\0') {
		pen_add(&pen, " ");
		pen_add_foreign(&pen, s->heap->version, strlen(s->heap->version));
	}
}

/* Draw the allocator's own figures, which apply only to the first heap. */
static void draw_reported(const struct heap_sheet *s)
{
	if (s->heap == &s->findings->heap)
		sheet_draw_reported(s);
}

struct part_row {
	void (*draw)(const struct heap_sheet *s);
	bool is_walked; /* true if the part requires the results of a heap walk */
};

/* parts of the view that describe the process and all its heaps */
static const struct part_row process_parts[] = {
	{ sheet_draw_heaps, true },
	{ sheet_draw_spaces, true },
	{ sheet_draw_leaks, true },
};

/* parts that describe one heap; the title is omitted if the process has only one heap */
static const struct part_row heap_parts[] = {
	{ draw_title, true },	   { draw_owners, false },    { draw_reported, false },
	{ draw_chunks, true },	   { sheet_draw_fill, true }, { sheet_draw_types, true },
	{ sheet_draw_pins, true }, { draw_arenas, true },     { draw_classes, true },
};

static void draw_part(struct heap_view *v, const struct heap_sheet *s,
		      const struct part_row *part)
{
	struct lines *lines = s->lines;
	size_t before = lines->count, begin;

	if ((part->is_walked && s->findings->heap.is_reported) ||
	    v->part_count == HEAP_PARTS_MAX)
		return;
	if (v->part_count > 0)
		lines_next(lines);
	begin = lines->count;
	part->draw(s);
	if (lines->count == begin)
		/* remove the blank line before a part that drew nothing */
		lines->count = before;
	else
		v->part_lines[v->part_count++] = begin;
}

void heap_parts_draw(struct heap_view *v, struct lines *lines,
		     const struct heap_findings *f, uint64_t now_ns)
{
	struct heap_sheet sheet = {
		.findings = f,
		.heap = &f->heap,
		.lines = lines,
		.exact_bytes = v->exact_bytes,
		.now_ns = now_ns,
		.amount_width = v->exact_bytes ? 15 : 9,
	};

	v->part_count = 0;
	for (size_t i = 0; i < sizeof(process_parts) / sizeof(process_parts[0]); i++)
		draw_part(v, &sheet, &process_parts[i]);
	for (size_t h = 0; h < heap_count(&f->heap); h++) {
		bool is_one_of_several = f->heap.other_count > 0;

		sheet.heap = heap_at(&f->heap, h);
		sheet.detail = heap_detail_at(f->has_detail ? &f->detail : NULL, h);
		if (is_one_of_several && sheet.heap->quality == QUALITY_UNKNOWN)
			continue;
		for (size_t i = is_one_of_several ? 0 : 1;
		     i < sizeof(heap_parts) / sizeof(heap_parts[0]); i++)
			draw_part(v, &sheet, &heap_parts[i]);
	}
}
