/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/jemalloc_image.h"
#include "../../support/unit.h"

#define PAGE UINT64_C(4096)

static void sum_arenas(const struct heap *heap, struct heap_arena *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < heap->arena_count; i++) {
		const struct heap_arena *a = &heap->arenas[i];
		const struct chunk_sum *from[] = { &a->live, &a->cached, &a->bin,
						   &a->own };
		struct chunk_sum *to[] = { &ret->live, &ret->cached, &ret->bin,
					   &ret->own };

		for (size_t k = 0; k < ARRAY_SIZE(from); k++) {
			to[k]->count += from[k]->count;
			to[k]->bytes += from[k]->bytes;
		}
		for (size_t s = 0; s < HEAP_STRETCH_COUNT_; s++) {
			ret->stretches[s].bytes += a->stretches[s].bytes;
			ret->stretches[s].resident_bytes +=
				a->stretches[s].resident_bytes;
		}
	}
}

static uint64_t resident_sum(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap->owner_bytes[o];
	return sum;
}

/* Assert what must hold for any walk, whatever the memory contains. */
static void check_bounds(struct jemalloc_image *h, const struct heap *heap)
{
	uint64_t shares = 0;

	for (size_t i = 0; i < heap->share_count; i++) {
		const struct mapping *m = &h->mappings.items[heap->shares[i].mapping];
		uint64_t sum = 0;

		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			sum += heap->shares[i].owner_bytes[o];
		assert_true(sum <=
			    image_resident_bytes(&h->image, m->start_addr, m->end_addr));
		shares += sum;
	}
	assert_int_equal(shares, resident_sum(heap));
	assert_true((heap->quality == QUALITY_EXACT) == (heap->problem == NULL));
}

static bool are_equal(const struct chunk_sum *a, const struct chunk_sum *b)
{
	return a->count == b->count && a->bytes == b->bytes;
}

static void every_version_and_configuration_is_walked_exactly(void **state)
{
	(void)state;
	for (size_t i = 0; i < jemalloc_kind_count; i++) {
		const char *row = jemalloc_kinds[i].version;
		struct jemalloc_image h;
		struct heap heap;
		struct heap_arena all;

		jemalloc_image_init(&h, &jemalloc_kinds[i]);
		jemalloc_image_walk(&h, &heap);
		assert_row(heap.allocator == ALLOCATOR_JEMALLOC, row);
		assert_row(heap.problem == NULL, heap.problem);
		assert_row(heap.quality == QUALITY_EXACT, row);
		assert_row(heap.cache_count == 1, row);
		assert_row(heap.arena_count == 2, row);
		assert_row(heap.arenas[1].number == 1, row);
		sum_arenas(&heap, &all);
		assert_row(are_equal(&all.live, &h.live), row);
		assert_row(are_equal(&all.cached, &h.cached), row);
		assert_row(are_equal(&all.bin, &h.free), row);
		assert_row(are_equal(&all.own, &h.own), row);
		assert_row(heap.arenas[0].live.bytes == h.first_arena_live_bytes, row);
		assert_row(all.stretches[HEAP_ACTIVE].bytes == h.active_bytes, row);
		assert_row(all.stretches[HEAP_DIRTY].bytes == h.dirty_bytes, row);
		assert_row(all.stretches[HEAP_MUZZY].bytes == h.muzzy_bytes, row);
		assert_row(all.stretches[HEAP_RETAINED].bytes == h.retained_bytes, row);
		assert_row(all.stretches[HEAP_RETAINED].resident_bytes == 0, row);
		assert_row(heap.trimmable_bytes == h.dirty_bytes + h.muzzy_bytes, row);
		assert_row(heap.owner_bytes[OWNER_LIVE] == h.live.bytes, row);
		assert_row(heap.owner_bytes[OWNER_POOL_PAGES] +
					   heap.owner_bytes[OWNER_POOL_FRAGMENTS] ==
				   h.free.bytes + h.cached.bytes + h.dirty_bytes +
					   h.muzzy_bytes,
			   row);
		check_bounds(&h, &heap);
		heap_release(&heap);
		jemalloc_image_release(&h);
	}
}

