/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Possible offsets of the head of a chunk that has its own mapping.
 *
 * No list contains such chunks; malloc's mp_ variable has only their number and total
 * size. The kernel merges adjacent mappings, so one line of smaps may contain several
 * chunks. The head of a chunk is usually at the start of its mapping. memalign() first
 * allocates such a chunk, and then creates a second chunk inside it. The second chunk's
 * prev_size is the offset of its head in the mapping, and the first head remains in
 * memory unchanged. If the alignment is at most a page, the offset is one of the values
 * in this array.
 */
static const uint16_t offsets[] = { 0, 16, 48, 112, 240, 496, 1008, 2032, 4080 };

/*
 * Offset of a chunk's head from the start of the page that contains it, if memalign() was
 * called with an alignment larger than a page. If mremap() has moved the mapping, the
 * head may be on any page of the mapping.
 */
#define LAST_OFFSET (IMAGE_PAGE_BYTES - CHUNK_HEAD)

/*
 * Flag bits of prev_size in a chunk with its own mapping. Since glibc 2.43, prev_size
 * contains a flag for huge pages, and size does not include the head.
 */
#define MAPPED_FLAGS UINT64_C(3)

struct mapped_chunk {
	uint64_t start_addr, end_addr; /* range of the chunk's mapping */
	uint64_t chunk_addr;
};

/*
 * A range of memory, between the known chunks, in which to search for chunks with their
 * own mappings.
 */
struct gap {
	uint64_t start_addr, end_addr, resident_bytes;
};

struct gaps {
	const struct glibc *glibc;
	struct gap *items;
	size_t count, capacity;
};

/*
 * Return true if the head of a chunk with its own mapping may be at addr, `offset` bytes
 * after the start of the mapping. The head is on the first page of the mapping unless
 * memalign() was called with an alignment larger than a page.
 */
static bool is_possible_offset(uint64_t addr, uint64_t offset)
{
	uint64_t in_page = addr % IMAGE_PAGE_BYTES;

	return offset == in_page ||
	       (in_page == LAST_OFFSET && offset % IMAGE_PAGE_BYTES == in_page);
}

static bool is_mapped_chunk(const struct glibc *g, const struct gap *gap, uint64_t addr,
			    struct mapped_chunk *ret)
{
	bool is_new = g->layout.fast_offset == 0;
	const uint8_t *bytes = image_at(g->image, addr, CHUNK_HEAD);
	uint64_t offset, size, total;

	if (!bytes)
		return false;
	memcpy(&offset, bytes, 8);
	memcpy(&size, bytes + 8, 8);
	if ((size & CHUNK_FLAGS) != CHUNK_MMAPPED)
		return false;
	size &= ~CHUNK_FLAGS;
	if (is_new)
		offset &= ~MAPPED_FLAGS;
	if (offset > addr - gap->start_addr || !is_possible_offset(addr, offset) ||
	    size < CHUNK_MIN_BYTES || size > gap->end_addr - addr)
		return false;
	total = size + offset + (is_new ? CHUNK_HEAD : 0);
	if (total % IMAGE_PAGE_BYTES || total > gap->end_addr - (addr - offset) ||
	    total > g->par.mapped_bytes || walk_is_claimed(g->input, addr) ||
	    walk_is_claimed(g->input, addr - offset + total - 1))
		return false;
	ret->start_addr = addr - offset;
	ret->end_addr = addr - offset + total;
	ret->chunk_addr = addr;
	return true;
}

/*
 * If a chunk in the same mapping as *chunk begins at addr, store it in *chunk and return
 * true.
 */
static bool prefer_at(const struct glibc *g, const struct gap *gap, uint64_t addr,
		      struct mapped_chunk *chunk)
{
	struct mapped_chunk aligned;

	if (!is_mapped_chunk(g, gap, addr, &aligned) ||
	    aligned.start_addr != chunk->start_addr)
		return false;
	*chunk = aligned;
	return true;
}

