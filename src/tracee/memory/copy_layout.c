/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/copy_layout.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/*
 * Possible sizes of the reserve at each end of a span, in bytes. The first size with
 * which the layout does not exceed its limit is used.
 */
static const uint64_t reserves[] = {
	UINT64_C(256) << 20,
	UINT64_C(16) << 20,
	HUGE_PAGE_BYTES,
};

static void add(struct copy_layout *layout, uint64_t start_addr, uint64_t end_addr,
		uint64_t reserve_bytes)
{
	struct copy_span *last = layout->count > 0 ? &layout->spans[layout->count - 1]
						   : NULL;
	uint64_t start = start_addr > reserve_bytes ? start_addr - reserve_bytes : 0;
	uint64_t end = end_addr + reserve_bytes + HUGE_PAGE_BYTES - 1;

	start &= ~(HUGE_PAGE_BYTES - 1);
	end &= ~(HUGE_PAGE_BYTES - 1);
	if (last && start <= last->end_addr) {
		if (end <= last->end_addr)
			return;
		layout->bytes += end - last->end_addr;
		last->end_addr = end;
		return;
	}
	layout->spans[layout->count++] = (struct copy_span){ start, end, layout->bytes };
	layout->bytes += end - start;
}

bool copy_layout_make(struct copy_layout *layout, const struct page_list *list,
		      uint64_t max_bytes)
{
	layout->spans = xcalloc(list->count + 1, sizeof(*layout->spans));
	for (size_t i = 0; i < sizeof(reserves) / sizeof(reserves[0]); i++) {
		layout->count = 0;
		layout->bytes = 0;
		for (size_t k = 0; k < list->count; k++)
			add(layout, list->items[k].start_addr, list->items[k].end_addr,
			    reserves[i]);
		if (layout->count > 0 && layout->bytes <= max_bytes)
			return true;
	}
	copy_layout_release(layout);
	return false;
}

void copy_layout_release(struct copy_layout *layout)
{
	free(layout->spans);
	*layout = (struct copy_layout)COPY_LAYOUT_INIT;
}

bool copy_layout_find(const struct copy_layout *layout, uint64_t start_addr,
		      uint64_t end_addr, uint64_t *ret_offset)
{
	size_t i = SEARCH_FIRST(layout->count, k, layout->spans[k].end_addr > start_addr);
	const struct copy_span *span;

	if (i == layout->count)
		return false;
	span = &layout->spans[i];
	if (start_addr < span->start_addr || end_addr > span->end_addr)
		return false;
	*ret_offset = span->offset_bytes + (start_addr - span->start_addr);
	return true;
}

bool copy_layout_contains(const struct copy_layout *layout, const struct page_list *list)
{
	uint64_t offset;

	for (size_t i = 0; i < list->count; i++)
		if (!copy_layout_find(layout, list->items[i].start_addr,
				      list->items[i].end_addr, &offset))
			return false;
	return true;
}
