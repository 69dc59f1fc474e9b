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

/*
 * Read the spans in one leaf of the page map, from page *page on, and set *page to the
 * end of the last span. The words for pages in the middle of a span are out of date, so
 * they are skipped.
 */
static const char *read_leaf(struct tcmalloc *t, uint64_t leaf, uint64_t first_page,
			     uint64_t *page)
{
	uint64_t end_page = first_page + (UINT64_C(1) << t->leaf_bits);

	if (*page < first_page)
		*page = first_page;
	while (*page < end_page) {
		uint64_t limit = leaf + 8 * (end_page - first_page), span_addr;
		uint64_t addr = image_next_resident(
			t->image, leaf + 8 * (*page - first_page), limit);
		struct tcmalloc_span span;

		*page = first_page + (addr - leaf) / 8;
		if (addr >= limit || !image_read(t->image, addr, &span_addr))
			break;
		if (!tcmalloc_spend(t, 1))
			return "tcmalloc's page map has more words than the copy";
		if (span_addr == 0) {
			++*page;
			continue;
		}
		if (!read_span(t, span_addr, *page, &span)) {
			t->broken_spans++;
			++*page;
			continue;
		}
		t->spans = xgrow(t->spans, &t->span_capacity, t->span_count + 1,
				 sizeof(*t->spans));
		t->spans[t->span_count++] = span;
		t->bit_count += span.block_count;
		*page += (span.end_addr - span.start_addr) >> t->page_shift;
	}
	return NULL;
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
