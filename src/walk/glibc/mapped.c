/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <string.h>

/*
 * Possible offsets of the head of a chunk that has its own mapping.
 *
 * No list contains such chunks. malloc's mp_ variable has only their number and total
 * size. The kernel merges adjacent mappings, so one line of smaps may contain several
 * chunks. The head of a chunk is usually at the start of its mapping. memalign() first
 * makes such a chunk, and then a second chunk inside the first one. The second chunk's
 * prev_size is the offset of its head in the mapping, and the first head remains in
 * memory unchanged. If the alignment is at most a page, the offset is one of the
 * values in this array.
 */
static const uint16_t offsets[] = { 0, 16, 48, 112, 240, 496, 1008, 2032, 4080 };

/*
 * For alignments larger than a page, the second chunk's head is at the end of a page. If
 * mremap() has moved the mapping, the position of that page cannot be computed.
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

/* A range of heap memory that contains no other known chunks. */
struct gap {
	uint64_t start_addr, end_addr;
};

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
	if (offset % CHUNK_ALIGN || offset > addr - gap->start_addr ||
	    (addr - offset) % IMAGE_PAGE_BYTES || size < CHUNK_MIN_BYTES ||
	    size > gap->end_addr - addr)
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
 * If there is a chunk at addr in the same mapping as *chunk, replace *chunk with it
 * and return true.
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

/*
 * If memalign() made a second chunk inside the one at the start of a mapping, replace
 * *chunk with the second chunk. The two sizes may differ, because realloc() updates
 * only the second head.
 */
static void prefer_aligned(const struct glibc *g, const struct gap *gap,
			   struct mapped_chunk *chunk)
{
	uint64_t page_addr = chunk->start_addr, end_addr = chunk->end_addr;

	if (chunk->chunk_addr != chunk->start_addr)
		return;
	for (size_t i = 1; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		if (prefer_at(g, gap, page_addr + offsets[i], chunk))
			return;
	while (page_addr < end_addr) {
		if (prefer_at(g, gap, page_addr + LAST_OFFSET, chunk))
			return;
		page_addr = image_next_resident(g->image, page_addr + IMAGE_PAGE_BYTES,
						end_addr);
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

static void search_gap(void *context, uint64_t start_addr, uint64_t end_addr)
{
	struct glibc *g = context;
	struct gap gap = { (start_addr + IMAGE_PAGE_BYTES - 1) & ~(IMAGE_PAGE_BYTES - 1),
			   end_addr };
	uint64_t addr = image_next_resident(g->image, gap.start_addr, end_addr);

	while (addr < end_addr) {
		struct mapped_chunk chunk;
		uint64_t next_addr = addr + IMAGE_PAGE_BYTES;

		if (find_in_page(g, &gap, addr, &chunk)) {
			add_chunk(g, &chunk);
			next_addr = gap.start_addr = chunk.end_addr;
		}
		addr = image_next_resident(g->image, next_addr, end_addr);
	}
}

void glibc_find_mapped(struct glibc *g)
{
	if (g->par.mapped_count > 0)
		glibc_for_each_gap(g, search_gap, g);
}
