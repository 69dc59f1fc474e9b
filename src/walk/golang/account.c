/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/golang/walk.h"

#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/* Indices in the array `spaces` of struct heap. */
enum {
	SPACE_SMALL,
	SPACE_LARGE,
	SPACE_MANUAL,
	SPACE_IDLE,
	SPACE_COUNT_
};

static const char *const space_names[SPACE_COUNT_] = {
	[SPACE_SMALL] = "spans of small objects",
	[SPACE_LARGE] = "spans of large objects",
	[SPACE_MANUAL] = "stacks and work buffers",
	[SPACE_IDLE] = "idle pages",
};

enum span_result {
	SPAN_SOUND,
	/* the number of allocated objects differs from the count in the span */
	SPAN_BROKEN,
	/*
	 * the number of allocated objects differs, perhaps only because bits of the
	 * objects are swapped out
	 */
	SPAN_ABSENT
};

/* Set the bits of the span's free objects in the table not_live. */
static enum span_result mark_free(struct golang *g, const struct golang_span *span)
{
	uint64_t live = 0, absent = 0;

	for (uint64_t i = 0; i < span->object_count; i++) {
		const uint8_t *bits = NULL;
		bool is_live = i < span->free_index;

		/* if the page of a bit was never touched, the bit is 0 */
		if (!is_live && span->bits_addr <= UINT64_MAX - i / 8) {
			bits = image_at(g->image, span->bits_addr + i / 8, 1);
			absent += !bits &&
				  walk_is_swapped(g->input, span->bits_addr + i / 8);
		}
		is_live = is_live || (bits && *bits >> i % 8 & 1);
		live += is_live;
		if (!is_live)
			bit_set(g->blocks->not_live, span->first_bit + i);
	}
	if (live == span->live_count)
		return SPAN_SOUND;
	return live < span->live_count && span->live_count - live <= absent ? SPAN_ABSENT
									    : SPAN_BROKEN;
}

