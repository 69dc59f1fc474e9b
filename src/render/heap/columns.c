/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "classify/process/classify_stats.h"
#include "model/allocator_signs.h"
#include "model/image.h"
#include "render/heap/page.h"
#include "render/table/column.h"
#include "render/table/output.h"

/*
 * A row of the CSV report: one amount of an object such as an arena, a size class or
 * a type.
 */
struct heap_row {
	const struct process *process;
	const char *kind;
	const char *name; /* name of the object; NULL if the object has no name */
	const char *state;
	uint64_t size_bytes; /* size_bytes, count and bytes may be BYTES_UNKNOWN */
	uint64_t count;
	uint64_t bytes;
	const char *heap; /* heap of the object; NULL if the row is about all heaps */
};

static const struct heap_row *row_of(const void *row)
{
	return row;
}

static void get_pid(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, (uint64_t)row_of(row)->process->pid);
}

enum {
	TEXT_COMM,
	TEXT_KIND,
	TEXT_NAME,
	TEXT_STATE,
	TEXT_HEAP
};

static void get_text(const void *row, int arg, struct value *ret)
{
	const struct heap_row *r = row_of(row);
	const char *const texts[] = {
		[TEXT_COMM] = r->process->comm, [TEXT_KIND] = r->kind,
		[TEXT_NAME] = r->name,		[TEXT_STATE] = r->state,
		[TEXT_HEAP] = r->heap,
	};

	value_set_text(ret, texts[arg]);
}

enum {
	NUMBER_SIZE,
	NUMBER_COUNT,
	NUMBER_BYTES
};

static void get_number(const void *row, int arg, struct value *ret)
{
	const struct heap_row *r = row_of(row);
	const uint64_t numbers[] = {
		[NUMBER_SIZE] = r->size_bytes,
		[NUMBER_COUNT] = r->count,
		[NUMBER_BYTES] = r->bytes,
	};

	value_set_amount(ret, numbers[arg]);
}

static const struct column columns[] = {
	{ "pid", "PID", "process id", VALUE_COUNT, false, 0, 0, get_pid },
	{ "comm", "COMMAND", "its name", VALUE_TEXT, false, 0, TEXT_COMM, get_text },
	{ "kind", "KIND", "subject of the row", VALUE_WORD, false, 0, TEXT_KIND,
	  get_text },
	{ "name", "NAME", "which item of its kind", VALUE_TEXT, false, 0, TEXT_NAME,
	  get_text },
	{ "size_bytes", "SIZE", "of each", VALUE_BYTES, true, 0, NUMBER_SIZE,
	  get_number },
	{ "state", "STATE", "name of the amount", VALUE_WORD, false, 0, TEXT_STATE,
	  get_text },
	{ "count", "COUNT", "how many", VALUE_COUNT, true, 0, NUMBER_COUNT, get_number },
	{ "bytes", "BYTES", "how much", VALUE_BYTES, true, 0, NUMBER_BYTES, get_number },
	{ "heap", "HEAP", "heap of the item", VALUE_WORD, false, 0, TEXT_HEAP, get_text },
};

static const struct column_set heap_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
};

/* State for writing the rows of one CSV report. */
struct rows {
	const struct heap_page *page;
	struct column_list list;
	struct heap_row row;
};

static void add(struct rows *rows, const char *state, uint64_t count, uint64_t bytes)
{
	rows->row.state = state;
	rows->row.count = count;
	rows->row.bytes = bytes;
	csv_add_row(rows->page->out, &rows->list, &rows->row);
}

static void begin(struct rows *rows, const char *kind, const char *name,
		  uint64_t size_bytes)
{
	rows->row.kind = kind;
	rows->row.name = name;
	rows->row.size_bytes = size_bytes;
}

static void add_sum(struct rows *rows, const char *state, const struct chunk_sum *sum,
		    bool is_known)
{
	add(rows, state, is_known ? sum->count : BYTES_UNKNOWN,
	    is_known ? sum->bytes : BYTES_UNKNOWN);
}

static void add_owners(struct rows *rows)
{
	const struct heap *heap = rows->page->heap;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		begin(rows, "owner", owner_names[o], BYTES_UNKNOWN);
		add(rows, "resident", BYTES_UNKNOWN,
		    heap_total_bytes(heap, (enum owner)o));
	}
	if (heap->is_reported)
		return;
	begin(rows, "heap", NULL, BYTES_UNKNOWN);
	add(rows, "trimmable", BYTES_UNKNOWN, heap_total_trimmable(heap));
	if (!heap_has_mapped(heap))
		return;
	begin(rows, "mapped", NULL, BYTES_UNKNOWN);
	add_sum(rows, "live", &heap->mapped, true);
}

