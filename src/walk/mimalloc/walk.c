/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/walk.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "walk/mimalloc/map.h"

/*
 * Limit on the number of words that the walker reads: the number of words in the copy,
 * plus this constant.
 */
#define BUDGET_MIN UINT64_C(4000000)

/*
 * Constant part of the upper bound on the number of blocks. There may be a few more
 * blocks than fit into the copy, because blocks need not be resident.
 */
#define BLOCKS_MORE UINT64_C(1000000)

void mimalloc_add_range(struct mimalloc_ranges *ranges, uint64_t start_addr,
			uint64_t end_addr)
{
	if (start_addr >= end_addr)
		return;
	ranges->items = xgrow(ranges->items, &ranges->capacity, ranges->count + 1,
			      sizeof(*ranges->items));
	ranges->items[ranges->count++] = (struct mimalloc_range){ start_addr, end_addr };
}

void mimalloc_check_table(struct mimalloc *m, uint64_t start_addr, uint64_t end_addr)
{
	uint64_t addr = start_addr & ~(IMAGE_PAGE_BYTES - 1);

	for (; addr < end_addr && !m->may_lack_tables; addr += IMAGE_PAGE_BYTES)
		m->may_lack_tables = walk_is_swapped(m->input, addr);
}

bool mimalloc_add_page(struct mimalloc *m, const struct mimalloc_page *page)
{
	uint64_t bytes = page->end_addr - page->block_addr;

	if (page->block_addr < page->start_addr || page->block_addr > page->end_addr ||
	    page->block_bytes == 0 || page->used > page->capacity ||
	    page->capacity > page->reserved ||
	    page->reserved > bytes / page->block_bytes) {
		m->broken_pages++;
		return false;
	}
	m->pages =
		xgrow(m->pages, &m->page_capacity, m->page_count + 1, sizeof(*m->pages));
	m->pages[m->page_count] = *page;
	m->pages[m->page_count++].first_bit = m->bit_count;
	m->bit_count += page->capacity;
	return true;
}

const struct mimalloc_page *mimalloc_find_page(const struct mimalloc *m, uint64_t addr)
{
	size_t i = SEARCH_FIRST(m->page_count, n, m->pages[n].end_addr > addr);

	return i < m->page_count && m->pages[i].start_addr <= addr ? &m->pages[i] : NULL;
}

static const char *read_heap(struct mimalloc *m)
{
	const char *problem = NULL;

	if (mimalloc_find_segments(m))
		mimalloc_read_segments(m);
	else
		problem = mimalloc_read_map(m);
	if (problem)
		return problem;
	if (m->bit_count > m->image->length_bytes / 8 + BLOCKS_MORE)
		return "mimalloc has more blocks than fit into its memory";
	return NULL;
}

void walk_mimalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks)
{
	struct mimalloc m = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	m.budget = input->image->length_bytes / 8 + BUDGET_MIN;
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	ret->problem = read_heap(&m);
	if (m.layout || m.map_addr != 0)
		ret->allocator = ALLOCATOR_MIMALLOC;
	if (!ret->problem) {
		blocks_init(ret_blocks, m.image, m.bit_count + m.own.count);
		mimalloc_read_lists(&m);
		mimalloc_account(&m);
	}
	free(m.segments);
	free(m.pages);
	free(m.arenas.items);
	free(m.claimed.items);
	free(m.free.items);
	free(m.own.items);
}
