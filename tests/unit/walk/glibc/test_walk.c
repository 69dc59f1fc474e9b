/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/heap_image.h"
#include "../../support/unit.h"

static uint64_t arena_sum(const struct heap *heap, size_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < heap->arena_count; i++) {
		struct chunk_sum part;

		memcpy(&part, (const char *)&heap->arenas[i] + offset, sizeof(part));
		sum += part.bytes;
	}
	return sum;
}

static uint64_t resident_sum(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap->owner_bytes[o];
	return sum;
}

/* Assert what must hold for any walk, whatever the memory contains. */
static void check_bounds(struct heap_image *h, const struct heap *heap)
{
	uint64_t shares = 0;

	assert_true(resident_sum(heap) <= h->image.length_bytes);
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

static void every_version_is_walked_exactly(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		const char *row = heap_kinds[i].version;
		struct heap_image h;
		struct heap heap;

		heap_image_init(&h, &heap_kinds[i]);
		heap_image_walk(&h, &heap);
		if (heap.problem)
			fail_msg("%s: %s", row, heap.problem);
		assert_row(heap.quality == QUALITY_EXACT && heap.arena_count == 2, row);
		assert_row(arena_sum(&heap, offsetof(struct heap_arena, live)) ==
				   h.live.bytes,
			   row);
		assert_row(arena_sum(&heap, offsetof(struct heap_arena, bin)) ==
				   h.bin.bytes,
			   row);
		assert_row(arena_sum(&heap, offsetof(struct heap_arena, fast)) ==
				   h.fast.bytes,
			   row);
		assert_row(arena_sum(&heap, offsetof(struct heap_arena, cached)) ==
				   h.cached.bytes,
			   row);
		/* the free chunks and top are resident */
		assert_row(heap.arenas[0].free_resident_bytes +
					   heap.arenas[1].free_resident_bytes ==
				   h.bin.bytes + h.fast.bytes + h.cached.bytes +
					   h.top_bytes,
			   row);
		assert_row(heap.arenas[1].free_resident_bytes > 0, row);
		assert_row(heap.cache_count == 1 && heap.mapped.bytes == h.mapped.bytes,
			   row);
		assert_row(heap.mallinfo.arena == h.system_bytes &&
				   heap.mallinfo.hblks == 1 &&
				   heap.mallinfo.ordblks == 2 + h.bin.count &&
				   heap.mallinfo.smblks == h.fast.count &&
				   heap.mallinfo.fsmblks == h.fast.bytes &&
				   heap.mallinfo.fordblks ==
					   h.top_bytes + h.bin.bytes + h.fast.bytes,
			   row);
		/*
		 * brk, the heap and the mmapped chunk are all resident; libc's data and
		 * TLS do not belong to the heap
		 */
		assert_row(resident_sum(&heap) == h.system_bytes + h.mapped.bytes, row);
		check_bounds(&h, &heap);
		heap_release(&heap);
		heap_image_release(&h);
	}
}

static void trimming_changes_only_the_free_pages(void **state)
{
	const struct heap_kind *kind = &heap_kinds[4];
	struct heap_image h;
	struct heap whole, trimmed;
	uint64_t start, end;

	(void)state;
	heap_image_init(&h, kind);
	heap_image_walk(&h, &whole);
	/* the free chunk of 20000 bytes loses its whole pages after its first 48 bytes */
	start = (h.bin_addr + 48 + IMAGE_PAGE_BYTES - 1) & ~(IMAGE_PAGE_BYTES - 1);
	end = (h.bin_addr + 20000) & ~(IMAGE_PAGE_BYTES - 1);
	assert_true(start < end);
	heap_image_drop(&h, start, end);
	heap_image_walk(&h, &trimmed);
	assert_int_equal(trimmed.quality, QUALITY_EXACT);
	assert_int_equal(whole.owner_bytes[OWNER_LIVE], trimmed.owner_bytes[OWNER_LIVE]);
	assert_int_equal(whole.owner_bytes[OWNER_POOL_PAGES] - (end - start),
			 trimmed.owner_bytes[OWNER_POOL_PAGES]);
	assert_int_equal(whole.trimmable_bytes - (end - start), trimmed.trimmable_bytes);
	assert_int_equal(whole.arenas[0].free_resident_bytes - (end - start),
			 trimmed.arenas[0].free_resident_bytes);
	assert_int_equal(whole.arenas[1].free_resident_bytes,
			 trimmed.arenas[1].free_resident_bytes);
	heap_release(&whole);
	heap_release(&trimmed);
	heap_image_release(&h);
}

