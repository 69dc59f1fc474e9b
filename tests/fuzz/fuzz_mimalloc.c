/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process that uses mimalloc. The first byte selects the version,
 * whether the process ran and, for a fuzzer only, what is checked. The rest are records,
 * see damage.h.
 */
#include "config.h"

#include <string.h>

#include "heap_check.h"
#include "../unit/support/mimalloc_image.h"

/* Bits of the first byte. The others select the version. */
#define VERSION_BITS 0x3f

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mimalloc_image made[MIMALLOC_MADE_COUNT];
	static struct damage damages[MIMALLOC_MADE_COUNT];
	struct mimalloc_image *h;
	struct damage *damage;
	struct heap heap;
	size_t version;

	if (size == 0)
		return 0;
	version = (data[0] & VERSION_BITS) % MIMALLOC_MADE_COUNT;
	h = &made[version];
	damage = &damages[version];
	if (!damage->image) {
		mimalloc_image_init(h, &mimalloc_made[version]);
		damage_init(damage, &h->image);
	}
	h->is_running = data[0] & RUNNING_BIT;
	damage_apply(damage, data + 1, size - 1);
	mimalloc_image_walk(h, &heap);
	(void)heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
			 data[0]);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&h->blocks);
	heap_release(&heap);
	damage_undo(damage);
	return 0;
}
