/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process that uses jemalloc. The first byte selects the
 * version, whether the process ran and, for a fuzzer only, what is checked. The
 * rest are records, see damage.h.
 */
#include "config.h"

#include <string.h>

#include "heap_check.h"
#include "../unit/support/jemalloc_image.h"

/* Bits of the first byte. */
#define KIND_BITS 0x3f

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct made {
		struct jemalloc_image image;
		struct damage damage;
	} * all;
	struct jemalloc_image *h;
	struct made *made;
	struct heap heap;

	if (size == 0)
		return 0;
	if (!all)
		all = calloc(jemalloc_kind_count, sizeof(*all));
	CHECK(all);
	made = &all[(data[0] & KIND_BITS) % jemalloc_kind_count];
	h = &made->image;
	if (!made->damage.image) {
		jemalloc_image_init(h, &jemalloc_kinds[made - all]);
		damage_init(&made->damage, &h->image);
	}
	h->is_running = data[0] & RUNNING_BIT;
	damage_apply(&made->damage, data + 1, size - 1);
	jemalloc_image_walk(h, &heap);
	(void)heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
			 data[0]);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&h->blocks);
	heap_release(&heap);
	damage_undo(&made->damage);
	return 0;
}
