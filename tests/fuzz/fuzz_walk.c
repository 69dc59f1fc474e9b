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
#include "walk/blocks/detail.h"

/* Bits of the first byte. */
#define KIND_BITS 0x3f

/* Check that the detail covers all live blocks, and has no more pages than the image. */
static void check_detail(struct heap_image *h, const struct heap *heap)
{
	struct block_place place = { 0 };
	struct heap_detail detail;
	struct block block;
	uint64_t count = 0, bytes = 0, pages = 0;

	walk_detail(heap, &h->blocks, NULL, &detail);
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
	(void)heap_check(&(struct walked){ &h->image, &h->mappings, &h->blocks, &heap },
			 is_checked ? CHECK_BIT : 0);
	if (is_checked && heap.quality != QUALITY_UNKNOWN)
		check_detail(h, &heap);
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
