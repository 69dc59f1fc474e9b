/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/page.h"

#include <inttypes.h>

void heap_mallocng_add_sums(const struct heap_page *p)
{
	bool is_old = heap_is_oldmalloc(p->heap);
	struct heap_arena all;
	size_t begin = p->out->length;

	heap_sum_arenas(p->heap, &all);
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", is_old ? "CHUNKS" : "SLOTS", "COUNT",
		    heap_page_bytes_width(p), "BYTES");
	heap_page_mark_heading(p, begin);
	heap_page_add_sum(p, is_old ? "live, in regions" : "live, in groups", &all.live);
	heap_page_add_sum(p, "live, in their own mappings", &p->heap->mapped);
	heap_page_add_sum(p, is_old ? "free, in bins" : "free, in groups", &all.bin);
}

void heap_mallocng_add_json_arena(struct json *j, const struct heap *heap,
				  const struct heap_arena *arena)
{
	json_add_amount(j, heap_is_oldmalloc(heap) ? "regions" : "groups",
			arena->heap_count);
	json_add_amount(j, "system_bytes", arena->system_bytes);
	heap_json_add_sum(j, "live", &arena->live, true);
	heap_json_add_sum(j, "cached", &arena->cached, false);
	heap_json_add_sum(j, "free", &arena->bin, true);
	json_add_amount(j, "trimmable_bytes", arena->trimmable_bytes);
}
