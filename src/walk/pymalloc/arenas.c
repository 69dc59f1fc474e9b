/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/pymalloc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Size of struct arena_object. Its members are address, pool_address, nfreepools,
 * ntotalpools, freepools, and two list pointers that the walker does not read.
 */
#define OBJECT_BYTES UINT64_C(48)

/*
 * Initial length of Python's array `arenas`. Python doubles the array when it is full.
 */
#define ARENAS_MIN UINT64_C(16)

struct object {
	uint64_t addr, carved_addr, free_pool_addr;
	uint32_t free_count, pool_count;
};

static bool read_object(struct pymalloc *p, const struct pymalloc_state *state,
			uint64_t index, struct object *ret)
{
	const uint8_t *at = NULL;

	if (state->arenas_addr <= UINT64_MAX - (index + 1) * OBJECT_BYTES)
		at = image_at(p->image, state->arenas_addr + index * OBJECT_BYTES,
			      OBJECT_BYTES);
	/*
	 * an element that extends beyond a run of resident pages is not completely
	 * resident
	 */
	if (!at)
		return false;
	memcpy(&ret->addr, at, sizeof(ret->addr));
	memcpy(&ret->carved_addr, at + 8, sizeof(ret->carved_addr));
	memcpy(&ret->free_count, at + 16, sizeof(ret->free_count));
	memcpy(&ret->pool_count, at + 20, sizeof(ret->pool_count));
	memcpy(&ret->free_pool_addr, at + 24, sizeof(ret->free_pool_addr));
	return true;
}

/* Return true if part of an element of the array `arenas` may be swapped out. */
static bool is_object_swapped(const struct pymalloc *p,
			      const struct pymalloc_state *state, uint64_t index)
{
	uint64_t addr = state->arenas_addr + index * OBJECT_BYTES;

	return walk_is_swapped(p->input, addr) ||
	       walk_is_swapped(p->input, addr + OBJECT_BYTES - 1);
}

/*
 * Return true if the members of an arena_object are consistent with each other. The
 * member `address` of an unused arena_object is 0.
 */
static bool is_sound(const struct pymalloc_layout *layout, const struct object *object)
{
	uint64_t first;

	if (object->addr == 0)
		return true;
	if (object->addr % IMAGE_PAGE_BYTES != 0 ||
	    object->addr > UINT64_MAX - 2 * layout->arena_bytes)
		return false;
	first = (object->addr + layout->pool_bytes - 1) & ~(layout->pool_bytes - 1);
	return object->pool_count == (object->addr + layout->arena_bytes - first) /
					     layout->pool_bytes &&
	       object->free_count <= object->pool_count && object->carved_addr >= first &&
	       object->carved_addr <= object->addr + layout->arena_bytes &&
	       object->carved_addr % layout->pool_bytes == 0;
}

/*
 * Return the length of the array `arenas`. Start with the minimum length, and double it
 * as long as all elements of the added half are valid. Python's variable that contains
 * the length is not needed. If an element is swapped out, the length cannot be
 * determined, and this element counts as the last one.
 */
static uint64_t find_length(struct pymalloc *p, const struct pymalloc_state *state)
{
	uint64_t max = p->image->length_bytes / OBJECT_BYTES, length = ARENAS_MIN;

	for (uint64_t i = length; i < max; i++) {
		struct object object;

		if (!read_object(p, state, i, &object))
			return is_object_swapped(p, state, i) ? i + 1 : length;
		if (!is_sound(&state->layout, &object))
			return length;
		if (i + 1 == 2 * length)
			length = i + 1;
	}
	return length;
}

/* Return true if the whole arena is in mappings that the walkers read. */
static bool is_readable(const struct pymalloc *p, uint64_t addr, uint64_t bytes)
{
	uint64_t end_addr = addr + bytes;

	while (addr < end_addr) {
		const struct mapping *m = mapping_list_find(p->input->mappings, addr);

		if (!m || !walk_wants_mapping(m))
			return false;
		addr = m->end_addr;
	}
	return true;
}

/*
 * Read an arena's list of free pools into free_mask. The list contains only pools that
 * were used before. Return false if the list is inconsistent, or if its length
 * contradicts the arena's count of free pools. If the list continues in swapped-out
 * memory, only the part before that memory is read.
 */