/* Return true if all bytes from addr to the end of its page have the same value. */
static bool is_uniform(const struct glibc *g, uint64_t addr)
{
	uint64_t length = IMAGE_PAGE_BYTES - addr % IMAGE_PAGE_BYTES;
	const uint8_t *bytes = image_at(g->image, addr, length);

	return bytes && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/*
 * Replace *chunk with the second chunk inside it, if memalign() created one. The two
 * sizes may differ, because realloc() updates only the second head.
 *
 * The memory between the two heads belongs to no block. It contains zeros, or is filled
 * with one value (glibc.malloc.perturb). So the search ends at the first page with other
 * contents: the block begins before the end of that page, and what looks like a head on a
 * later page is data of the block. The rest of the block is not read.
 */
static void prefer_aligned(const struct glibc *g, const struct gap *gap,
			   struct mapped_chunk *chunk)
{
	uint64_t addr = chunk->start_addr, end_addr = chunk->end_addr;
	bool may_follow;

	if (chunk->chunk_addr != chunk->start_addr)
		return;
	for (size_t i = 1; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		if (prefer_at(g, gap, addr + offsets[i], chunk))
			return;
	may_follow = is_uniform(g, addr + CHUNK_HEAD);
	while (may_follow) {
		addr = image_next_resident(g->image, addr + IMAGE_PAGE_BYTES, end_addr);
		if (addr >= end_addr || prefer_at(g, gap, addr + LAST_OFFSET, chunk))
			return;
		may_follow = is_uniform(g, addr);
	}
}

static bool find_in_page(const struct glibc *g, const struct gap *gap, uint64_t page_addr,
			 struct mapped_chunk *ret)
{
	if (walk_is_claimed(g->input, page_addr))
		return false;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		if (is_mapped_chunk(g, gap, page_addr + offsets[i], ret)) {
			prefer_aligned(g, gap, ret);
			return true;
		}
	return false;
}

static void add_chunk(struct glibc *g, const struct mapped_chunk *chunk)
{
	struct region *region = glibc_add_region(g, REGION_MAPPED, 0);

	region->start_addr = chunk->start_addr;
	region->end_addr = chunk->end_addr;
	region->first_addr = chunk->chunk_addr;
	chunk_sum_add(&g->heap->mapped, chunk->end_addr - chunk->start_addr);
}

static void search_gap(struct glibc *g, struct gap gap)
{
	uint64_t end_addr = gap.end_addr;
	uint64_t addr = image_next_resident(g->image, gap.start_addr, end_addr);

	while (addr < end_addr && !image_is_cut(g->image)) {
		struct mapped_chunk chunk;
		uint64_t next_addr = addr + IMAGE_PAGE_BYTES;

		if (find_in_page(g, &gap, addr, &chunk)) {
			add_chunk(g, &chunk);
			next_addr = gap.start_addr = chunk.end_addr;
		}
		addr = image_next_resident(g->image, next_addr, end_addr);
	}
}

static void add_gap(struct gaps *gaps, uint64_t start_addr, uint64_t end_addr)
{
	uint64_t addr = (start_addr + IMAGE_PAGE_BYTES - 1) & ~(IMAGE_PAGE_BYTES - 1);

	if (addr >= end_addr)
		return;
	gaps->items = xgrow(gaps->items, &gaps->capacity, gaps->count + 1,
			    sizeof(*gaps->items));
	gaps->items[gaps->count++] = (struct gap){
		.start_addr = addr,
		.end_addr = end_addr,
		.resident_bytes =
			image_resident_bytes(gaps->glibc->image, addr, end_addr),
	};
}

static void add_whole_gap(void *context, uint64_t start_addr, uint64_t end_addr)
{
	add_gap(context, start_addr, end_addr);
}

/*
 * Divide a gap between known chunks at the boundaries of the mappings, and add each part
 * to the list of gaps.
 */
static void add_parts(void *context, uint64_t start_addr, uint64_t end_addr)
{
	struct gaps *gaps = context;
	const struct mapping_list *list = gaps->glibc->input->mappings;
	const struct mapping *m = mapping_list_find(list, start_addr);

	for (; m && m < list->items + list->count && m->start_addr < end_addr; m++)
		add_gap(gaps, m->start_addr > start_addr ? m->start_addr : start_addr,
			m->end_addr < end_addr ? m->end_addr : end_addr);
}

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *left = a, *right = b;

	if (left->resident_bytes != right->resident_bytes)
		return left->resident_bytes < right->resident_bytes ? -1 : 1;
	return (left->start_addr > right->start_addr) -
	       (left->start_addr < right->start_addr);
}

/*
 * Search the gaps, the smallest ones first, until the number and the total size of the
 * chunks are those in mp_. Return false if they differ after all gaps were searched.
 */
static bool search_gaps(struct glibc *g, struct gaps *gaps)
{
	const struct chunk_sum *found = &g->heap->mapped;

	if (gaps->count > 0)
		qsort(gaps->items, gaps->count, sizeof(*gaps->items), compare_gaps);
	for (size_t i = 0; i < gaps->count; i++) {
		search_gap(g, gaps->items[i]);
		if (found->count == g->par.mapped_count &&
		    found->bytes == g->par.mapped_bytes)
			return true;
	}
	return false;
}

/*
 * Programs and runtimes map tables of their own, in which some words look like heads of
 * chunks. The kernel often does not merge the mappings of tables and chunks, because
 * their flags differ. Therefore search each mapping separately first, and large mappings
 * last. Fewer pages are then read, which shortens the pause. If that does not find all
 * chunks, search adjacent mappings together, because a chunk may span several mappings.
 */
void glibc_find_mapped(struct glibc *g)
{
	struct gaps parts = { .glibc = g }, gaps = { .glibc = g };
	size_t region_count = g->region_count;

	if (g->par.mapped_count == 0)
		return;
	glibc_for_each_gap(g, add_parts, &parts);
	if (!search_gaps(g, &parts)) {
		g->region_count = region_count;
		g->heap->mapped = (struct chunk_sum){ 0 };
		glibc_for_each_gap(g, add_whole_gap, &gaps);
		search_gaps(g, &gaps);
	}
	free(parts.items);
	free(gaps.items);
}
