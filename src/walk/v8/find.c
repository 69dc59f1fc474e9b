/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/v8/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"

static const struct v8_layout layouts[] = {
	/* V8 10.2: Node.js 18 */
	{ .is_apart = false,
	  .size = 0,
	  .heap = 2,
	  .start = 3,
	  .end = 4,
	  .allocated = 5,
	  .wasted = 6,
	  .owner = 8,
	  .next = 29,
	  .categories = 31,
	  .front = 21,
	  .capacity = 32,
	  .executable_bit = 0,
	  .trusted_bit = V8_BIT_NONE,
	  .large_bit = 5,
	  .free_unit_bytes = 1,
	  .state = 576 },
	/* V8 11.3: Node.js 20 */
	{ .is_apart = false,
	  .size = 0,
	  .heap = 2,
	  .start = 3,
	  .end = 4,
	  .allocated = 5,
	  .wasted = 6,
	  .owner = 8,
	  .next = 33,
	  .categories = 35,
	  .front = 5,
	  .capacity = 17,
	  .executable_bit = 21,
	  .trusted_bit = V8_BIT_NONE,
	  .large_bit = 7,
	  .free_unit_bytes = 1,
	  .state = 552 },
	/* V8 12.4: Node.js 22 */
	{ .is_apart = true,
	  .size = 2,
	  .heap = 3,
	  .start = 4,
	  .end = 5,
	  .allocated = 6,
	  .wasted = 7,
	  .owner = 9,
	  .next = 33,
	  .categories = 35,
	  .front = 5,
	  .capacity = 12,
	  .executable_bit = 18,
	  .trusted_bit = 19,
	  .large_bit = 7,
	  .free_unit_bytes = 1,
	  .state = 408 },
	/* V8 13.6: Node.js 24 */
	{ .is_apart = true,
	  .size = 2,
	  .heap = 8,
	  .start = 9,
	  .end = 7,
	  .allocated = 3,
	  .wasted = 4,
	  .owner = 10,
	  .next = 33,
	  .categories = 35,
	  .front = 5,
	  .capacity = 13,
	  .executable_bit = 21,
	  .trusted_bit = 22,
	  .large_bit = 10,
	  .free_unit_bytes = 8,
	  .state = 544 },
};

#define DESCRIPTOR_WORDS 36
/* maximum number of bytes before the area of a chunk */
#define HEADER_MAX UINT64_C(65536)
#define CHUNK_MAX (UINT64_C(1) << 40)
#define CHUNKS_MIN 3
/*
 * States of a heap during a collection: SCAVENGE, MARK_COMPACT, and a minor collection
 * that marks.
 */
#define STATE_FIRST 1
#define STATE_LAST 3
#define OWNERS_MAX 1000 /* spaces of all isolates */

static bool is_addr(uint64_t value)
{
	return value >= IMAGE_PAGE_BYTES && value % 8 == 0 &&
	       value >> WALK_ADDR_BITS == 0;
}

/* Return true if the members of a descriptor are consistent. */
static bool is_sound(struct v8 *v, const struct v8_chunk *chunk, uint64_t bytes)
{
	uint64_t word;

	return bytes >= IMAGE_PAGE_BYTES && bytes % IMAGE_PAGE_BYTES == 0 &&
	       bytes < CHUNK_MAX && chunk->area_addr > chunk->addr &&
	       chunk->area_addr - chunk->addr < HEADER_MAX && chunk->area_addr % 8 == 0 &&
	       chunk->area_end_addr % 8 == 0 && chunk->area_end_addr > chunk->area_addr &&
	       chunk->area_end_addr <= chunk->end_addr &&
	       chunk->allocated_bytes <= chunk->area_end_addr - chunk->area_addr &&
	       is_addr(chunk->heap_addr) && is_addr(chunk->owner_addr) &&
	       image_read(v->image, chunk->heap_addr, &word) &&
	       image_read(v->image, chunk->owner_addr, &word);
}

/* Set *ret to the chunk at addr. Return false if no chunk is there. */
static bool read_chunk(struct v8 *v, uint64_t addr, struct v8_chunk *ret)
{
	const struct v8_layout *l = v->layout;
	uint64_t words[DESCRIPTOR_WORDS], descriptor = addr;
	const uint8_t *at;

	*ret = (struct v8_chunk){ .addr = addr };
	if (!image_read(v->image, addr + (l->is_apart ? 0 : 8), &ret->flags))
		return false;
	if (l->is_apart &&
	    (!image_read(v->image, addr + 8, &descriptor) || !is_addr(descriptor)))
		return false;
	at = image_at(v->image, descriptor, sizeof(words));
	if (!at)
		return false;
	memcpy(words, at, sizeof(words));
	if (l->is_apart && words[1] != addr)
		return false;
	ret->descriptor_addr = descriptor;
	ret->end_addr = addr + words[l->size];
	ret->area_addr = words[l->start];
	ret->area_end_addr = words[l->end];
	ret->heap_addr = words[l->heap];
	ret->owner_addr = words[l->owner];
	ret->allocated_bytes = words[l->allocated];
	ret->wasted_bytes = words[l->wasted];
	ret->next_addr = words[l->next];
	ret->prev_addr = words[l->next + 1];
	return is_sound(v, ret, words[l->size]);
}

static void add_chunk(struct v8 *v, const struct v8_chunk *chunk)
{
	v->chunks = xgrow(v->chunks, &v->chunk_capacity, v->chunk_count + 1,
			  sizeof(*v->chunks));
	v->chunks[v->chunk_count++] = *chunk;
}

