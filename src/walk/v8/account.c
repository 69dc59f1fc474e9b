/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/v8/walk.h"

#include "base/search.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

static const char *const space_names[V8_KIND_COUNT_] = {
	[V8_NEW] = "new space",
	[V8_OLD] = "old space",
	[V8_CODE] = "code space",
	[V8_TRUSTED] = "trusted space",
	[V8_NEW_LARGE] = "new large object space",
	[V8_LARGE] = "large object space",
	[V8_CODE_LARGE] = "code large object space",
	[V8_TRUSTED_LARGE] = "trusted large object space",
	[V8_POOLED] = "chunks kept for reuse",
};

static bool is_new(const struct v8_chunk *chunk)
{
	return v8_has_flag(chunk, V8_TO_BIT) || v8_has_flag(chunk, V8_FROM_BIT);
}

static enum v8_kind kind_of(const struct v8 *v, const struct v8_chunk *chunk)
{
	bool is_large = v8_has_flag(chunk, v->layout->large_bit);

	if (!chunk->is_in_list)
		return V8_POOLED;
	if (is_new(chunk))
		return is_large ? V8_NEW_LARGE : V8_NEW;
	if (v8_has_flag(chunk, v->layout->executable_bit))
		return is_large ? V8_CODE_LARGE : V8_CODE;
	if (v8_has_flag(chunk, v->layout->trusted_bit))
		return is_large ? V8_TRUSTED_LARGE : V8_TRUSTED;
	return is_large ? V8_LARGE : V8_OLD;
}

static uint64_t top_of(struct v8 *v, uint64_t heap_addr)
{
	for (size_t i = 0; i < v->top_count; i++)
		if (v->tops[i].heap_addr == heap_addr)
			return v->tops[i].top_addr;
	v->tops = xgrow(v->tops, &v->top_capacity, v->top_count + 1, sizeof(*v->tops));
	v->tops[v->top_count] = (struct v8_top){ heap_addr, v8_find_top(v, heap_addr) };
	return v->tops[v->top_count++].top_addr;
}

/*
 * Return the end of the objects in a chunk of a new space. In the list of the space, the
 * chunks before the one with the allocation area are full, and the chunks after it are
 * empty.
 */
static uint64_t find_end(struct v8 *v, const struct v8_chunk *chunk)
{
	uint64_t top;
	size_t i;

	if (v8_has_flag(chunk, V8_FROM_BIT))
		return chunk->area_addr;
	top = top_of(v, chunk->heap_addr);
	/*
	 * `top` is the end of the objects, and equals the end of the chunk if the chunk
	 * is full
	 */
	i = SEARCH_FIRST(v->chunk_count, k, v->chunks[k].end_addr >= top);
	if (top == 0 || i == v->chunk_count) {
		v->has_unknown_top = true;
		return chunk->area_end_addr;
	}
	if (chunk->place < v->chunks[i].place)
		return chunk->area_end_addr;
	return chunk == &v->chunks[i] ? top : chunk->area_addr;
}

/* Count the chunk's area as live up to end_addr and as free after it. */
static void account_until(struct v8 *v, const struct v8_chunk *chunk, uint64_t end_addr,
			  struct heap_space *space)
{
	page_use_add(v->blocks, chunk->area_addr, end_addr, USE_LIVE);
	page_use_add(v->blocks, end_addr, chunk->area_end_addr, USE_FREE);
	space->live_bytes += end_addr - chunk->area_addr;
	space->free_bytes += chunk->area_end_addr - end_addr;
}

static struct v8_space *find_listed(struct v8 *v, uint64_t owner_addr, enum v8_kind kind)
{
	for (size_t i = 0; i < v->listed_count; i++)
		if (v->listed[i].owner_addr == owner_addr)
			return &v->listed[i];
	v->listed = xgrow(v->listed, &v->listed_capacity, v->listed_count + 1,
			  sizeof(*v->listed));
	v->listed[v->listed_count] =
		(struct v8_space){ .owner_addr = owner_addr, .kind = kind };
	return &v->listed[v->listed_count++];
}

/* Maximum size of the gaps in a chunk that are too small for the lists of free memory. */
#define GAPS_MAX UINT64_C(4096)

/*
 * Count the area of a chunk with lists of free memory. Memory that is neither allocated
 * nor listed counts as live: small gaps, and dead objects that V8 has not swept yet.
 */
static void account_listed(struct v8 *v, const struct v8_chunk *chunk, enum v8_kind kind)
{
	struct v8_space *listed = find_listed(v, chunk->owner_addr, kind);
	uint64_t area_bytes = chunk->area_end_addr - chunk->area_addr;
	uint64_t done_addr = chunk->area_addr, listed_bytes = 0;
	/* code may be in a mapping that is not writable and therefore not in the image */
	bool is_readable =
		image_resident_bytes(v->image, done_addr, chunk->area_end_addr) > 0;
	bool is_listed = is_readable && v8_read_free(v, chunk);

	for (size_t i = 0; i < v->range_count && is_listed; i++) {
		const struct v8_range *range = &v->ranges[i];

		page_use_add(v->blocks, done_addr, range->start_addr, USE_LIVE);
		page_use_add(v->blocks, range->start_addr, range->end_addr, USE_FREE);
		done_addr = range->end_addr;
		listed_bytes += range->end_addr - range->start_addr;
	}
	page_use_add(v->blocks, done_addr, chunk->area_end_addr, USE_LIVE);
	listed->area_bytes += area_bytes;
	listed->allocated_bytes += chunk->allocated_bytes;
	if (is_readable && !is_listed)
		v->unlisted_count++;
	else if (is_readable && area_bytes - chunk->allocated_bytes - listed_bytes >
					bytes_add(chunk->wasted_bytes, GAPS_MAX))
		v->unswept_count++;
}

