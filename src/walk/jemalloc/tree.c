/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include <string.h>

#define PAGE_SHIFT 12

/*
 * Offset of the bitmap in the extent structure of a slab. The bitmap is the second half
 * of the structure.
 */
#define FREE_BITS_OFFSET JEMALLOC_EXTENT_ALIGN

/* Upper bound on user addresses, which have 47 bits, or 56 bits with 5-level paging. */
#define ADDRESS_LIMIT (UINT64_C(1) << 56)

bool jemalloc_read_raw(struct jemalloc *j, uint64_t extent_addr, struct jemalloc_raw *ret)
{
	const uint8_t *at, *bits;
	uint64_t size;

	if (extent_addr % JEMALLOC_EXTENT_ALIGN ||
	    !jemalloc_base_at(j, extent_addr, JEMALLOC_EXTENT_BYTES))
		return false;
	at = image_at(j->image, extent_addr, FREE_BITS_OFFSET);
	if (!at)
		return false;
	memcpy(ret, at, offsetof(struct jemalloc_raw, free_bits));
	/* the page of the bitmap is absent if it was never written */
	memset(ret->free_bits, 0, sizeof(ret->free_bits));
	bits = image_at(j->image, extent_addr + FREE_BITS_OFFSET, sizeof(ret->free_bits));
	if (bits)
		memcpy(ret->free_bits, bits, sizeof(ret->free_bits));
	size = jemalloc_size_of(ret);
	return size > 0 && ret->addr < ADDRESS_LIMIT && ret->addr >= IMAGE_PAGE_BYTES &&
	       size < ADDRESS_LIMIT;
}

bool jemalloc_place_element(const struct jemalloc_tree *tree,
			    const struct jemalloc_raw *raw, uint64_t index,
			    uint64_t *ret_page_addr)
{
	unsigned int shift = PAGE_SHIFT + tree->level_bits[tree->level_count - 1];
	uint64_t start = jemalloc_start_of(raw);
	uint64_t page = (start >> shift << shift) + (index << PAGE_SHIFT);

	if (page < start)
		page += UINT64_C(1) << shift;
	if (page - start >= jemalloc_size_of(raw))
		return false;
	*ret_page_addr = page;
	return true;
}

bool jemalloc_next_word(struct jemalloc *j, uint64_t *addr, uint64_t end,
			uint64_t element_bytes, uint64_t *ret)
{
	uint64_t at = *addr;

	for (;;) {
		const struct image_run *run;
		const uint8_t *bytes;
		uint64_t limit, count = 1;

		at = image_next_resident(j->image, at, end);
		if (at < end)
			at += (end - at) % element_bytes;
		if (at >= end) {
			*addr = end;
			return true;
		}
		run = image_run_at(j->image, at);
		if (!run)
			continue;
		limit = run->end_addr < end ? run->end_addr : end;
		if (limit - at < sizeof(*ret))
			return false;
		bytes = image_at(j->image, at, sizeof(*ret));
		memcpy(ret, bytes, sizeof(*ret));
		while (*ret == 0 && limit - at >= element_bytes + sizeof(*ret)) {
			at += element_bytes;
			bytes += element_bytes;
			memcpy(ret, bytes, sizeof(*ret));
			count++;
		}
		if (!jemalloc_spend(j, count))
			return false;
		if (*ret != 0) {
			*addr = at;
			return true;
		}
		at += element_bytes;
	}
}

/* The state of a walk through the radix tree. */
struct walk {
	struct jemalloc *j;
	uint64_t (*fn)(void *context, const struct jemalloc_entry *entry);
	void *context;
	uint64_t next_addr; /* elements for pages below this address are skipped */
	bool is_over;
};

/* Read the leaf element at addr, whose first word the caller has read. */
static bool read_entry(const struct walk *w, uint64_t addr, uint64_t word,
		       struct jemalloc_entry *ret)
{
	ret->words[0] = word;
	ret->words[1] = 0;
	if (w->j->tree->element_bytes == 16 &&
	    !image_read(w->j->image, addr + 8, &ret->words[1]))
		return false;
	ret->extent_addr = ret->words[0];
	/*
	 * the upper bits contain the size class; the lower bits contain the state and the
	 * slab flag
	 */
	if (w->j->tree->element_bytes == 8)
		ret->extent_addr &= (UINT64_C(1) << 48) - JEMALLOC_EXTENT_ALIGN;
	return true;
}

