/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process with objects of Python. The first byte selects
 * whether the process ran and, for a fuzzer only, what is checked. The rest are records,
 * see damage.h.
 */
#include "config.h"

#include <string.h>

#include "heap_check.h"
#include "../unit/support/pymalloc_image.h"
#include "walk/pymalloc/objects.h"

/* The objects of all types and the other blocks are all live blocks. */
static void check_objects(const struct heap *heap, const struct blocks *blocks)
{
	struct heap_objects objects;
	struct chunk_sum sum;
	uint64_t pinning = 0;

	pymalloc_count_objects(heap, blocks, NULL, &objects);
	sum = objects.other;
	for (size_t i = 0; i < objects.type_count; i++) {
		sum.count += objects.types[i].live.count;
		sum.bytes += objects.types[i].live.bytes;
	}
	CHECK(sum.count == heap->arenas[0].live.count);
	CHECK(sum.bytes == heap->arenas[0].live.bytes);
	for (size_t i = 0; i < objects.pin_count; i++) {
		CHECK(objects.pins[i].type == HEAP_OBJECT_OTHER ||
		      objects.pins[i].type < objects.type_count);
		CHECK(objects.pins[i].arena_count <= objects.empty.count);
		pinning += objects.pins[i].block_count;
	}
	CHECK(pinning <= sum.count);
	heap_objects_release(&objects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pymalloc_image made;
	static struct damage damage;
	struct pymalloc_image *h = &made;
	struct heap heap;

	if (size == 0)
		return 0;
	if (!damage.image) {
		pymalloc_image_init(h, 4096, 32);
		pymalloc_image_add_objects(h);
		damage_init(&damage, &h->image);
	}
	h->is_running = data[0] & RUNNING_BIT;
	damage_apply(&damage, data + 1, size - 1);
	pymalloc_image_walk(h, &heap);
	if (heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
		       data[0]))
		check_objects(&heap, &h->blocks);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&h->blocks);
	heap_release(&heap);
	damage_undo(&damage);
	return 0;
}
