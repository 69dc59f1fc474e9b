/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/detail.h"

#include "../../support/golang_image.h"
#include "../../support/heap_image.h"
#include "../../support/hotspot_image.h"
#include "../../support/pymalloc_image.h"
#include "../../support/ruby_image.h"
#include "../../support/unit.h"
#include "../../support/v8_image.h"
#include "../../support/zend_image.h"

struct detailed {
	struct heap_image h;
	struct heap heap;
	struct heap_detail detail;
};

static void detailed_init(struct detailed *d, size_t kind)
{
	heap_image_init(&d->h, &heap_kinds[kind]);
	heap_image_walk(&d->h, &d->heap);
	assert_int_equal(d->heap.quality, QUALITY_EXACT);
	walk_detail(&d->heap, &d->h.blocks, NULL, &d->detail);
}

static void detailed_release(struct detailed *d)
{
	heap_detail_release(&d->detail);
	heap_release(&d->heap);
	heap_image_release(&d->h);
}

static void types_contain_every_live_block_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		const char *row = heap_kinds[i].version;
		struct chunk_sum sum = { 0, 0 };
		uint64_t before = UINT64_MAX;
		struct detailed d;

		detailed_init(&d, i);
		for (size_t t = 0; t < d.detail.type_count; t++) {
			const struct heap_type *type = &d.detail.types[t];

			assert_row(!type->name, row);
			assert_row(type->live.bytes ==
					   type->size_bytes * type->live.count,
				   row);
			assert_row(type->resident_bytes <= type->live.bytes, row);
			assert_row(type->live.bytes <= before, row);
			before = type->live.bytes;
			sum.count += type->live.count;
			sum.bytes += type->live.bytes;
		}
		/*
		 * The mmapped chunk counts, too. All of it is in use except its header.
		 */
		assert_row(sum.count == d.h.live.count + d.h.mapped.count, row);
		assert_row(sum.bytes + 8 * d.h.live.count + 16 * d.h.mapped.count ==
				   d.h.live.bytes + d.h.mapped.bytes,
			   row);
		detailed_release(&d);
	}
}

static void pages_in_use_add_up_to_the_pool(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		const char *row = heap_kinds[i].version;
		struct page_sum on_map = { 0, 0 }, sum = { 0, 0 };
		struct detailed d;

		detailed_init(&d, i);
		for (size_t f = 0; f < FILL_COUNT_; f++) {
			sum.page_count += d.detail.fill[f].page_count;
			sum.free_bytes += d.detail.fill[f].free_bytes;
		}
		assert_row(d.detail.fill[FILL_NONE].free_bytes ==
				   d.heap.owner_bytes[OWNER_POOL_PAGES],
			   row);
		assert_row(sum.free_bytes ==
				   d.heap.owner_bytes[OWNER_POOL_PAGES] +
					   d.heap.owner_bytes[OWNER_POOL_FRAGMENTS],
			   row);
		for (size_t s = 0; s < d.detail.strip_count; s++) {
			const struct heap_strip *strip = &d.detail.strips[s];
			uint64_t pages = 0;

			for (size_t c = 0; c < strip->cell_count; c++)
				pages += strip->cells[c].page_count;
			assert_row(pages == strip->sum.page_count, row);
			on_map.page_count += pages;
			on_map.free_bytes += strip->sum.free_bytes;
		}
		/* two arenas, and the mmapped block */
		assert_row(d.detail.strip_count == 3, row);
		assert_row(d.detail.strips[2].is_mapped, row);
		assert_row(on_map.free_bytes == sum.free_bytes, row);
		assert_row(on_map.page_count <= sum.page_count, row);
		detailed_release(&d);
	}
}

/*
 * The pages in the order of their addresses: 48 live, two cached, ...
 * as laid out in heap_image.c.
 */
static void pinning_blocks_are_found_on_their_pages(void **state)
{
	struct block_place place = { 0 };
	uint64_t blocks = 0, alone = 0;
	struct detailed d;
	struct block block;

	(void)state;
	detailed_init(&d, 4);
	for (size_t i = 0; i < d.detail.pin_count; i++) {
		const struct heap_type *type = &d.detail.types[d.detail.pins[i]];

		assert_true(type->pin.pages.page_count > 0);
		assert_true(type->pin.alone_page_count <= type->pin.pages.page_count);
		assert_true(type->pin.block_count <= type->live.count);
		blocks += type->pin.block_count;
		alone += type->pin.alone_page_count;
	}
	assert_true(blocks > 0);
	assert_true(alone <= d.detail.fragmented.page_count);
	/* count again, block by block */
	while (blocks_next(&d.h.blocks, &place, &block)) {
		uint64_t first = (block.addr - 16) / IMAGE_PAGE_BYTES;
		uint64_t last = (block.addr + block.bytes - 9) / IMAGE_PAGE_BYTES;
		bool is_pinning = false;

		if (block.state != BLOCK_LIVE)
			continue;
		for (uint64_t page = first; page <= last; page++) {
			const struct image_run *run =
				image_run_at(&d.h.image, page * IMAGE_PAGE_BYTES);
			uint16_t free_bytes;

			if (!run)
				continue;
			free_bytes =
				d.h.blocks
					.pages[(run->offset_bytes / IMAGE_PAGE_BYTES) +
					       page - run->start_addr / IMAGE_PAGE_BYTES]
					.free_bytes;
			is_pinning = is_pinning || (free_bytes >= FRAGMENTED_FREE_BYTES &&
						    free_bytes < IMAGE_PAGE_BYTES);
		}
		blocks -= is_pinning;
	}
	assert_int_equal(blocks, 0);
	detailed_release(&d);
}

