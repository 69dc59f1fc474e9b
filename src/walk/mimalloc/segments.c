/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/walk.h"

#include <string.h>

/* Offsets in struct mi_page_s that are the same in all versions of mimalloc 2. */
#define PAGE_SLICE_COUNT 0
#define PAGE_SLICE_OFFSET 4
#define PAGE_CAPACITY 10
#define PAGE_RESERVED 12
#define PAGE_BYTES_MAX 112

/*
 * The block size that mimalloc stored before version 2.1.4 for a block as large as
 * its page (MI_HUGE_BLOCK_SIZE).
 */
#define HUGE_BLOCK_BYTES (UINT64_C(1) << 31)

/*
 * Before mimalloc 2.1, a page whose blocks have at most this size has a gap before its
 * first block.
 */
#define SHIFTED_BYTES_MAX (UINT64_C(1) << 10)

/*
 * The two lowest bits of the pointer to the list of blocks freed by other threads
 * (xthread_free) are flags.
 */
#define THREAD_FLAGS UINT64_C(3)

uint64_t mimalloc_read_slice_count(struct mimalloc *m, uint64_t addr)
{
	const uint8_t *at = image_at(m->image, addr, 8);
	uint32_t count, offset;

	if (!at)
		return 0;
	memcpy(&count, at + PAGE_SLICE_COUNT, sizeof(count));
	memcpy(&offset, at + PAGE_SLICE_OFFSET, sizeof(offset));
	return offset == 0 ? count : 0;
}

static uint64_t read_number(const uint8_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	return value;
}

/* Return the address of the page's first block, which depends on mimalloc's version. */
static uint64_t first_block(const struct mimalloc_layout *layout, const uint8_t *at,
			    const struct mimalloc_page *page)
{
	uint64_t bytes = page->block_bytes, offset = 0;
	bool is_shifted = bytes >= 8 && bytes <= SHIFTED_BYTES_MAX;

	switch (layout->start) {
	case MIMALLOC_START_128: offset = is_shifted ? 128 : 0; break;
	case MIMALLOC_START_384: offset = is_shifted ? 384 : 0; break;
	case MIMALLOC_START_BLOCKS:
		offset = bytes < 8	? 0
			 : bytes <= 64	? 3 * bytes
			 : bytes <= 512 ? bytes
					: 0;
		break;
	case MIMALLOC_START_FIELD: return read_number(at + layout->first_block, 8);
	}
	return page->start_addr + offset;
}

bool mimalloc_read_page(struct mimalloc *m, const struct mimalloc_layout *layout,
			uint64_t addr, uint64_t start_addr, struct mimalloc_page *ret)
{
	const uint8_t *at = image_at(m->image, addr, layout->page_bytes);
	uint64_t slices = mimalloc_read_slice_count(m, addr);

	if (!at || slices == 0)
		return false;
	*ret = (struct mimalloc_page){
		.struct_addr = addr,
		.start_addr = start_addr,
		.end_addr = start_addr + slices * MIMALLOC_SLICE_BYTES,
		.block_bytes =
			read_number(at + layout->block_bytes, layout->block_bytes_bytes),
		.lists = { read_number(at + layout->free, 8),
			   read_number(at + layout->local, 8),
			   read_number(at + layout->thread, 8) & ~THREAD_FLAGS },
		.heap_addr = read_number(at + layout->heap, 8),
		.capacity = (uint32_t)read_number(at + PAGE_CAPACITY, 2),
		.reserved = (uint32_t)read_number(at + PAGE_RESERVED, 2),
		.used = (uint32_t)read_number(at + layout->block_count,
					      layout->block_count_bytes),
		.is_encoded = layout->keys != 0,
	};
	if (layout->keys != 0)
		memcpy(ret->keys, at + layout->keys, sizeof(ret->keys));
	ret->block_addr = first_block(layout, at, ret);
	if (layout->block_bytes_bytes == 4 && ret->block_bytes >= HUGE_BLOCK_BYTES)
		ret->block_bytes = ret->end_addr - ret->start_addr;
	return true;
}

/*
 * Read the pages in the slices [first, entries) of a segment. Return false if a page is
 * invalid or extends beyond the segment, or if the number of pages in use differs from
 * the segment's own count.
 */
static bool read_pages(struct mimalloc *m, const struct mimalloc_segment *segment,
		       uint64_t first, uint64_t entries)
{
	const struct mimalloc_layout *layout = m->layout;
	uint64_t i = first, in_use = 0;

	while (i < entries) {
		uint64_t at = segment->addr + layout->slices + i * layout->page_bytes;
		struct mimalloc_page page;

		if (!mimalloc_read_page(m, layout, at,
					segment->addr + i * MIMALLOC_SLICE_BYTES,
					&page) ||
		    page.end_addr > segment->end_addr)
			return false;
		i += (page.end_addr - page.start_addr) / MIMALLOC_SLICE_BYTES;
		if (page.block_bytes == 0) {
			mimalloc_add_range(&m->free, page.start_addr, page.end_addr);
			continue;
		}
		in_use++;
		page.thread_id = segment->thread_id;
		mimalloc_add_page(m, &page);
	}
	return in_use == segment->used_count;
}

/*
 * Read a segment. `limit` is the start of the next segment in use. If the segment at hand
 * is unused, part of its memory may already belong to that next segment.
 */
static void read_segment(struct mimalloc *m, const struct mimalloc_segment *segment,
			 uint64_t limit)
{
	uint64_t end = segment->end_addr < limit ? segment->end_addr : limit;
	uint64_t info, entries, info_end;

	if (segment->used_count == 0) {
		mimalloc_add_range(&m->claimed, segment->addr, end);
		mimalloc_add_range(&m->free, segment->addr, end);
		return;
	}
	if (segment->end_addr > limit ||
	    !image_read(m->image, segment->addr + m->layout->info_count, &info) ||
	    !image_read(m->image, segment->addr + m->layout->entry_count, &entries)) {
		m->broken_segments++;
		return;
	}
	info_end = segment->addr + info * MIMALLOC_SLICE_BYTES;
	mimalloc_add_range(&m->claimed, segment->addr, segment->end_addr);
	mimalloc_add_range(&m->own, segment->addr, info_end);
	if (!read_pages(m, segment, info, entries))
		m->broken_segments++;
}

void mimalloc_read_segments(struct mimalloc *m)
{
	uint64_t covered = 0;

	for (size_t i = 0; i < m->segment_count; i++) {
		const struct mimalloc_segment *segment = &m->segments[i];
		size_t next = i + 1;

		/* skip the remnant of an old segment in the memory of a segment in use */
		if (segment->addr < covered)
			continue;
		while (next < m->segment_count && m->segments[next].used_count == 0)
			next++;
		read_segment(m, segment,
			     next < m->segment_count ? m->segments[next].addr
						     : UINT64_MAX);
		covered = segment->end_addr;
		if (segment->used_count == 0 && next < m->segment_count &&
		    m->segments[next].addr < covered)
			covered = m->segments[next].addr;
	}
}
