/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/partition/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"

/*
 * The first entry of the metadata, PartitionSuperPageExtentEntry: the address of the
 * root, the next extent, and the number of adjacent super pages (16 bits).
 */
#define EXTENT_NEXT 8
#define EXTENT_COUNTS 16

/*
 * Indices of the words in PartitionPageMetadata, the type of all metadata entries except
 * the first.
 */
enum {
	ENTRY_FREE_LIST,
	ENTRY_NEXT,
	ENTRY_BUCKET,
	ENTRY_COUNTS, /* bit fields, and the flags of the partition page */
	ENTRY_WORDS
};

#define COUNT_MASK 0x7fff
#define UNUSED_SHIFT 15
#define OFFSET_SHIFT 48 /* index of the partition page in its span */
#define OFFSET_MASK 0x3f
#define VALID_SHIFT 54

/*
 * Indices of the words in PartitionDirectMapExtent, the struct that follows the bucket of
 * a direct map.
 */
enum {
	DIRECT_NEXT,
	DIRECT_PREV,
	DIRECT_BUCKET,
	DIRECT_BYTES,
	DIRECT_WORDS
};

#define PAGES_PER_PARTITION_PAGE (PARTITION_PAGE_BYTES / IMAGE_PAGE_BYTES)

static void add_span(struct partition *p, const struct partition_span *span)
{
	p->spans =
		xgrow(p->spans, &p->span_capacity, p->span_count + 1, sizeof(*p->spans));
	p->spans[p->span_count] = *span;
	p->spans[p->span_count++].first_bit = p->bit_count;
	p->bit_count += span->slot_count;
	p->roots[span->root].found_allocated_bytes += span->live_count * span->slot_bytes;
}

static void add_area(struct partition *p, uint64_t start_addr, uint64_t end_addr,
		     uint64_t metadata_addr)
{
	p->areas =
		xgrow(p->areas, &p->area_capacity, p->area_count + 1, sizeof(*p->areas));
	p->areas[p->area_count++] =
		(struct partition_area){ start_addr, end_addr, metadata_addr };
}

/* Read the bucket of a span. Return false if it is not a bucket of the root. */
static bool read_bucket(struct partition *p, const struct partition_root *root,
			uint64_t addr, struct partition_span *span, uint64_t *ret_pages)
{
	uint64_t offset = addr - root->bucket_addr, word;

	if (addr < root->bucket_addr || offset % root->layout->bucket_bytes != 0 ||
	    offset / root->layout->bucket_bytes >= root->bucket_count ||
	    !image_read(p->image, addr + root->layout->page_count, &word))
		return false;
	span->slot_bytes = partition_read_slot_bytes(p, root, addr);
	*ret_pages = word & 0xff;
	if (span->slot_bytes == 0 || *ret_pages == 0)
		return false;
	span->slot_count = (uint32_t)(*ret_pages * IMAGE_PAGE_BYTES / span->slot_bytes);
	return span->slot_count > 0;
}

/*
 * Add the span whose metadata is in this entry. Return the number of its partition pages,
 * or 0 if the entry is corrupt.
 */
static unsigned int read_span(struct partition *p, uint32_t root_index,
			      const uint64_t entry[ENTRY_WORDS], uint64_t start_addr)
{
	const struct partition_root *root = &p->roots[root_index];
	struct partition_span span = { .root = root_index, .start_addr = start_addr };
	uint32_t unused_count = entry[ENTRY_COUNTS] >> UNUSED_SHIFT & COUNT_MASK;
	uint64_t pages;

	if (!read_bucket(p, root, entry[ENTRY_BUCKET], &span, &pages))
		return 0;
	span.end_addr = start_addr + pages * IMAGE_PAGE_BYTES;
	span.live_count = entry[ENTRY_COUNTS] & COUNT_MASK;
	span.first_free = entry[ENTRY_FREE_LIST];
	if (unused_count > span.slot_count)
		return 0;
	span.used_count = span.slot_count - unused_count;
	/* a span without allocated or listed slots has been decommitted */
	if (span.live_count == 0 && span.first_free == 0)
		span.used_count = 0;
	if (span.live_count > span.used_count)
		return 0;
	add_span(p, &span);
	return (unsigned int)((pages + PAGES_PER_PARTITION_PAGE - 1) /
			      PAGES_PER_PARTITION_PAGE);
}

