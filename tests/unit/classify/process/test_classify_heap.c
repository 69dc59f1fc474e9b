/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify_heap.h"

#include <stdlib.h>

#include "base/units.h"
#include "classify/process/classify.h"
#include "../../support/unit.h"

/*
 * One anonymous mapping of 100 KiB. The heap's share of it is 40 live, 30 + 10 free,
 * and 4 of malloc's own data.
 */
struct process_memory {
	struct mapping mapping;
	struct mapping_list list;
	struct heap_share share;
	struct heap heap;
	struct usage usage;
};

static void set_up_memory(struct process_memory *p, uint64_t dirty, uint64_t shared_dirty)
{
	struct classifier classifier;

	*p = (struct process_memory){
		.mapping = {
			.start_addr = 0x10000,
			.end_addr = 0x10000 + KIB(100),
			.flags = MAPPING_READ | MAPPING_WRITE,
			.name = "[heap]",
			.name_length = 6,
		},
		.share = { 0, { KIB(40), KIB(30), KIB(10), KIB(4) } },
	};
	counters_set_zero(&p->mapping.counters);
	p->mapping.counters.bytes[SMAPS_SIZE] = KIB(100);
	p->mapping.counters.bytes[SMAPS_RSS] = dirty + shared_dirty;
	p->mapping.counters.bytes[SMAPS_PRIVATE_DIRTY] = dirty;
	p->mapping.counters.bytes[SMAPS_SHARED_DIRTY] = shared_dirty;
	usage_init(&p->usage);
	classifier_begin(&classifier, &p->usage);
	p->mapping.owner = classifier_add(&classifier, &p->mapping);
	classifier_end(&classifier, NULL, 0, NULL, NULL);
	classifier_release(&classifier);
	p->list = (struct mapping_list){ &p->mapping, 1, 1 };
	heap_init(&p->heap);
	p->heap.allocator = ALLOCATOR_GLIBC;
	p->heap.quality = QUALITY_EXACT;
	p->heap.trimmable_bytes = KIB(28);
	p->heap.shares = &p->share;
	p->heap.share_count = 1;
	classify_heap(&p->usage, &p->list, &p->heap);
}

static void check_margins(const struct process_memory *p)
{
	const struct matrix *m = &p->usage.matrix;

	assert_int_equal(matrix_owner_bytes(m, OWNER_LIVE), KIB(40));
	assert_int_equal(matrix_owner_bytes(m, OWNER_POOL_PAGES), KIB(30));
	assert_int_equal(matrix_owner_bytes(m, OWNER_POOL_FRAGMENTS), KIB(10));
	assert_int_equal(matrix_owner_bytes(m, OWNER_HEAP_META), KIB(4));
	assert_int_equal(matrix_owner_bytes(m, OWNER_ANON), KIB(16));
	assert_int_equal(matrix_total_bytes(m), KIB(100));
	assert_int_equal(usage_unexplained_bytes(&p->usage), 0);
	assert_int_equal(p->usage.trimmable_bytes, KIB(28));
	assert_int_equal(p->usage.heap_quality, QUALITY_EXACT);
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		assert_int_equal(matrix_state_bytes(m, (enum page_state)s),
				 p->usage.state_bytes[s]);
}

static void a_mapping_is_named_after_the_heap_with_the_largest_part(void **state)
{
	struct process_memory p;
	struct heap_share share = { 0, { KIB(10), 0, 0, 0 } };
	struct heap *other;

	(void)state;
	set_up_memory(&p, KIB(100), 0);
	p.mapping.name_length = 0;
	p.mapping.name = "";
	assert_string_equal(mapping_group_name(&p.mapping), "malloc");
	p.share.owner_bytes[OWNER_LIVE] = KIB(5);
	p.share.owner_bytes[OWNER_POOL_PAGES] = 0;
	p.share.owner_bytes[OWNER_POOL_FRAGMENTS] = 0;
	other = heap_add_other(&p.heap);
	other->allocator = ALLOCATOR_PYTHON;
	other->quality = QUALITY_EXACT;
	other->shares = &share;
	other->share_count = 1;
	classify_heap(&p.usage, &p.list, &p.heap);
	assert_string_equal(mapping_group_name(&p.mapping), "Python objects");
	share.owner_bytes[OWNER_LIVE] = KIB(8);
	classify_heap(&p.usage, &p.list, &p.heap);
	assert_string_equal(mapping_group_name(&p.mapping), "malloc");
	free(p.heap.others);
}