static uint64_t alone_pages(const struct heap_detail *detail)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < detail->type_count; i++)
		sum += detail->types[i].pin.alone_page_count;
	return sum;
}

/*
 * Each page holds 16 bytes of the allocator's own data, so no
 * single owner can make it free.
 */
static void a_page_with_allocator_data_has_no_single_owner(void **state)
{
	struct detailed d;
	struct page_use *page;

	(void)state;
	detailed_init(&d, 4);
	assert_true(alone_pages(&d.detail) > 0);
	for (uint64_t i = 0; i < d.h.image.length_bytes / IMAGE_PAGE_BYTES; i++) {
		page = &d.h.blocks.pages[i];
		if (page->live_bytes > 16)
			page->live_bytes = (uint16_t)(page->live_bytes - 16);
	}
	heap_detail_release(&d.detail);
	walk_detail(&d.heap, &d.h.blocks, NULL, &d.detail);
	assert_int_equal(alone_pages(&d.detail), 0);
	assert_true(d.detail.pin_count > 0);
	detailed_release(&d);
}

static void a_page_is_classified_by_its_use(void **state)
{
	static const struct {
		uint64_t free_bytes;
		enum page_fill fill;
	} rows[] = {
		{ 4096, FILL_NONE },  { 4095, FILL_TO_25 }, { 3072, FILL_TO_25 },
		{ 3071, FILL_TO_50 }, { 2048, FILL_TO_50 }, { 2047, FILL_TO_75 },
		{ 1024, FILL_TO_75 }, { 1023, FILL_TO_99 }, { 1, FILL_TO_99 },
		{ 0, FILL_ALL },      { 5000, FILL_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(page_fill_of(rows[i].free_bytes, 4096), rows[i].fill);
}

static void an_unknown_heap_has_no_detail(void **state)
{
	struct blocks blocks = BLOCKS_INIT;
	struct heap_detail detail;
	struct heap heap;

	(void)state;
	heap_init(&heap);
	heap.quality = QUALITY_EXACT;
	walk_detail(&heap, &blocks, NULL, &detail);
	assert_false(detail.has_pages);
	assert_int_equal(detail.type_count, 0);
	assert_int_equal(detail.strip_count, 0);
	heap_detail_release(&detail);
}

/*
 * Check that the fill levels of a heap add up to its pool, that its map has the same
 * pages, and that its types, if it has any, contain all live blocks.
 */
static void check_detail(const struct heap *heap, const struct heap_detail *d,
			 bool has_blocks, const char *name)
{
	struct page_sum fill = { 0, 0 }, map = { 0, 0 };
	uint64_t live_bytes = 0;

	assert_row(heap->quality == QUALITY_EXACT, name);
	assert_row(d->has_pages && d->has_blocks == has_blocks, name);
	for (size_t i = 0; i < FILL_COUNT_; i++) {
		fill.page_count += d->fill[i].page_count;
		fill.free_bytes += d->fill[i].free_bytes;
	}
	for (size_t i = 0; i < d->strip_count; i++) {
		map.page_count += d->strips[i].sum.page_count;
		map.free_bytes += d->strips[i].sum.free_bytes;
	}
	assert_row(d->fill[FILL_NONE].free_bytes == heap->owner_bytes[OWNER_POOL_PAGES],
		   name);
	assert_row(fill.free_bytes == heap->owner_bytes[OWNER_POOL_PAGES] +
					      heap->owner_bytes[OWNER_POOL_FRAGMENTS],
		   name);
	assert_row(fill.page_count > 0 && map.page_count == fill.page_count, name);
	assert_row(map.free_bytes == fill.free_bytes, name);
	for (size_t i = 0; i < d->type_count; i++) {
		assert_row(!d->types[i].name, name);
		live_bytes += d->types[i].live.bytes;
	}
	assert_row(has_blocks ? live_bytes > 0 : d->type_count + d->pin_count == 0, name);
}

static void walk_python(struct heap *heap, struct blocks *blocks, struct image *image)
{
	struct pymalloc_image h;

	pymalloc_image_init(&h, 4096, 64);
	pymalloc_image_walk(&h, heap);
	*blocks = h.blocks;
	*image = h.image;
	h.blocks = (struct blocks)BLOCKS_INIT;
	h.image = (struct image)IMAGE_INIT;
	pymalloc_image_release(&h);
}

static void walk_go(struct heap *heap, struct blocks *blocks, struct image *image)
{
	struct golang_image h;

	golang_image_init(&h, false);
	golang_image_walk(&h, heap);
	*blocks = h.blocks;
	*image = h.image;
	h.blocks = (struct blocks)BLOCKS_INIT;
	h.image = (struct image)IMAGE_INIT;
	golang_image_release(&h);
}

static void walk_java(struct heap *heap, struct blocks *blocks, struct image *image)
{
	struct hotspot_image h;

	hotspot_image_init(&h, HOTSPOT_G1);
	hotspot_image_walk(&h, heap);
	*blocks = h.blocks;
	*image = h.image;
	h.blocks = (struct blocks)BLOCKS_INIT;
	h.image = (struct image)IMAGE_INIT;
	hotspot_image_release(&h);
}

static void walk_memory(struct made_memory *m, made_memory_walker walk, struct heap *heap,
			struct blocks *blocks, struct image *image)
{
	made_memory_walk(m, walk, heap);
	*blocks = m->blocks;
	*image = m->image;
	m->blocks = (struct blocks)BLOCKS_INIT;
	m->image = (struct image)IMAGE_INIT;
	made_memory_release(m);
}

static void walk_php(struct heap *heap, struct blocks *blocks, struct image *image)
{
	const struct zend_image_layout layout = { 34, 39, 50 };
	struct zend_image h;

	zend_image_init(&h, &layout);
	walk_memory(&h.memory, walk_zend, heap, blocks, image);
}

static void walk_slots(struct heap *heap, struct blocks *blocks, struct image *image)
{
	struct ruby_image h;

	ruby_image_init(&h, 65536, true);
	walk_memory(&h.memory, walk_ruby, heap, blocks, image);
}

static void walk_node(struct heap *heap, struct blocks *blocks, struct image *image)
{
	struct v8_image h;

	v8_image_init(&h, 1);
	walk_memory(&h.memory, walk_v8, heap, blocks, image);
}

static const struct runtime {
	const char *name;
	void (*walk)(struct heap *heap, struct blocks *blocks, struct image *image);
	bool has_blocks;
} runtimes[] = {
	{ "Python", walk_python, true }, { "Go", walk_go, true },
	{ "PHP", walk_php, true },	 { "Ruby", walk_slots, true },
	{ "Java", walk_java, false },	 { "V8", walk_node, false },
};

/* Walk the heap of a runtime as if its quality were the given one. */
static void detail_runtime(const struct runtime *r, enum quality quality,
			   struct heap *heap, struct heap_detail *detail)
{
	struct blocks blocks;
	struct image image;

	r->walk(heap, &blocks, &image);
	heap->quality = quality;
	blocks.image = &image;
	walk_detail(heap, &blocks, NULL, detail);
	blocks_release(&blocks);
	image_release(&image);
}

static void the_map_of_a_runtime_has_all_pages_of_its_heap(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		struct heap_detail detail;
		struct heap heap;

		detail_runtime(&runtimes[i], QUALITY_EXACT, &heap, &detail);
		check_detail(&heap, &detail, runtimes[i].has_blocks, runtimes[i].name);
		heap_detail_release(&detail);
		heap_release(&heap);
	}
}

static void regions_have_a_map_only_if_they_are_exact(void **state)
{
	static const enum quality qualities[] = { QUALITY_BOUND, QUALITY_ESTIMATE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes) * ARRAY_SIZE(qualities); i++) {
		const struct runtime *r = &runtimes[i / ARRAY_SIZE(qualities)];
		struct heap_detail detail;
		struct heap heap;

		detail_runtime(r, qualities[i % ARRAY_SIZE(qualities)], &heap, &detail);
		assert_row(detail.has_pages == r->has_blocks, r->name);
		assert_row((detail.strip_count > 0) == r->has_blocks, r->name);
		heap_detail_release(&detail);
		heap_release(&heap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_contain_every_live_block_once),
		cmocka_unit_test(pages_in_use_add_up_to_the_pool),
		cmocka_unit_test(pinning_blocks_are_found_on_their_pages),
		cmocka_unit_test(a_page_with_allocator_data_has_no_single_owner),
		cmocka_unit_test(a_page_is_classified_by_its_use),
		cmocka_unit_test(an_unknown_heap_has_no_detail),
		cmocka_unit_test(the_map_of_a_runtime_has_all_pages_of_its_heap),
		cmocka_unit_test(regions_have_a_map_only_if_they_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
