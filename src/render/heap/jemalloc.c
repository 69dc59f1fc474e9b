/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/page.h"

#include <inttypes.h>

void heap_jemalloc_add_sums(const struct heap_page *p)
{
	static const char *const labels[HEAP_STRETCH_COUNT_] = {
		[HEAP_ACTIVE] = "active: blocks are allocated from it",
		[HEAP_DIRTY] = "dirty: free, pages still resident",
		[HEAP_MUZZY] = "muzzy: free, pages may be reclaimed",
		[HEAP_RETAINED] = "retained: free, without pages",
	};
	struct heap_arena all;
	size_t begin = p->out->length;

	heap_sum_arenas(p->heap, &all);
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", "BLOCKS", "COUNT",
		    heap_page_bytes_width(p), "BYTES");
	heap_page_mark_heading(p, begin);
	heap_page_add_sum(p, heap_lists_known(p->heap) ? "live" : "live or cached",
			  &all.live);
	if (heap_lists_known(p->heap))
		heap_page_add_sum(p, "free, in threads' caches", &all.cached);
	heap_page_add_sum(p, "free, in slabs", &all.bin);
	if (heap_lists_known(p->heap)) {
		heap_page_add_sum(p, "of jemalloc itself", &all.own);
		heap_page_add_caches(p);
	}
	heap_page_add_stretches(p, &all, "EXTENTS", labels);
}

static void add_arena(const struct heap_page *p, const struct heap_arena *arena)
{
	int width = heap_page_bytes_width(p) + 1;

	strbuf_addf(p->out, "  %5" PRIu32, arena->number);
	if (arena->problem) {
		strbuf_addf(p->out, "  unknown: %s\n", arena->problem);
		return;
	}
	heap_page_add_bytes(p, arena->stretches[HEAP_ACTIVE].bytes, width);
	heap_page_add_bytes(p, arena->live.bytes, width);
	heap_page_add_bytes(
		p, heap_lists_known(p->heap) ? arena->cached.bytes : BYTES_UNKNOWN,
		width);
	heap_page_add_bytes(p, arena->bin.bytes, width);
	for (size_t s = HEAP_DIRTY; s < HEAP_STRETCH_COUNT_; s++)
		heap_page_add_bytes(p, arena->stretches[s].bytes, width);
	heap_page_add_bytes(p, arena->trimmable_bytes, width);
	strbuf_add_char(p->out, '\n');
}

void heap_jemalloc_add_arenas(const struct heap_page *p)
{
	static const char *const titles[] = { "ACTIVE", "LIVE",	 "CACHED",   "FREE",
					      "DIRTY",	"MUZZY", "RETAINED", "PURGE" };
	const struct heap *heap = p->heap;
	size_t shown = heap_page_count_shown(p, heap->arena_count);
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %5s", "ARENA");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		strbuf_addf(p->out, " %*s", heap_page_bytes_width(p), titles[i]);
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < shown; i++)
		add_arena(p, &heap->arenas[i]);
	heap_page_add_more(p, heap->arena_count - shown);
}

static void add_json_figures(struct json *j, const struct heap *heap,
			     const struct heap_arena *arena)
{
	bool is_known = !arena->problem;

	heap_json_add_sum(j, "live", &arena->live, is_known);
	heap_json_add_sum(j, "cached", &arena->cached,
			  is_known && heap_lists_known(heap));
	heap_json_add_sum(j, "slab_free", &arena->bin, is_known);
	heap_json_add_sum(j, "own", &arena->own, is_known && heap_lists_known(heap));
	for (size_t s = 0; s < HEAP_STRETCH_COUNT_; s++)
		heap_json_add_stretch(j, heap_stretch_names[s], &arena->stretches[s],
				      is_known);
}

void heap_jemalloc_add_json_arena(struct json *j, const struct heap *heap,
				  const struct heap_arena *arena)
{
	json_add_number(j, "number", arena->number);
	add_json_figures(j, heap, arena);
	json_add_amount(j, "trimmable_bytes", arena->trimmable_bytes);
}

void heap_jemalloc_add_json_sums(struct json *j, const struct heap *heap)
{
	struct heap_arena all;

	heap_sum_arenas(heap, &all);
	json_add_amount(j, "allocated_bytes",
			all.live.bytes + all.cached.bytes + all.own.bytes);
	add_json_figures(j, heap, &all);
}
