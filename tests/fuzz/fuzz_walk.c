/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process that uses glibc. The first byte selects the
 * version, whether the process ran and, for a fuzzer only, what is checked. The
 * rest are records, see damage.h.
 */
#include "config.h"

#include <string.h>

#include "heap_check.h"
#include "../unit/support/heap_image.h"

/* Bits of the first byte. */
#define KIND_BITS 0x3f

static void check_walk(struct heap_image *h, bool is_checked)
{
	struct heap heap;

	heap_image_walk(h, &heap);
	(void)heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
			 is_checked ? CHECK_BIT : 0);
	CHECK(heap.skipped_bytes <= h->image.length_bytes);
	heap_release(&heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct made {
		struct heap_image image;
		struct damage damage;
	} * all;
	struct made *made;
	bool is_replay = fuzz_is_replay(), is_checked;

	if (size == 0)
		return 0;
	if (!all)
		all = calloc(heap_kind_count, sizeof(*all));
	CHECK(all);
	made = &all[(data[0] & KIND_BITS) % heap_kind_count];
	is_checked = is_replay || data[0] & CHECK_BIT;
	if (!made->damage.image) {
		heap_image_init(&made->image, &heap_kinds[made - all]);
		damage_init(&made->damage, &made->image.image);
	}
	damage_apply(&made->damage, data + 1, size - 1);
	for (int is_running = 0; is_running < 2; is_running++) {
		made->image.is_running = is_running;
		if (is_replay || is_running == !!(data[0] & RUNNING_BIT))
			check_walk(&made->image, is_checked);
	}
	damage_undo(&made->damage);
	return 0;
}