static void add_stretches(struct rows *rows, const struct heap_arena *arena)
{
	for (size_t s = 0; s < HEAP_STRETCH_COUNT_; s++)
		add(rows, heap_stretch_names[s],
		    arena->problem ? BYTES_UNKNOWN : arena->stretches[s].count,
		    arena->problem ? BYTES_UNKNOWN : arena->stretches[s].bytes);
}

static void add_spans(struct rows *rows, const struct heap_arena *arena)
{
	const struct stretch_sum *sums = arena->stretches;

	add(rows, "spans_in_use", sums[HEAP_ACTIVE].count, sums[HEAP_ACTIVE].bytes);
	add(rows, "spans_free", sums[HEAP_DIRTY].count, sums[HEAP_DIRTY].bytes);
	add(rows, "spans_returned", sums[HEAP_RETAINED].count, sums[HEAP_RETAINED].bytes);
}

static void add_pages_of_mimalloc(struct rows *rows, const struct heap_arena *arena)
{
	const struct stretch_sum *sums = arena->stretches;

	add(rows, "pages_in_use", sums[HEAP_ACTIVE].count, sums[HEAP_ACTIVE].bytes);
	add(rows, "pages_free", sums[HEAP_DIRTY].count, sums[HEAP_DIRTY].bytes);
}

static void add_arena(struct rows *rows, const struct heap_arena *arena)
{
	bool is_known = !arena->problem;
	bool are_lists_known = is_known && heap_lists_known(rows->page->heap);
	enum allocator allocator = rows->page->heap->allocator;
	bool is_jemalloc = allocator == ALLOCATOR_JEMALLOC;
	bool is_glibc = allocator == ALLOCATOR_GLIBC;
	char name[24];

	if (!is_glibc)
		snprintf(name, sizeof(name), "%" PRIu32, arena->number);
	else
		snprintf(name, sizeof(name), "0x%" PRIx64, arena->addr);
	begin(rows, "arena", name, BYTES_UNKNOWN);
	add(rows, "system", BYTES_UNKNOWN, arena->system_bytes);
	add_sum(rows, "live", &arena->live, is_known);
	if (heap_has_caches(allocator))
		add_sum(rows, "cached", &arena->cached, are_lists_known);
	if (is_glibc)
		add_sum(rows, "fast", &arena->fast, are_lists_known);
	add_sum(rows, "bin", &arena->bin, is_known);
	if (is_jemalloc) {
		add_sum(rows, "own", &arena->own, are_lists_known);
		add_stretches(rows, arena);
	} else if (is_glibc) {
		add(rows, "top", BYTES_UNKNOWN,
		    is_known ? arena->top_bytes : BYTES_UNKNOWN);
	}
	if (allocator == ALLOCATOR_TCMALLOC)
		add_spans(rows, arena);
	if (allocator == ALLOCATOR_MIMALLOC)
		add_pages_of_mimalloc(rows, arena);
	if (heap_trim_call(allocator))
		add(rows, "trimmable", BYTES_UNKNOWN, arena->trimmable_bytes);
	rows->row.name = NULL; /* reset the name, which points to a local buffer */
}

static void add_classes(struct rows *rows, const struct heap *heap, const char *name)
{
	for (size_t i = 0; i < heap->class_count; i++) {
		const struct heap_class *class = &heap->classes[i];

		if (class->live.count + class->free.count + class->cached.count == 0)
			continue;
		begin(rows, "class", name, class->upper_bytes);
		add_sum(rows, "live", &class->live, true);
		add_sum(rows, "free", &class->free, true);
		if (heap_has_caches(heap->allocator))
			add_sum(rows, "cached", &class->cached, heap_lists_known(heap));
	}
}

static void add_pages(struct rows *rows, const struct heap_detail *detail)
{
	for (size_t i = 0; i < FILL_COUNT_; i++) {
		const struct page_sum *sum = &detail->fill[i];

		begin(rows, "page", page_fill_names[i], IMAGE_PAGE_BYTES);
		add(rows, "resident", sum->page_count,
		    sum->page_count * IMAGE_PAGE_BYTES);
		add(rows, "free", BYTES_UNKNOWN, sum->free_bytes);
	}
}

static void add_types(struct rows *rows, const struct heap_detail *d)
{
	size_t top = rows->page->options->top;

	for (size_t i = 0; i < d->type_count && (top == 0 || i < top); i++) {
		const struct heap_type *type = &d->types[i];
		const struct heap_pin *pin = &type->pin;

		begin(rows, "type", type->name,
		      type->size_bytes ? type->size_bytes : BYTES_UNKNOWN);
		add_sum(rows, "live", &type->live, true);
		add(rows, "resident", BYTES_UNKNOWN, type->resident_bytes);
		if (pin->pages.page_count == 0)
			continue;
		add(rows, "pinning", pin->block_count, BYTES_UNKNOWN);
		add(rows, "pinned", pin->pages.page_count, pin->pages.free_bytes);
		add(rows, "pinned_alone", pin->alone_page_count,
		    pin->alone_page_count * IMAGE_PAGE_BYTES);
	}
}

