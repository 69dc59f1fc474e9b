/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The damaged memory of a process that uses glibc. The first byte selects the
 * version, whether the process ran and, for a fuzzer only, what is checked. The
 * rest are records, see damage.h.
 */
#include "config.h"

#include <string.h>

#include "damage.h"
#include "fuzz.h"
#include "../unit/support/heap_image.h"
#include "mark_check.h"
#include "walk/blocks/detail.h"

/* Bits of the first byte. */
#define KIND_BITS 0x3f
#define CHECK_BIT 0x40 /* check and mark the blocks */
#define RUNNING_BIT 0x80

static void check_shares(struct heap_image *h, const struct heap *heap)
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

/*
 * Check that every block is found by its first and its last byte, and
 * that blocks do not overlap.
 */
static void check_blocks(struct heap_image *h)
{
	struct block_place place = { 0 };
	struct block block, found;
	uint64_t end = 0;

	while (blocks_next(&h->blocks, &place, &block)) {
		CHECK(block.addr >= end && block.bytes > 0);
		CHECK(block.bit < h->blocks.bit_count);
		end = block.addr + block.bytes;
		CHECK(end > block.addr);
		CHECK(blocks_find(&h->blocks, block.addr, &found));
		CHECK(found.bit == block.bit && found.state == block.state);
		CHECK(blocks_find(&h->blocks, end - 1, &found) &&
		      found.addr == block.addr);
	}
}

/* Check that the detail covers all live blocks, and has no more pages than the image. */
static void check_detail(struct heap_image *h)
{
	struct block_place place = { 0 };
	struct heap_detail detail;
	struct block block;
	uint64_t count = 0, bytes = 0, pages = 0;

	walk_detail(&h->blocks, NULL, &detail);
	for (size_t i = 0; i < detail.type_count; i++) {
		count += detail.types[i].live.count;
		bytes += detail.types[i].live.bytes;
		CHECK(detail.types[i].resident_bytes <= detail.types[i].live.bytes);
	}
	while (h->blocks.image && blocks_next(&h->blocks, &place, &block))
		if (block.state == BLOCK_LIVE) {
			count--;
			bytes -= block.bytes;
		}
	CHECK(count == 0 && bytes == 0);
	for (size_t i = 0; i < FILL_COUNT_; i++)
		pages += detail.fill[i].page_count;
	CHECK(pages <= h->image.length_bytes / IMAGE_PAGE_BYTES);
	for (size_t i = 0; i < detail.strip_count; i++)
		CHECK(detail.strips[i].sum.page_count <= pages);
	heap_detail_release(&detail);
}

static void check_walk(struct heap_image *h, bool is_checked)
{
	struct heap heap;

	heap_image_walk(h, &heap);
	check_shares(h, &heap);
	if (is_checked) {
		check_blocks(h);
		if (h->blocks.image)
			check_mark(&h->blocks, &h->mappings);
		check_detail(h);
	}
	CHECK(heap.quality != QUALITY_EXACT || !heap.problem);
	CHECK(heap.quality == QUALITY_EXACT || heap.problem);
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