/* Classify the mappings again, without a heap. */
static void classify_again(struct process_memory *p)
{
	struct classifier classifier;

	usage_init(&p->usage);
	classifier_begin(&classifier, &p->usage);
	classifier_add(&classifier, &p->mapping);
	classifier_end(&classifier, NULL, 0, NULL, NULL);
	classifier_release(&classifier);
}

static void a_mapping_in_one_state_has_exact_cells(void **state)
{
	struct process_memory p;

	(void)state;
	set_up_memory(&p, KIB(100), 0);
	check_margins(&p);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_PRIVATE_DIRTY),
		KIB(40));
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_SHARED_DIRTY), 0);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_ANON, STATE_PRIVATE_DIRTY),
		KIB(16));
}

static void a_mapping_in_two_states_has_only_exact_sums(void **state)
{
	struct process_memory p;

	(void)state;
	set_up_memory(&p, KIB(60), KIB(40));
	check_margins(&p);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_PRIVATE_DIRTY),
		BYTES_UNKNOWN);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_ANON, STATE_SHARED_DIRTY),
		BYTES_UNKNOWN);
	/* no page is in this state, so the owner has none either */
	assert_int_equal(matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_LAZYFREE),
			 0);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_FILE, STATE_PRIVATE_DIRTY), 0);
}

static void a_share_larger_than_its_mapping_is_rejected(void **state)
{
	struct process_memory p;

	(void)state;
	set_up_memory(&p, KIB(83), 0);
	assert_int_equal(p.usage.heap_quality, QUALITY_UNKNOWN);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_LIVE), BYTES_UNKNOWN);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_ANON), KIB(83));
	assert_int_equal(p.usage.trimmable_bytes, BYTES_UNKNOWN);
}

/* Both heaps have pages in the same mapping, whose pages are in two states. */
static void two_heaps_add_up_and_are_listed(void **state)
{
	struct heap_share share = { 0, { KIB(8), KIB(4), 0, KIB(2) } };
	struct heap_arena arenas[] = { { .free_resident_bytes = KIB(1) },
				       { .free_resident_bytes = KIB(2) },
				       { .free_resident_bytes = KIB(5) } };
	struct process_memory p;
	struct heap *other;

	(void)state;
	set_up_memory(&p, KIB(60), KIB(40));
	classify_again(&p);
	other = heap_add_other(&p.heap);
	other->allocator = ALLOCATOR_PYTHON;
	other->quality = QUALITY_BOUND;
	other->owner_bytes[OWNER_LIVE] = KIB(8);
	other->trimmable_bytes = KIB(4);
	p.heap.arenas = arenas;
	p.heap.arena_count = 3;
	other->arenas = arenas;
	other->arena_count = 3;
	other->shares = &share;
	other->share_count = 1;
	classify_heap(&p.usage, &p.list, &p.heap);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_LIVE), KIB(48));
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_HEAP_META), KIB(6));
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_ANON), KIB(2));
	assert_int_equal(matrix_total_bytes(&p.usage.matrix), KIB(100));
	assert_int_equal(usage_unexplained_bytes(&p.usage), 0);
	assert_int_equal(p.usage.trimmable_bytes, KIB(32));
	assert_int_equal(p.usage.heap_quality, QUALITY_BOUND);
	assert_int_equal(p.usage.allocator, ALLOCATOR_GLIBC);
	assert_int_equal(p.usage.heap_count, 2);
	assert_int_equal(usage_heaps_sum(&p.usage, ALLOCATOR_PYTHON, true), KIB(8));
	assert_int_equal(usage_heaps_sum(&p.usage, ALLOCATOR_GO, true), BYTES_UNKNOWN);
	assert_false(p.usage.has_java);
	/* only malloc has arenas, of which the first is the main arena */
	assert_int_equal(p.usage.heaps[0].arena_count, 2);
	assert_int_equal(p.usage.heaps[0].arena_free_bytes, KIB(7));
	assert_int_equal(p.usage.heaps[1].arena_count, 0);
	other->arenas = NULL;
	p.heap.arenas = NULL;
	other->shares = NULL;
	p.heap.shares = NULL;
	heap_release(&p.heap);
}

