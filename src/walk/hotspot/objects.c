/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "walk/hotspot/klasses.h"
#include "walk/hotspot/pages.h"
#include "walk/hotspot/walk.h"

/* Offset of the length in an array: after a class pointer of 4 or 8 bytes. */
#define NARROW_LENGTH_OFFSET 12
#define WIDE_LENGTH_OFFSET 16

#define ALIGNMENT_MAX 256
#define SHIFT_MAX 10
#define RESERVED_WORDS_MAX 4096

/* The unused end of a thread's allocation buffer. */
struct buffer_end {
	uint64_t start_addr, end_addr;
};

struct counting {
	struct hotspot h;
	struct hotspot_klasses *klasses;
	uint64_t alignment;
	bool is_narrow; /* true if class pointers are 4 bytes long */
	uint64_t narrow_base;
	uint32_t narrow_shift;
	uint64_t mirror_offset; /* offset of the size in objects of java.lang.Class */
	struct buffer_end *ends;
	size_t end_count, end_capacity;
	struct heap_objects *objects;
};

static bool read_static_int(struct counting *c, enum hotspot_field field, uint32_t *ret)
{
	return hotspot_read_int(&c->h, 0, field, ret);
}

/*
 * Read the settings of the JVM that determine the layout of object headers. Return false
 * if the layout is unknown.
 */
static bool read_headers(struct counting *c)
{
	struct hotspot *h = &c->h;
	uint32_t mirror_offset;

	/*
	 * the value of ObjectAlignmentInBytes is 8 bytes long up to OpenJDK 21, and 4
	 * bytes long in later versions
	 */
	c->alignment = (uint32_t)h->flags[FLAG_ALIGNMENT];
	c->is_narrow = h->flags[FLAG_CLASS_POINTERS] != 0;
	if (c->alignment < 8 || c->alignment > ALIGNMENT_MAX ||
	    (c->alignment & (c->alignment - 1)) != 0 || h->flags[FLAG_COMPACT_HEADERS] ||
	    !read_static_int(c, FIELD_MIRROR_WORDS, &mirror_offset) ||
	    mirror_offset % 4 != 0 || mirror_offset > IMAGE_PAGE_BYTES)
		return false;
	c->mirror_offset = mirror_offset;
	if (!c->is_narrow)
		return h->fields[FIELD_OBJECT_KLASS] != HOTSPOT_ABSENT;
	return h->fields[FIELD_OBJECT_NARROW_KLASS] != HOTSPOT_ABSENT &&
	       hotspot_read_word(h, 0, FIELD_NARROW_BASE, &c->narrow_base) &&
	       read_static_int(c, FIELD_NARROW_SHIFT, &c->narrow_shift) &&
	       c->narrow_base < HOTSPOT_ADDR_MAX && c->narrow_shift <= SHIFT_MAX;
}

static uint64_t align(const struct counting *c, uint64_t bytes)
{
	return (bytes + c->alignment - 1) & ~(c->alignment - 1);
}

/*
 * Return the number of bytes that the JVM keeps unused at the end of an
 * allocation buffer, for prefetching and for the header of an array that fills
 * the rest of the buffer.
 */
static uint64_t reserved_bytes(struct counting *c)
{
	uint64_t filler = c->is_narrow ? 16 : 24;
	uint32_t words = 0;

	if (!read_static_int(c, FIELD_TLAB_RESERVED_WORDS, &words) ||
	    words > RESERVED_WORDS_MAX)
		words = 0;
	return align(c, 8 * (uint64_t)words > filler ? 8 * (uint64_t)words : filler);
}

static void add_buffer_end(void *context, uint64_t thread)
{
	struct counting *c = context;
	uint64_t buffer = hotspot_field_addr(&c->h, thread, FIELD_THREAD_TLAB);
	uint64_t top, end;

	if (buffer == 0 || !hotspot_read_word(&c->h, buffer, FIELD_TLAB_TOP, &top) ||
	    !hotspot_read_word(&c->h, buffer, FIELD_TLAB_END, &end) || top == 0 ||
	    top > end || end >= HOTSPOT_ADDR_MAX)
		return;
	c->ends = xgrow(c->ends, &c->end_capacity, c->end_count + 1, sizeof(*c->ends));
	c->ends[c->end_count++] = (struct buffer_end){ top, end + reserved_bytes(c) };
}

static int compare_ends(const void *a, const void *b)
{
	const struct buffer_end *end_a = a, *end_b = b;

	return (end_a->start_addr > end_b->start_addr) -
	       (end_a->start_addr < end_b->start_addr);
}

static void read_buffers(struct counting *c)
{
	hotspot_for_each_thread(&c->h, add_buffer_end, c);
	if (c->end_count > 0)
		qsort(c->ends, c->end_count, sizeof(*c->ends), compare_ends);
}

static struct hotspot_klass *klass_of(struct counting *c, uint64_t object)
{
	uint64_t addr;
	uint32_t narrow;

