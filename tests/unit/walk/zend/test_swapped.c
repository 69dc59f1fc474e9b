/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of PHP's heap that are swapped out: the live bytes are a lower bound if chunks
 * are missing, and an upper bound if only free lists are. If a structure is corrupt,
 * they are an estimate.
 */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "base/units.h"

#include "../../support/unit.h"
#include "../../support/zend_image.h"

/* As in test_walk.c: the last one is that of PHP 8.4. */
static const struct zend_image_layout layouts[] = {
	{ 34, 39, 50 },
	{ 34, 41, 52 },
	{ 35, 40, 55 },
};

#define PAGE ZEND_PAGE_BYTES
#define HUGE_BYTES (ZEND_CHUNK_BYTES + 3 * PAGE)
#define BIN_64 7
#define BIN_3072 29
#define LIVE_64 61 /* live blocks in the run of blocks of 64 bytes */
#define MAP_OF_BIN(bin) (UINT32_C(0x80000000) | (bin))

#define CHUNKS_MISSING "chunks or huge blocks of PHP are swapped out and not counted"
#define LISTS_MISSING "free lists of PHP are swapped out, and their blocks count as live"

static struct zend_image h;
static struct heap intact, heap;

static void walk(struct heap *ret)
{
	heap_release(ret);
	made_memory_walk(&h.memory, walk_zend, ret);
}

static void begin_layout(const struct zend_image_layout *layout)
{
	zend_image_init(&h, layout);
	heap_init(&intact);
	heap_init(&heap);
}

static int begin(void **state)
{
	(void)state;
	begin_layout(&layouts[0]);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&intact);
	heap_release(&heap);
	made_memory_release(&h.memory);
	return 0;
}

static void restart(void)
{
	end(NULL);
	begin(NULL);
}

static void walk_intact(void)
{
	walk(&intact);
	assert_int_equal(intact.quality, QUALITY_EXACT);
}

static void remove_page(uint64_t addr, bool is_swapped)
{
	made_memory_remove_page(&h.memory.image, &h.memory.mappings, addr, is_swapped);
}

static void walk_without(uint64_t addr, bool is_swapped)
{
	remove_page(addr, is_swapped);
	walk(&heap);
}

static void check_bound(const char *problem)
{
	assert_int_equal(heap.allocator, ALLOCATOR_PHP);
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_string_equal(heap.problem, problem);
	assert_int_equal(heap.trimmable_bytes, BYTES_UNKNOWN);
	assert_true(heap.arenas[0].bin.bytes <= intact.arenas[0].bin.bytes);
	assert_true(heap.arenas[0].system_bytes <= intact.arenas[0].system_bytes);
}

/* The heap is an estimate, or unknown, and the reason is not swapped-out memory. */
static void check_broken(void)
{
	assert_true(heap.quality < QUALITY_BOUND);
	assert_null(strstr(heap.problem, "swapped out"));
}

static uint64_t live_bytes(void)
{
	return heap.arenas[0].live.bytes;
}

static void free_blocks_after_a_swapped_out_one_count_as_live(void **state)
{
	(void)state;
	walk_intact();
	walk_without(h.free_block_addr, true);
	check_bound(LISTS_MISSING);
	/* free_slot[] leads to the first of three blocks, which leads to the others */
	assert_int_equal(live_bytes(), h.live.bytes + 2 * 64);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes - 2 * 64);
	assert_int_equal(heap.arenas[0].system_bytes, h.real_bytes);
	restart();
	walk_without(h.free_block_addr, false);
	check_broken();
}

static void swapped_out_chunks_are_not_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		end(NULL);
		begin_layout(&layouts[i]);
		walk_intact();
		walk_without(h.second_addr, true);
		check_bound(CHUNKS_MISSING);
		assert_int_equal(live_bytes(), h.live.bytes - 3 * PAGE);
		assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
		assert_int_equal(heap.arenas[0].system_bytes,
				 h.real_bytes - ZEND_CHUNK_BYTES);
	}
	restart();
	walk_without(h.second_addr, false);
	check_broken();
}

/* In PHP 8.4, the last element of free_slot[] is where real_size was before. */
static void a_free_block_on_a_page_boundary_is_not_the_sum_of_chunks(void **state)
{
	uint64_t block;

	(void)state;
	end(NULL);
	begin_layout(&layouts[2]);
	block = h.main_addr + 8 * PAGE;
	made_memory_write_u32(&h.memory, h.map_addr + 4 * 8, MAP_OF_BIN(BIN_3072));
	*(uint8_t *)made_memory_at(&h.memory, h.bitmap_addr + 1, 1) |= 1 << 2;
	made_memory_write_u32(&h.memory, h.main_addr + ZEND_CHUNK_FREE_PAGES,
			      ZEND_PAGES - 12);
	made_memory_write(&h.memory, h.slots_addr + 8 * BIN_3072, block);
	made_memory_write(&h.memory, block, 0);
	made_memory_write(&h.memory, h.size_addr, h.live.bytes - 2 * PAGE + 3 * 3072);
	walk_intact();
	walk_without(h.second_addr, true);
	check_bound(CHUNKS_MISSING);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes + 3072);
}

