/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/oldmalloc/walk.h"

#include <string.h>

#include "base/xalloc.h"

/* Minimum number of chunks in a region that contains inconsistent chunks. */
#define BROKEN_CHUNKS_MIN 8

struct head {
	uint64_t prev_size, size;
};

static bool read_head(struct oldmalloc *m, uint64_t addr, struct head *ret)
{
	const uint8_t *at = image_at(m->image, addr, sizeof(*ret));

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at != NULL;
}

static uint64_t chunk_bytes(const struct head *head)
{
	return head->size & ~OLDMALLOC_IN_USE;
}

/*
 * Return true if `head` may be the head of a chunk at addr: its size is valid, and the
 * chunk ends before limit.
 */
static bool is_chunk(const struct head *head, uint64_t addr, uint64_t limit)
{
	uint64_t bytes = chunk_bytes(head);

	return bytes >= OLDMALLOC_ALIGN && bytes % OLDMALLOC_ALIGN == 0 &&
	       bytes < limit - addr;
}

/*
 * Follow the chunks from addr, the first chunk of a region, to the region's end, which
 * must be below limit. Return false if this is not a region. If the process was paused
 * while it changed a chunk, one of the two copies of its size may be out of date.
 */
static bool follow(struct oldmalloc *m, uint64_t addr, uint64_t limit,
		   struct oldmalloc_region *ret)
{
	uint64_t prev_size = OLDMALLOC_IN_USE, count = 0, broken = 0;
	struct head head;

	ret->first_addr = addr;
	for (;; count++) {
		if (!oldmalloc_spend(m, 2) || addr >= limit || !read_head(m, addr, &head))
			return false;
		if (head.prev_size != prev_size && (count == 0 || ++broken > 2))
			return false;
		if (head.size == OLDMALLOC_IN_USE)
			break;
		if (!is_chunk(&head, addr, limit))
			return false;
		prev_size = head.size;
		addr += chunk_bytes(&head);
	}
	if (count == 0 || (broken > 0 && count < BROKEN_CHUNKS_MIN))
		return false;
	m->broken_count += broken;
	ret->last_addr = addr;
	ret->is_mapped = false;
	return true;
}

static void add_region(struct oldmalloc *m, const struct oldmalloc_region *region)
{
	m->regions = xgrow(m->regions, &m->region_capacity, m->region_count + 1,
			   sizeof(*m->regions));
	m->regions[m->region_count++] = *region;
}

/* Return true if a region from brk() or mmap() begins at addr, the start of a page. */
static bool read_region(struct oldmalloc *m, uint64_t addr, uint64_t limit,
			struct oldmalloc_region *ret)
{
	if (!follow(m, addr + OLDMALLOC_HEAD_BYTES, limit, ret) ||
	    (ret->last_addr + OLDMALLOC_HEAD_BYTES) % IMAGE_PAGE_BYTES != 0)
		return false;
	ret->start_addr = addr;
	ret->end_addr = ret->last_addr + OLDMALLOC_HEAD_BYTES;
	return true;
}

/*
 * Return true if the head of a mapped block is at addr, and the block's mapping begins at
 * start_addr. The word before the size must be the distance between the two addresses.
 */
static bool is_mapped_head(struct oldmalloc *m, uint64_t addr, uint64_t start_addr,
			   uint64_t limit, struct head *ret)
{
	return addr < limit && read_head(m, addr, ret) && ret->size != 0 &&
	       ret->prev_size == addr - start_addr &&
	       ret->size % OLDMALLOC_HEAD_BYTES == 0 && ret->size <= limit - addr &&
	       (addr + ret->size) % IMAGE_PAGE_BYTES == 0;
}

/*
 * Return the address of the valid head of the block whose first head is at addr. An
 * aligned block has a second head directly before it; the size in the first head may then
 * be out of date.
 */
static uint64_t find_aligned(struct oldmalloc *m, uint64_t addr, uint64_t start_addr,
			     uint64_t limit, struct head *head)
{
	for (uint64_t align = 2 * OLDMALLOC_ALIGN; align < limit - start_addr;
	     align *= 2) {
		uint64_t block = (addr + OLDMALLOC_HEAD_BYTES + align - 1) & ~(align - 1);
		struct head found;

		if (!is_mapped_head(m, block - OLDMALLOC_HEAD_BYTES, start_addr, limit,
				    &found) ||
		    block - OLDMALLOC_HEAD_BYTES == addr)
			continue;
		*head = found;
		return block - OLDMALLOC_HEAD_BYTES;
	}
	return addr;
}

