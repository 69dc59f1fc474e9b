/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "walk/blocks/data_area.h"

#define SLICES_MAX (1U << 10)
/* The structs of a segment's pages take at most this many slices. */
#define INFO_SLICES_MAX 8

#define SEGMENT_OF_2_0                                                     \
	.used = 312, .cookie = 320, .slice_count = 328, .info_count = 336, \
	.thread_id = 352, .entry_count = 360, .slices = 368
#define SEGMENT_OF_2_1                                                     \
	.used = 208, .cookie = 216, .slice_count = 224, .info_count = 232, \
	.entry_count = 248, .thread_id = 256, .slices = 264
#define SEGMENT_OF_2_2                                                     \
	.used = 216, .cookie = 224, .slice_count = 248, .info_count = 256, \
	.entry_count = 272, .thread_id = 280, .slices = 288
/*
 * before mimalloc 2.1.4, the fields for the number of blocks and their size are 4 bytes
 * long
 */
#define PAGE_OF_2_0                                                              \
	.page_bytes = 80, .free = 16, .block_count = 24, .block_count_bytes = 4, \
	.block_bytes = 28, .block_bytes_bytes = 4, .local = 32, .thread = 40, .heap = 48
#define PAGE_OF_2_0_SECURE                                                              \
	.page_bytes = 96, .free = 16, .keys = 24, .block_count = 40,                    \
	.block_count_bytes = 4, .block_bytes = 44, .block_bytes_bytes = 4, .local = 48, \
	.thread = 56, .heap = 64
#define PAGE_OF_2_0_9_SECURE                                                     \
	.page_bytes = 96, .free = 16, .block_count = 24, .block_count_bytes = 4, \
	.block_bytes = 28, .block_bytes_bytes = 4, .local = 32, .keys = 40,      \
	.thread = 56, .heap = 64
#define PAGE_OF_2_1_4                                                      \
	.page_bytes = 96, .free = 16, .local = 24, .block_count = 32,      \
	.block_count_bytes = 2, .block_bytes = 40, .block_bytes_bytes = 8, \
	.first_block = 48, .thread = 56, .heap = 64, .delayed = 8,         \
	.start = MIMALLOC_START_FIELD
#define PAGE_OF_2_1_4_SECURE                                                   \
	.page_bytes = 112, .free = 16, .local = 24, .block_count = 32,         \
	.block_count_bytes = 2, .block_bytes = 40, .block_bytes_bytes = 8,     \
	.first_block = 48, .keys = 56, .thread = 72, .heap = 80, .delayed = 8, \
	.start = MIMALLOC_START_FIELD

/* Offsets in mimalloc's structs, determined by compiling the headers of each version. */
static const struct mimalloc_layout layouts[] = {
	{ "2.0.0 to 2.0.7", SEGMENT_OF_2_0, PAGE_OF_2_0, .delayed = 2840,
	  .start = MIMALLOC_START_128 },
	{ "2.0.0 to 2.0.7, secure", SEGMENT_OF_2_0, PAGE_OF_2_0_SECURE, .delayed = 2840,
	  .start = MIMALLOC_START_128 },
	{ "2.0.9", SEGMENT_OF_2_1, PAGE_OF_2_0, .delayed = 2840,
	  .start = MIMALLOC_START_384 },
	{ "2.0.9, secure", SEGMENT_OF_2_1, PAGE_OF_2_0_9_SECURE, .delayed = 2840,
	  .start = MIMALLOC_START_384 },
	{ "2.1.0 to 2.1.2", SEGMENT_OF_2_1, PAGE_OF_2_0, .delayed = 2840,
	  .start = MIMALLOC_START_BLOCKS },
	{ "2.1.0 to 2.1.2, secure", SEGMENT_OF_2_1, PAGE_OF_2_0_9_SECURE, .delayed = 2848,
	  .start = MIMALLOC_START_BLOCKS },
	{ "2.1.4 to 2.1.7", SEGMENT_OF_2_1, PAGE_OF_2_1_4 },
	{ "2.1.4 to 2.1.7, secure", SEGMENT_OF_2_1, PAGE_OF_2_1_4_SECURE },
	{ "2.1.8 to 2.4", SEGMENT_OF_2_2, PAGE_OF_2_1_4 },
	{ "2.1.8 to 2.4, secure", SEGMENT_OF_2_2, PAGE_OF_2_1_4_SECURE },
};