/* List the chunks, in ascending address order. A chunk does not begin inside another. */
static void list_chunks(struct v8 *v)
{
	uint64_t done_addr = 0;

	v->chunk_count = 0;
	for (size_t i = 0; i < v->image->run_count; i++) {
		const struct image_run run = v->image->runs[i];
		uint64_t addr = run.start_addr;

		addr = (addr + V8_CHUNK_BYTES - 1) & ~(V8_CHUNK_BYTES - 1);
		for (; addr >= run.start_addr && addr < run.end_addr;
		     addr += V8_CHUNK_BYTES) {
			struct v8_chunk chunk;

			if (addr < done_addr || !read_chunk(v, addr, &chunk))
				continue;
			add_chunk(v, &chunk);
			done_addr = chunk.end_addr;
		}
	}
}

static int compare_descriptors(const void *a, const void *b)
{
	const struct v8_chunk *x = a, *y = b;

	return (x->descriptor_addr > y->descriptor_addr) -
	       (x->descriptor_addr < y->descriptor_addr);
}

static int compare_addrs(const void *a, const void *b)
{
	const struct v8_chunk *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Return the chunk with this descriptor, or NULL. Chunks are sorted by descriptor. */
static struct v8_chunk *find_chunk(struct v8 *v, uint64_t descriptor_addr)
{
	size_t i = SEARCH_FIRST(v->chunk_count, k,
				v->chunks[k].descriptor_addr >= descriptor_addr);

	return i < v->chunk_count && v->chunks[i].descriptor_addr == descriptor_addr
		       ? &v->chunks[i]
		       : NULL;
}

/*
 * Mark the chunks in the list of a space, and set *ret_count to their number. Return
 * false if the list contains anything other than chunks of the space.
 */
static bool read_list(struct v8 *v, uint64_t owner_addr, uint64_t *ret_count)
{
	uint64_t front_addr = owner_addr + UINT64_C(8) * v->layout->front;
	uint64_t at, back, prev = 0;

	*ret_count = 0;
	if (!image_read(v->image, front_addr, &at) ||
	    !image_read(v->image, front_addr + 8, &back))
		return false;
	while (at != 0) {
		struct v8_chunk *chunk = find_chunk(v, at);

		if (!chunk || chunk->is_in_list || chunk->owner_addr != owner_addr ||
		    chunk->prev_addr != prev)
			return false;
		chunk->is_in_list = true;
		chunk->place = (*ret_count)++;
		prev = at;
		at = chunk->next_addr;
	}
	return back == prev;
}

static void mark_broken(struct v8 *v, uint64_t owner_addr)
{
	for (size_t i = 0; i < v->chunk_count; i++)
		if (v->chunks[i].owner_addr == owner_addr)
			v->chunks[i].is_broken = true;
}

/* Read the lists of all spaces. Return the number of chunks in valid lists. */
static uint64_t read_lists(struct v8 *v)
{
	uint64_t owners[OWNERS_MAX], count, sum = 0;
	size_t owner_count = 0;

	if (v->chunk_count > 0)
		qsort(v->chunks, v->chunk_count, sizeof(*v->chunks), compare_descriptors);
	for (size_t i = 0; i < v->chunk_count; i++) {
		uint64_t owner = v->chunks[i].owner_addr;
		size_t k = 0;

		while (k < owner_count && owners[k] != owner)
			k++;
		if (k < owner_count)
			continue;
		if (owner_count == OWNERS_MAX) {
			v->chunks[i].is_broken = true;
			continue;
		}
		owners[owner_count++] = owner;
		if (read_list(v, owner, &count))
			sum += count;
		else
			mark_broken(v, owner);
	}
	return sum;
}

static bool is_collecting_heap(struct v8 *v, uint64_t heap_addr)
{
	const uint8_t *at = image_at(v->image, heap_addr + v->layout->state, 4);
	uint32_t state = 0;

	if (at)
		memcpy(&state, at, sizeof(state));
	return state >= STATE_FIRST && state <= STATE_LAST;
}

/*
 * Return true if V8 was collecting garbage in one of its heaps. During a collection, V8
 * moves objects: an object may exist both at its old and at its new address.
 */
static bool is_collecting(struct v8 *v)
{
	uint64_t last_addr = 0;

	for (size_t i = 0; i < v->chunk_count; i++) {
		uint64_t heap_addr = v->chunks[i].heap_addr;

		if (heap_addr != last_addr && is_collecting_heap(v, heap_addr))
			return true;
		last_addr = heap_addr;
	}
	return false;
}

/*
 * Return true if the start of a chunk may be swapped out. Chunks are sorted by address.
 */
static bool may_lack_chunk(const struct v8 *v)
{
	uint64_t addr = 0;

	while ((addr = walk_next_swapped(v->input, addr, V8_CHUNK_BYTES, false)) !=
	       UINT64_MAX) {
		size_t i = SEARCH_FIRST(v->chunk_count, k, v->chunks[k].end_addr > addr);

		if (i == v->chunk_count || v->chunks[i].addr > addr)
			return true;
		addr = v->chunks[i].end_addr;
	}
	return false;
}

const char *v8_find(struct v8 *v)
{
	const struct v8_layout *best = NULL;
	uint64_t most = CHUNKS_MIN - 1;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		uint64_t count;

		v->layout = &layouts[i];
		list_chunks(v);
		count = read_lists(v);
		if (count <= most)
			continue;
		most = count;
		best = v->layout;
	}
	if (!best)
		return "V8's heap was not found";
	v->layout = best;
	list_chunks(v);
	read_lists(v);
	qsort(v->chunks, v->chunk_count, sizeof(*v->chunks), compare_addrs);
	v->may_lack_chunk = may_lack_chunk(v);
	v->is_collecting = is_collecting(v);
	return NULL;
}
