/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "walk/blocks/data_area.h"

/*
 * Alignment of base blocks. jemalloc aligns them to its constant HUGEPAGE, which is a
 * multiple of this size.
 */
#define BASE_ALIGN (UINT64_C(2) << 20)

/*
 * Offset of the extent structure in struct base_block_s. The size of the block and a
 * pointer to the next block precede it. The extent belongs to no arena, and describes the
 * unused part of the block.
 */
#define BASE_EXTENT_OFFSET 16
#define BASE_HEAD_BYTES (BASE_EXTENT_OFFSET + JEMALLOC_EXTENT_BYTES)

#define PAGE_SHIFT 12

/* Number of radix tree entries to check before an address is accepted as the root. */
#define ROOT_SAMPLE 1000
#define LEAF_TRIES 16

static const struct jemalloc_tree trees[] = {
	{ 2, { 18, 18 }, 8 },
	{ 3, { 15, 15, 15 }, 16 },
};

bool jemalloc_is_anonymous(struct jemalloc *j, uint64_t start_addr, uint64_t end_addr)
{
	while (start_addr < end_addr && jemalloc_spend(j, 1)) {
		const struct mapping *m =
			mapping_list_find(j->input->mappings, start_addr);

		if (!m || m->inode != 0)
			return false;
		start_addr = m->end_addr;
	}
	return start_addr >= end_addr;
}

static bool read_base(struct jemalloc *j, uint64_t addr, struct jemalloc_base *ret)
{
	uint64_t words[BASE_HEAD_BYTES / 8];
	const uint8_t *at = image_at(j->image, addr, sizeof(words));
	uint64_t size, next, free_addr, free_bytes;

	if (!at)
		return false;
	memcpy(words, at, sizeof(words));
	size = words[0];
	next = words[1];
	free_addr = words[BASE_EXTENT_OFFSET / 8 + 1];
	free_bytes = words[BASE_EXTENT_OFFSET / 8 + 2];
	if (size == 0 || size % BASE_ALIGN || next % BASE_ALIGN ||
	    size > UINT64_MAX - addr ||
	    (words[BASE_EXTENT_OFFSET / 8] & JEMALLOC_ARENAS_MAX) !=
		    JEMALLOC_ARENAS_MAX ||
	    free_addr < addr + BASE_HEAD_BYTES || free_addr > addr + size ||
	    free_bytes != addr + size - free_addr ||
	    !jemalloc_is_anonymous(j, addr, addr + size))
		return false;
	*ret = (struct jemalloc_base){ addr, addr + size };
	return true;
}

const char *jemalloc_find_bases(struct jemalloc *j)
{
	uint64_t done_addr = 0;

	for (size_t i = 0; i < j->image->run_count; i++) {
		const struct image_run *run = &j->image->runs[i];
		uint64_t start = run->start_addr > done_addr ? run->start_addr
							     : done_addr;
		uint64_t addr = (start + BASE_ALIGN - 1) & ~(BASE_ALIGN - 1);

		while (addr >= start && addr < run->end_addr) {
			struct jemalloc_base base = { 0, addr + BASE_ALIGN };

			if (!walk_is_claimed(j->input, addr) &&
			    read_base(j, addr, &base)) {
				j->bases = xgrow(j->bases, &j->base_capacity,
						 j->base_count + 1, sizeof(*j->bases));
				j->bases[j->base_count++] = base;
			}
			addr = base.end_addr;
			done_addr = addr;
		}
	}
	return j->base_count ? NULL : "jemalloc was not found";
}

const struct jemalloc_base *jemalloc_base_after(const struct jemalloc *j, uint64_t addr)
{
	size_t low = SEARCH_FIRST(j->base_count, i, j->bases[i].end_addr > addr);

	return low < j->base_count ? &j->bases[low] : NULL;
}