/* Damage that makes exactly one arena unknown. */
static const struct {
	const char *what;
	size_t arena;
	size_t place; /* the offset of an address in struct heap_image */
	uint64_t offset;
	uint64_t value;
	const char *problem;
} damages[] = {
#define AT(field) offsetof(struct heap_image, field)
	{ "main, size 0", 0, AT(live_addr), 8, 1, "its last chunk (top) was not found" },
	{ "main, size that overflows", 0, AT(live_addr), 8, UINT64_MAX & ~UINT64_C(14),
	  "its last chunk (top) was not found" },
	{ "main, top without size", 0, AT(top_addr), 8, 1,
	  "its last chunk (top) was not found" },
	{ "size 0", 1, AT(second_live_addr), 8, 5, "a chunk has an impossible size" },
	{ "size past the end", 1, AT(second_live_addr), 8, UINT64_C(0x7ffffffffff5),
	  "a chunk has an impossible size" },
	{ "size that overflows", 1, AT(second_live_addr), 8, UINT64_MAX & ~UINT64_C(10),
	  "a chunk has an impossible size" },
	{ "size that is not aligned", 1, AT(second_live_addr), 8, 0x3d,
	  "a chunk has an impossible size" },
	{ "other size than the next says", 0, AT(bin_addr), 20000, 19984,
	  "a free chunk has two sizes" },
	{ "bin that leads nowhere", 0, AT(bin_addr), 16, 0x1000, "a bin is broken" },
	{ "bin that leads to 0", 0, AT(bin_addr), 16, 0, "a bin is broken" },
	{ "fastbin that leads nowhere", 0, AT(fast_addr), 16, 0x123450,
	  "a fastbin is broken" },
	{ "free chunk in no bin", 0, AT(bin_addr), 20000 + 8, 0x30 | 1,
	  "a bin is broken" },
	{ "heap of nobody", 1, AT(heap_info_addr), 0, 0, "its heap was not found" },
	{ "heap of another size", 1, AT(heap_info_addr), 16, 0x1000,
	  "its heaps do not add up to its system_mem" },
	{ "heap without end", 1, AT(heap_info_addr), 8, UINT64_C(0x7f2000000000),
	  "its list of heaps is broken" },
#undef AT
};

static void a_damaged_arena_is_unknown_with_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		const char *row = damages[i].what;
		size_t arena = damages[i].arena;
		struct heap_image h;
		struct heap heap;
		uint64_t addr;

		heap_image_init(&h, &heap_kinds[4]);
		memcpy(&addr, (const char *)&h + damages[i].place, sizeof(addr));
		heap_image_write(&h, addr + damages[i].offset, damages[i].value);
		heap_image_walk(&h, &heap);
		assert_row(heap.quality == QUALITY_ESTIMATE, row);
		assert_row(heap.arenas[arena].problem != NULL, row);
		if (strcmp(heap.arenas[arena].problem, damages[i].problem) != 0)
			fail_msg("%s: %s", row, heap.arenas[arena].problem);
		assert_row(heap.arenas[1 - arena].problem == NULL, row);
		assert_row(!bytes_known(heap.arenas[arena].trimmable_bytes), row);
		assert_row(heap.owner_bytes[OWNER_LIVE] > 0, row);
		check_bounds(&h, &heap);
		heap_release(&heap);
		heap_image_release(&h);
	}
}

static void a_cyclic_list_is_detected(void **state)
{
	struct heap_image h;
	struct heap heap;

	(void)state;
	heap_image_init(&h, &heap_kinds[2]); /* a version without pointer mangling */
	heap_image_write(&h, h.fast_addr + 16, h.fast_addr);
	heap_image_write(&h, h.cached_addr + 16, h.cached_addr + 16);
	heap_image_walk(&h, &heap);
	assert_string_equal(heap.arenas[0].problem, "a fastbin is broken");
	assert_int_equal(heap.cache_count, 0);
	check_bounds(&h, &heap);
	heap_release(&heap);
	heap_image_release(&h);

	heap_image_init(&h, &heap_kinds[2]);
	heap_image_write(&h, h.bin_addr + 16, h.bin_addr);
	heap_image_walk(&h, &heap);
	assert_string_equal(heap.arenas[0].problem, "a bin is broken");
	heap_release(&heap);
	heap_image_release(&h);
}

static void a_missing_page_makes_the_arena_unknown(void **state)
{
	struct heap_image h;
	struct heap heap;

	(void)state;
	heap_image_init(&h, &heap_kinds[4]);
	heap_image_drop(&h, h.heap_addr, h.heap_addr + IMAGE_PAGE_BYTES);
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_non_null(heap.arenas[0].problem);
	check_bounds(&h, &heap);
	heap_release(&heap);
	heap_image_release(&h);
}

static void arenas_that_do_not_form_a_ring_are_not_a_malloc(void **state)
{
	const struct heap_kind *kind = &heap_kinds[4];
	struct heap_image h;
	struct heap heap;

	(void)state;
	heap_image_init(&h, kind);
	heap_image_write(&h, h.second_arena_addr + kind->bins_offset + 2048,
			 h.second_arena_addr);
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.share_count, 0);
	heap_release(&heap);
	heap_image_release(&h);
}

