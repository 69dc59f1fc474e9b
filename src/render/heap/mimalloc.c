/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/page.h"

void heap_mimalloc_add_sums(const struct heap_page *p)
{
	static const char *const labels[HEAP_STRETCH_COUNT_] = {
		[HEAP_ACTIVE] = "in use: blocks are allocated from it",
		[HEAP_DIRTY] = "free",
	};
	struct heap_arena all;
	size_t begin = p->out->length;

	heap_sum_arenas(p->heap, &all);
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", "BLOCKS", "COUNT",
		    heap_page_bytes_width(p), "BYTES");
	heap_page_mark_heading(p, begin);
	heap_page_add_sum(p, "live", &all.live);
	heap_page_add_sum(p, "free, in pages in use", &all.bin);
	heap_page_add_stretches(p, &all, "PAGES OF MIMALLOC", labels);
}

void heap_mimalloc_add_json_arena(struct json *j, const struct heap_arena *arena)
{
	json_add_amount(j, "system_bytes", arena->system_bytes);
	heap_json_add_sum(j, "live", &arena->live, true);
	heap_json_add_sum(j, "cached", &arena->cached, false);
	heap_json_add_sum(j, "free", &arena->bin, true);
	heap_json_add_stretch(j, "pages_in_use", &arena->stretches[HEAP_ACTIVE], true);
	heap_json_add_stretch(j, "pages_free", &arena->stretches[HEAP_DIRTY], true);
	json_add_amount(j, "trimmable_bytes", arena->trimmable_bytes);
}