const struct jemalloc_base *jemalloc_base_at(const struct jemalloc *j, uint64_t addr,
					     uint64_t length)
{
	const struct jemalloc_base *base = jemalloc_base_after(j, addr);

	return base && base->start_addr <= addr && length <= base->end_addr - addr ? base
										   : NULL;
}

/*
 * Determine which address range a leaf of the radix tree describes, from its first
 * element that points to a matching extent. Up to LEAF_TRIES elements may not match,
 * because jemalloc may have changed the leaf during the copy.
 */
static bool place_leaf(struct jemalloc *j, const struct jemalloc_tree *tree,
		       uint64_t leaf_addr, uint64_t *ret_key)
{
	unsigned int bits = tree->level_bits[tree->level_count - 1];
	uint64_t bytes = (uint64_t)tree->element_bytes << bits;
	uint64_t end = leaf_addr + bytes;
	unsigned int tries = LEAF_TRIES;
	uint64_t page_addr, word;

	if (!jemalloc_base_at(j, leaf_addr, bytes))
		return false;
	for (uint64_t addr = leaf_addr;; addr += tree->element_bytes) {
		struct jemalloc_raw raw;

		if (!jemalloc_next_word(j, &addr, end, tree->element_bytes, &word) ||
		    addr >= end)
			return false;
		word &= (UINT64_C(1) << 48) - JEMALLOC_EXTENT_ALIGN;
		if (word == 0)
			continue;
		if (jemalloc_read_raw(j, word, &raw) &&
		    jemalloc_place_element(tree, &raw,
					   (addr - leaf_addr) / tree->element_bytes,
					   &page_addr)) {
			*ret_key = page_addr >> (12 + bits);
			return true;
		}
		if (--tries == 0)
			return false;
	}
}

/*
 * Determine which address range a middle node of the radix tree describes, from the
 * node's first leaf. Only trees with three levels have middle nodes.
 */
static bool place_node(struct jemalloc *j, const struct jemalloc_tree *tree,
		       uint64_t addr, uint64_t *ret_key)
{
	unsigned int bits = tree->level_bits[1];
	uint64_t end = addr + (UINT64_C(8) << bits);
	uint64_t at = addr, leaf_addr, key;

	if (!jemalloc_base_at(j, addr, end - addr))
		return false;
	if (!jemalloc_next_word(j, &at, end, 8, &leaf_addr) || at >= end ||
	    !place_leaf(j, tree, leaf_addr, &key) ||
	    (key & ((UINT64_C(1) << bits) - 1)) != (at - addr) / 8)
		return false;
	*ret_key = key >> bits;
	return true;
}

struct root_check {
	struct jemalloc *j;
	size_t good_count, bad_count;
};

static uint64_t check_entry(void *context, const struct jemalloc_entry *entry)
{
	struct root_check *check = context;
	struct jemalloc_raw raw;
	uint64_t end;

	if (!jemalloc_read_raw(check->j, entry->extent_addr, &raw)) {
		check->bad_count++;
		return entry->page_addr + IMAGE_PAGE_BYTES;
	}
	end = jemalloc_start_of(&raw) + jemalloc_size_of(&raw);
	if (jemalloc_start_of(&raw) != entry->page_addr ||
	    !jemalloc_is_anonymous(check->j, entry->page_addr, end)) {
		check->bad_count++;
		return entry->page_addr + IMAGE_PAGE_BYTES;
	}
	check->good_count++;
	return check->good_count + check->bad_count < ROOT_SAMPLE ? end : 0;
}

static bool is_root(struct jemalloc *j, const struct jemalloc_tree *tree,
		    const struct data_area *area, uint64_t root_addr)
{
	struct root_check check = { .j = j };
	uint64_t bytes = UINT64_C(8) << tree->level_bits[0];

	if (root_addr < area->start_addr || root_addr > area->end_addr ||
	    bytes > area->end_addr - root_addr)
		return false;
	j->root_addr = root_addr;
	j->tree = tree;
	return jemalloc_for_each_entry(j, check_entry, &check) &&
	       check.good_count > check.bad_count;
}

