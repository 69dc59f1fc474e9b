/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

#include "base/xalloc.h"

/*
 * tcmalloc allocates its own data in pieces of this size (kAllocIncrement), which it
 * fills from the start and never releases.
 */
#define PIECE_BYTES (UINT64_C(128) << 10)

/* Sizes of the parts of a ThreadCache: one list, and all members after the lists. */
#define LIST_BYTES 32
#define LISTS_END_BYTES 144

/*
 * Size of pagemap_cache_, which has 2^16 words and directly precedes the root of the page
 * map.
 */
#define MAP_CACHE_BYTES (UINT64_C(8) << 16)

static uint64_t page_index(struct tcmalloc *t, uint64_t addr)
{
	const struct image_run *run = image_run_at(t->image, addr);

	return (run->offset_bytes + (addr - run->start_addr)) / IMAGE_PAGE_BYTES;
}

/* Mark the resident pages of [start, end), which contains a known structure. */
static void mark_known(struct tcmalloc *t, uint64_t start, uint64_t end)
{
	uint64_t addr = start & ~(IMAGE_PAGE_BYTES - 1);

	while ((addr = image_next_resident(t->image, addr, end)) < end) {
		if (!tcmalloc_find_span(t, addr))
			t->own_pages[page_index(t, addr)] = 1;
		addr += IMAGE_PAGE_BYTES;
	}
}

/*
 * Mark the pages of .bss that contain only the page map's root, its cache and the page
 * heap. tcmalloc writes to all of them when it starts.
 */
static void mark_page_heap(struct tcmalloc *t)
{
	uint64_t addr = (t->root_addr - MAP_CACHE_BYTES + IMAGE_PAGE_BYTES - 1) &
			~(IMAGE_PAGE_BYTES - 1);

	if (t->root_addr < t->area.start_addr + MAP_CACHE_BYTES)
		return;
	for (; addr + IMAGE_PAGE_BYTES <= t->row_end_addr; addr += IMAGE_PAGE_BYTES) {
		const struct mapping *m = mapping_list_find(t->input->mappings, addr);

		if (m && m->inode == 0 && image_run_at(t->image, addr))
			t->own_pages[page_index(t, addr)] = 1;
	}
}

static bool is_in_data_area(const struct tcmalloc *t, const struct mapping *m)
{
	return m->start_addr >= t->area.start_addr && m->end_addr <= t->area.end_addr;
}

/*
 * Mark the page at addr as tcmalloc's own data if it is in no span and less than
 * PIECE_BYTES from *near. *near is the address of a page in the same mapping that
 * contains a known structure, or 0 if no such page has been visited. If the page at addr
 * itself contains a known structure, set *near to addr.
 */
static void mark_near(struct tcmalloc *t, uint64_t addr, uint64_t *near)
{
	uint64_t page = page_index(t, addr);
	uint64_t distance = addr > *near ? addr - *near : *near - addr;

	if (t->own_pages[page] == 1) {
		*near = addr;
		return;
	}
	if (*near != 0 && distance < PIECE_BYTES && t->own_pages[page] == 0 &&
	    !(t->input->claimed && t->input->claimed[page]) &&
	    !tcmalloc_find_span(t, addr))
		t->own_pages[page] = 2;
}

/*
 * Mark the pages of a mapping that are less than PIECE_BYTES from a page with a known
 * structure at a higher address.
 */
static void mark_unused_before(struct tcmalloc *t, const struct mapping *m)
{
	size_t r = image_find_run(t->image, m->end_addr - 1) + 1;
	uint64_t near = 0;

	/*
	 * Start with the run that contains the mapping's last page. If that page is not
	 * resident, the search returns a run after the mapping, and the loop marks none
	 * of its pages.
	 */
	if (r > t->image->run_count)
		r = t->image->run_count;
	while (r-- > 0) {
		const struct image_run *run = &t->image->runs[r];
		uint64_t start = run->start_addr > m->start_addr ? run->start_addr
								 : m->start_addr;
		uint64_t addr = run->end_addr < m->end_addr ? run->end_addr : m->end_addr;

		if (run->end_addr <= m->start_addr)
			break;
		for (; addr > start; addr -= IMAGE_PAGE_BYTES)
			mark_near(t, addr - IMAGE_PAGE_BYTES, &near);
	}
}

/*
 * Mark the pages of a mapping that are less than PIECE_BYTES from a page with a known
 * structure, because they contain unused structures of the same kind.
 */
static void mark_unused(struct tcmalloc *t, const struct mapping *m)
{
	uint64_t near = 0, addr = m->start_addr;

	while ((addr = image_next_resident(t->image, addr, m->end_addr)) < m->end_addr) {
		mark_near(t, addr, &near);
		addr += IMAGE_PAGE_BYTES;
	}
	if (near != 0)
		mark_unused_before(t, m);
}

void tcmalloc_find_own(struct tcmalloc *t)
{
	uint64_t page_count = t->image->length_bytes / IMAGE_PAGE_BYTES;

	t->own_pages = xcalloc(page_count + 1, 1);
	for (size_t i = 0; i < t->span_count; i++)
		mark_known(t, t->spans[i].struct_addr,
			   t->spans[i].struct_addr + TCMALLOC_SPAN_BYTES);
	for (size_t i = 0; i < t->leaf_count; i++)
		mark_known(t, t->leaves[i], t->leaves[i] + (UINT64_C(8) << t->leaf_bits));
	for (size_t i = 0; i < t->cache_count; i++)
		mark_known(t, t->caches[i],
			   t->caches[i] + LIST_BYTES * t->class_max + LISTS_END_BYTES);
	mark_page_heap(t);
	for (size_t i = 0; i < t->input->mappings->count; i++) {
		const struct mapping *m = &t->input->mappings->items[i];

		if (walk_wants_mapping(m) && m->inode == 0 &&
		    strcmp(m->name, "[stack]") != 0 && !is_in_data_area(t, m))
			mark_unused(t, m);
	}
	for (uint64_t i = 0; i < page_count; i++)
		t->own_page_count += t->own_pages[i] != 0;
}
