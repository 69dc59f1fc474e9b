/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/pymalloc/walk.h"

#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/*
 * An arena is reported as nearly empty if less than 1/NEARLY_EMPTY of its bytes are live.
 */
#define NEARLY_EMPTY 10

/* Indices in the array `spaces` of struct heap. */
enum {
	SPACE_ARENAS,
	SPACE_POOLS,
	SPACE_FREE_POOLS,
	SPACE_NEARLY_EMPTY,
	SPACE_COUNT_
};

static const char *const space_names[SPACE_COUNT_] = {
	[SPACE_ARENAS] = "arenas",
	[SPACE_POOLS] = "pools in use",
	[SPACE_FREE_POOLS] = "free pools",
	[SPACE_NEARLY_EMPTY] = "arenas less than 10% in use",
};

static struct heap_space *space_of(struct pymalloc *p, unsigned int space)
{
	return &p->heap->spaces[space];
}

static uint64_t block_count(const struct pymalloc_layout *layout, uint64_t block_bytes)
{
	return (layout->pool_bytes - PYMALLOC_HEAD_BYTES) / block_bytes;
}

enum pool_state {
	POOL_SOUND,
	POOL_BROKEN, /* the pool failed a check */
	POOL_ABSENT  /* the pool's header or part of its free list is swapped out */
};

/* Sums over the pools of an arena. */
struct pool_sums {
	uint64_t live_bytes;
	uint64_t absent_bytes; /* size of the pools with the state POOL_ABSENT */
};

/*
 * Mark the free blocks of a pool as not live: the blocks in the pool's free list, and the
 * blocks that were never allocated.
 */
static enum pool_state mark_free(struct pymalloc *p, const struct pymalloc_arena *arena,
				 uint64_t addr, const struct pymalloc_pool *pool,
				 uint64_t first_bit)
{
	const struct pymalloc_layout *layout = &arena->state->layout;
	uint64_t bytes = pymalloc_class_bytes(layout, pool->class);
	uint64_t start = addr + PYMALLOC_HEAD_BYTES, count = block_count(layout, bytes);
	uint64_t carved = count, free_count = 0, at = pool->free_addr, next;

	if (pool->next_offset < PYMALLOC_HEAD_BYTES)
		return POOL_BROKEN;
	if (pool->next_offset < layout->pool_bytes)
		carved = (pool->next_offset - PYMALLOC_HEAD_BYTES) / bytes;
	if (carved > count || pool->live_count == 0 || pool->live_count > carved)
		return POOL_BROKEN;
	for (uint64_t i = carved; i < count; i++)
		bit_set(p->blocks->not_live, first_bit + i);
	for (; at != 0; free_count++, at = next) {
		uint64_t index = at >= start ? (at - start) / bytes : count;

		if (index >= carved || (at - start) % bytes != 0 ||
		    bit_is_set(p->blocks->not_live, first_bit + index) ||
		    free_count == carved - pool->live_count)
			return POOL_BROKEN;
		if (!image_read(p->image, at, &next))
			return walk_is_swapped(p->input, at) ? POOL_ABSENT : POOL_BROKEN;
		bit_set(p->blocks->not_live, first_bit + index);
	}
	return carved - free_count == pool->live_count ? POOL_SOUND : POOL_BROKEN;
}