/*
 * Return true if `word`, which is at addr, is an element of a valid root of the radix
 * tree.
 */
static bool try_word(struct jemalloc *j, const struct data_area *area, uint64_t addr,
		     uint64_t word)
{
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		const struct jemalloc_tree *tree = &trees[i];
		uint64_t key;

		if (!(tree->level_count == 2 ? place_leaf : place_node)(j, tree, word,
									&key))
			continue;
		if (key < UINT64_C(1) << tree->level_bits[0] && key * 8 <= addr &&
		    is_root(j, tree, area, addr - key * 8))
			return true;
	}
	return false;
}

static bool find_in_area(struct jemalloc *j, const struct data_area *area)
{
	uint64_t addr = area->start_addr, word;

	while (jemalloc_next_word(j, &addr, area->end_addr, 8, &word) &&
	       addr < area->end_addr) {
		if (word % JEMALLOC_EXTENT_ALIGN == 0 && jemalloc_base_at(j, word, 8) &&
		    try_word(j, area, addr, word))
			return true;
		addr += 8;
	}
	return false;
}

const char *jemalloc_find_root(struct jemalloc *j)
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(j->input, &index, &area))
		if (find_in_area(j, &area))
			return NULL;
	return "jemalloc's page map was not found";
}

/*
 * Return true if the mapping with this index is the zero-initialised data of a file
 * (.bss).
 */
static bool is_bss(const struct mapping_list *list, size_t index)
{
	const struct mapping *m = &list->items[index];

	return index > 0 && m[-1].inode != 0 && m[-1].end_addr == m->start_addr &&
	       strcmp(m->name, "[heap]") != 0;
}

bool jemalloc_may_lack_extents(const struct jemalloc *j)
{
	const struct mapping_list *list = j->input->mappings;
	uint64_t word_max = (UINT64_C(1) << j->tree->level_bits[0]) - 1;
	unsigned int shift = PAGE_SHIFT;

	for (unsigned int i = 1; i < j->tree->level_count; i++)
		shift += j->tree->level_bits[i];
	for (size_t i = 0; i < list->count; i++) {
		const struct mapping *m = &list->items[i];
		uint64_t first = m->start_addr >> shift,
			 last = (m->end_addr - 1) >> shift;

		if (walk_wants_mapping(m) && m->inode == 0 && !is_bss(list, i) &&
		    strcmp(m->name, "[stack]") != 0 && last <= word_max &&
		    walk_is_part_swapped(j->input, j->root_addr + 8 * first,
					 j->root_addr + 8 * (last + 1)))
			return true;
	}
	return false;
}

/*
 * Return true if there cannot be a base block at addr. This is the case if the mapping
 * that contains addr is the .bss of a file, or a thread's stack: a thread pointer then
 * refers to a higher address in the mapping.
 */
static bool has_no_base(const struct jemalloc *j, uint64_t addr)
{
	const struct mapping_list *list = j->input->mappings;
	const struct mapping *m = mapping_list_find(list, addr);
	bool is_stack = false;

	for (size_t i = 0; i < j->input->thread_count; i++)
		is_stack = is_stack || (j->input->thread_addrs[i] > addr &&
					j->input->thread_addrs[i] < m->end_addr);
	return is_stack || is_bss(list, (size_t)(m - list->items));
}

bool jemalloc_may_lack_base(const struct jemalloc *j)
{
	uint64_t addr = 0;

	while ((addr = walk_next_swapped(j->input, addr, BASE_ALIGN, true)) !=
	       UINT64_MAX) {
		const struct jemalloc_extent *extent = jemalloc_extent_at(j, addr);
		const struct jemalloc_base *base = jemalloc_base_at(j, addr, 1);

		if (!extent && !base && !has_no_base(j, addr))
			return true;
		addr = extent ? extent->end_addr
		       : base ? base->end_addr
			      : addr + BASE_ALIGN;
	}
	return false;
}
