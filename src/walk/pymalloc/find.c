/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/pymalloc/walk.h"

#include <string.h>

#define PAGE_MASK (IMAGE_PAGE_BYTES - 1)

/*
 * Size of an element of usedpools[], which has two pointers: to the next and to the
 * previous pool.
 */
#define PAIR_BYTES UINT64_C(16)

/* Size of struct arena_object, whose first member is the address of the arena. */
#define ARENA_OBJECT_BYTES UINT64_C(48)

/*
 * Maximum number of pools to take from usedpools[] in order to find the array `arenas`.
 */
#define SAMPLE_MAX PYMALLOC_CLASSES_MAX

struct sample {
	uint64_t pool_addr;
	uint32_t arena_index;
};

/*
 * Return true if the pair of pointers at addr may be an element of usedpools[]. Python
 * treats the pair as the members next and prev of a pool header that begins 16 bytes
 * before the pair. If a size class has no pool in use, both pointers contain the address
 * of this imaginary header.
 */
static bool is_pair(struct image *image, uint64_t addr, bool *ret_is_empty)
{
	uint64_t next, prev, back, head = addr - PAIR_BYTES;

	if (!image_read(image, addr, &next) || !image_read(image, addr + 8, &prev))
		return false;
	*ret_is_empty = next == head && prev == head;
	if (*ret_is_empty)
		return true;
	return next != 0 && ((next | prev) & PAGE_MASK) == 0 &&
	       image_read(image, next + 24, &back) && back == head &&
	       image_read(image, prev + 16, &back) && back == head;
}

/*
 * Count the consecutive valid elements of usedpools[], starting at addr. Stop when there
 * are more elements than the array can have. Store the first pool of each size class in
 * `samples`.
 */
static unsigned int count_pairs(struct image *image, uint64_t addr,
				struct sample *samples, size_t *ret_sample_count)
{
	unsigned int count = 0;
	bool is_empty;

	*ret_sample_count = 0;
	for (; count <= PYMALLOC_CLASSES_MAX && is_pair(image, addr, &is_empty);
	     addr += PAIR_BYTES, count++) {
		struct pymalloc_pool pool;
		uint64_t pool_addr = 0;

		if (is_empty || count == SAMPLE_MAX)
			continue;
		if (!image_read(image, addr, &pool_addr) ||
		    !pymalloc_read_pool(image, pool_addr, &pool) || pool.class != count ||
		    pool.live_count == 0)
			return 0;
		samples[(*ret_sample_count)++] =
			(struct sample){ pool_addr, pool.arena_index };
	}
	return count;
}

/*
 * Return true if, for each sampled pool, the array at arenas_addr contains the pool's
 * arena at the index that is stored in the pool's header.
 */
static bool has_arenas(struct image *image, uint64_t arenas_addr,
		       const struct sample *samples, size_t count, uint64_t arena_bytes)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = samples[i].arena_index * ARENA_OBJECT_BYTES, addr;

		if (arenas_addr > UINT64_MAX - offset ||
		    !image_read(image, arenas_addr + offset, &addr) || addr == 0 ||
		    samples[i].pool_addr < addr ||
		    samples[i].pool_addr - addr >= arena_bytes)
			return false;
	}
	return true;
}

/*
 * Find the variable `arenas` in the data area. The variable points to an array that
 * contains the arenas of all sampled pools.
 */
static bool find_arenas(struct pymalloc *p, const struct data_area *area,
			const struct sample *samples, size_t count,
			struct pymalloc_state *state)
{
	struct image *image = p->image;
	uint64_t addr = image_next_resident(image, area->start_addr, area->end_addr);

	for (; addr < area->end_addr;
	     addr = image_next_resident(image, addr + 8, area->end_addr)) {
		uint64_t value;

		if (!image_read(image, addr, &value) || value == 0 || value % 8 != 0 ||
		    !has_arenas(image, value, samples, count, state->layout.arena_bytes))
			continue;
		state->arenas_addr = value;
		return true;
	}
	return false;
}

static bool are_aligned(const struct sample *samples, size_t count, uint64_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (samples[i].pool_addr % bytes != 0)
			return false;
	return true;
}

/*
 * Add an interpreter's allocator if its array usedpools[] is at addr. At least one pool
 * must be in use, because glibc's empty bins look like empty elements of usedpools[].
 */
static void try_state(struct pymalloc *p, const struct data_area *area, uint64_t addr,
		      unsigned int class_count, const struct sample *samples,
		      size_t sample_count)
{
	static const uint64_t pool_sizes[] = { 16384, 4096 };

	for (size_t i = 0; i < sizeof(pool_sizes) / sizeof(pool_sizes[0]); i++) {
		struct pymalloc_state state = {
			.used_addr = addr,
			.layout = {
				.pool_bytes = pool_sizes[i],
				.arena_bytes = pool_sizes[i] * PYMALLOC_POOLS,
				.class_count = class_count,
				.step_bytes = PYMALLOC_BLOCK_MAX / class_count,
			},
		};

		if (p->state_count == PYMALLOC_STATES_MAX ||
		    !are_aligned(samples, sample_count, pool_sizes[i]) ||
		    !find_arenas(p, area, samples, sample_count, &state))
			continue;
		p->states[p->state_count++] = state;
		return;
	}
}

static void find_in_area(struct pymalloc *p, const struct data_area *area)
{
	struct image *image = p->image;
	uint64_t addr = image_next_resident(image, area->start_addr, area->end_addr);

	while (addr < area->end_addr) {
		struct sample samples[SAMPLE_MAX];
		size_t sample_count;
		unsigned int count = 0;
		uint64_t word;

		if (image_read(image, addr, &word) && word != 0 &&
		    (word == addr - PAIR_BYTES || (word & PAGE_MASK) == 0))
			count = count_pairs(image, addr, samples, &sample_count);
		if ((count == PYMALLOC_CLASSES_MAX ||
		     count == PYMALLOC_CLASSES_MAX / 2) &&
		    sample_count > 0)
			try_state(p, area, addr, count, samples, sample_count);
		/*
		 * if a sequence of valid elements is too short, any sequence that begins
		 * inside it is too short as well
		 */
		addr += count > 1 ? (count - 1) * PAIR_BYTES : 8;
		addr = image_next_resident(image, addr, area->end_addr);
	}
}

const char *pymalloc_find(struct pymalloc *p)
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(p->input, &index, &area))
		find_in_area(p, &area);
	return p->state_count > 0 ? NULL : "Python's object allocator was not found";
}
