/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a Java virtual machine. The first byte selects the collector,
 * whether the process ran and, for a fuzzer only, what is checked. The rest are records,
 * see damage.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "heap_check.h"
#include "../unit/support/hotspot_image.h"
#include "walk/hotspot/objects.h"

/* Bits of the first byte. */
#define COLLECTOR_BITS 0x03

static struct hotspot_image made[COLLECTOR_BITS + 1];
static struct damage damages[COLLECTOR_BITS + 1];

/* Remove the files that the images need. */
static void clean_up(void)
{
	for (size_t i = 0; i <= COLLECTOR_BITS; i++)
		if (damages[i].image)
			hotspot_image_release(&made[i]);
}

/* The objects of all classes and the rest are all live bytes of the Java heap. */
static void check_objects(struct hotspot_image *h, const struct heap *heap)
{
	static const char *const spaces[] = { "eden", "survivor", "old", "humongous",
					      "archive" };
	const struct walk_input input = { .image = &h->image,
					  .mappings = &h->mappings,
					  .memory = &h->memory };
	struct heap_objects objects;
	uint64_t sum, live = 0;

	hotspot_count_objects(&input, &objects);
	sum = objects.other.bytes + objects.unused.bytes;
	for (size_t i = 0; i < objects.type_count; i++) {
		CHECK(objects.types[i].live.count > 0);
		sum += objects.types[i].live.bytes;
	}
	for (size_t i = 0; i < heap->space_count; i++)
		for (size_t k = 0; k < sizeof(spaces) / sizeof(spaces[0]); k++)
			if (strcmp(heap->spaces[i].name, spaces[k]) == 0)
				live += heap->spaces[i].live_bytes;
	/* nothing is counted if the classes cannot be read */
	CHECK(sum == live || sum == 0);
	CHECK(sum == live || objects.problem);
	heap_objects_release(&objects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum hotspot_collector collectors[] = { HOTSPOT_G1, HOTSPOT_SERIAL,
							     HOTSPOT_PARALLEL,
							     HOTSPOT_Z };
	static bool is_prepared;
	struct hotspot_image *h;
	struct damage *damage;
	struct heap heap;

	if (size == 0)
		return 0;
	if (!is_prepared) {
		atexit(clean_up);
		is_prepared = true;
	}
	h = &made[data[0] & COLLECTOR_BITS];
	damage = &damages[data[0] & COLLECTOR_BITS];
	if (!damage->image) {
		hotspot_image_init(h, collectors[data[0] & COLLECTOR_BITS]);
		hotspot_image_add_objects(h);
		damage_init(damage, &h->image);
	}
	h->is_running = data[0] & RUNNING_BIT;
	damage_apply(damage, data + 1, size - 1);
	hotspot_image_walk(h, &heap);
	if (heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
		       data[0]))
		check_objects(h, &heap);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&h->blocks);
	heap_release(&heap);
	damage_undo(damage);
	return 0;
}