/* Count the blocks of a pool that passed all checks. */
static void account_blocks(struct pymalloc *p, const struct pymalloc_layout *layout,
			   uint64_t addr, const struct pymalloc_pool *pool,
			   uint64_t first_bit)
{
	uint64_t bytes = pymalloc_class_bytes(layout, pool->class);
	uint64_t start = addr + PYMALLOC_HEAD_BYTES, count = block_count(layout, bytes);
	struct heap_class *class = &p->heap->classes[pool->class];
	struct heap_arena *sums = &p->heap->arenas[0];
	struct extent *extent = blocks_add_extent(p->blocks);
	uint64_t free_count = count - pool->live_count;

	extent->kind = EXTENT_UNITS;
	extent->start_addr = start;
	extent->end_addr = start + count * bytes;
	extent->unit_bytes = bytes;
	extent->first_bit = first_bit;
	for (uint64_t i = 0, next; i < count; i = next) {
		bool is_free = bit_is_set(p->blocks->not_live, first_bit + i);

		for (next = i + 1;
		     next < count &&
		     bit_is_set(p->blocks->not_live, first_bit + next) == is_free;
		     next++)
			;
		page_use_add(p->blocks, start + i * bytes, start + next * bytes,
			     is_free ? USE_FREE : USE_LIVE);
	}
	class->live.count += pool->live_count;
	class->live.bytes += pool->live_count * bytes;
	class->free.count += free_count;
	class->free.bytes += free_count * bytes;
	sums->live.count += pool->live_count;
	sums->live.bytes += pool->live_count * bytes;
	sums->bin.count += free_count;
	sums->bin.bytes += free_count * bytes;
	space_of(p, SPACE_POOLS)->live_bytes += pool->live_count * bytes;
	space_of(p, SPACE_POOLS)->free_bytes += free_count * bytes;
}

static void account_free(struct pymalloc *p, uint64_t start_addr, uint64_t end_addr,
			 uint64_t pool_bytes)
{
	struct heap_space *space = space_of(p, SPACE_FREE_POOLS);

	page_use_add(p->blocks, start_addr, end_addr, USE_HEAP);
	page_use_add(p->blocks, start_addr, end_addr, USE_FREE);
	space->count += (end_addr - start_addr) / pool_bytes;
	space->free_bytes += end_addr - start_addr;
	space->resident_bytes += image_resident_bytes(p->image, start_addr, end_addr);
}

static enum pool_state read_pool(struct pymalloc *p, const struct pymalloc_arena *arena,
				 uint64_t addr, struct pymalloc_pool *ret)
{
	if (!pymalloc_read_pool(p->image, addr, ret))
		return walk_is_swapped(p->input, addr) ? POOL_ABSENT : POOL_BROKEN;
	return ret->arena_index == arena->index &&
			       ret->class < arena->state->layout.class_count
		       ? POOL_SOUND
		       : POOL_BROKEN;
}

/* Count a pool that was used before and is not in the arena's list of free pools. */
static void account_pool(struct pymalloc *p, const struct pymalloc_arena *arena,
			 uint64_t addr, struct pool_sums *sums)
{
	const struct pymalloc_layout *layout = &arena->state->layout;
	uint64_t end_addr = addr + layout->pool_bytes;
	uint64_t first_bit = arena->first_bit + (addr - arena->addr) / layout->step_bytes;
	struct heap_space *space = space_of(p, SPACE_POOLS);
	struct pymalloc_pool pool;
	enum pool_state state = read_pool(p, arena, addr, &pool);

	if (state == POOL_SOUND && arena->is_list_cut && pool.live_count == 0) {
		account_free(p, addr, end_addr, layout->pool_bytes);
		return;
	}
	if (state == POOL_SOUND)
		state = mark_free(p, arena, addr, &pool, first_bit);
	if (state != POOL_SOUND) {
		p->broken_count += state == POOL_BROKEN;
		p->absent_count += state == POOL_ABSENT;
		sums->absent_bytes += state == POOL_ABSENT ? layout->pool_bytes : 0;
		return;
	}
	page_use_add(p->blocks, addr, end_addr, USE_HEAP);
	account_blocks(p, layout, addr, &pool, first_bit);
	space->count++;
	space->resident_bytes += image_resident_bytes(p->image, addr, end_addr);
	sums->live_bytes += pool.live_count * pymalloc_class_bytes(layout, pool.class);
}

static void add_to_space(struct heap_space *space, const struct pymalloc_arena *arena,
			 const struct pool_sums *sums, uint64_t resident_bytes)
{
	space->count++;
	space->live_bytes += sums->live_bytes;
	space->free_bytes +=
		arena->state->layout.arena_bytes - sums->live_bytes - sums->absent_bytes;
	space->resident_bytes += resident_bytes;
}

