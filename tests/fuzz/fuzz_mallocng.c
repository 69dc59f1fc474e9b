/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process that uses musl's mallocng. The first byte selects
 * whether the process ran and, for a fuzzer only, what is checked. The rest are records,
 * see damage.h.
 */
#include "config.h"

#include <string.h>

#include "heap_check.h"
#include "../unit/support/mallocng_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mallocng_image made;
	static struct damage damage;
	struct mallocng_image *h = &made;
	struct heap heap;

	if (size == 0)
		return 0;
	if (!damage.image) {
		mallocng_image_init(h);
		damage_init(&damage, &h->image);
	}
	h->is_running = data[0] & RUNNING_BIT;
	damage_apply(&damage, data + 1, size - 1);
	mallocng_image_walk(h, &heap);
	(void)heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
			 data[0]);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&h->blocks);
	heap_release(&heap);
	damage_undo(&damage);
	return 0;
}
