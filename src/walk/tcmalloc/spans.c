/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"

/* Offsets in struct Span, and the bit fields at its end. */
#define SPAN_OBJECTS 32
#define SPAN_BITS 40
#define BITS_TAKEN(bits) ((bits)&0xffff)
#define BITS_CLASS(bits) ((bits) >> 16 & 0xff)
#define BITS_LOCATION(bits) ((bits) >> 24 & 3)

/*
 * Constant part of the upper bound on the number of blocks. A block has at least 8 bytes,
 * but there may be a few more blocks than fit into the copy, because free memory need not
 * be resident.
 */
#define BLOCKS_MORE UINT64_C(1000000)

/* Read the page map's word for this page. Return 0 if the page map has none. */
static uint64_t read_page(const struct tcmalloc *t, uint64_t page)
{
	uint64_t leaf, value, index = page >> t->leaf_bits;

	if (index >= t->root_words ||
	    !image_read(t->image, t->root_addr + 8 * index, &leaf) || leaf == 0 ||
	    leaf > UINT64_MAX - (UINT64_C(8) << t->leaf_bits) ||
	    !image_read(t->image, leaf + 8 * (page & ((UINT64_C(1) << t->leaf_bits) - 1)),
			&value))
		return 0;
	return value;
}

/* Return true if the page map's word for this page is swapped out. */
static bool is_word_absent(const struct tcmalloc *t, uint64_t page)
{
	uint64_t leaf, index = page >> t->leaf_bits;
	uint64_t mask = (UINT64_C(1) << t->leaf_bits) - 1;

	if (index >= t->root_words)
		return false;
	if (!image_read(t->image, t->root_addr + 8 * index, &leaf))
		return walk_is_swapped(t->input, t->root_addr + 8 * index);
	return leaf != 0 && walk_is_swapped(t->input, leaf + 8 * (page & mask));
}

/*
 * The page map's word for `page` is addr, the address of a struct Span. Return true if
 * this span cannot be checked because the struct, or the page map's word for the span's
 * last page, is swapped out. In the latter case, set *ret_end_page to the end of the
 * span.
 */
static bool is_absent(const struct tcmalloc *t, uint64_t addr, uint64_t page,
		      uint64_t *ret_end_page)
{
	uint64_t page_max = t->root_words << t->leaf_bits, words[2];
	const uint8_t *at;

	if (addr % 8 != 0)
		return false;
	at = image_at(t->image, addr, TCMALLOC_SPAN_BYTES);
	if (!at)
		return walk_is_part_swapped(t->input, addr, addr + TCMALLOC_SPAN_BYTES);
	memcpy(words, at, sizeof(words));
	if (words[0] > page || words[1] == 0 || words[1] > page_max - words[0] ||
	    words[0] + words[1] <= page || !is_word_absent(t, words[0] + words[1] - 1))
		return false;
	*ret_end_page = words[0] + words[1];
	return true;
}

bool tcmalloc_is_span_absent(const struct tcmalloc *t, uint64_t addr)
{
	uint64_t page = addr >> t->page_shift, span_addr = read_page(t, page), end_page;

	return span_addr != 0 ? is_absent(t, span_addr, page, &end_page)
			      : is_word_absent(t, page);
}

static bool set_blocks(struct tcmalloc *t, struct tcmalloc_span *span, uint64_t bits)
{
	uint64_t bytes = span->end_addr - span->start_addr, class = BITS_CLASS(bits);

	span->location = BITS_LOCATION(bits);
	if (span->location > TCMALLOC_RETURNED || class >= t->class_count)
		return false;
	if (span->location != TCMALLOC_IN_USE)
		return true;
	if (class == 0) {
		span->block_bytes = bytes;
		span->block_count = 1;
		return true;
	}
	if (bytes != t->classes[class].span_pages << t->page_shift)
		return false;
	span->class = (uint8_t) class;
	span->taken_count = BITS_TAKEN(bits);
	span->block_bytes = t->classes[class].bytes;
	span->block_count = bytes / span->block_bytes;
	return true;
}

/*
 * Read the struct Span at addr, which the page map contains for this page. Return false
 * if the struct does not describe a span that begins with this page.
 */
static bool read_span(struct tcmalloc *t, uint64_t addr, uint64_t page,
		      struct tcmalloc_span *ret)
{
	const uint8_t *at = addr % 8 == 0 ? image_at(t->image, addr, TCMALLOC_SPAN_BYTES)
					  : NULL;
	uint64_t page_max = t->root_words << t->leaf_bits, words[6];

	if (!at)
		return false;
	memcpy(words, at, sizeof(words));
	if (words[0] != page || words[1] == 0 || words[1] > page_max - page ||
	    read_page(t, page + words[1] - 1) != addr)
		return false;
	*ret = (struct tcmalloc_span){
		.struct_addr = addr,
		.start_addr = page << t->page_shift,
		.end_addr = (page + words[1]) << t->page_shift,
		.first_bit = t->bit_count,
		.first_free = words[SPAN_OBJECTS / 8],
	};
	return set_blocks(t, ret, words[SPAN_BITS / 8]);
}

static void add_span(struct tcmalloc *t, const struct tcmalloc_span *span)
{
	t->spans =
		xgrow(t->spans, &t->span_capacity, t->span_count + 1, sizeof(*t->spans));
	t->spans[t->span_count++] = *span;
	t->bit_count += span->block_count;
}

