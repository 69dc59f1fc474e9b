/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "../../support/heap_image.h"
#include "../../support/unit.h"

static uint64_t sum_of(const struct heap *heap, size_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < heap->arena_count; i++) {
		struct chunk_sum chunks;

		memcpy(&chunks, (const char *)&heap->arenas[i] + offset, sizeof(chunks));
		sum += chunks.bytes;
	}
	return sum;
}

#define LIVE(heap) sum_of(heap, offsetof(struct heap_arena, live))
#define BINS(heap) sum_of(heap, offsetof(struct heap_arena, bin))

static uint64_t top_sum(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < heap->arena_count; i++)
		sum += heap->arenas[i].top_bytes;
	return sum;
}

static uint64_t resident_sum(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap->owner_bytes[o];
	return sum;
}

static void begin(struct heap_image *h, size_t kind)
{
	heap_image_init(h, &heap_kinds[kind]);
	h->is_running = true;
}

static void walk_and_release(struct heap_image *h, struct heap *heap)
{
	heap_image_walk(h, heap);
	assert_int_equal(heap->quality, QUALITY_ESTIMATE);
	heap_image_release(h);
}

static void cached_and_fastbin_blocks_count_as_live_and_the_rest_is_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		const char *row = heap_kinds[i].version;
		struct heap_image h;
		struct heap heap;

		begin(&h, i);
		heap_image_walk(&h, &heap);
		assert_row(heap.quality == QUALITY_ESTIMATE, row);
		assert_row(heap.skipped_bytes == 0, row);
		assert_row(BINS(&heap) == h.bin.bytes && top_sum(&heap) == h.top_bytes,
			   row);
		/*
		 * the thread's cache itself cannot be distinguished
		 * from the program's blocks
		 */
		assert_row(LIVE(&heap) == h.live.bytes + h.cached.bytes + h.fast.bytes +
						  heap_kinds[i].cache_chunk_bytes,
			   row);
		assert_row(heap.mapped.bytes == h.mapped.bytes, row);
		assert_row(resident_sum(&heap) == h.system_bytes + h.mapped.bytes, row);
		heap_release(&heap);
		heap_image_release(&h);
	}
}

static void a_torn_chain_continues_at_the_next_valid_chunk(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 8, UINT64_C(0x7ffff0001), UINT64_MAX };
	struct heap_image h;
	struct heap whole, torn;

	(void)state;
	begin(&h, 4);
	walk_and_release(&h, &whole);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin(&h, 4);
		heap_image_write(&h, h.second_live_addr + 8, sizes[i]);
		walk_and_release(&h, &torn);
		assert_null(torn.arenas[1].problem);
		/* only that chunk is lost */
		assert_int_equal(torn.skipped_bytes, 48);
		assert_int_equal(LIVE(&torn), LIVE(&whole) - 48);
		assert_int_equal(BINS(&torn), BINS(&whole));
		assert_int_equal(top_sum(&torn), top_sum(&whole));
		assert_int_equal(resident_sum(&torn), resident_sum(&whole) - 48);
		heap_release(&torn);
	}
	heap_release(&whole);
}

static void missing_pages_lose_only_their_own_chunks(void **state)
{
	struct heap_image h;
	struct heap whole, torn;

	(void)state;
	begin(&h, 4);
	walk_and_release(&h, &whole);
	begin(&h, 4);
	heap_image_drop(&h, h.heap_addr, h.heap_addr + IMAGE_PAGE_BYTES);
	walk_and_release(&h, &torn);
	assert_null(torn.arenas[0].problem);
	assert_int_equal(top_sum(&torn), top_sum(&whole));
	assert_true(BINS(&torn) < BINS(&whole));
	assert_true(BINS(&torn) + 2 * 20000 >= BINS(&whole));
	heap_release(&torn);
	heap_release(&whole);
}

static void a_top_chunk_that_changed_meanwhile_is_recognized(void **state)
{
	struct heap_image h;
	struct heap whole, moved;
	uint64_t top_size;

	(void)state;
	begin(&h, 4);
	top_size = heap_image_read(&h, h.top_addr + 8);
	walk_and_release(&h, &whole);

	begin(&h, 4); /* brk() has moved up after the mappings were read */
	heap_image_write(&h, h.top_addr + 8, top_size + 132 * 1024);
	walk_and_release(&h, &moved);
	assert_int_equal(top_sum(&moved), top_sum(&whole));
	assert_int_equal(moved.skipped_bytes, 0);
	heap_release(&moved);

	begin(&h, 4); /* brk() has moved down: the last page is gone, and top with it */
	heap_image_write(&h, h.top_addr + 8, top_size - IMAGE_PAGE_BYTES);
	heap_image_drop(&h, h.top_addr + (top_size & ~UINT64_C(7)) - IMAGE_PAGE_BYTES,
			h.top_addr + (top_size & ~UINT64_C(7)));
	walk_and_release(&h, &moved);
	assert_int_equal(top_sum(&moved), top_sum(&whole) - IMAGE_PAGE_BYTES);
	assert_int_equal(moved.skipped_bytes, 0);
	heap_release(&moved);
	heap_release(&whole);
}

static void stale_arena_sums_do_not_matter(void **state)
{
	const struct heap_kind *kind = &heap_kinds[4];
	struct heap_image h;
	struct heap heap;

	(void)state;
	begin(&h, 4);
	heap_image_write(&h, h.second_arena_addr + kind->bins_offset + 2032 + 16 + 24,
			 4096);
	heap_image_write(&h, h.main_arena_addr + kind->bins_offset + 2032 + 16 + 24,
			 4096);
	/* the bin was changed during the walk */
	heap_image_write(&h, h.bin_addr + 24, h.bin_addr);
	heap_image_walk(&h, &heap);
	assert_null(heap.arenas[0].problem);
	assert_null(heap.arenas[1].problem);
	assert_int_equal(BINS(&heap), h.bin.bytes);
	heap_release(&heap);
	heap_image_release(&h);
}

static void garbage_is_skipped(void **state)
{
	struct heap_image h;
	struct heap heap;

	(void)state;
	begin(&h, 4);
	for (uint64_t addr = h.second_live_addr;
	     addr < h.heap_info_addr + 32 * IMAGE_PAGE_BYTES; addr += 8)
		heap_image_write(&h, addr, UINT64_C(0x2121212121212121));
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.arenas[1].live.count, 0);
	assert_int_equal(heap.arenas[1].bin.count, 0);
	assert_true(heap.skipped_bytes >= 31 * IMAGE_PAGE_BYTES);
	assert_int_equal(heap.arenas[1].top_bytes, 0);
	assert_true(heap.arenas[0].top_bytes > 0);
	heap_release(&heap);
	heap_image_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			cached_and_fastbin_blocks_count_as_live_and_the_rest_is_exact),
		cmocka_unit_test(a_torn_chain_continues_at_the_next_valid_chunk),
		cmocka_unit_test(missing_pages_lose_only_their_own_chunks),
		cmocka_unit_test(a_top_chunk_that_changed_meanwhile_is_recognized),
		cmocka_unit_test(stale_arena_sums_do_not_matter),
		cmocka_unit_test(garbage_is_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