/*
 * Call the walk's callback fn for the entries of a leaf, except entries for pages below
 * next_addr. Stop if fn returns 0. Return false if the budget is exhausted, which can
 * happen only if leaves overlap.
 */
static bool walk_leaf(struct walk *w, uint64_t leaf_addr, uint64_t first_page_addr)
{
	const struct jemalloc_tree *tree = w->j->tree;
	unsigned int bits = tree->level_bits[tree->level_count - 1];
	uint64_t end = leaf_addr + ((uint64_t)tree->element_bytes << bits);
	uint64_t addr = leaf_addr;

	while (!w->is_over) {
		struct jemalloc_entry entry;
		uint64_t word;

		if (w->next_addr > first_page_addr) {
			uint64_t index = (w->next_addr - first_page_addr) >> PAGE_SHIFT;

			if (index >> bits)
				return true;
			if (addr < leaf_addr + index * tree->element_bytes)
				addr = leaf_addr + index * tree->element_bytes;
		}
		if (!jemalloc_next_word(w->j, &addr, end, tree->element_bytes, &word))
			return false;
		if (addr >= end)
			return true;
		entry.page_addr =
			first_page_addr +
			((addr - leaf_addr) / tree->element_bytes << PAGE_SHIFT);
		if (read_entry(w, addr, word, &entry) && entry.extent_addr != 0) {
			w->next_addr = w->fn(w->context, &entry);
			w->is_over = w->next_addr == 0;
		}
		addr += tree->element_bytes;
	}
	return true;
}

/* Walk the children of the root or of a middle node of the radix tree. */
static bool walk_node(struct walk *w, uint64_t node_addr, unsigned int level,
		      uint64_t first_page_addr)
{
	const struct jemalloc_tree *tree = w->j->tree;
	uint64_t end = node_addr + (UINT64_C(8) << tree->level_bits[level]);
	unsigned int shift = PAGE_SHIFT;
	uint64_t child;

	for (unsigned int i = level + 1; i < tree->level_count; i++)
		shift += tree->level_bits[i];
	for (uint64_t at = node_addr; !w->is_over; at += 8) {
		uint64_t page_addr, bytes;
		bool is_leaf = level + 2 == tree->level_count;

		if (!jemalloc_next_word(w->j, &at, end, 8, &child))
			return false;
		if (at >= end)
			break;
		page_addr = first_page_addr + ((at - node_addr) / 8 << shift);
		bytes = (is_leaf ? (uint64_t)tree->element_bytes : UINT64_C(8))
			<< tree->level_bits[level + 1];
		if (child % JEMALLOC_EXTENT_ALIGN ||
		    !jemalloc_base_at(w->j, child, bytes))
			return false;
		if (!(is_leaf ? walk_leaf(w, child, page_addr)
			      : walk_node(w, child, level + 1, page_addr)))
			return false;
	}
	return true;
}

bool jemalloc_for_each_entry(struct jemalloc *j,
			     uint64_t (*fn)(void *context,
					    const struct jemalloc_entry *entry),
			     void *context)
{
	struct walk w = { .j = j, .fn = fn, .context = context };

	return walk_node(&w, j->root_addr, 0, 0);
}

uint64_t jemalloc_leaf_span_bytes(const struct jemalloc *j)
{
	return UINT64_C(1) << (PAGE_SHIFT +
			       j->tree->level_bits[j->tree->level_count - 1]);
}

uint64_t jemalloc_find_leaf(struct jemalloc *j, uint64_t addr)
{
	const struct jemalloc_tree *tree = j->tree;
	unsigned int shift = PAGE_SHIFT;
	uint64_t node_addr = j->root_addr;

	for (unsigned int i = 0; i < tree->level_count; i++)
		shift += tree->level_bits[i];
	for (unsigned int i = 0; i + 1 < tree->level_count; i++) {
		uint64_t index_mask = (UINT64_C(1) << tree->level_bits[i]) - 1;

		shift -= tree->level_bits[i];
		if (!image_read(j->image, node_addr + (addr >> shift & index_mask) * 8,
				&node_addr) ||
		    node_addr == 0)
			return 0;
	}
	return node_addr;
}
