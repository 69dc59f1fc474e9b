/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/pymalloc/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "walk/pymalloc/types.h"
#include "walk/pymalloc/walk.h"

/* Number of blocks to examine in order to determine the size of PyGC_Head. */
#define TRIED_BLOCKS 20000

/* sizeof(PyGC_Head): since Python 3.8, in 3.7, and in 3.6 */
static const uint64_t head_sizes[] = { 16, 24, 32 };

/*
 * Maximum reference count of a valid object. Immortal objects have the count UINT32_MAX
 * since Python 3.12, and 3 << 30 since 3.14.
 */
#define REFERENCES_MAX (UINT64_C(1) << 33)

/*
 * Size of the words that may precede an object: pointers to its dictionary and weak
 * references, or to its values.
 */
#define EXTRA_BYTES UINT64_C(16)

/* The live blocks of one type and one size. */
struct cell {
	uint64_t count;
	/*
	 * The blocks in nearly empty arenas: their number, the number of these arenas,
	 * and 1 + the index of the last of these arenas.
	 */
	uint64_t pinning_count, arena_count;
	size_t last_arena;
};

struct counting {
	const struct heap *heap;
	const struct blocks *blocks;
	struct python_types *types;
	uint64_t head_bytes; /* sizeof(PyGC_Head) */
	/*
	 * cells by type number and size class; type number 0 is for blocks
	 * of unknown type
	 */
	struct cell *cells;
	size_t cell_capacity;
	/* number of rows in `cells`; there is one row per type number */
	size_t row_count;
};

/*
 * Return the type number of the object at this offset in the block, or 0 if
 * no object is there.
 */
static uint32_t type_at(struct counting *c, const struct block *block, uint64_t offset)
{
	const uint8_t *at = image_at(c->blocks->image, block->addr + offset, 16);
	uint64_t references, type_addr, before = 0;
	const struct python_type *type;
	uint32_t number;

	if (!at)
		return 0;
	memcpy(&references, at, 8);
	memcpy(&type_addr, at + 8, 8);
	if (references == 0 || references > REFERENCES_MAX || type_addr % 8 != 0)
		return 0;
	number = python_types_find(c->types, type_addr);
	if (number == 0)
		return 0;
	type = python_types_get(c->types, number);
	if (type->is_collected)
		before += c->head_bytes;
	if (type->has_extra)
		before += EXTRA_BYTES;
	return before == offset && type->basic_bytes <= block->bytes - offset ? number
									      : 0;
}

static uint32_t type_of(struct counting *c, const struct block *block)
{
	const uint64_t offsets[] = { 0, c->head_bytes, EXTRA_BYTES,
				     c->head_bytes + EXTRA_BYTES };

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint32_t number;

		if (offsets[i] + 16 > block->bytes)
			continue;
		number = type_at(c, block, offsets[i]);
		if (number > 0)
			return number;
	}
	return 0;
}

/*
 * Choose the size of PyGC_Head with which memstate recognizes the most blocks as objects.
 */
static void find_head_size(struct counting *c)
{
	uint64_t best_count = 0, best = head_sizes[0];

	for (size_t i = 0; i < sizeof(head_sizes) / sizeof(head_sizes[0]); i++) {
		struct block_place place = { 0 };
		uint64_t count = 0, tried = 0;
		struct block block;

		c->head_bytes = head_sizes[i];
		while (tried < TRIED_BLOCKS && blocks_next(c->blocks, &place, &block)) {
			if (block.state != BLOCK_LIVE)
				continue;
			tried++;
			count += type_of(c, &block) > 0;
		}
		if (count > best_count) {
			best_count = count;
			best = head_sizes[i];
		}
	}
	c->head_bytes = best;
}

static struct cell *cell_of(struct counting *c, uint32_t number, uint64_t bytes)
{
	size_t class = (size_t)(bytes - 1) / 8 % PYMALLOC_CLASSES_MAX;

	while (c->row_count <= number) {
		c->cells = xgrow(c->cells, &c->cell_capacity,
				 (c->row_count + 1) * PYMALLOC_CLASSES_MAX,
				 sizeof(*c->cells));
		memset(&c->cells[c->row_count * PYMALLOC_CLASSES_MAX], 0,
		       PYMALLOC_CLASSES_MAX * sizeof(*c->cells));
		c->row_count++;
	}
	return &c->cells[number * PYMALLOC_CLASSES_MAX + class];
}

static uint64_t cell_bytes(size_t cell)
{
	return (cell % PYMALLOC_CLASSES_MAX + 1) * 8;
}

