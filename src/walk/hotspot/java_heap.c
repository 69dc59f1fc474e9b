/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/walk.h"

static const char unreadable[] = "the structures of the Java heap cannot be read";

static enum hotspot_collector find_collector(const struct hotspot *h)
{
	return h->flags[FLAG_G1]	   ? HOTSPOT_G1
	       : h->flags[FLAG_SERIAL]	   ? HOTSPOT_SERIAL
	       : h->flags[FLAG_PARALLEL]   ? HOTSPOT_PARALLEL
	       : h->flags[FLAG_Z]	   ? HOTSPOT_Z
	       : h->flags[FLAG_SHENANDOAH] ? HOTSPOT_SHENANDOAH
					   : HOTSPOT_UNKNOWN;
}

static bool read_reserved(struct hotspot *h)
{
	uint64_t range = hotspot_field_addr(h, h->heap_addr, FIELD_HEAP_RESERVED);
	uint64_t start, words;

	if (range == 0 || !hotspot_read_word(h, range, FIELD_RANGE_START, &start) ||
	    !hotspot_read_word(h, range, FIELD_RANGE_WORDS, &words) || start == 0 ||
	    words == 0 || start % IMAGE_PAGE_BYTES != 0 || start >= HOTSPOT_ADDR_MAX ||
	    words > (HOTSPOT_ADDR_MAX - start) / 8)
		return false;
	h->reserved_addr = start;
	h->reserved_end = start + 8 * words;
	return true;
}

/*
 * Add the ranges of a space or of a region: objects from `bottom` to `top`, and free
 * memory from `top` to `end`. Return false if the addresses are not in order or not in
 * the Java heap.
 */
static bool add_objects(struct hotspot *h, uint64_t bottom, uint64_t top, uint64_t end,
			enum hotspot_space space)
{
	if (bottom < h->reserved_addr || bottom > top || top > end ||
	    end > h->reserved_end)
		return false;
	hotspot_add_range(h, bottom, top, HOTSPOT_LIVE, space);
	hotspot_add_range(h, top, end, HOTSPOT_UNUSED, space);
	return true;
}

/*
 * Return the space of a G1 region with the given tag, or HOTSPOT_SPACE_COUNT_ if the tag
 * is unknown.
 */
static enum hotspot_space tag_space(const struct hotspot *h, uint32_t tag)
{
	const int64_t *c = h->constants;

	if (tag == c[CONSTANT_FREE])
		return HOTSPOT_FREE;
	if (tag == c[CONSTANT_EDEN])
		return HOTSPOT_EDEN;
	if (tag == c[CONSTANT_SURVIVOR])
		return HOTSPOT_SURVIVOR;
	if (c[CONSTANT_HUMONGOUS_MASK] > 0 && tag & c[CONSTANT_HUMONGOUS_MASK])
		return HOTSPOT_HUMONGOUS;
	/*
	 * the tag of an archive region also has the bit of old regions, so test the
	 * archive bit first
	 */
	if (c[CONSTANT_ARCHIVE_MASK] > 0 && tag & c[CONSTANT_ARCHIVE_MASK])
		return HOTSPOT_ARCHIVE;
	if (c[CONSTANT_OLD_MASK] > 0 && tag & c[CONSTANT_OLD_MASK])
		return HOTSPOT_OLD;
	return HOTSPOT_SPACE_COUNT_;
}

/*
 * Extend the previous range to include this region, which continues a humongous object
 * that began in an earlier region.
 */
static bool continue_object(struct hotspot *h, uint64_t bottom, uint64_t top)
{
	struct hotspot_range *last = h->range_count > 0 ? &h->ranges[h->range_count - 1]
							: NULL;

	if (!last || last->end_addr != bottom || last->use != HOTSPOT_LIVE ||
	    last->space != HOTSPOT_HUMONGOUS)
		return false;
	last->end_addr = top;
	return true;
}

/*
 * Read a HeapRegion structure. Return false unless it describes the memory from `start`
 * to `end`.
 */