static void blocks_are_found_by_any_address_inside_them(void **state)
{
	struct jemalloc_image h;
	struct heap heap;
	struct block block;

	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[jemalloc_kind_count - 1]);
	jemalloc_image_walk(&h, &heap);
	assert_true(blocks_find(&h.blocks, h.slab_addr + 48 + 5, &block));
	assert_int_equal(block.addr, h.slab_addr + 48);
	assert_int_equal(block.bytes, 48);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.blocks, h.slab_addr + UINT64_C(2) * 48, &block));
	assert_int_equal(block.state, BLOCK_FREE);
	assert_true(blocks_find(&h.blocks, h.cached_addr, &block));
	assert_int_equal(block.state, BLOCK_CACHED);
	assert_true(blocks_find(&h.blocks, h.large_addr + 16383, &block));
	assert_int_equal(block.addr, h.large_addr);
	assert_int_equal(block.bytes, 16384);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_false(blocks_find(&h.blocks, h.large_addr + 16384, &block));
	assert_true(blocks_find(&h.blocks, h.base_addr + 5000, &block));
	assert_int_equal(block.state, BLOCK_OWN);
	assert_true(blocks_find(&h.blocks, h.stack_addr, &block));
	assert_int_equal(block.state, BLOCK_OWN);
	heap_release(&heap);
	jemalloc_image_release(&h);
}

/* Functions that damage the heap. After each of them a walk must report an estimate. */
static void put_class_wrong(struct jemalloc_image *h)
{
	uint64_t bits = jemalloc_image_read(h, h->slab_extent_addr);

	jemalloc_image_write(h, h->slab_extent_addr,
			     bits ^ UINT64_C(1) << h->kind->class_shift);
}

static void put_free_count_wrong(struct jemalloc_image *h)
{
	uint64_t bits = jemalloc_image_read(h, h->slab_extent_addr);

	jemalloc_image_write(h, h->slab_extent_addr,
			     bits + (UINT64_C(1) << h->kind->free_shift));
}

static void put_bitmap_wrong(struct jemalloc_image *h)
{
	jemalloc_image_write(h, h->slab_extent_addr + 64, 0);
}

static void put_place_wrong(struct jemalloc_image *h)
{
	uint64_t addr = jemalloc_image_read(h, h->slab_extent_addr + 8);

	jemalloc_image_write(h, h->slab_extent_addr + 8, addr + PAGE);
}

static void put_in_transition(struct jemalloc_image *h)
{
	uint64_t bits = jemalloc_image_read(h, h->slab_extent_addr);

	jemalloc_image_write(h, h->slab_extent_addr,
			     bits | UINT64_C(4) << h->kind->state_shift);
}

static void make_it_endless(struct jemalloc_image *h)
{
	jemalloc_image_write(h, h->slab_extent_addr + 16, UINT64_C(1) << 47);
}

static void an_arena_that_fails_a_check_is_unknown_but_others_are_known(void **state)
{
	static void (*const damages[])(struct jemalloc_image * h) = {
		put_class_wrong, put_free_count_wrong, put_bitmap_wrong,
		put_place_wrong, put_in_transition,    make_it_endless,
	};

	(void)state;
	for (size_t k = 0; k < jemalloc_kind_count; k++) {
		for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
			const char *row = jemalloc_kinds[k].version;
			struct jemalloc_image h;
			struct heap heap;

			if (damages[i] == put_in_transition &&
			    !jemalloc_kinds[k].has_leaf_state)
				continue;
			jemalloc_image_init(&h, &jemalloc_kinds[k]);
			damages[i](&h);
			jemalloc_image_walk(&h, &heap);
			assert_row(heap.quality == QUALITY_ESTIMATE, row);
			assert_row(heap.arenas[0].problem != NULL, row);
			assert_row(heap.arenas[1].problem == NULL, row);
			assert_row(heap.trimmable_bytes == BYTES_UNKNOWN, row);
			assert_row(heap.arenas[1].live.bytes ==
					   h.live.bytes - h.first_arena_live_bytes,
				   row);
			check_bounds(&h, &heap);
			heap_release(&heap);
			jemalloc_image_release(&h);
		}
	}
}