/* Append the details of all heaps. */
static void add_details(struct rows *rows)
{
	const struct heap *heap = rows->page->heap;

	for (size_t i = 0; i < heap_count(heap); i++) {
		const struct heap_detail *d = heap_detail_at(rows->page->detail, i);

		if (!d)
			continue;
		rows->row.heap = allocator_names[heap_at(heap, i)->allocator];
		add_pages(rows, d);
		add_types(rows, d);
	}
	rows->row.heap = NULL;
}

/*
 * Append the rows for one of the heaps. Omit the size classes if it is the heap of the
 * process's malloc, because the caller has already appended them.
 */
static void add_heap(struct rows *rows, const struct heap *heap)
{
	const char *name = allocator_names[heap->allocator];

	rows->row.heap = name;
	begin(rows, "heap", name, BYTES_UNKNOWN);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		add(rows, owner_names[o], BYTES_UNKNOWN, heap->owner_bytes[o]);
	add(rows, "trimmable", BYTES_UNKNOWN, heap->trimmable_bytes);
	for (size_t i = 0; i < heap->space_count; i++) {
		const struct heap_space *space = &heap->spaces[i];

		begin(rows, "space", space->name, BYTES_UNKNOWN);
		add(rows, "live", space->count, space->live_bytes);
		add(rows, "free", BYTES_UNKNOWN, space->free_bytes);
		add(rows, "resident", BYTES_UNKNOWN, space->resident_bytes);
	}
	if (heap != rows->page->heap || !allocator_is_malloc(heap->allocator))
		add_classes(rows, heap, name);
	rows->row.heap = NULL;
}

/*
 * Append a figure that the allocator reports and, if known, the same figure from
 * memstate's walk. value->is_count selects the count column or the bytes column.
 */
static void add_value(struct rows *rows, const struct allocator_value *value)
{
	uint64_t walked = classify_stats_walked(&rows->page->options->answer->stats,
						rows->page->heap, value->name);

	begin(rows, "said", value->name, BYTES_UNKNOWN);
	add(rows, "said", value->is_count ? value->value : BYTES_UNKNOWN,
	    value->is_count ? BYTES_UNKNOWN : value->value);
	if (bytes_known(walked))
		add(rows, "walked", value->is_count ? walked : BYTES_UNKNOWN,
		    value->is_count ? BYTES_UNKNOWN : walked);
}

static void add_answer(struct rows *rows, const struct helper_answer *answer)
{
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		begin(rows, "owner", owner_names[o], BYTES_UNKNOWN);
		add(rows, "said", BYTES_UNKNOWN, answer->bounds.reported_bytes[o]);
		add(rows, "at_least", BYTES_UNKNOWN, answer->bounds.min_bytes[o]);
		add(rows, "at_most", BYTES_UNKNOWN, answer->bounds.max_bytes[o]);
	}
	for (size_t i = 0; i < answer->stats.value_count; i++)
		add_value(rows, &answer->stats.values[i]);
}

void heap_report_add_csv(struct strbuf *out, const struct usage *u,
			 const struct heap *heap, const struct heap_detail *detail,
			 const struct heap_report_options *options)
{
	const struct heap_page page = { out, u, heap, detail, NULL, options };
	struct rows rows = {
		.page = &page,
		.list = COLUMN_LIST_INIT,
		.row.process = &u->process,
	};

	column_list_all(&heap_columns, &rows.list);
	add_owners(&rows);
	if (allocator_is_malloc(heap->allocator)) {
		rows.row.heap = allocator_names[heap->allocator];
		for (size_t i = 0; i < heap->arena_count; i++)
			add_arena(&rows, &heap->arenas[i]);
		add_classes(&rows, heap, NULL);
		rows.row.heap = NULL;
	}
	for (size_t i = 0; i < heap_count(heap) && !heap->is_reported; i++)
		if (heap->other_count > 0 || !allocator_is_malloc(heap->allocator))
			add_heap(&rows, heap_at(heap, i));
	add_details(&rows);
	if (options->answer && helper_answer_is_known(options->answer))
		add_answer(&rows, options->answer);
	column_list_release(&rows.list);
}

void heap_report_add_csv_header(struct strbuf *out)
{
	struct column_list list = COLUMN_LIST_INIT;

	column_list_all(&heap_columns, &list);
	csv_add_header(out, &list);
	column_list_release(&list);
}