/*
 * Use V8's own count of the allocated bytes in the space. While some chunks are not
 * swept, this count differs from the sum over the chunks.
 */
static void account_space(struct v8 *v, const struct v8_space *listed)
{
	uint64_t addr = listed->owner_addr + UINT64_C(8) * v->layout->capacity;
	uint64_t capacity_bytes, bytes;
	struct heap_arena *sums = &v->heap->arenas[0];
	struct heap_space *space = &v->spaces[listed->kind];

	if (!image_read(v->image, addr, &capacity_bytes) ||
	    !image_read(v->image, addr + 16, &bytes) ||
	    capacity_bytes != listed->area_bytes || bytes > capacity_bytes) {
		v->broken_count++;
		bytes = listed->allocated_bytes;
	}
	if (bytes != listed->allocated_bytes)
		v->unswept_count++;
	space->live_bytes += bytes;
	space->free_bytes += listed->area_bytes - bytes;
	sums->live.bytes += bytes;
	sums->bin.bytes += listed->area_bytes - bytes;
}

static void add_extent(struct v8 *v, const struct v8_chunk *chunk, uint64_t bit)
{
	struct extent *extent = blocks_add_extent(v->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = chunk->area_addr;
	extent->end_addr = chunk->area_end_addr;
	extent->unit_bytes = chunk->area_end_addr - chunk->area_addr;
	extent->first_bit = bit;
}

static void account_chunk(struct v8 *v, size_t index)
{
	const struct v8_chunk *chunk = &v->chunks[index];
	enum v8_kind kind = kind_of(v, chunk);
	struct heap_space *space = &v->spaces[kind];
	struct heap_arena *sums = &v->heap->arenas[0];
	uint64_t live_before = space->live_bytes, free_before = space->free_bytes;
	bool is_empty;

	page_use_add(v->blocks, chunk->addr, chunk->end_addr, USE_HEAP);
	if (kind == V8_POOLED)
		account_until(v, chunk, chunk->area_addr, space);
	else if (kind == V8_NEW)
		account_until(v, chunk, find_end(v, chunk), space);
	else if (v8_has_flag(chunk, v->layout->large_bit))
		account_until(v, chunk, chunk->area_addr + chunk->allocated_bytes, space);
	else
		account_listed(v, chunk, kind);
	is_empty = kind == V8_POOLED ||
		   (kind == V8_NEW && space->live_bytes == live_before);
	space->count++;
	space->resident_bytes +=
		image_resident_bytes(v->image, chunk->addr, chunk->end_addr);
	sums->system_bytes += chunk->end_addr - chunk->addr;
	sums->live.bytes += space->live_bytes - live_before;
	sums->bin.bytes += space->free_bytes - free_before;
	add_extent(v, chunk, index);
	if (is_empty) {
		bit_set(v->blocks->not_live, index);
		sums->bin.count++;
	} else {
		sums->live.count++;
	}
}

static void add_spaces(struct v8 *v)
{
	for (size_t i = 0; i < V8_KIND_COUNT_; i++) {
		struct heap_space *to;

		if (v->spaces[i].count == 0)
			continue;
		to = heap_add_space(v->heap, space_names[i]);
		*to = v->spaces[i];
		to->name = space_names[i];
	}
}

static void set_quality(struct v8 *v)
{
	struct heap *heap = v->heap;

	heap->quality = QUALITY_EXACT;
	if (v->unswept_count > 0)
		heap->problem = "V8 has not swept some chunks yet: their dead objects "
				"count as live";
	if (v->unlisted_count > 0 || v->has_unknown_top)
		heap->problem = "the free memory in some chunks is unknown and counts as "
				"live";
	if (v->may_lack_chunk)
		heap->problem = "memory is swapped out that may contain chunks of V8";
	if (heap->problem)
		heap->quality = QUALITY_BOUND;
	if (v->broken_count > 0 || v->is_collecting || v->input->is_running)
		heap->quality = QUALITY_ESTIMATE;
	if (v->is_collecting)
		heap->problem = "V8 was collecting garbage";
	else if (v->broken_count > 0)
		heap->problem = "V8 was collecting garbage, or a chunk is corrupt";
	else if (v->input->is_running)
		heap->problem = "the process ran while its heap was read";
	/* V8's own policy determines which memory it releases */
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = BYTES_UNKNOWN;
}

void v8_account(struct v8 *v)
{
	struct heap *heap = v->heap;

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	heap->class_count = 0;
	blocks_init(v->blocks, v->image, v->chunk_count);
	for (size_t i = 0; i < v->chunk_count; i++) {
		if (v->chunks[i].is_broken)
			v->broken_count++;
		else
			account_chunk(v, i);
	}
	for (size_t i = 0; i < v->listed_count; i++)
		account_space(v, &v->listed[i]);
	blocks_sort(v->blocks);
	page_use_share(v->blocks, v->input->mappings, heap);
	add_spaces(v);
	set_quality(v);
}