#define LAYOUT_COUNT (sizeof(layouts) / sizeof(layouts[0]))

/* How well a layout fits the segments. */
struct fit {
	uint64_t segment_count;
	uint64_t page_count;   /* pages in use that fit the layout */
	uint64_t broken_count; /* pages that contradict the layout, and missing pages */
};

static bool is_anonymous(const struct walk_input *input, uint64_t addr)
{
	const struct mapping *m = mapping_list_find(input->mappings, addr);

	return m && walk_wants_mapping(m) && m->inode == 0;
}

/*
 * Return the first address at or above addr that is a multiple of the segment size and
 * whose page is resident and anonymous. Return UINT64_MAX if no address is found. Skip
 * the pages of a runtime's heap.
 */
static uint64_t next_candidate(struct mimalloc *m, uint64_t addr)
{
	const uint64_t mask = MIMALLOC_SEGMENT_BYTES - 1;

	for (size_t r = image_find_run(m->image, addr); r < m->image->run_count; r++) {
		const struct image_run *run = &m->image->runs[r];
		uint64_t at = run->start_addr > addr ? run->start_addr : addr;

		for (at = (at + mask) & ~mask; at < run->end_addr;
		     at += MIMALLOC_SEGMENT_BYTES)
			if (is_anonymous(m->input, at) && !walk_is_claimed(m->input, at))
				return at;
	}
	return UINT64_MAX;
}

/*
 * Read the segment at addr. Return false if it is not a segment with this layout and
 * cookie.
 */
static bool read_segment(struct mimalloc *m, const struct mimalloc_layout *layout,
			 uint64_t addr, uint64_t cookie, struct mimalloc_segment *ret)
{
	const uint8_t *at = image_at(m->image, addr, layout->slices);
	uint64_t found, slices, info, entries;

	if (!at)
		return false;
	memcpy(&found, at + layout->cookie, sizeof(found));
	memcpy(&slices, at + layout->slice_count, sizeof(slices));
	memcpy(&info, at + layout->info_count, sizeof(info));
	memcpy(&entries, at + layout->entry_count, sizeof(entries));
	if ((found ^ addr) != cookie || info == 0 || info > INFO_SLICES_MAX ||
	    entries <= info || entries > SLICES_MAX || slices < entries ||
	    slices > (UINT64_C(1) << WALK_ADDR_BITS) / MIMALLOC_SLICE_BYTES ||
	    mimalloc_read_slice_count(m, addr + layout->slices) != info)
		return false;
	ret->addr = addr;
	ret->end_addr = addr + slices * MIMALLOC_SLICE_BYTES;
	memcpy(&ret->used_count, at + layout->used, sizeof(ret->used_count));
	memcpy(&ret->thread_id, at + layout->thread_id, sizeof(ret->thread_id));
	return true;
}

/*
 * Return true if the page's first free blocks are at multiples of the block size from the
 * first block, as the layout requires.
 */
static bool are_blocks_aligned(const struct mimalloc_page *page)
{
	for (size_t i = 0; i < MIMALLOC_LISTS_; i++) {
		uint64_t addr = page->lists[i];

		if (addr != 0 && (addr < page->block_addr || addr >= page->end_addr ||
				  (addr - page->block_addr) % page->block_bytes != 0))
			return false;
	}
	return true;
}

/*
 * Return true if the page has as many blocks as fit into it. This check distinguishes
 * versions that differ only in the offset of a page's first block.
 */
static bool is_count_right(const struct mimalloc_layout *layout,
			   const struct mimalloc_page *page)
{
	uint64_t count = (page->end_addr - page->block_addr) / page->block_bytes;

	return layout->start == MIMALLOC_START_FIELD || count > UINT16_MAX ||
	       page->reserved == count;
}