static bool read_region(struct hotspot *h, uint64_t addr, uint64_t start, uint64_t end)
{
	uint64_t bottom, top, region_end;
	enum hotspot_space space;
	uint32_t tag;

	if (!hotspot_read_word(h, addr, FIELD_REGION_BOTTOM, &bottom) ||
	    !hotspot_read_word(h, addr, FIELD_REGION_TOP, &top) ||
	    !hotspot_read_word(h, addr, FIELD_REGION_END, &region_end) ||
	    !hotspot_read_int(h, hotspot_field_addr(h, addr, FIELD_REGION_TYPE),
			      FIELD_REGION_TAG, &tag) ||
	    bottom != start || region_end != end || top < bottom || top > end)
		return false;
	space = tag_space(h, tag);
	if (space == HOTSPOT_SPACE_COUNT_ || (space == HOTSPOT_FREE && top != bottom))
		return false;
	h->spaces[space].count++;
	if (tag == h->constants[CONSTANT_HUMONGOUS_CONTINUED] &&
	    continue_object(h, bottom, top)) {
		hotspot_add_range(h, top, end, HOTSPOT_UNUSED, space);
		return true;
	}
	return add_objects(h, bottom, top, end, space);
}

/*
 * Read G1's table of regions. The entry of a region that was never used is 0. Absent
 * pages of the table contain only such entries, unless the pages are swapped out. The
 * regions that swapped-out pages describe are unknown.
 */
static const char *read_g1(struct hotspot *h)
{
	uint64_t manager = hotspot_field_addr(h, h->heap_addr, FIELD_G1_MANAGER);
	uint64_t table = manager ? hotspot_field_addr(h, manager, FIELD_G1_REGIONS) : 0;
	uint64_t base, count, bytes, addr, end;

	if (table == 0 || !hotspot_read_word(h, table, FIELD_G1_TABLE_BASE, &base) ||
	    !hotspot_read_word(h, table, FIELD_G1_TABLE_LENGTH, &count) ||
	    !hotspot_read_word(h, 0, FIELD_REGION_BYTES, &bytes) ||
	    bytes < IMAGE_PAGE_BYTES || bytes % IMAGE_PAGE_BYTES != 0 ||
	    (h->reserved_end - h->reserved_addr) / bytes != count ||
	    (h->reserved_end - h->reserved_addr) % bytes != 0 || base % 8 != 0 ||
	    base > HOTSPOT_ADDR_MAX - 8 * count)
		return unreadable;
	end = base + 8 * count;
	for (addr = image_next_resident(h->image, base, end); addr < end;
	     addr = image_next_resident(h->image, addr + 8, end)) {
		uint64_t start = h->reserved_addr + (addr - base) / 8 * bytes, region;

		if (!image_read(h->image, addr, &region) || region == 0)
			continue;
		if (read_region(h, region, start, start + bytes))
			continue;
		h->broken_count++;
		hotspot_add_range(h, start, start + bytes, HOTSPOT_SKIPPED, HOTSPOT_OLD);
	}
	return NULL;
}

/* The fields that describe a space of the Serial and Parallel collectors. */
struct space_fields {
	enum hotspot_field bottom, top, end;
};

static const struct space_fields contiguous = { FIELD_SPACE_BOTTOM, FIELD_CONTIGUOUS_TOP,
						FIELD_SPACE_END };
static const struct space_fields mutable = { FIELD_MUTABLE_BOTTOM, FIELD_MUTABLE_TOP,
					     FIELD_MUTABLE_END };

/* Read the space to which a field of a generation points. */
static bool read_space(struct hotspot *h, uint64_t generation_addr,
		       enum hotspot_field field, const struct space_fields *fields,
		       enum hotspot_space space)
{
	uint64_t addr, bottom, top, end;

	h->spaces[space].count++;
	return hotspot_read_word(h, generation_addr, field, &addr) &&
	       hotspot_read_word(h, addr, fields->bottom, &bottom) &&
	       hotspot_read_word(h, addr, fields->top, &top) &&
	       hotspot_read_word(h, addr, fields->end, &end) &&
	       add_objects(h, bottom, top, end, space);
}

/*
 * Add the reserved memory that belongs to no space as free memory. Such memory remains
 * when spaces are resized, or has not been used yet.
 */