static void add_extent(struct golang *g, const struct golang_span *span)
{
	struct extent *extent = blocks_add_extent(g->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = span->start_addr;
	extent->unit_bytes = span->object_bytes;
	extent->end_addr = span->start_addr + span->object_count * span->object_bytes;
	extent->first_bit = span->first_bit;
}

static void account_pages(struct golang *g, const struct golang_span *span)
{
	uint64_t bytes = span->object_bytes;

	for (uint64_t i = 0, next; i < span->object_count; i = next) {
		bool is_free = bit_is_set(g->blocks->not_live, span->first_bit + i);

		for (next = i + 1;
		     next < span->object_count &&
		     bit_is_set(g->blocks->not_live, span->first_bit + next) == is_free;
		     next++)
			;
		page_use_add(g->blocks, span->start_addr + i * bytes,
			     span->start_addr + next * bytes,
			     is_free ? USE_FREE : USE_LIVE);
	}
}

static void account_objects(struct golang *g, const struct golang_span *span)
{
	struct heap_space *space =
		&g->heap->spaces[span->class == 0 ? SPACE_LARGE : SPACE_SMALL];
	struct heap_class *class = &g->heap->classes[span->class];
	struct heap_arena *sums = &g->heap->arenas[0];
	uint64_t free_count = span->object_count - span->live_count;
	uint64_t live_bytes = span->live_count * span->object_bytes;
	uint64_t free_bytes = free_count * span->object_bytes;
	enum span_result result = mark_free(g, span);

	if (result != SPAN_SOUND) {
		g->broken_count += result == SPAN_BROKEN;
		g->absent_count += result == SPAN_ABSENT;
		return;
	}
	page_use_add(g->blocks, span->start_addr, span->end_addr, USE_HEAP);
	if (span->object_bytes > 0) {
		account_pages(g, span);
		add_extent(g, span);
	}
	class->live.count += span->live_count;
	class->live.bytes += live_bytes;
	class->free.count += free_count;
	class->free.bytes += free_bytes;
	sums->live.count += span->live_count;
	sums->live.bytes += live_bytes;
	sums->bin.count += free_count;
	sums->bin.bytes += free_bytes;
	space->count++;
	space->live_bytes += live_bytes;
	space->free_bytes += free_bytes;
	space->resident_bytes +=
		image_resident_bytes(g->image, span->start_addr, span->end_addr);
}

static void account_manual(struct golang *g, const struct golang_span *span)
{
	struct heap_space *space = &g->heap->spaces[SPACE_MANUAL];

	page_use_add(g->blocks, span->start_addr, span->end_addr, USE_HEAP);
	page_use_add(g->blocks, span->start_addr, span->end_addr, USE_LIVE);
	space->count++;
	space->live_bytes += span->end_addr - span->start_addr;
	space->resident_bytes +=
		image_resident_bytes(g->image, span->start_addr, span->end_addr);
}

/* Count a range that contains no spans. Go keeps its resident pages for later spans. */
static void account_idle(struct golang *g, uint64_t start_addr, uint64_t end_addr)
{
	struct heap_space *space = &g->heap->spaces[SPACE_IDLE];
	uint64_t bytes;

	if (start_addr >= end_addr)
		return;
	bytes = image_resident_bytes(g->image, start_addr, end_addr);
	page_use_add(g->blocks, start_addr, end_addr, USE_HEAP);
	page_use_add(g->blocks, start_addr, end_addr, USE_FREE);
	space->count += bytes / IMAGE_PAGE_BYTES;
	space->free_bytes += bytes;
	space->resident_bytes += bytes;
}

/* Count the idle pages, which are the memory of all arenas outside the spans. */
static void account_all_idle(struct golang *g)
{
	uint64_t done_addr = 0;
	size_t next = 0;

	for (size_t i = 0; i < g->arena_count; i++) {
		uint64_t start_addr = g->arenas[i];
		uint64_t end_addr = start_addr + GOLANG_ARENA_BYTES;

		if (start_addr > done_addr)
			done_addr = start_addr;
		for (; next < g->span_count && g->spans[next].start_addr < end_addr;
		     next++) {
			account_idle(g, done_addr, g->spans[next].start_addr);
			if (g->spans[next].end_addr > done_addr)
				done_addr = g->spans[next].end_addr;
		}
		account_idle(g, done_addr, end_addr);
		if (end_addr > done_addr)
			done_addr = end_addr;
	}
}

static void fill_classes(struct heap *heap)
{
	heap->class_count = GOLANG_CLASS_COUNT;
	for (unsigned int i = 0; i < GOLANG_CLASS_COUNT; i++) {
		heap->classes[i].lower_bytes = i ? golang_class_bytes(i - 1) + 1 : 32769;
		heap->classes[i].upper_bytes = i ? golang_class_bytes(i) : UINT64_MAX;
	}
}

/*
 * Return a text that names the parts of the heap that are not counted because memory is
 * swapped out, or NULL if all parts are counted.
 */
static const char *find_missing(const struct golang *g)
{
	if (g->lacks_spans)
		return "spans of Go may be swapped out: they and idle pages are not counted";
	if (g->absent_count > 0)
		return "bits of Go's spans are swapped out: these spans are not counted";
	return g->may_lack_tables ? "tables of Go may be swapped out: they and idle "
				    "pages may be missing"
				  : NULL;
}

static void set_quality(struct golang *g)
{
	struct heap *heap = g->heap;

	heap->quality = QUALITY_EXACT;
	if (g->broken_count > 0)
		heap->problem = "Go was changing a span, or a span is corrupt";
	if (g->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem)
		heap->quality = QUALITY_ESTIMATE;
	else if ((heap->problem = find_missing(g)))
		heap->quality = QUALITY_BOUND;
	heap->trimmable_bytes = heap->spaces[SPACE_IDLE].resident_bytes;
	heap->arenas[0].trimmable_bytes = heap->trimmable_bytes;
}

void golang_account(struct golang *g)
{
	struct heap *heap = g->heap;
	uint64_t arena_table_addr;

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	fill_classes(heap);
	for (size_t i = 0; i < SPACE_COUNT_; i++)
		heap_add_space(heap, space_names[i]);
	blocks_init(g->blocks, g->image, g->bit_count);
	for (size_t i = 0; i < g->span_count; i++) {
		if (g->spans[i].is_broken)
			continue;
		if (g->spans[i].state == GOLANG_MANUAL)
			account_manual(g, &g->spans[i]);
		else
			account_objects(g, &g->spans[i]);
	}
	golang_find_arenas(g, &arena_table_addr);
	if (g->broken_count == 0 && !g->lacks_spans)
		account_all_idle(g);
	golang_account_tables(g, arena_table_addr);
	blocks_sort(g->blocks);
	page_use_share(g->blocks, g->input->mappings, heap);
	set_quality(g);
}
