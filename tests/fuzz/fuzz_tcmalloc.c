/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process that uses gperftools' tcmalloc. The first byte selects
 * whether the process ran and, for a fuzzer only, what is checked. The rest are records,
 * see damage.h.
 */
#include "config.h"

#include <string.h>

#include "damage.h"
#include "fuzz.h"
#include "../unit/support/tcmalloc_image.h"
#include "mark_check.h"

/* Bits of the first byte. */
#define CHECK_BIT 0x40 /* check and mark the blocks */
#define RUNNING_BIT 0x80

static void check_shares(struct tcmalloc_image *h, const struct heap *heap)
{
	for (size_t i = 0; i < heap->share_count; i++) {
		const struct heap_share *share = &heap->shares[i];
		const struct mapping *m;
		uint64_t sum = 0;

		CHECK(share->mapping < h->mappings.count);
		m = &h->mappings.items[share->mapping];
		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			sum += share->owner_bytes[o];
		CHECK(sum <= image_resident_bytes(&h->image, m->start_addr, m->end_addr));
	}
}

static void check_blocks(const struct blocks *blocks)
{
	struct block_place place = { 0 };
	struct block block, found;
	uint64_t last_addr = 0;

	while (blocks_next(blocks, &place, &block)) {
		CHECK(block.addr >= last_addr);
		CHECK(block.bit < blocks->bit_count);
		CHECK(blocks_find(blocks, block.addr, &found));
		CHECK(found.addr == block.addr && found.bit == block.bit);
		last_addr = block.addr + block.bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tcmalloc_image made;
	static struct damage damage;
	struct tcmalloc_image *h = &made;
	struct heap heap;

	if (size == 0)
		return 0;
	if (!damage.image) {
		tcmalloc_image_init(h, &tcmalloc_layouts[0]);
		damage_init(&damage, &h->image);
	}
	h->is_running = data[0] & RUNNING_BIT;
	damage_apply(&damage, data + 1, size - 1);
	tcmalloc_image_walk(h, &heap);
	check_shares(h, &heap);
	if (heap.quality != QUALITY_UNKNOWN &&
	    (fuzz_is_replay() || data[0] & CHECK_BIT)) {
		check_blocks(&h->blocks);
		check_mark(&h->blocks, &h->mappings);
	}
	CHECK((heap.quality == QUALITY_EXACT) == !heap.problem);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&h->blocks);
	heap_release(&heap);
	damage_undo(&damage);
	return 0;
}
