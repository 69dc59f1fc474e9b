/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "model/allocator_signs.h"
#include "render/heap/page.h"
#include "render/heap/pre_copy.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"
#include "render/table/style.h"

void heap_page_add_bytes(const struct heap_page *p, uint64_t bytes, int width)
{
	char buf[UNITS_TEXT_SIZE];

	if (p->options->exact_bytes && bytes_known(bytes))
		strbuf_addf(p->out, "%*" PRIu64, width, bytes);
	else
		strbuf_addf(p->out, "%*s", width, units_format_bytes(bytes, buf));
}

int heap_page_bytes_width(const struct heap_page *p)
{
	return p->options->exact_bytes ? 14 : 8;
}

/* Append a sentence about how memstate obtained the figures of the heap. */
static void add_origin(const struct heap_page *p)
{
	const struct heap *heap = p->heap;

	if (heap->is_reported) {
		strbuf_addf(p->out, "; heap not walked, allocator queried.\n");
		return;
	}
	strbuf_add_text(p->out, "; ");
	if (heap->reading_count > 0) {
		strbuf_addf(p->out, "not paused, read %u times to copy ",
			    heap->reading_count);
		heap_page_add_bytes(p, heap->copied_bytes, 0);
	} else {
		pre_copy_add_text(p->out, heap, p->options->exact_bytes);
	}
	strbuf_add_text(p->out, ".\n");
	pre_copy_add_split(p->out, heap);
}

static void add_head(const struct heap_page *p)
{
	const struct table_options options = { .max_width = p->options->width };
	const struct heap *heap = p->heap;

	strbuf_addf(p->out, "%d ", p->usage->process.pid);
	text_add_printable(p->out, p->usage->process.comm, strlen(p->usage->process.comm),
			   false);
	strbuf_add_text(p->out, ": ");
	heap_list_add_titles(p->out, heap);
	strbuf_addf(p->out, ", %s", quality_names[heap_total_quality(heap)]);
	add_origin(p);
	if (p->options->conclusion)
		conclusion_add_opening(p->out, p->options->conclusion, &options);
	if (heap_total_problem(heap) && heap->other_count == 0)
		strbuf_addf(p->out, "Incomplete: %s.\n", heap_total_problem(heap));
	if (heap->skipped_bytes > 0) {
		heap_page_add_bytes(p, heap->skipped_bytes, 0);
		strbuf_add_text(
			p->out,
			" of it could not be walked; anon includes this memory.\n");
	}
}

bool heap_lists_known(const struct heap *heap)
{
	return heap->reading_count == 0;
}

bool heap_caches_known(const struct heap *heap)
{
	return heap_lists_known(heap) && heap_has_caches(heap->allocator);
}

bool heap_has_mapped(const struct heap *heap)
{
	return heap->allocator == ALLOCATOR_GLIBC || heap->allocator == ALLOCATOR_MUSL;
}

size_t heap_page_count_shown(const struct heap_page *p, size_t count)
{
	size_t max = p->options->is_short ? HEAP_SHORT_ROWS : p->options->top;

	return max && max < count ? max : count;
}

void heap_page_add_more(const struct heap_page *p, size_t more)
{
	if (more > 0)
		strbuf_addf(p->out, "  and %zu more (--top N)\n", more);
}

void heap_page_mark_heading(const struct heap_page *p, size_t begin)
{
	style_mark_line(p->out, begin, STYLE_HEADING, p->options->colour);
}

void heap_page_add_sum(const struct heap_page *p, const char *label,
		       const struct chunk_sum *sum)
{
	strbuf_addf(p->out, "  %-34s %12" PRIu64 " ", label, sum->count);
	heap_page_add_bytes(p, sum->bytes, heap_page_bytes_width(p));
	strbuf_add_char(p->out, '\n');
}

void heap_page_add_caches(const struct heap_page *p)
{
	strbuf_addf(p->out, "  %zu %s\n", p->heap->cache_count,
		    p->heap->cache_count == 1 ? "thread's cache" : "threads' caches");
}

