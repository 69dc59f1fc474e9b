/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A jemalloc process's memory with damage: the first byte says which version, and whether it ran; the
 * rest is words of 12 bytes: where in the copy (4 bytes) and what is written there (8).
 */
#include "config.h"

#include <string.h>

#include "fuzz.h"
#include "jemalloc_image.h"
#include "mark_check.h"

#define RECORD_BYTES 12
#define RECORDS_MAX 4096

static void damage(struct jemalloc_image *h, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < RECORDS_MAX && size - i * RECORD_BYTES >= RECORD_BYTES;
	     i++) {
		const uint8_t *record = data + i * RECORD_BYTES;
		uint32_t at;

		memcpy(&at, record, sizeof(at));
		memcpy(h->image.bytes + at % (h->image.length_bytes / 8) * 8,
		       record + sizeof(at), 8);
	}
}

static void check_shares(struct jemalloc_image *h, const struct heap *heap)
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
	struct jemalloc_image h;
	struct heap heap;

	if (size == 0)
		return 0;
	jemalloc_image_init(&h, &jemalloc_kinds[(data[0] & 0x7f) % jemalloc_kind_count]);
	h.is_running = data[0] & 0x80;
	damage(&h, data + 1, size - 1);
	jemalloc_image_walk(&h, &heap);
	check_shares(&h, &heap);
	if (heap.quality != QUALITY_UNKNOWN)
		check_blocks(&h.blocks);
	if (heap.quality != QUALITY_UNKNOWN)
		check_mark(&h.blocks, &h.mappings);
	CHECK((heap.quality == QUALITY_EXACT) == !heap.problem);
	heap_release(&heap);
	jemalloc_image_release(&h);
	return 0;
}