/* Read a super page and its spans. Return false if its metadata is corrupt. */
static bool read_super_page(struct partition *p, uint32_t root_index,
			    uint64_t metadata_addr)
{
	const struct partition_root *root = &p->roots[root_index];
	uint64_t super_addr = metadata_addr - root->metadata_offset;
	const uint8_t *at = image_at(p->image, metadata_addr, IMAGE_PAGE_BYTES);
	uint64_t entry[ENTRY_WORDS];
	unsigned int i = 1;

	if (!at || memcmp(at, &root->addr, sizeof(root->addr)) != 0 ||
	    super_addr % PARTITION_SUPER_BYTES != 0 ||
	    super_addr - root->pool_addr >= root->pool_bytes)
		return false;
	add_area(p, super_addr, super_addr + PARTITION_SUPER_BYTES, metadata_addr);
	while (i < PARTITION_ENTRIES - 1) {
		unsigned int pages;

		memcpy(entry, at + (size_t)i * PARTITION_ENTRY_BYTES, sizeof(entry));
		if (!(entry[ENTRY_COUNTS] >> VALID_SHIFT & 1)) {
			i++;
			continue;
		}
		if ((entry[ENTRY_COUNTS] >> OFFSET_SHIFT & OFFSET_MASK) != 0)
			return false;
		pages = read_span(p, root_index, entry,
				  super_addr + i * PARTITION_PAGE_BYTES);
		i += pages;
		if (pages == 0 || i > PARTITION_ENTRIES - 1)
			return false;
	}
	return true;
}

/*
 * Read the extents of a root, each of which consists of adjacent super pages. Stop when
 * the number of super pages reaches the root's own count, because a corrupt list may be
 * circular.
 */
static void read_extents(struct partition *p, uint32_t root_index)
{
	struct partition_root *root = &p->roots[root_index];
	uint64_t addr = root->first_extent, next, counts;

	for (; addr != 0; addr = next) {
		if (!image_read(p->image, addr + EXTENT_NEXT, &next) ||
		    !image_read(p->image, addr + EXTENT_COUNTS, &counts) ||
		    (counts & 0xffff) == 0) {
			root->broken_count++;
			return;
		}
		for (uint64_t i = 0; i < (counts & 0xffff); i++) {
			if (root->found_super_bytes == root->super_bytes ||
			    !read_super_page(p, root_index,
					     addr + i * PARTITION_SUPER_BYTES)) {
				root->broken_count++;
				return;
			}
			root->found_super_bytes += PARTITION_SUPER_BYTES;
		}
	}
}

/*
 * Add the direct map whose PartitionDirectMapExtent is at addr. The bucket of the direct
 * map precedes this struct. The first word of the bucket is the address of the metadata
 * entry of the direct map's only span.
 */
static bool read_direct_map(struct partition *p, uint32_t root_index, uint64_t addr,
			    const uint64_t words[DIRECT_WORDS])
{
	struct partition_root *root = &p->roots[root_index];
	uint64_t metadata_addr = addr & ~(IMAGE_PAGE_BYTES - 1);
	uint64_t super_addr = metadata_addr - root->metadata_offset, entry_addr, owner;
	uint64_t bucket_addr = addr - root->layout->bucket_bytes, counts;
	struct partition_span span = {
		.root = root_index, .slot_count = 1, .used_count = 1, .live_count = 1
	};

	if (words[DIRECT_BUCKET] != bucket_addr ||
	    super_addr % PARTITION_SUPER_BYTES != 0 ||
	    super_addr - root->pool_addr >= root->pool_bytes ||
	    words[DIRECT_BYTES] % PARTITION_SUPER_BYTES != 0 ||
	    words[DIRECT_BYTES] > root->direct_bytes - root->found_direct_bytes ||
	    !image_read(p->image, metadata_addr, &owner) || owner != root->addr ||
	    !image_read(p->image, bucket_addr, &entry_addr) ||
	    entry_addr <= metadata_addr || entry_addr >= addr ||
	    (entry_addr - metadata_addr) % PARTITION_ENTRY_BYTES != 0 ||
	    !image_read(p->image, entry_addr + 8 * ENTRY_COUNTS, &counts) ||
	    (counts & COUNT_MASK) != 1)
		return false;
	span.start_addr = super_addr + (entry_addr - metadata_addr) /
					       PARTITION_ENTRY_BYTES *
					       PARTITION_PAGE_BYTES;
	span.slot_bytes = partition_read_slot_bytes(p, root, bucket_addr);
	span.end_addr = span.start_addr + span.slot_bytes;
	if (span.slot_bytes == 0 || span.slot_bytes % IMAGE_PAGE_BYTES != 0 ||
	    span.slot_bytes > words[DIRECT_BYTES] ||
	    span.end_addr > super_addr + words[DIRECT_BYTES])
		return false;
	add_area(p, super_addr, super_addr + words[DIRECT_BYTES], metadata_addr);
	add_span(p, &span);
	root->found_direct_bytes += words[DIRECT_BYTES];
	return true;
}