static void add_sums(const struct heap_page *p)
{
	struct heap_arena all;
	size_t begin = p->out->length;

	heap_sum_arenas(p->heap, &all);
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", "CHUNKS", "COUNT",
		    heap_page_bytes_width(p), "BYTES");
	heap_page_mark_heading(p, begin);
	heap_page_add_sum(p,
			  heap_lists_known(p->heap) ? "live, in arenas"
						    : "live, cached or fast, in arenas",
			  &all.live);
	heap_page_add_sum(p, "live, in their own mappings", &p->heap->mapped);
	if (heap_lists_known(p->heap)) {
		heap_page_add_sum(p, "free, in threads' caches", &all.cached);
		heap_page_add_sum(p, "free, in fastbins", &all.fast);
	}
	heap_page_add_sum(p, "free, in bins", &all.bin);
	if (heap_lists_known(p->heap))
		heap_page_add_caches(p);
}

static void mark_reclaimable(const struct heap_page *p, size_t begin)
{
	style_mark_line(p->out, begin, STYLE_RECLAIMABLE, p->options->colour);
}

static void add_resident(const struct heap_page *p)
{
	static const char *const labels[] = {
		[OWNER_LIVE] = "live",
		[OWNER_POOL_PAGES] = "pool_pages: free, whole pages",
		[OWNER_POOL_FRAGMENTS] =
			"pool_fragments: free, on pages with live blocks",
		[OWNER_HEAP_META] = "heap_meta: malloc's own",
	};
	char label[64];
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-47s %*s%s\n", "RESIDENT", heap_page_bytes_width(p),
		    "BYTES", p->heap->reading_count > 0 ? "  READINGS WITHIN" : "");
	heap_page_mark_heading(p, begin);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		begin = p->out->length;
		strbuf_addf(p->out, "  %-47s ", labels[o]);
		heap_page_add_bytes(p, p->heap->owner_bytes[o], heap_page_bytes_width(p));
		if (p->heap->reading_count > 0)
			heap_page_add_bytes(p, p->heap->spread_bytes[o], 17);
		strbuf_add_char(p->out, '\n');
		if (o == OWNER_POOL_PAGES)
			mark_reclaimable(p, begin);
	}
	if (!heap_trim_call(p->heap->allocator))
		return;
	begin = p->out->length;
	snprintf(label, sizeof(label), "trimmable: %s would return",
		 heap_trim_call(p->heap->allocator));
	strbuf_addf(p->out, "  %-47s ", label);
	heap_page_add_bytes(p, p->heap->trimmable_bytes, heap_page_bytes_width(p));
	strbuf_add_char(p->out, '\n');
	mark_reclaimable(p, begin);
}

/*
 * Return the width of a column of amounts in the table of arenas, the widest table of
 * the report.
 */
static int find_arena_width(const struct heap_page *p)
{
	int width = heap_page_bytes_width(p), line_width = 22 + 7 * (width + 1);
	bool is_narrow = p->options->width > 0 && line_width > p->options->width;

	return is_narrow && !p->options->exact_bytes ? width - 1 : width;
}

static void add_arena(const struct heap_page *p, const struct heap_arena *arena)
{
	int width = find_arena_width(p) + 1;

	strbuf_addf(p->out, "  %#-14" PRIx64 " %5" PRIu32, arena->addr,
		    arena->heap_count);
	heap_page_add_bytes(p, arena->system_bytes, width);
	if (arena->problem) {
		strbuf_addf(p->out, "  unknown: %s\n", arena->problem);
		return;
	}
	heap_page_add_bytes(p, arena->live.bytes, width);
	heap_page_add_bytes(
		p, heap_lists_known(p->heap) ? arena->cached.bytes : BYTES_UNKNOWN,
		width);
	heap_page_add_bytes(
		p, heap_lists_known(p->heap) ? arena->fast.bytes : BYTES_UNKNOWN, width);
	heap_page_add_bytes(p, arena->bin.bytes, width);
	heap_page_add_bytes(p, arena->top_bytes, width);
	heap_page_add_bytes(p, arena->trimmable_bytes, width);
	strbuf_add_char(p->out, '\n');
}

static void add_arenas(const struct heap_page *p)
{
	static const char *const titles[] = { "SYSTEM", "LIVE", "CACHED", "FAST",
					      "BINS",	"TOP",	"TRIM" };
	size_t shown = heap_page_count_shown(p, p->heap->arena_count);
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-14s %5s", "ARENA", "HEAPS");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		strbuf_addf(p->out, " %*s", find_arena_width(p), titles[i]);
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < shown; i++)
		add_arena(p, &p->heap->arenas[i]);
	heap_page_add_more(p, p->heap->arena_count - shown);
}

static void add_count(const struct heap_page *p, const struct chunk_sum *sum)
{
	strbuf_addf(p->out, "%12" PRIu64 " ", sum->count);
	heap_page_add_bytes(p, sum->bytes, heap_page_bytes_width(p));
}