static void add_gaps(struct hotspot *h)
{
	uint64_t addr = h->reserved_addr;
	size_t end = h->range_count;

	/* there are few ranges, so a linear search for the next one is fast enough */
	while (addr < h->reserved_end) {
		uint64_t next = h->reserved_end, next_end = next;

		for (size_t i = 0; i < end; i++)
			if (h->ranges[i].end_addr > addr &&
			    h->ranges[i].start_addr < next) {
				next = h->ranges[i].start_addr;
				next_end = h->ranges[i].end_addr;
			}
		if (next > addr)
			hotspot_add_range(h, addr, next, HOTSPOT_UNUSED, HOTSPOT_FREE);
		addr = next_end;
	}
}

static const char *read_serial(struct hotspot *h)
{
	uint64_t young, old;

	if (!hotspot_read_word(h, h->heap_addr, FIELD_SERIAL_YOUNG, &young) ||
	    !hotspot_read_word(h, h->heap_addr, FIELD_SERIAL_OLD, &old) ||
	    !read_space(h, young, FIELD_DEFNEW_EDEN, &contiguous, HOTSPOT_EDEN) ||
	    !read_space(h, young, FIELD_DEFNEW_FROM, &contiguous, HOTSPOT_SURVIVOR) ||
	    !read_space(h, young, FIELD_DEFNEW_TO, &contiguous, HOTSPOT_SURVIVOR) ||
	    !read_space(h, old, FIELD_TENURED_SPACE, &contiguous, HOTSPOT_OLD))
		return unreadable;
	add_gaps(h);
	return NULL;
}

static const char *read_parallel(struct hotspot *h)
{
	uint64_t young, old;

	if (!hotspot_read_word(h, 0, FIELD_PARALLEL_YOUNG, &young) ||
	    !hotspot_read_word(h, 0, FIELD_PARALLEL_OLD, &old) ||
	    !read_space(h, young, FIELD_PARALLEL_EDEN, &mutable, HOTSPOT_EDEN) ||
	    !read_space(h, young, FIELD_PARALLEL_FROM, &mutable, HOTSPOT_SURVIVOR) ||
	    !read_space(h, young, FIELD_PARALLEL_TO, &mutable, HOTSPOT_SURVIVOR) ||
	    !read_space(h, old, FIELD_PARALLEL_OLD_SPACE, &mutable, HOTSPOT_OLD))
		return unreadable;
	add_gaps(h);
	return NULL;
}

/*
 * Read the figures that ZGC itself maintains. The heap of ZGC is shared memory, which the
 * walker does not read.
 */
static void read_z(struct hotspot *h)
{
	struct heap_space *space = &h->spaces[HOTSPOT_SHARED];
	uint64_t heap = hotspot_field_addr(h, h->heap_addr, FIELD_Z_HEAP);
	uint64_t allocator = heap ? hotspot_field_addr(h, heap, FIELD_Z_ALLOCATOR) : 0;
	uint64_t used, capacity;

	if (allocator == 0 || !hotspot_read_word(h, allocator, FIELD_Z_USED, &used) ||
	    !hotspot_read_word(h, allocator, FIELD_Z_CAPACITY, &capacity) ||
	    used > capacity || capacity > HOTSPOT_ADDR_MAX)
		return;
	space->count = 1;
	space->live_bytes = used;
	space->free_bytes = capacity - used;
}

const char *hotspot_read_java_heap(struct hotspot *h)
{
	h->collector = find_collector(h);
	if (!hotspot_read_bool(h, h->heap_addr, FIELD_HEAP_IS_ACTIVE, &h->is_collecting))
		h->is_collecting = false;
	if (h->collector == HOTSPOT_Z)
		read_z(h);
	if (h->collector == HOTSPOT_UNKNOWN || h->collector == HOTSPOT_Z ||
	    h->collector == HOTSPOT_SHENANDOAH)
		return NULL;
	if (!read_reserved(h))
		return unreadable;
	switch (h->collector) {
	case HOTSPOT_G1: return read_g1(h);
	case HOTSPOT_SERIAL: return read_serial(h);
	default: return read_parallel(h);
	}
}