static void add_empty_range(struct heap *heap, uint64_t start_addr, uint64_t end_addr,
			    uint64_t free_bytes)
{
	heap->empty_ranges = xgrow(heap->empty_ranges, &heap->empty_range_capacity,
				   heap->empty_range_count + 1,
				   sizeof(*heap->empty_ranges));
	heap->empty_ranges[heap->empty_range_count++] =
		(struct heap_range){ start_addr, end_addr, free_bytes };
}

static void account_arena(struct pymalloc *p, const struct pymalloc_arena *arena)
{
	const struct pymalloc_layout *layout = &arena->state->layout;
	uint64_t pool_bytes = layout->pool_bytes;
	uint64_t end_addr = arena->addr + layout->arena_bytes;
	uint64_t resident_bytes = image_resident_bytes(p->image, arena->addr, end_addr);
	struct pool_sums sums = { 0 };

	for (uint64_t i = 0; arena->first_addr + i * pool_bytes < arena->carved_addr;
	     i++) {
		uint64_t addr = arena->first_addr + i * pool_bytes;

		if (arena->free_mask >> i & 1)
			account_free(p, addr, addr + pool_bytes, pool_bytes);
		else
			account_pool(p, arena, addr, &sums);
	}
	account_free(p, arena->carved_addr, arena->end_addr, pool_bytes);
	/* the parts of the mapping before and after the pools are too small for a pool */
	page_use_add(p->blocks, arena->addr, arena->first_addr, USE_HEAP);
	page_use_add(p->blocks, arena->end_addr, end_addr, USE_HEAP);
	p->heap->arenas[0].system_bytes += layout->arena_bytes;
	p->heap->arenas[0].heap_count++;
	add_to_space(space_of(p, SPACE_ARENAS), arena, &sums, resident_bytes);
	if (sums.live_bytes + sums.absent_bytes < layout->arena_bytes / NEARLY_EMPTY) {
		add_to_space(space_of(p, SPACE_NEARLY_EMPTY), arena, &sums,
			     resident_bytes);
		add_empty_range(p->heap, arena->addr, end_addr,
				layout->arena_bytes - sums.live_bytes -
					sums.absent_bytes);
	}
}

static void fill_classes(struct pymalloc *p)
{
	const struct pymalloc_layout *layout = &p->states[0].layout;

	p->heap->class_count = layout->class_count;
	for (unsigned int i = 0; i < layout->class_count; i++) {
		uint64_t bytes = pymalloc_class_bytes(layout, i);

		p->heap->classes[i].lower_bytes = bytes - layout->step_bytes + 1;
		p->heap->classes[i].upper_bytes = bytes;
	}
}

static void set_quality(struct pymalloc *p)
{
	struct heap *heap = p->heap;

	heap->quality = QUALITY_EXACT;
	if (p->broken_count > 0)
		heap->problem = "Python was changing a pool, or a pool is corrupt";
	if (p->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem) {
		heap->quality = QUALITY_ESTIMATE;
	} else if (p->may_lack_arena || p->absent_count > 0) {
		heap->quality = QUALITY_BOUND;
		heap->problem =
			p->may_lack_arena
				? "part of Python's table of arenas may be swapped out: pools of "
				  "Python may not be counted"
				: "pools of Python are swapped out and not counted";
	}
	/*
	 * Python unmaps an arena as soon as all its pools are free, so nothing can be
	 * trimmed
	 */
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = 0;
}

void pymalloc_account(struct pymalloc *p)
{
	struct heap *heap = p->heap;

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	fill_classes(p);
	for (size_t i = 0; i < SPACE_COUNT_; i++)
		heap_add_space(heap, space_names[i]);
	blocks_init(p->blocks, p->image, p->bit_count);
	for (size_t i = 0; i < p->arena_count; i++)
		if (!p->arenas[i].is_broken)
			account_arena(p, &p->arenas[i]);
	blocks_sort(p->blocks);
	page_use_share(p->blocks, p->input->mappings, heap);
	set_quality(p);
}