	if (!c->is_narrow) {
		uint64_t at = hotspot_field_addr(&c->h, object, FIELD_OBJECT_KLASS);

		return hotspot_page_read(&c->h, at, &addr, sizeof(addr))
			       ? hotspot_klasses_find(c->klasses, addr)
			       : NULL;
	}
	addr = hotspot_field_addr(&c->h, object, FIELD_OBJECT_NARROW_KLASS);
	if (!hotspot_page_read(&c->h, addr, &narrow, sizeof(narrow)) || narrow == 0)
		return NULL;
	return hotspot_klasses_find(
		c->klasses, c->narrow_base + ((uint64_t)narrow << c->narrow_shift));
}

/* Return the size of an object, or 0 if it is invalid. */
static uint64_t size_of(struct counting *c, uint64_t object,
			const struct hotspot_klass *klass)
{
	uint32_t number;

	if (klass->is_array) {
		uint64_t offset = c->is_narrow ? NARROW_LENGTH_OFFSET
					       : WIDE_LENGTH_OFFSET;

		if (!hotspot_page_read(&c->h, object + offset, &number, sizeof(number)) ||
		    number > INT32_MAX)
			return 0;
		return align(c, klass->bytes + ((uint64_t)number << klass->log2_element));
	}
	if (!klass->is_mirror)
		return align(c, klass->bytes);
	if (!hotspot_page_read(&c->h, object + c->mirror_offset, &number,
			       sizeof(number)) ||
	    number > IMAGE_PAGE_BYTES * 16 || 8 * (uint64_t)number < klass->bytes)
		return 0;
	return align(c, 8 * (uint64_t)number);
}

/* If unused memory begins at addr, return its end. Otherwise return addr. */
static uint64_t skip_buffer_end(const struct counting *c, uint64_t addr, size_t *next)
{
	while (*next < c->end_count && c->ends[*next].start_addr < addr)
		(*next)++;
	return *next < c->end_count && c->ends[*next].start_addr == addr
		       ? c->ends[*next].end_addr
		       : addr;
}

/*
 * Count the object at addr. Return its end, or 0 if it is invalid or extends beyond
 * `limit` or into unused memory.
 */
static uint64_t count_object(struct counting *c, uint64_t addr, uint64_t limit,
			     size_t next)
{
	struct hotspot_klass *klass = klass_of(c, addr);
	uint64_t bytes = klass ? size_of(c, addr, klass) : 0;

	if (next < c->end_count && c->ends[next].start_addr < limit)
		limit = c->ends[next].start_addr;
	if (bytes == 0 || bytes > limit - addr)
		return 0;
	chunk_sum_add(&klass->live, bytes);
	return addr + bytes;
}

static void count_range(struct counting *c, const struct hotspot_range *range)
{
	uint64_t addr = range->start_addr, end = range->end_addr;
	size_t next = 0;

	while (addr < end) {
		uint64_t used = skip_buffer_end(c, addr, &next);

		if (used > addr) {
			used = used < end ? used : end;
			chunk_sum_add(&c->objects->unused, used - addr);
			addr = used;
			continue;
		}
		used = count_object(c, addr, end, next);
		if (used == 0) {
			chunk_sum_add(&c->objects->other, end - addr);
			c->objects->problem =
				"some regions contain objects that cannot be "
				"identified";
			return;
		}
		addr = used;
	}
}

static void count_ranges(struct counting *c)
{
	const struct hotspot_klass *klass;

	c->klasses = hotspot_klasses_new(&c->h);
	read_buffers(c);
	for (size_t i = 0; i < c->h.range_count; i++)
		if (c->h.ranges[i].use == HOTSPOT_LIVE &&
		    c->h.ranges[i].space < HOTSPOT_FREE)
			count_range(c, &c->h.ranges[i]);
	for (size_t i = 0; (klass = hotspot_klasses_at(c->klasses, i)); i++)
		if (klass->live.count > 0)
			heap_objects_add(c->objects, klass->name, &klass->live);
	heap_objects_sort(c->objects);
	hotspot_klasses_free(c->klasses);
}

void hotspot_count_objects(const struct walk_input *input, struct heap_objects *ret)
{
	struct counting c = {
		.h = { .input = input, .image = input->image },
		.objects = ret,
	};

	memset(ret, 0, sizeof(*ret));
	ret->allocator = ALLOCATOR_HOTSPOT;
	ret->problem = hotspot_find(&c.h);
	if (!ret->problem)
		ret->problem = hotspot_read_java_heap(&c.h);
	if (!ret->problem && c.h.is_collecting)
		ret->problem = "the JVM was collecting garbage";
	if (!ret->problem && c.h.reserved_addr == 0)
		ret->problem = "memstate cannot read the heap of this garbage collector";
	if (!ret->problem && !read_headers(&c))
		ret->problem = "the headers of objects have an unknown format";
	if (!ret->problem)
		count_ranges(&c);
	hotspot_free_pages(&c.h);
	free(c.h.ranges);
	free(c.ends);
}