static bool read_free_pools(struct pymalloc *p, struct pymalloc_arena *arena,
			    const struct object *object)
{
	uint64_t pool_bytes = arena->state->layout.pool_bytes;
	uint64_t never_used = (arena->end_addr - arena->carved_addr) / pool_bytes;
	uint64_t addr = object->free_pool_addr, count = 0;

	for (; addr != 0; count++) {
		struct pymalloc_pool pool;
		uint64_t bit;

		if (addr < arena->first_addr || addr >= arena->carved_addr ||
		    (addr - arena->first_addr) % pool_bytes != 0)
			return false;
		if (!pymalloc_read_pool(p->image, addr, &pool)) {
			arena->is_list_cut = walk_is_swapped(p->input, addr);
			return arena->is_list_cut &&
			       count + never_used < object->free_count;
		}
		bit = UINT64_C(1) << (addr - arena->first_addr) / pool_bytes;
		if (arena->free_mask & bit)
			return false;
		arena->free_mask |= bit;
		addr = pool.next_addr;
	}
	return count + never_used == object->free_count;
}

static void add_arena(struct pymalloc *p, const struct pymalloc_state *state,
		      uint64_t index, const struct object *object)
{
	const struct pymalloc_layout *layout = &state->layout;
	struct pymalloc_arena *arena;

	p->arenas = xgrow(p->arenas, &p->arena_capacity, p->arena_count + 1,
			  sizeof(*p->arenas));
	arena = &p->arenas[p->arena_count++];
	*arena = (struct pymalloc_arena){ .state = state,
					  .index = (uint32_t)index,
					  .addr = object->addr,
					  .carved_addr = object->carved_addr };
	/*
	 * Python unmaps an arena when its last pool becomes free, so part of each
	 * existing arena is resident or swapped out
	 */
	arena->first_addr = (object->addr + layout->pool_bytes - 1) &
			    ~(layout->pool_bytes - 1);
	if (!is_sound(layout, object) ||
	    !is_readable(p, object->addr, layout->arena_bytes) ||
	    (image_resident_bytes(p->image, object->addr,
				  object->addr + layout->arena_bytes) == 0 &&
	     !walk_is_swapped(p->input, arena->first_addr))) {
		arena->is_broken = true;
		return;
	}
	arena->end_addr = arena->first_addr + object->pool_count * layout->pool_bytes;
	arena->is_broken = !read_free_pools(p, arena, object);
}

static int compare_arenas(const void *a, const void *b)
{
	const struct pymalloc_arena *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Sort the arenas by address, and mark arenas that overlap as broken. */
static void check_places(struct pymalloc *p)
{
	uint64_t end_addr = 0;

	if (p->arena_count > 0)
		qsort(p->arenas, p->arena_count, sizeof(*p->arenas), compare_arenas);
	for (size_t i = 0; i < p->arena_count; i++) {
		struct pymalloc_arena *arena = &p->arenas[i];
		uint64_t bytes = arena->state->layout.arena_bytes;

		if (i > 0 && arena->addr < end_addr)
			arena->is_broken = p->arenas[i - 1].is_broken = true;
		if (!arena->is_broken && arena->addr + bytes > end_addr)
			end_addr = arena->addr + bytes;
	}
}

void pymalloc_read_arenas(struct pymalloc *p)
{
	for (size_t s = 0; s < p->state_count; s++) {
		uint64_t length = find_length(p, &p->states[s]);

		for (uint64_t i = 0; i < length; i++) {
			struct object object;

			if (!read_object(p, &p->states[s], i, &object)) {
				if (is_object_swapped(p, &p->states[s], i))
					p->may_lack_arena = true;
				else
					p->broken_count++;
				break;
			}
			if (object.addr != 0)
				add_arena(p, &p->states[s], i, &object);
		}
	}
	check_places(p);
	for (size_t i = 0; i < p->arena_count; i++) {
		struct pymalloc_arena *arena = &p->arenas[i];

		p->broken_count += arena->is_broken;
		if (arena->is_broken)
			continue;
		arena->first_bit = p->bit_count;
		p->bit_count += arena->state->layout.arena_bytes /
				arena->state->layout.step_bytes;
	}
}