/* If both bounds apply, blocks in a state that is unknown are not counted. */
static void without_chunks_and_lists_the_live_bytes_are_a_lower_bound(void **state)
{
	(void)state;
	walk_intact();
	remove_page(h.second_addr, true);
	walk_without(h.free_block_addr, true);
	check_bound("chunks and free lists of PHP are swapped out, and blocks that "
		    "depend on them are not counted");
	assert_int_equal(live_bytes(), h.live.bytes - 3 * PAGE - LIVE_64 * 64);
}

static void swapped_out_huge_blocks_and_cached_chunks_are_not_counted(void **state)
{
	(void)state;
	walk_intact();
	/* the element of the list of huge blocks, and not the block */
	walk_without(h.main_addr + 11 * PAGE, true);
	check_bound(CHUNKS_MISSING);
	assert_int_equal(live_bytes(), h.live.bytes - HUGE_BYTES);
	restart();
	walk_intact();
	walk_without(h.cached_addr, true);
	check_bound(CHUNKS_MISSING);
	assert_int_equal(live_bytes(), h.live.bytes);
	assert_int_equal(heap.arenas[0].system_bytes, h.real_bytes - ZEND_CHUNK_BYTES);
	restart();
	walk_without(h.main_addr + 11 * PAGE, false);
	check_broken();
	restart();
	walk_without(h.cached_addr, false);
	check_broken();
}

/* Swapped-out memory does not excuse a structure whose page is resident. */
static void
corrupt_structures_make_an_estimate_although_memory_is_swapped_out(void **state)
{
	const struct {
		const char *what;
		uint64_t swapped_addr, addr, value;
	} rows[] = {
		{ "a free list", h.main_addr + 12 * PAGE, h.free_block_addr,
		  h.main_addr + 64 },
		{ "a free list, and another one is swapped out", h.main_addr + 3 * PAGE,
		  h.free_block_addr, h.main_addr + 64 },
		{ "fewer live bytes than PHP counts, although free blocks count as live",
		  h.free_block_addr, h.size_addr, h.live.bytes + 3 * 64 },
		{ "more live bytes than PHP counts, although chunks are missing",
		  h.second_addr, h.size_addr, h.live.bytes - 4 * PAGE },
		{ "more chunks than PHP counts", h.second_addr, h.real_size_addr,
		  ZEND_CHUNK_BYTES },
		{ "a chunk of another heap", h.free_block_addr, h.second_addr,
		  h.main_addr },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		restart();
		made_memory_write(&h.memory, rows[i].addr, rows[i].value);
		walk_without(rows[i].swapped_addr, true);
		assert_row(heap.quality < QUALITY_BOUND, rows[i].what);
		assert_row(!strstr(heap.problem, "swapped out"), rows[i].what);
	}
}

/*
 * Make page 2 of the second chunk a run of blocks of 64 bytes, and put its first block
 * into the free list, after the first block of the list.
 */
static uint64_t add_run_to_second_chunk(void)
{
	uint64_t map = h.second_addr + (h.map_addr - h.main_addr);
	uint64_t block = h.second_addr + 2 * PAGE;

	made_memory_write_u32(&h.memory, map + 4 * 1, 0x40000001);
	made_memory_write_u32(&h.memory, map + 4 * 2, MAP_OF_BIN(BIN_64));
	made_memory_write_u32(&h.memory, map + 4 * 3, 0x40000001);
	made_memory_write(&h.memory, block,
			  made_memory_read(&h.memory, h.free_block_addr));
	made_memory_write(&h.memory, h.free_block_addr, block);
	made_memory_write(&h.memory, h.size_addr, h.live.bytes - 64);
	return block;
}

static void a_free_list_continues_after_the_blocks_of_a_missing_chunk(void **state)
{
	uint64_t block;

	(void)state;
	add_run_to_second_chunk();
	walk_intact();
	walk_without(h.second_addr, true);
	check_bound(CHUNKS_MISSING);
	assert_int_equal(live_bytes(), intact.arenas[0].live.bytes - 2 * PAGE - 63 * 64);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	/* a list that is a circle in the missing chunk */
	restart();
	block = add_run_to_second_chunk();
	made_memory_write(&h.memory, block, block);
	walk_without(h.second_addr, true);
	check_broken();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		TEST(free_blocks_after_a_swapped_out_one_count_as_live),
		TEST(swapped_out_chunks_are_not_counted),
		TEST(a_free_block_on_a_page_boundary_is_not_the_sum_of_chunks),
		TEST(without_chunks_and_lists_the_live_bytes_are_a_lower_bound),
		TEST(swapped_out_huge_blocks_and_cached_chunks_are_not_counted),
		TEST(corrupt_structures_make_an_estimate_although_memory_is_swapped_out),
		TEST(a_free_list_continues_after_the_blocks_of_a_missing_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