/* Count the pages of a segment that fit the layout, and those that do not. */
static void fit_pages(struct mimalloc *m, const struct mimalloc_layout *layout,
		      const struct mimalloc_segment *segment, struct fit *fit)
{
	uint64_t i = mimalloc_read_slice_count(m, segment->addr + layout->slices);
	uint64_t entries, in_use = 0;

	if (!image_read(m->image, segment->addr + layout->entry_count, &entries))
		return;
	while (i < entries && mimalloc_spend(m, 16)) {
		uint64_t addr = segment->addr + layout->slices + i * layout->page_bytes;
		uint64_t count = mimalloc_read_slice_count(m, addr);
		struct mimalloc_page page;

		if (!mimalloc_read_page(m, layout, addr,
					segment->addr + i * MIMALLOC_SLICE_BYTES,
					&page) ||
		    page.used > page.capacity || page.capacity > page.reserved ||
		    (page.block_bytes > 0 &&
		     (!are_blocks_aligned(&page) || !is_count_right(layout, &page))))
			fit->broken_count++;
		else
			in_use += page.block_bytes > 0;
		if (count == 0)
			break;
		i += count;
	}
	fit->page_count += in_use;
	fit->broken_count += in_use > segment->used_count ? in_use - segment->used_count
							  : segment->used_count - in_use;
}

/* Return how well the layout fits all segments with this cookie. */
static struct fit fit_layout(struct mimalloc *m, const struct mimalloc_layout *layout,
			     uint64_t cookie)
{
	struct fit fit = { 0 };

	for (uint64_t addr = next_candidate(m, 0); addr != UINT64_MAX;
	     addr = next_candidate(m, addr + MIMALLOC_SEGMENT_BYTES)) {
		struct mimalloc_segment segment;

		if (!read_segment(m, layout, addr, cookie, &segment))
			continue;
		fit.segment_count++;
		if (segment.used_count > 0)
			fit_pages(m, layout, &segment, &fit);
	}
	return fit;
}

static bool is_better(const struct fit *a, const struct fit *b)
{
	if (a->segment_count != b->segment_count)
		return a->segment_count > b->segment_count;
	if (a->broken_count != b->broken_count)
		return a->broken_count < b->broken_count;
	return a->page_count > b->page_count;
}

/*
 * Return the address of the cookie in mimalloc's main heap, which is in the data of the
 * program or a library. Return 0 if the cookie is not found.
 */
static uint64_t find_cookie(struct mimalloc *m, uint64_t cookie)
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(m->input, &index, &area)) {
		uint64_t addr = area.start_addr, value;

		while ((addr = image_next_resident(m->image, addr, area.end_addr)) <
		       area.end_addr) {
			if (image_read(m->image, addr, &value) && value == cookie)
				return addr;
			if (!mimalloc_spend(m, 1))
				return 0;
			addr += 8;
		}
	}
	return 0;
}

/*
 * Return the cookie of the segment at addr, or 0 if no segment with this layout is there.
 */
static uint64_t cookie_at(struct mimalloc *m, const struct mimalloc_layout *layout,
			  uint64_t addr)
{
	struct mimalloc_segment segment;
	uint64_t value;

	if (!image_read(m->image, addr + layout->cookie, &value) || value == 0 ||
	    !read_segment(m, layout, addr, value ^ addr, &segment))
		return 0;
	return value ^ addr;
}

/* Find the first segment whose cookie is also in mimalloc's main heap. */
static bool find_first(struct mimalloc *m)
{
	uint64_t tried = 0;

	for (uint64_t addr = next_candidate(m, 0); addr != UINT64_MAX;
	     addr = next_candidate(m, addr + MIMALLOC_SEGMENT_BYTES)) {
		for (size_t i = 0; i < LAYOUT_COUNT; i++) {
			uint64_t cookie = cookie_at(m, &layouts[i], addr);

			if (cookie == 0 || cookie == tried)
				continue;
			tried = cookie;
			m->cookie_addr = find_cookie(m, cookie);
			m->cookie = cookie;
			if (m->cookie_addr != 0)
				return true;
		}
	}
	return false;
}

bool mimalloc_find_segments(struct mimalloc *m)
{
	struct fit best = { 0 };

	if (!find_first(m))
		return false;
	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		struct fit fit = fit_layout(m, &layouts[i], m->cookie);

		if (fit.segment_count == 0 || (m->layout && !is_better(&fit, &best)))
			continue;
		m->layout = &layouts[i];
		best = fit;
	}
	for (uint64_t addr = next_candidate(m, 0); addr != UINT64_MAX;
	     addr = next_candidate(m, addr + MIMALLOC_SEGMENT_BYTES)) {
		struct mimalloc_segment segment;

		if (!read_segment(m, m->layout, addr, m->cookie, &segment))
			continue;
		m->segments = xgrow(m->segments, &m->segment_capacity,
				    m->segment_count + 1, sizeof(*m->segments));
		m->segments[m->segment_count++] = segment;
	}
	return true;
}