static uint64_t class_bytes(const struct heap_class *class)
{
	return class->live.bytes + class->free.bytes + class->cached.bytes;
}

/*
 * Return true if the report shows the size class, because the class is one of the N
 * classes with the most bytes (option --top N).
 */
static bool is_class_shown(const struct heap_page *p, size_t index)
{
	uint64_t bytes = class_bytes(&p->heap->classes[index]);
	size_t larger = 0;

	for (size_t i = 0; i < p->heap->class_count; i++) {
		uint64_t other = class_bytes(&p->heap->classes[i]);

		larger += other > bytes || (other == bytes && i < index);
	}
	return bytes > 0 && larger < heap_page_count_shown(p, p->heap->class_count);
}

static void add_class(const struct heap_page *p, const struct heap_class *class)
{
	strbuf_add_text(p->out, "  ");
	heap_page_add_bytes(p, class->upper_bytes, 14);
	add_count(p, &class->live);
	add_count(p, &class->free);
	if (heap_caches_known(p->heap))
		add_count(p, &class->cached);
	strbuf_add_char(p->out, '\n');
}

void heap_page_add_classes(const struct heap_page *p)
{
	size_t more = 0, begin = p->out->length;

	strbuf_addf(p->out, "\n  %14s%12s %*s%12s %*s", "SIZE TO", "LIVE",
		    heap_page_bytes_width(p), "BYTES", "FREE", heap_page_bytes_width(p),
		    "BYTES");
	if (heap_caches_known(p->heap))
		strbuf_addf(p->out, "%12s %*s", "CACHED", heap_page_bytes_width(p),
			    "BYTES");
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < p->heap->class_count; i++) {
		if (is_class_shown(p, i))
			add_class(p, &p->heap->classes[i]);
		else
			more += class_bytes(&p->heap->classes[i]) > 0;
	}
	heap_page_add_more(p, more);
}

/* The sections that differ between malloc implementations. */
struct sections {
	void (*add_sums)(const struct heap_page *page);
	/* appends the table of arenas; NULL if the report has no such table */
	void (*add_arenas)(const struct heap_page *page);
};

static const struct sections sections[ALLOCATOR_COUNT_] = {
	[ALLOCATOR_GLIBC] = { add_sums, add_arenas },
	[ALLOCATOR_MUSL] = { heap_mallocng_add_sums, NULL },
	[ALLOCATOR_JEMALLOC] = { heap_jemalloc_add_sums, heap_jemalloc_add_arenas },
	[ALLOCATOR_TCMALLOC] = { heap_tcmalloc_add_sums, NULL },
	[ALLOCATOR_MIMALLOC] = { heap_mimalloc_add_sums, NULL },
};

/* Append the sections about the heap of an allocator used through malloc(3). */
static void add_malloc(const struct heap_page *page)
{
	const struct heap *heap = page->heap;
	const struct sections *own = &sections[heap->allocator];

	if (own->add_sums)
		own->add_sums(page);
	add_resident(page);
	if (page->detail)
		heap_detail_add_text(page);
	if (own->add_arenas)
		own->add_arenas(page);
	heap_page_add_classes(page);
	if (heap->allocator == ALLOCATOR_GLIBC && heap->quality == QUALITY_EXACT)
		heap_mallinfo_add_text(page);
	heap_helper_add_text(page);
}

/* Append the section about one of several heaps if its figures are known. */
static void add_one_of_several(const struct heap_page *page)
{
	if (page->heap->quality == QUALITY_UNKNOWN)
		return;
	heap_list_add_title(page);
	if (allocator_is_malloc(page->heap->allocator))
		add_malloc(page);
	else
		heap_runtime_add_text(page);
}

void heap_report_add_text(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options)
{
	struct heap_page page = {
		out, u, heap, heap_detail_at(detail, 0), NULL, options
	};

	add_head(&page);
	if (heap->is_reported) {
		heap_helper_add_text(&page);
		return;
	}
	if (heap->other_count == 0 && allocator_is_malloc(heap->allocator)) {
		add_malloc(&page);
		return;
	}
	heap_list_add_text(&page);
	for (size_t i = 0; i < heap_count(heap); i++) {
		page.heap = heap_at(heap, i);
		page.detail = heap_detail_at(detail, i);
		page.objects = heap_detail_objects(detail, page.heap->allocator);
		add_one_of_several(&page);
	}
}