static void extents_that_share_a_structure_are_rejected(void **state)
{
	struct jemalloc_image h;
	struct heap heap;

	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[5]);
	/* an unused page claims to belong to that slab */
	jemalloc_image_write(&h, h.last_element_addr + 8, h.slab_extent_addr);
	jemalloc_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	check_bounds(&h, &heap);
	heap_release(&heap);
	jemalloc_image_release(&h);
}

static void a_cache_with_invalid_blocks_is_rejected(void **state)
{
	static const uint64_t offsets[] = { 1, 16, 2 * 48, 3 * 48 };

	(void)state;
	for (size_t k = 0; k < jemalloc_kind_count; k++) {
		for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
			struct jemalloc_image h;
			struct heap heap;

			jemalloc_image_init(&h, &jemalloc_kinds[k]);
			/*
			 * inside a block, not a block, a free block, a block that
			 * the cache holds twice
			 */
			jemalloc_image_write(&h, h.stack_addr, 0);
			for (uint64_t at = h.stack_addr; at < h.stack_addr + 4096;
			     at += 8)
				if (jemalloc_image_read(&h, at) == h.cached_addr)
					jemalloc_image_write(&h, at,
							     h.slab_addr + offsets[i]);
			jemalloc_image_walk(&h, &heap);
			assert_row(heap.quality != QUALITY_EXACT,
				   jemalloc_kinds[k].version);
			assert_row(heap.quality != QUALITY_UNKNOWN,
				   jemalloc_kinds[k].version);
			check_bounds(&h, &heap);
			heap_release(&heap);
			jemalloc_image_release(&h);
		}
	}
}

static void without_a_cache_live_memory_is_a_bound(void **state)
{
	struct jemalloc_image h;
	struct heap_arena all;
	struct heap heap;

	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[5]);
	for (uint64_t at = h.bins_addr; at < h.bins_addr + UINT64_C(40) * 24; at += 8)
		jemalloc_image_write(&h, at, 0);
	jemalloc_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_non_null(heap.problem);
	sum_arenas(&heap, &all);
	assert_int_equal(all.live.bytes, h.live.bytes + h.cached.bytes + h.own.bytes);
	assert_int_equal(all.cached.count, 0);
	check_bounds(&h, &heap);
	heap_release(&heap);
	jemalloc_image_release(&h);
}

static void an_empty_cache_is_valid(void **state)
{
	(void)state;
	for (size_t k = 0; k < jemalloc_kind_count; k++) {
		bool has_heads = jemalloc_kinds[k].has_leaf_state;
		struct jemalloc_image h;
		struct heap_arena all;
		struct heap heap;

		jemalloc_image_init(&h, &jemalloc_kinds[k]);
		for (uint64_t bin = h.bins_addr; bin < h.bins_addr + UINT64_C(36) * 24;
		     bin += 24) {
			uint64_t head = jemalloc_image_read(&h, bin);
			uint64_t ends = jemalloc_image_read(&h, bin + 16);

			jemalloc_image_write(
				&h, bin,
				has_heads ? head + (uint16_t)((ends >> 32) - head) : 0);
		}
		jemalloc_image_walk(&h, &heap);
		assert_row(heap.problem == NULL, heap.problem);
		assert_row(heap.cache_count == 1, jemalloc_kinds[k].version);
		sum_arenas(&heap, &all);
		assert_row(all.live.bytes == h.live.bytes + h.cached.bytes,
			   jemalloc_kinds[k].version);
		heap_release(&heap);
		jemalloc_image_release(&h);
	}
}