static void a_heap_after_the_data_of_a_library_is_not_another_malloc(void **state)
{
	(void)state;
	for (size_t k = 0; k < heap_kind_count; k++) {
		struct heap_image h;
		struct mapping library = { .inode = 8,
					   .name = "/lib/libgcc_s.so.1",
					   .name_length = 18,
					   .flags = MAPPING_READ | MAPPING_WRITE };
		struct mapping_list with_library = MAPPING_LIST_INIT;
		struct heap heap;

		heap_image_init(&h, &heap_kinds[k]);
		for (size_t i = 0; i < h.mappings.count; i++) {
			struct mapping *m = &h.mappings.items[i];

			library.start_addr = m->start_addr - IMAGE_PAGE_BYTES;
			library.end_addr = m->start_addr;
			if (m->start_addr == h.heap_info_addr)
				mapping_list_add(&with_library, &library);
			mapping_list_add(&with_library, m);
		}
		assert_int_equal(with_library.count, h.mappings.count + 1);
		mapping_list_release(&h.mappings);
		h.mappings = with_library;
		heap_image_walk(&h, &heap);
		assert_null(heap.problem);
		assert_int_equal(heap.quality, QUALITY_EXACT);
		assert_int_equal(heap.arena_count, 2);
		heap_release(&heap);
		heap_image_release(&h);
	}
}

static void a_heap_without_malloc_parameters_is_unknown(void **state)
{
	struct heap_image h;
	struct heap heap;

	(void)state;
	heap_image_init(&h, &heap_kinds[4]);
	heap_image_write(&h, h.par_addr + 24, 0);
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_string_equal(heap.problem, "malloc's parameters (mp_) were not found");
	heap_release(&heap);
	heap_image_release(&h);
}

static void an_arena_limit_does_not_make_the_parameters_ambiguous(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		struct heap_image h;
		struct heap heap;

		heap_image_init(&h, &heap_kinds[i]);
		heap_image_write(&h, h.par_addr + 32, 1); /* set arena_max */
		heap_image_walk(&h, &heap);
		if (heap.problem)
			fail_msg("%s: %s", heap_kinds[i].version, heap.problem);
		heap_release(&heap);
		heap_image_release(&h);
	}
}

static void an_empty_image_is_unknown(void **state)
{
	struct heap_image h = { .image = IMAGE_INIT, .mappings = MAPPING_LIST_INIT };
	struct heap heap;

	(void)state;
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	heap_release(&heap);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 16;
}

/*
 * Overwrite random words of the image with harmful values: pointers
 * into it, sizes, random bits.
 */
static void damage_by_chance(struct heap_image *h, uint64_t *seed)
{
	size_t count = 1 + next_random(seed) % 6;

	for (size_t i = 0; i < count; i++) {
		size_t at = next_random(seed) % (h->image.length_bytes / 8) * 8;
		size_t from = next_random(seed) % (h->image.length_bytes / 8) * 8;
		uint64_t value = next_random(seed);

		switch (next_random(seed) % 4) {
		case 0: memcpy(&value, h->image.bytes + from, 8); break;
		case 1: value = h->heap_addr + value % 0x30000 / 16 * 16; break;
		case 2: value &= 0xffff; break;
		default: value <<= value % 48; break;
		}
		memcpy(h->image.bytes + at, &value, 8);
	}
}

static void random_damage_never_breaks_the_walk(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct heap_image h;
		struct heap heap;

		heap_image_init(&h, &heap_kinds[(size_t)round % heap_kind_count]);
		h.is_running = (size_t)round / heap_kind_count % 2;
		damage_by_chance(&h, &seed);
		heap_image_walk(&h, &heap);
		check_bounds(&h, &heap);
		heap_release(&heap);
		heap_image_release(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_is_walked_exactly),
		cmocka_unit_test(trimming_changes_only_the_free_pages),
		cmocka_unit_test(a_damaged_arena_is_unknown_with_a_reason),
		cmocka_unit_test(a_cyclic_list_is_detected),
		cmocka_unit_test(a_missing_page_makes_the_arena_unknown),
		cmocka_unit_test(arenas_that_do_not_form_a_ring_are_not_a_malloc),
		cmocka_unit_test(
			a_heap_after_the_data_of_a_library_is_not_another_malloc),
		cmocka_unit_test(a_heap_without_malloc_parameters_is_unknown),
		cmocka_unit_test(an_arena_limit_does_not_make_the_parameters_ambiguous),
		cmocka_unit_test(an_empty_image_is_unknown),
		cmocka_unit_test(random_damage_never_breaks_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