/* The figures of a heap that cannot be read do not count. */
static void an_unknown_second_heap_makes_the_sums_a_bound(void **state)
{
	struct process_memory p;
	struct heap *other;

	(void)state;
	set_up_memory(&p, KIB(100), 0);
	classify_again(&p);
	other = heap_add_other(&p.heap);
	other->allocator = ALLOCATOR_HOTSPOT;
	other->problem = "reason";
	classify_heap(&p.usage, &p.list, &p.heap);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_LIVE), KIB(40));
	assert_int_equal(p.usage.heap_quality, QUALITY_BOUND);
	assert_int_equal(p.usage.heap_count, 1);
	assert_string_equal(heap_total_problem(&p.heap), "reason");
	assert_true(p.usage.has_java);
	p.heap.shares = NULL;
	heap_release(&p.heap);
}

/* Classify the mappings again, and add the heap from its sums. */
static void add_sums(struct process_memory *p, uint64_t live, uint64_t of_anon)
{
	const struct heap_sums sums = {
		.allocator = ALLOCATOR_GLIBC,
		.quality = QUALITY_EXACT,
		.trimmable_bytes = KIB(28),
		.owner_bytes = { live, KIB(30), KIB(10), KIB(4) },
		.taken_bytes = { [OWNER_ANON] = of_anon },
	};

	classify_again(p);
	classify_heap_sums(&p->usage, &p->list, &sums);
}

static void sums_give_the_same_matrix_as_shares(void **state)
{
	static const uint64_t shared[] = { 0, KIB(40), KIB(100) };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct process_memory p;
		struct matrix by_shares;

		set_up_memory(&p, KIB(100) - shared[i], shared[i]);
		by_shares = p.usage.matrix;
		add_sums(&p, KIB(40), KIB(84));
		check_margins(&p);
		assert_memory_equal(&p.usage.matrix, &by_shares, sizeof(by_shares));
		assert_int_equal(p.usage.allocator, ALLOCATOR_GLIBC);
	}
}

static void inconsistent_sums_are_rejected(void **state)
{
	static const uint64_t bad[][2] = {
		{ KIB(41), KIB(84) },  /* more than was taken */
		{ KIB(40), KIB(83) },  /* less than was taken */
		{ KIB(57), KIB(101) }, /* more than is resident */
		{ KIB(40), BYTES_UNKNOWN },
		{ UINT64_MAX - 1, KIB(84) },
		{ UINT64_MAX - KIB(44), UINT64_MAX - 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct process_memory p;

		set_up_memory(&p, KIB(100), 0);
		add_sums(&p, bad[i][0], bad[i][1]);
		assert_int_equal(p.usage.heap_quality, QUALITY_UNKNOWN);
		assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_ANON),
				 KIB(100));
		assert_true(matrix_owner_bytes(&p.usage.matrix, OWNER_LIVE) ==
			    BYTES_UNKNOWN);
		assert_int_equal(usage_unexplained_bytes(&p.usage), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_is_named_after_the_heap_with_the_largest_part),
		cmocka_unit_test(a_mapping_in_one_state_has_exact_cells),
		cmocka_unit_test(a_mapping_in_two_states_has_only_exact_sums),
		cmocka_unit_test(a_share_larger_than_its_mapping_is_rejected),
		cmocka_unit_test(two_heaps_add_up_and_are_listed),
		cmocka_unit_test(an_unknown_second_heap_makes_the_sums_a_bound),
		cmocka_unit_test(sums_give_the_same_matrix_as_shares),
		cmocka_unit_test(inconsistent_sums_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