/* A thread remembers the first address that a leaf describes, and the leaf. */
static void recently_used_leaves_of_a_thread_are_jemallocs_own_data(void **state)
{
	(void)state;
	for (size_t k = 0; k < jemalloc_kind_count; k++) {
		const char *row = jemalloc_kinds[k].version;
		struct jemalloc_image h;
		struct heap heap;
		uint64_t list;

		jemalloc_image_init(&h, &jemalloc_kinds[k]);
		list = h.bins_addr - 0x200;
		jemalloc_image_write(&h, list, h.leaf_first_addr);
		jemalloc_image_write(&h, list + 8, h.leaf_addr);
		/* not of a list: another leaf, another address, and the next thread's */
		jemalloc_image_write(&h, list + 32, h.leaf_first_addr);
		jemalloc_image_write(&h, list + 40, h.leaf_addr + 64);
		jemalloc_image_write(&h, list + 64, h.leaf_first_addr + 4096);
		jemalloc_image_write(&h, list + 72, h.leaf_addr);
		jemalloc_image_write(&h, h.bins_addr + 4096, h.leaf_first_addr);
		jemalloc_image_write(&h, h.bins_addr + 4104, h.leaf_addr);
		jemalloc_image_walk(&h, &heap);
		assert_row(heap.problem == NULL, row);
		assert_row(h.blocks.own_range_count == 1, row);
		assert_row(!blocks_in_own_range(&h.blocks, list - 1), row);
		assert_row(blocks_in_own_range(&h.blocks, list), row);
		assert_row(blocks_in_own_range(&h.blocks, list + 15), row);
		assert_row(!blocks_in_own_range(&h.blocks, list + 16), row);
		heap_release(&heap);
		jemalloc_image_release(&h);
	}
}

static void swapped_out_pages_make_the_heap_unknown(void **state)
{
	struct jemalloc_image h;
	struct heap heap;

	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[5]);
	for (size_t i = 0; i < h.mappings.count; i++)
		if (h.mappings.items[i].start_addr == h.base_addr)
			h.mappings.items[i].counters.bytes[SMAPS_SWAP] = PAGE;
	jemalloc_image_walk(&h, &heap);
	assert_int_equal(heap.allocator, ALLOCATOR_JEMALLOC);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(strstr(heap.problem, "swapped"));
	heap_release(&heap);
	jemalloc_image_release(&h);
}

static void without_a_radix_tree_there_is_no_jemalloc(void **state)
{
	struct jemalloc_image h;
	struct heap heap;

	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[5]);
	jemalloc_image_write(&h, h.root_element_addr, 0);
	jemalloc_image_walk(&h, &heap);
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	heap_release(&heap);
	jemalloc_image_release(&h);
}

static void in_a_running_process_cached_blocks_count_as_live(void **state)
{
	struct jemalloc_image h;
	struct heap_arena all;
	struct heap heap;

	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[5]);
	h.is_running = true;
	put_free_count_wrong(&h); /* as if only half of a change had been copied */
	jemalloc_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(heap.arenas[0].problem);
	sum_arenas(&heap, &all);
	assert_int_equal(all.live.bytes, h.live.bytes + h.cached.bytes + h.own.bytes);
	check_bounds(&h, &heap);
	heap_release(&heap);
	jemalloc_image_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_and_configuration_is_walked_exactly),
		cmocka_unit_test(blocks_are_found_by_any_address_inside_them),
		cmocka_unit_test(
			an_arena_that_fails_a_check_is_unknown_but_others_are_known),
		cmocka_unit_test(extents_that_share_a_structure_are_rejected),
		cmocka_unit_test(a_cache_with_invalid_blocks_is_rejected),
		cmocka_unit_test(without_a_cache_live_memory_is_a_bound),
		cmocka_unit_test(an_empty_cache_is_valid),
		cmocka_unit_test(recently_used_leaves_of_a_thread_are_jemallocs_own_data),
		cmocka_unit_test(swapped_out_pages_make_the_heap_unknown),
		cmocka_unit_test(without_a_radix_tree_there_is_no_jemalloc),
		cmocka_unit_test(in_a_running_process_cached_blocks_count_as_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