static void read_direct_maps(struct partition *p, uint32_t root_index)
{
	struct partition_root *root = &p->roots[root_index];
	uint64_t addr = root->first_direct_map, prev = 0;

	while (addr != 0) {
		const uint8_t *at =
			addr % 8 == 0 ? image_at(p->image, addr, 8 * DIRECT_WORDS) : NULL;
		uint64_t words[DIRECT_WORDS];

		if (at)
			memcpy(words, at, sizeof(words));
		if (!at || words[DIRECT_PREV] != prev || words[DIRECT_BYTES] == 0 ||
		    !read_direct_map(p, root_index, addr, words)) {
			root->broken_count++;
			return;
		}
		prev = addr;
		addr = words[DIRECT_NEXT];
	}
}

static int compare_spans(const void *a, const void *b)
{
	const struct partition_span *x = a, *y = b;

	return (x->start_addr > y->start_addr) - (x->start_addr < y->start_addr);
}

static int compare_areas(const void *a, const void *b)
{
	const struct partition_area *x = a, *y = b;

	return (x->start_addr > y->start_addr) - (x->start_addr < y->start_addr);
}

static bool is_in_area(const struct partition *p, const struct partition_span *span)
{
	size_t i =
		SEARCH_FIRST(p->area_count, k, p->areas[k].end_addr > span->start_addr);

	return i < p->area_count && p->areas[i].start_addr <= span->start_addr &&
	       p->areas[i].end_addr >= span->end_addr;
}

/* Remove areas and spans that overlap another one, and spans that are in no area. */
static void remove_overlaps(struct partition *p)
{
	uint64_t end_addr = 0;
	size_t count = 0;

	for (size_t i = 0; i < p->area_count; i++) {
		if (p->areas[i].start_addr < end_addr)
			continue;
		end_addr = p->areas[i].end_addr;
		p->areas[count++] = p->areas[i];
	}
	p->area_count = count;
	end_addr = 0;
	count = 0;
	for (size_t i = 0; i < p->span_count; i++) {
		if (p->spans[i].start_addr < end_addr || !is_in_area(p, &p->spans[i])) {
			p->roots[p->spans[i].root].broken_count++;
			continue;
		}
		end_addr = p->spans[i].end_addr;
		p->spans[count++] = p->spans[i];
	}
	p->span_count = count;
}

void partition_read_spans(struct partition *p)
{
	for (uint32_t i = 0; i < p->root_count; i++) {
		struct partition_root *root = &p->roots[i];

		read_extents(p, i);
		read_direct_maps(p, i);
		if (root->found_super_bytes != root->super_bytes ||
		    root->found_direct_bytes != root->direct_bytes ||
		    root->found_allocated_bytes != root->allocated_bytes)
			root->broken_count++;
	}
	if (p->span_count > 0)
		qsort(p->spans, p->span_count, sizeof(*p->spans), compare_spans);
	if (p->area_count > 0)
		qsort(p->areas, p->area_count, sizeof(*p->areas), compare_areas);
	remove_overlaps(p);
}