/*
 * Read the span whose struct is at addr, the address in the page map's word for *page.
 * Set *page to the first page after the span, or to the next page if there is no span.
 */
static void read_word(struct tcmalloc *t, uint64_t addr, uint64_t *page)
{
	uint64_t end_page = *page + 1;
	struct tcmalloc_span span;

	if (read_span(t, addr, *page, &span)) {
		add_span(t, &span);
		end_page = span.end_addr >> t->page_shift;
		t->is_after_absent = false;
	} else if (is_absent(t, addr, *page, &end_page)) {
		t->absent_spans++;
		t->is_after_absent = true;
	} else if (t->is_after_absent) {
		t->absent_spans++;
	} else {
		t->broken_spans++;
	}
	*page = end_page;
}

/*
 * Read the spans in one leaf of the page map, starting at page *page, and set *page to
 * the end of the last span. Skip the words for pages in the middle of a span, because
 * they are out of date.
 */
static const char *read_leaf(struct tcmalloc *t, uint64_t leaf, uint64_t first_page,
			     uint64_t *page)
{
	uint64_t end_page = first_page + (UINT64_C(1) << t->leaf_bits);

	if (*page < first_page)
		*page = first_page;
	while (*page < end_page) {
		uint64_t limit = leaf + 8 * (end_page - first_page), span_addr;
		uint64_t next = leaf + 8 * (*page - first_page);
		uint64_t addr = image_next_resident(t->image, next, limit);

		if (addr != next && walk_is_part_swapped(t->input, next, addr))
			t->is_after_absent = true;
		*page = first_page + (addr - leaf) / 8;
		if (addr >= limit || !image_read(t->image, addr, &span_addr))
			break;
		if (!tcmalloc_spend(t, 1))
			return "tcmalloc's page map has more words than the copy";
		if (span_addr == 0)
			++*page;
		else
			read_word(t, span_addr, page);
	}
	return NULL;
}

/* Return true if part of the page map may be swapped out. */
static bool is_map_swapped(const struct tcmalloc *t)
{
	bool is_swapped = walk_is_part_swapped(t->input, t->root_addr,
					       t->root_addr + 8 * t->root_words);

	for (size_t i = 0; i < t->leaf_count && !is_swapped; i++)
		is_swapped = walk_is_part_swapped(t->input, t->leaves[i],
						  t->leaves[i] +
							  (UINT64_C(8) << t->leaf_bits));
	return is_swapped;
}

/* Compare the sums over the spans with the page heap's own figures. */
static void compare_stats(struct tcmalloc *t)
{
	const struct tcmalloc_stats *stats = &t->stats;
	uint64_t sums[TCMALLOC_RETURNED + 1] = { 0 }, free_bytes, returned_bytes;
	bool is_less;

	for (size_t i = 0; i < t->span_count; i++)
		sums[t->spans[i].location] +=
			t->spans[i].end_addr - t->spans[i].start_addr;
	free_bytes = sums[TCMALLOC_FREE];
	returned_bytes = sums[TCMALLOC_RETURNED];
	t->are_stats_equal = stats->free_bytes == free_bytes &&
			     stats->returned_bytes == returned_bytes &&
			     stats->system_bytes ==
				     free_bytes + returned_bytes + sums[TCMALLOC_IN_USE];
	is_less = stats->free_bytes >= free_bytes &&
		  stats->returned_bytes >= returned_bytes &&
		  stats->system_bytes >= stats->free_bytes + stats->returned_bytes +
						 sums[TCMALLOC_IN_USE];
	t->lacks_spans =
		(t->are_stats_equal || is_less) &&
		(t->absent_spans > 0 || (!t->are_stats_equal && is_map_swapped(t)));
}

const char *tcmalloc_read_spans(struct tcmalloc *t)
{
	uint64_t limit = t->root_addr + 8 * t->root_words, page = 0;
	uint64_t addr = t->root_addr, leaf;

	while ((addr = image_next_resident(t->image, addr, limit)) < limit &&
	       image_read(t->image, addr, &leaf)) {
		const char *problem;

		if (!tcmalloc_spend(t, 1))
			return "tcmalloc's page map has more words than the copy";
		if (leaf % 8 != 0 || leaf > UINT64_MAX - (UINT64_C(8) << t->leaf_bits))
			return "tcmalloc's page map is corrupt";
		if (leaf != 0) {
			t->leaves = xgrow(t->leaves, &t->leaf_capacity, t->leaf_count + 1,
					  sizeof(*t->leaves));
			t->leaves[t->leaf_count++] = leaf;
			problem = read_leaf(t, leaf,
					    (addr - t->root_addr) / 8 << t->leaf_bits,
					    &page);
			if (problem)
				return problem;
		}
		addr += 8;
	}
	compare_stats(t);
	if (t->span_count == 0 && t->absent_spans > 0)
		return "the spans of tcmalloc are swapped out";
	if (t->span_count == 0)
		return "tcmalloc's page map has no spans";
	if (t->bit_count > t->image->length_bytes / 8 + BLOCKS_MORE)
		return "tcmalloc has more blocks than fit into its memory";
	return NULL;
}

const struct tcmalloc_span *tcmalloc_find_span(const struct tcmalloc *t, uint64_t addr)
{
	size_t i = SEARCH_FIRST(t->span_count, n, t->spans[n].end_addr > addr);

	return i < t->span_count && t->spans[i].start_addr <= addr ? &t->spans[i] : NULL;
}