/* Return true if a block with its own mapping starts at `start` and ends before limit. */
static bool read_mapped(struct oldmalloc *m, uint64_t start, uint64_t limit,
			struct oldmalloc_region *ret)
{
	uint64_t addr = start + OLDMALLOC_HEAD_BYTES, words[2];
	struct head head;

	/* the first 16 bytes of a block's own mapping are never written, so they are 0 */
	if (!image_read(m->image, start, &words[0]) || words[0] != 0 ||
	    !image_read(m->image, start + 8, &words[1]) || words[1] != 0 ||
	    !is_mapped_head(m, addr, start, UINT64_MAX, &head))
		return false;
	addr = find_aligned(m, addr, start, limit, &head);
	if (head.size > limit - addr)
		return false;
	*ret = (struct oldmalloc_region){
		.start_addr = start,
		.first_addr = addr,
		.last_addr = addr + head.size,
		.end_addr = addr + head.size,
		.is_mapped = true,
	};
	return true;
}

/* Find the regions and mapped blocks in the anonymous memory [first, limit). */
static void search_anonymous(struct oldmalloc *m, uint64_t first, uint64_t limit)
{
	uint64_t addr = first;

	while ((addr = image_next_resident(m->image, addr, limit)) < limit) {
		struct oldmalloc_region region;

		if (!oldmalloc_spend(m, 64)) {
			m->broken_count++;
			return;
		}
		if (!walk_is_claimed(m->input, addr) &&
		    (read_region(m, addr, limit, &region) ||
		     read_mapped(m, addr, limit, &region))) {
			add_region(m, &region);
			addr = region.end_addr;
		} else {
			addr += IMAGE_PAGE_BYTES;
		}
	}
}

/*
 * Find the regions in [first, limit), the static data of a program or library. These
 * regions may begin and end at any address.
 */
static void search_data(struct oldmalloc *m, uint64_t first, uint64_t limit)
{
	uint64_t addr = first;

	while ((addr = image_next_resident(m->image, addr, limit)) < limit) {
		struct oldmalloc_region region;
		struct head head;

		addr = (addr & ~(OLDMALLOC_ALIGN - 1)) + OLDMALLOC_HEAD_BYTES;
		if (!oldmalloc_spend(m, 2)) {
			m->broken_count++;
			return;
		}
		if (read_head(m, addr, &head) && head.prev_size == OLDMALLOC_IN_USE &&
		    head.size > OLDMALLOC_IN_USE && follow(m, addr, limit, &region)) {
			region.start_addr = region.first_addr;
			region.end_addr = region.last_addr + OLDMALLOC_HEAD_BYTES;
			add_region(m, &region);
			addr = region.end_addr;
		} else {
			addr += OLDMALLOC_HEAD_BYTES;
		}
	}
}

/*
 * Return true if the mapping contains static data: the data of a file, or the anonymous
 * memory directly after the data (.bss).
 */
static bool is_data(const struct mapping_list *list, size_t index)
{
	for (; list->items[index].inode == 0; index--)
		if (index == 0 || strcmp(list->items[index].name, "[heap]") == 0 ||
		    list->items[index - 1].end_addr != list->items[index].start_addr ||
		    !walk_wants_mapping(&list->items[index - 1]))
			return false;
	return true;
}

void oldmalloc_find_regions(struct oldmalloc *m)
{
	const struct mapping_list *list = m->input->mappings;

	for (size_t i = 0; i < list->count; i++) {
		const struct mapping *mapping = &list->items[i];

		if (!walk_wants_mapping(mapping) || strcmp(mapping->name, "[stack]") == 0)
			continue;
		if (mapping->inode == 0)
			search_anonymous(m, mapping->start_addr, mapping->end_addr);
		if (is_data(list, i))
			search_data(m, mapping->start_addr, mapping->end_addr);
	}
}
