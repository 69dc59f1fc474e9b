/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that are swapped out: pages of a made-up memory are removed, one at a time. No
 * walk then reports a wrong sum as exact.
 */
#include "config.h"

#include "walk/walk.h"

#include <stdio.h>
#include <string.h>

#include "../support/golang_image.h"
#include "../support/heap_image.h"
#include "../support/jemalloc_image.h"
#include "../support/made_memory.h"
#include "../support/mallocng_image.h"
#include "../support/mimalloc_image.h"
#include "../support/oldmalloc_image.h"
#include "../support/partition_image.h"
#include "../support/pymalloc_image.h"
#include "../support/ruby_image.h"
#include "../support/tcmalloc_image.h"
#include "../support/unit.h"
#include "../support/v8_image.h"
#include "../support/zend_image.h"

/* A made-up memory of any kind. The members point to that of the kind. */
struct made {
	struct image *image;
	struct mapping_list *mappings;
	struct blocks *blocks;
};

/*
 * Define the made-up memory NAME, and the functions that make, walk and release it. INIT
 * are the arguments of NAME_image_init() after the first one.
 */
#define OWN_IMAGE(name, ...)                                                         \
	static struct name##_image name##_memory;                                    \
	static struct made make_##name(void)                                         \
	{                                                                            \
		name##_image_init(&name##_memory, ##__VA_ARGS__);                    \
		return (struct made){ &name##_memory.image, &name##_memory.mappings, \
				      &name##_memory.blocks };                       \
	}                                                                            \
	static void walk_own_##name(struct heap *ret)                                \
	{                                                                            \
		name##_image_walk(&name##_memory, ret);                              \
	}                                                                            \
	static void release_##name(void)                                             \
	{                                                                            \
		name##_image_release(&name##_memory);                                \
	}

#define MADE_MEMORY(name, ...)                                             \
	static struct name##_image name##_memory;                          \
	static struct made make_##name(void)                               \
	{                                                                  \
		name##_image_init(&name##_memory, ##__VA_ARGS__);          \
		return (struct made){ &name##_memory.memory.image,         \
				      &name##_memory.memory.mappings,      \
				      &name##_memory.memory.blocks };      \
	}                                                                  \
	static void walk_own_##name(struct heap *ret)                      \
	{                                                                  \
		made_memory_walk(&name##_memory.memory, walk_##name, ret); \
	}                                                                  \
	static void release_##name(void)                                   \
	{                                                                  \
		made_memory_release(&name##_memory.memory);                \
	}

static size_t mimalloc_version;
static const struct zend_image_layout zend_layout = { 34, 39, 50 };

OWN_IMAGE(heap, &heap_kinds[4])
OWN_IMAGE(jemalloc, &jemalloc_kinds[0])
OWN_IMAGE(mallocng)
OWN_IMAGE(oldmalloc)
OWN_IMAGE(tcmalloc, &tcmalloc_layouts[0])
OWN_IMAGE(mimalloc, &mimalloc_made[mimalloc_version])
OWN_IMAGE(golang, false)
OWN_IMAGE(pymalloc, 16384, 32)
MADE_MEMORY(partition, 0)
MADE_MEMORY(ruby, 65536, true)
MADE_MEMORY(v8, 1)
MADE_MEMORY(zend, &zend_layout)

#define KIND(kind)                                                           \
	{                                                                    \
		.name = #kind, .make = make_##kind, .walk = walk_own_##kind, \
		.release = release_##kind                                    \
	}

static const struct kind {
	const char *name;
	struct made (*make)(void);
	void (*walk)(struct heap *ret);
	void (*release)(void);
} kinds[] = {
	KIND(heap),	 KIND(jemalloc), KIND(mallocng), KIND(oldmalloc),
	KIND(tcmalloc),	 KIND(mimalloc), KIND(golang),	 KIND(pymalloc),
	KIND(partition), KIND(ruby),	 KIND(v8),	 KIND(zend),
};

/* A memory with more pages has only each STEP-th page removed, to save time. */
#define PAGES_MANY 300
#define STEP 7

static void copy_image(struct image *to, const struct image *from)
{
	*to = (struct image)IMAGE_INIT;
	assert_int_equal(image_reserve(to, from->length_bytes), 0);
	memcpy(to->bytes, from->bytes, from->length_bytes);
	for (size_t i = 0; i < from->run_count; i++)
		assert_int_equal(image_add_run(to, from->runs[i].start_addr,
					       from->runs[i].end_addr),
				 0);
}

static struct mapping *mapping_at(const struct made *made, uint64_t addr)
{
	for (size_t i = 0; i < made->mappings->count; i++)
		if (addr >= made->mappings->items[i].start_addr &&
		    addr < made->mappings->items[i].end_addr)
			return &made->mappings->items[i];
	return NULL;
}

/* Swap out one more page of a mapping, or one less. */
static void swap_page(struct mapping *m, bool is_out)
{
	uint64_t *bytes = m->counters.bytes;

	bytes[SMAPS_SWAP] += is_out ? IMAGE_PAGE_BYTES : -IMAGE_PAGE_BYTES;
	bytes[SMAPS_RSS] -= is_out ? IMAGE_PAGE_BYTES : -IMAGE_PAGE_BYTES;
}

static uint64_t sum_owned(const struct heap *heap, bool is_free)
{
	uint64_t sum = heap->owner_bytes[OWNER_POOL_PAGES] +
		       heap->owner_bytes[OWNER_POOL_FRAGMENTS];

	return is_free ? sum
		       : sum + heap->owner_bytes[OWNER_LIVE] +
				 heap->owner_bytes[OWNER_HEAP_META];
}

/*
 * Check that the figures are those of the intact heap, except that the page is not
 * resident.
 */
static void check_figures(const struct heap *now, const struct heap *intact,
			  const struct page_use *page, const char *row)
{
	struct heap_arena sums, wanted;

	heap_sum_arenas(now, &sums);
	heap_sum_arenas(intact, &wanted);
	assert_row(sums.live.bytes == wanted.live.bytes, row);
	assert_row(sums.live.count == wanted.live.count, row);
	assert_row(sums.bin.bytes == wanted.bin.bytes, row);
	assert_row(sums.cached.bytes == wanted.cached.bytes, row);
	assert_row(now->owner_bytes[OWNER_LIVE] + page->live_bytes ==
			   intact->owner_bytes[OWNER_LIVE],
		   row);
	assert_row(sum_owned(now, true) + page->free_bytes == sum_owned(intact, true),
		   row);
	assert_row(sum_owned(now, false) + page->heap_bytes == sum_owned(intact, false),
		   row);
}

/* The walk of a kind's memory with all its pages. */
struct intact {
	const struct kind *kind;
	struct made made;
	struct image image;
	struct heap heap;
	struct blocks blocks;
};

static void make_intact(struct intact *all, const struct kind *kind)
{
	all->kind = kind;
	all->made = kind->make();
	kind->walk(&all->heap);
	assert_row(all->heap.quality == QUALITY_EXACT, kind->name);
	all->blocks = *all->made.blocks;
	*all->made.blocks = (struct blocks)BLOCKS_INIT;
	copy_image(&all->image, all->made.image);
}

static void release_intact(struct intact *all)
{
	blocks_release(&all->blocks);
	image_release(&all->image);
	heap_release(&all->heap);
	all->kind->release();
}

/* Walk the memory without a page. Return true if the figures are a bound due to swap. */
static bool walk_without(struct intact *all, uint64_t addr, const struct page_use *page)
{
	struct mapping *m = mapping_at(&all->made, addr);
	struct heap heap;
	bool is_bound;
	char row[64];

	snprintf(row, sizeof(row), "%s without %llx", all->kind->name,
		 (unsigned long long)addr);
	image_release(all->made.image);
	copy_image(all->made.image, &all->image);
	made_memory_drop(all->made.image, addr, addr + IMAGE_PAGE_BYTES);
	swap_page(m, true);
	all->kind->walk(&heap);
	if (heap.quality == QUALITY_EXACT)
		check_figures(&heap, &all->heap, page, row);
	else
		assert_row(heap.problem != NULL, row);
	is_bound = heap.quality == QUALITY_BOUND && strstr(heap.problem, "swapped out");
	swap_page(m, false);
	heap_release(&heap);
	return is_bound;
}

static void check_kind(const struct kind *kind)
{
	uint64_t number = 0, bound_count = 0, step;
	struct intact all;

	make_intact(&all, kind);
	step = all.image.length_bytes / IMAGE_PAGE_BYTES > PAGES_MANY ? STEP : 1;
	for (size_t i = 0; i < all.image.run_count; i++) {
		const struct image_run *run = &all.image.runs[i];

		for (uint64_t addr = run->start_addr; addr < run->end_addr;
		     addr += IMAGE_PAGE_BYTES, number++)
			if (number % step == 0)
				bound_count += walk_without(&all, addr,
							    &all.blocks.pages[number]);
	}
	/* without some of the pages, the heap is found, and its figures are bounds */
	assert_row(bound_count > 0, kind->name);
	release_intact(&all);
}

static void no_page_can_be_missing_unnoticed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		check_kind(&kinds[i]);
}

/* Version 3 of mimalloc has tables instead of segments. */
static void no_page_of_another_version_can_be_missing_unnoticed(void **state)
{
	struct kind kind = KIND(mimalloc);

	(void)state;
	mimalloc_version = MIMALLOC_MADE_COUNT - 1;
	check_kind(&kind);
	mimalloc_version = 0;
}

/*
 * Some walkers do not distinguish swapped-out structures from corrupt ones: a failed
 * check may be due to either.
 */
static void the_reason_of_an_estimate_mentions_swapped_memory(void **state)
{
	struct heap found;

	(void)state;
	for (int is_out = 0; is_out < 2; is_out++) {
		struct made made = make_v8();
		const struct walk_input input = { .image = made.image,
						  .mappings = made.mappings };
		uint64_t addr = v8_memory.old_addr;

		made_memory_remove_page(made.image, made.mappings, addr, is_out);
		walk_heap(&input, &found, made.blocks);
		assert_int_equal(found.allocator, ALLOCATOR_V8);
		assert_int_equal(found.quality, QUALITY_ESTIMATE);
		assert_int_equal(strstr(found.problem, "swapped out") != NULL, is_out);
		heap_release(&found);
		release_v8();
	}
}

/* A heap that was not found may be swapped out instead of having an unknown layout. */
static void the_reason_of_an_unknown_heap_mentions_swapped_memory(void **state)
{
	struct heap found;

	(void)state;
	for (int is_out = 0; is_out < 2; is_out++) {
		struct made made = make_pymalloc();
		const struct walk_input input = { .image = made.image,
						  .mappings = made.mappings };
		uint64_t addr = pymalloc_memory.used_addr & ~(IMAGE_PAGE_BYTES - 1);

		made_memory_remove_page(made.image, made.mappings, addr, is_out);
		walk_heap(&input, &found, made.blocks);
		assert_int_equal(found.quality, QUALITY_UNKNOWN);
		assert_non_null(found.problem);
		assert_int_equal(strstr(found.problem, "swapped out") != NULL, is_out);
		heap_release(&found);
		release_pymalloc();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_page_can_be_missing_unnoticed),
		cmocka_unit_test(no_page_of_another_version_can_be_missing_unnoticed),
		cmocka_unit_test(the_reason_of_an_estimate_mentions_swapped_memory),
		cmocka_unit_test(the_reason_of_an_unknown_heap_mentions_swapped_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
