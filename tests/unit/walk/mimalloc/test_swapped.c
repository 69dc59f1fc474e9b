/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of mimalloc 3 that are swapped out: the figures are lower bounds. If the same
 * structure is corrupt, they are estimates.
 */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/made_memory.h"
#include "../../support/mimalloc_image.h"
#include "../../support/unit.h"

#define MADE 15 /* mimalloc 3.4, whose lists are not encoded */
#define BLOCK_BYTES 64
#define SMALL_CAPACITY 100
/* offset of `used` in struct mi_page_s, and its size */
#define USED 16
#define USED_BYTES 2

#define PAGES_MISSING \
	"pages of mimalloc are swapped out, and their blocks are not counted"
#define TABLES_MISSING                                                          \
	"tables of mimalloc may be swapped out: blocks and free memory may be " \
	"missing"

static struct mimalloc_image h;
static struct heap intact, heap;

static void walk(struct heap *ret)
{
	heap_release(ret);
	mimalloc_image_walk(&h, ret);
}

static int begin(void **state)
{
	(void)state;
	mimalloc_image_init(&h, &mimalloc_made[MADE]);
	heap_init(&intact);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&intact);
	heap_release(&heap);
	mimalloc_image_release(&h);
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

static void walk_without(uint64_t addr, bool is_swapped)
{
	made_memory_remove_page(&h.image, &h.mappings, addr, is_swapped);
	walk(&heap);
}

static void check_bound(const char *problem)
{
	assert_int_equal(heap.allocator, ALLOCATOR_MIMALLOC);
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_string_equal(heap.problem, problem);
	assert_true(heap.arenas[0].live.bytes <= intact.arenas[0].live.bytes);
	assert_true(heap.arenas[0].bin.bytes <= intact.arenas[0].bin.bytes);
}

static void check_estimate(void)
{
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(strstr(heap.problem, "swapped out"));
}

static uint64_t large_bytes(void)
{
	return intact.arenas[0].live.bytes - (h.live.count - 1) * BLOCK_BYTES;
}

static void pages_without_structs_are_not_counted(void **state)
{
	(void)state;
	walk_intact();
	walk_without(h.large_page_addr, true);
	check_bound(PAGES_MISSING);
	assert_int_equal(heap.arenas[0].live.count, h.live.count - 1);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes - large_bytes());
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	restart();
	walk_without(h.large_page_addr, false);
	check_estimate();
	/* a page is swapped out, and a list of the other one is corrupt */
	restart();
	mimalloc_image_write(&h, h.free_addr + 2 * BLOCK_BYTES, h.free_addr, 8);
	walk_without(h.large_page_addr, true);
	check_estimate();
}

/*
 * Free a block on the second page of memory of the small page: it is the last one of the
 * page's list of free blocks, which has five others.
 */
static uint64_t free_distant_block(unsigned int used)
{
	uint64_t block = h.small_addr + 80 * BLOCK_BYTES;

	mimalloc_image_write(&h, h.free_addr + 4 * BLOCK_BYTES, block, 8);
	mimalloc_image_write(&h, block, 0, 8);
	mimalloc_image_write(&h, h.small_page_addr + USED, used, USED_BYTES);
	return block;
}

/* The list of free blocks has six, and the list of locally freed ones has three. */
static void pages_with_swapped_out_free_blocks_are_not_counted(void **state)
{
	uint64_t block = free_distant_block(SMALL_CAPACITY - 6 - 3);

	(void)state;
	walk_intact();
	assert_int_equal(intact.arenas[0].live.count, h.live.count - 1);
	walk_without(block, true);
	check_bound(PAGES_MISSING);
	assert_int_equal(heap.arenas[0].live.count, 1);
	restart();
	block = free_distant_block(SMALL_CAPACITY - 6 - 3);
	walk_without(block, false);
	check_estimate();
	/* the resident parts of the lists have more blocks than are free */
	restart();
	block = free_distant_block(SMALL_CAPACITY - 6);
	walk_without(block, true);
	check_estimate();
}

/* Set the swapped-out bytes of the mapping that contains addr. */
static void set_swapped(uint64_t addr)
{
	for (size_t i = 0; i < h.mappings.count; i++)
		if (addr >= h.mappings.items[i].start_addr &&
		    addr < h.mappings.items[i].end_addr)
			h.mappings.items[i].counters.bytes[SMAPS_SWAP] = IMAGE_PAGE_BYTES;
}

/* Pages of the map that were never touched look like swapped-out ones. */
static void the_map_may_be_partly_swapped_out(void **state)
{
	(void)state;
	walk_intact();
	set_swapped(h.map_word_addr);
	walk(&heap);
	check_bound(TABLES_MISSING);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	/* a corrupt list is not excused */
	mimalloc_image_write(&h, h.free_addr + 2 * BLOCK_BYTES, h.free_addr, 8);
	walk(&heap);
	check_estimate();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		TEST(pages_without_structs_are_not_counted),
		TEST(pages_with_swapped_out_free_blocks_are_not_counted),
		TEST(the_map_may_be_partly_swapped_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