static void count_blocks(struct counting *c)
{
	const struct heap *heap = c->heap;
	struct block_place place = { 0 };
	struct block block;
	size_t arena = 0;

	while (blocks_next(c->blocks, &place, &block)) {
		struct cell *cell;

		if (block.state != BLOCK_LIVE)
			continue;
		cell = cell_of(c, type_of(c, &block), block.bytes);
		cell->count++;
		while (arena < heap->empty_range_count &&
		       heap->empty_ranges[arena].end_addr <= block.addr)
			arena++;
		if (arena == heap->empty_range_count ||
		    block.addr < heap->empty_ranges[arena].start_addr)
			continue;
		cell->pinning_count++;
		cell->arena_count += cell->last_arena != arena + 1;
		cell->last_arena = arena + 1;
	}
}

static int compare_pins(const void *a, const void *b)
{
	const struct heap_object_pin *pin_a = a, *pin_b = b;

	if (pin_a->arena_count != pin_b->arena_count)
		return pin_a->arena_count < pin_b->arena_count ? 1 : -1;
	if (pin_a->block_count != pin_b->block_count)
		return pin_a->block_count < pin_b->block_count ? 1 : -1;
	return (pin_a->size_bytes > pin_b->size_bytes) -
	       (pin_a->size_bytes < pin_b->size_bytes);
}

static void add_sums(struct counting *c, size_t number, struct chunk_sum *to)
{
	for (size_t i = number * PYMALLOC_CLASSES_MAX;
	     i < (number + 1) * PYMALLOC_CLASSES_MAX; i++) {
		to->count += c->cells[i].count;
		to->bytes += c->cells[i].count * cell_bytes(i);
	}
}

static void add_types(struct counting *c, struct heap_objects *ret)
{
	for (size_t n = 1; n < c->row_count; n++) {
		struct chunk_sum sum = { 0, 0 };

		add_sums(c, n, &sum);
		if (sum.count > 0)
			heap_objects_add(
				ret, python_types_get(c->types, (uint32_t)n)->name, &sum);
	}
	heap_objects_sort(ret);
}

/* The name of a type, and its index in struct heap_objects. */
struct place {
	const char *name;
	size_t index;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *place_a = a, *place_b = b;

	return strcmp(place_a->name, place_b->name);
}

/* Return the names and indices of the types, sorted by name. */
static struct place *sort_places(const struct heap_objects *objects)
{
	struct place *places = xcalloc(objects->type_count + 1, sizeof(*places));

	for (size_t i = 0; i < objects->type_count; i++)
		places[i] = (struct place){ objects->types[i].name, i };
	qsort(places, objects->type_count, sizeof(*places), compare_places);
	return places;
}

static size_t find_type(struct counting *c, const struct heap_objects *objects,
			const struct place *places, size_t number)
{
	struct place key = { NULL, 0 };
	const struct place *found;

	if (number == 0)
		return HEAP_OBJECT_OTHER;
	key.name = python_types_get(c->types, (uint32_t)number)->name;
	found = bsearch(&key, places, objects->type_count, sizeof(*places),
			compare_places);
	return found ? found->index : HEAP_OBJECT_OTHER;
}

static void add_pins(struct counting *c, struct heap_objects *ret)
{
	_cleanup_free_ struct place *places = sort_places(ret);
	size_t cell_count = c->row_count * PYMALLOC_CLASSES_MAX;

	ret->pins = xcalloc(cell_count + 1, sizeof(*ret->pins));
	for (size_t i = 0; i < cell_count; i++) {
		const struct cell *cell = &c->cells[i];

		if (cell->pinning_count == 0)
			continue;
		ret->pins[ret->pin_count++] = (struct heap_object_pin){
			.type = find_type(c, ret, places, i / PYMALLOC_CLASSES_MAX),
			.size_bytes = cell_bytes(i),
			.block_count = cell->pinning_count,
			.arena_count = cell->arena_count,
		};
	}
	qsort(ret->pins, ret->pin_count, sizeof(*ret->pins), compare_pins);
	for (size_t i = 0; i < c->heap->empty_range_count; i++) {
		ret->empty.count++;
		ret->empty.bytes += c->heap->empty_ranges[i].free_bytes;
	}
}

void pymalloc_count_objects(const struct heap *heap, const struct blocks *blocks,
			    struct memory *memory, struct heap_objects *ret)
{
	struct counting c = { .heap = heap, .blocks = blocks };

	memset(ret, 0, sizeof(*ret));
	ret->allocator = ALLOCATOR_PYTHON;
	if (!blocks->image)
		return;
	c.types = python_types_new(blocks->image, memory);
	find_head_size(&c);
	(void)cell_of(&c, 0, 8);
	count_blocks(&c);
	add_sums(&c, 0, &ret->other);
	add_types(&c, ret);
	add_pins(&c, ret);
	ret->problem = python_types_problem(c.types);
	python_types_free(c.types);
	free(c.cells);
}
