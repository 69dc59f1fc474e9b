/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/ruby/walk.h"

#include <string.h>

#include "base/xalloc.h"

/*
 * struct heap_page begins with three 16-bit numbers: the size of a slot, the number of
 * slots, and the number of free slots in the list. The word with the index FREE_LIST_WORD
 * is the address of the first free slot.
 */
#define START_WORD 4
#define FREE_LIST_WORD 5
#define PAGE_WORDS 8
#define HEADER_MAX UINT64_C(64) /* maximum number of bytes before the first slot */
#define PAGES_MIN 8

/* Return the index of a slot size, or RUBY_SIZES if it is unknown. */
static unsigned int find_size(uint64_t slot_bytes)
{
	unsigned int size = 0;

	while (size < RUBY_SIZES && ruby_slot_bytes(size) != slot_bytes)
		size++;
	return size;
}

/*
 * Return true if the list of free slots has the expected length and contains only free
 * slots of the page. If the list continues in swapped-out memory, only the part before
 * that memory is checked.
 */
static bool is_free_list(struct ruby *r, const struct ruby_page *page, uint64_t at,
			 uint64_t count)
{
	uint64_t bytes = ruby_slot_bytes(page->size);

	for (; at != 0; count--) {
		uint64_t offset = at - page->start_addr, type, next;

		if (count == 0 || at < page->start_addr || offset % bytes != 0 ||
		    offset / bytes >= page->slot_count)
			return false;
		if (!image_read(r->image, at, &type) ||
		    !image_read(r->image, at + 8, &next))
			return walk_is_swapped(r->input, at) ||
			       walk_is_swapped(r->input, at + 8);
		if (type != 0)
			return false;
		at = next;
	}
	return count == 0;
}

/*
 * Set *ret to the slot page at addr. Return false if the page's struct heap_page does not
 * describe slots on this page. Set *ret_has_list to false if the list of free slots fails
 * a check.
 */
static bool read_page(struct ruby *r, uint64_t addr, struct ruby_page *ret,
		      bool *ret_has_list)
{
	uint64_t description, words[PAGE_WORDS], end, size;
	uint16_t numbers[3];
	const uint8_t *at;

	if (!image_read(r->image, addr, &description) || description == 0 ||
	    description % 8 != 0 || description >> WALK_ADDR_BITS != 0 ||
	    !(at = image_at(r->image, description, sizeof(words))))
		return false;
	memcpy(words, at, sizeof(words));
	memcpy(numbers, at, sizeof(numbers));
	size = find_size(numbers[0]);
	if (size == RUBY_SIZES || words[START_WORD] <= addr || words[START_WORD] % 8 != 0)
		return false;
	*ret = (struct ruby_page){
		.addr = addr,
		.start_addr = words[START_WORD],
		.slot_count = numbers[1],
		.size = (uint8_t)size,
	};
	end = ret->start_addr - addr + ret->slot_count * numbers[0];
	if (ret->start_addr - addr > HEADER_MAX + numbers[0] || numbers[1] == 0 ||
	    numbers[2] > numbers[1] || end > r->page_bytes ||
	    r->page_bytes - end >= HEADER_MAX + numbers[0])
		return false;
	*ret_has_list = is_free_list(r, ret, words[FREE_LIST_WORD], numbers[2]);
	return true;
}

static void add_page(struct ruby *r, const struct ruby_page *page)
{
	r->pages =
		xgrow(r->pages, &r->page_capacity, r->page_count + 1, sizeof(*r->pages));
	r->pages[r->page_count] = *page;
	r->pages[r->page_count++].first_bit = r->bit_count;
	r->bit_count += page->slot_count;
}

/*
 * Return true if the slot page at addr may be in [heap]. Such a page is a block of
 * malloc, and is counted in malloc's heap.
 */
static bool is_in_malloc(const struct ruby *r, uint64_t addr)
{
	const struct mapping *m = mapping_list_find(r->input->mappings, addr);

	return !m || strcmp(m->name, "[heap]") == 0;
}

/* List the slot pages of one size, and count those whose list of free slots is valid. */
static size_t list_pages(struct ruby *r, uint64_t page_bytes)
{
	size_t sound_count = 0;

	r->page_bytes = page_bytes;
	r->page_count = 0;
	r->bit_count = 0;
	for (size_t i = 0; i < r->image->run_count; i++) {
		const struct image_run run = r->image->runs[i];
		uint64_t addr = (run.start_addr + page_bytes - 1) & ~(page_bytes - 1);

		for (; addr >= run.start_addr && addr < run.end_addr;
		     addr += page_bytes) {
			struct ruby_page page;
			bool has_list;

			if (!read_page(r, addr, &page, &has_list) ||
			    is_in_malloc(r, addr))
				continue;
			add_page(r, &page);
			sound_count += has_list;
		}
	}
	r->broken_count = r->page_count - sound_count;
	return sound_count;
}

/*
 * Return true if a slot page may be missing, because its first page or its description is
 * swapped out.
 */
static bool may_lack_page(struct ruby *r)
{
	uint64_t word;

	if (walk_next_swapped(r->input, 0, r->page_bytes, false) != UINT64_MAX)
		return true;
	for (size_t i = 0, k = 0; i < r->image->run_count; i++) {
		const struct image_run run = r->image->runs[i];
		uint64_t addr = (run.start_addr + r->page_bytes - 1) &
				~(r->page_bytes - 1);

		for (; addr < run.end_addr; addr += r->page_bytes) {
			while (k < r->page_count && r->pages[k].addr < addr)
				k++;
			if ((k == r->page_count || r->pages[k].addr != addr) &&
			    image_read(r->image, addr, &word) && word != 0 &&
			    word % 8 == 0 && walk_is_swapped(r->input, word))
				return true;
		}
	}
	return false;
}

const char *ruby_find(struct ruby *r)
{
	static const uint64_t sizes[] = { 16384, 65536 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (list_pages(r, sizes[i]) >= PAGES_MIN) {
			r->has_swapped = may_lack_page(r);
			return NULL;
		}
	return "Ruby's slot pages were not found";
}
