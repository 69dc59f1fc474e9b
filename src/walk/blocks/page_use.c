/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/page_use.h"

#include "base/xalloc.h"

static void add_to_page(struct page_use *page, enum use use, uint16_t bytes)
{
	switch (use) {
	case USE_HEAP: page->heap_bytes = (uint16_t)(page->heap_bytes + bytes); break;
	case USE_LIVE: page->live_bytes = (uint16_t)(page->live_bytes + bytes); break;
	case USE_FREE: page->free_bytes = (uint16_t)(page->free_bytes + bytes); break;
	}
}

/*
 * Count the bytes between the image offsets `offset` and `end`: add to the count of each
 * page the number of these bytes on the page.
 */
static void add_within(struct blocks *blocks, uint64_t offset, uint64_t end, enum use use)
{
	while (offset < end) {
		uint64_t page_end = (offset | (IMAGE_PAGE_BYTES - 1)) + 1;
		uint64_t stop = page_end < end ? page_end : end;

		add_to_page(&blocks->pages[offset / IMAGE_PAGE_BYTES], use,
			    (uint16_t)(stop - offset));
		offset = stop;
	}
}

void page_use_add(struct blocks *blocks, uint64_t start_addr, uint64_t end_addr,
		  enum use use)
{
	struct image *image = blocks->image;
	uint64_t addr = image_next_resident(image, start_addr, end_addr);

	while (addr < end_addr) {
		const struct image_run *run = image_run_at(image, addr);
		uint64_t limit = run->end_addr < end_addr ? run->end_addr : end_addr;
		uint64_t offset = run->offset_bytes + (addr - run->start_addr);

		add_within(blocks, offset, offset + (limit - addr), use);
		addr = limit < end_addr ? image_next_resident(image, limit, end_addr)
					: end_addr;
	}
}

static void add_page(const struct page_use *page, uint64_t owner_bytes[])
{
	uint64_t used = (uint64_t)page->live_bytes + page->free_bytes;

	owner_bytes[OWNER_LIVE] += page->live_bytes;
	if (page->free_bytes == IMAGE_PAGE_BYTES)
		owner_bytes[OWNER_POOL_PAGES] += page->free_bytes;
	else
		owner_bytes[OWNER_POOL_FRAGMENTS] += page->free_bytes;
	owner_bytes[OWNER_HEAP_META] += page->heap_bytes - used;
}

static void share_mapping(const struct blocks *blocks, const struct mapping *m,
			  size_t index, struct heap *heap)
{
	struct heap_share share = { .mapping = index };
	uint64_t addr = image_next_resident(blocks->image, m->start_addr, m->end_addr);
	uint64_t sum = 0;

	while (addr < m->end_addr) {
		const struct image_run *run = image_run_at(blocks->image, addr);
		uint64_t offset = run->offset_bytes + (addr - run->start_addr);

		add_page(&blocks->pages[offset / IMAGE_PAGE_BYTES], share.owner_bytes);
		addr = image_next_resident(blocks->image, addr + IMAGE_PAGE_BYTES,
					   m->end_addr);
	}
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		heap->owner_bytes[o] += share.owner_bytes[o];
		sum += share.owner_bytes[o];
	}
	if (sum == 0)
		return;
	heap->shares = xgrow(heap->shares, &heap->share_capacity, heap->share_count + 1,
			     sizeof(*heap->shares));
	heap->shares[heap->share_count++] = share;
}

void page_use_share(const struct blocks *blocks, const struct mapping_list *mappings,
		    struct heap *heap)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (walk_wants_mapping(&mappings->items[i]))
			share_mapping(blocks, &mappings->items[i], i, heap);
}
