/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify_stats.h"

#include "base/units.h"
#include "classify/process/classify.h"
#include "../../support/unit.h"

/*
 * Anonymous memory that malloc may own: [heap] of 100 KiB with 80 KiB resident, and an
 * unnamed mapping of 60 KiB with 40 KiB resident. The heap cannot be in the file of 8
 * KiB, nor in the memory that a program has named.
 */
struct process_memory {
	struct mapping mappings[4];
	struct mapping_list list;
	struct usage usage;
	struct heap_bounds bounds;
};

static void set_mapping(struct process_memory *p, size_t index, const char *name,
			uint64_t size_bytes, uint64_t dirty_bytes)
{
	struct mapping *m = &p->mappings[index];

	*m = (struct mapping){
		.start_addr = 0x100000 * (index + 1),
		.end_addr = 0x100000 * (index + 1) + size_bytes,
		.flags = MAPPING_READ | MAPPING_WRITE,
		.name = name,
		.inode = name[0] == '/' ? 7 : 0,
	};
	counters_set_zero(&m->counters);
	m->counters.bytes[SMAPS_SIZE] = size_bytes;
	m->counters.bytes[SMAPS_RSS] = dirty_bytes;
	m->counters.bytes[SMAPS_PRIVATE_DIRTY] = dirty_bytes;
}

static void classify(struct process_memory *p)
{
	struct classifier classifier;

	usage_init(&p->usage);
	classifier_begin(&classifier, &p->usage);
	for (size_t i = 0; i < p->list.count; i++)
		p->mappings[i].owner = classifier_add(&classifier, &p->mappings[i]);
	classifier_end(&classifier, NULL, 0, NULL, NULL);
	classifier_release(&classifier);
}

static void set_up(struct process_memory *p)
{
	*p = (struct process_memory){ .list = { p->mappings, 4, 4 } };
	set_mapping(p, 0, "[heap]", KIB(100), KIB(80));
	set_mapping(p, 1, "/bin/x", KIB(8), KIB(8));
	set_mapping(p, 2, "", KIB(60), KIB(40));
	set_mapping(p, 3, "[anon:v8]", KIB(50), KIB(50));
	classify(p);
}

static void apply(struct process_memory *p, const struct allocator_stats *stats)
{
	classify_stats_bound(stats, &p->list, &p->bounds);
	classify_stats(&p->usage, &p->list, stats, &p->bounds);
}

static void check_sums(const struct process_memory *p)
{
	const struct matrix *m = &p->usage.matrix;
	uint64_t rss_bytes = p->usage.total.bytes[SMAPS_RSS];

	assert_int_equal(matrix_total_bytes(m), rss_bytes);
	assert_int_equal(usage_unexplained_bytes(&p->usage), 0);
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		assert_int_equal(matrix_state_bytes(m, (enum page_state)s),
				 p->usage.state_bytes[s]);
}

static void check_row(const struct process_memory *p, enum owner owner, uint64_t reported,
		      uint64_t min, uint64_t max, uint64_t shown)
{
	assert_int_equal(p->bounds.reported_bytes[owner], reported);
	assert_int_equal(p->bounds.min_bytes[owner], min);
	assert_int_equal(p->bounds.max_bytes[owner], max);
	assert_int_equal(p->bounds.owner_bytes[owner], shown);
	assert_int_equal(matrix_owner_bytes(&p->usage.matrix, owner), shown);
}

static const struct allocator_stats tcmalloc = {
	.allocator = ALLOCATOR_TCMALLOC,
	.taken_ns = 42,
	.values = {
		{ "generic.current_allocated_bytes", KIB(70), false },
		{ "generic.heap_size", KIB(160), false },
		{ "tcmalloc.pageheap_free_bytes", KIB(30), false },
		{ "tcmalloc.central_cache_free_bytes", KIB(3), false },
		{ "tcmalloc.transfer_cache_free_bytes", KIB(2), false },
		{ "tcmalloc.thread_cache_free_bytes", KIB(1), false },
	},
	.value_count = 6,
};

/*
 * 120 KiB are resident and 40 KiB are not. The allocator reports 70 KiB as live, so at
 * least 30 KiB of it are resident.
 */
static void gperftools_owners_have_lower_and_upper_bounds(void **state)
{
	struct process_memory p;

	(void)state;
	set_up(&p);
	apply(&p, &tcmalloc);
	assert_int_equal(p.bounds.resident_bytes, KIB(120));
	assert_int_equal(p.bounds.missing_bytes, KIB(40));
	check_row(&p, OWNER_LIVE, KIB(70), KIB(30), KIB(70), KIB(70));
	check_row(&p, OWNER_POOL_PAGES, KIB(30), 0, KIB(36), KIB(30));
	check_row(&p, OWNER_POOL_FRAGMENTS, KIB(6), 0, KIB(6), KIB(6));
	check_row(&p, OWNER_HEAP_META, BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN,
		  BYTES_UNKNOWN);
	/* 14 KiB of the memory that may be heap have no owner, and 50 KiB are v8's */
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_ANON), KIB(64));
	check_sums(&p);
	assert_int_equal(p.usage.heap_quality, QUALITY_BOUND);
	assert_int_equal(p.usage.allocator, ALLOCATOR_TCMALLOC);
	assert_int_equal(p.usage.heap_taken_ns, 42);
	assert_int_equal(p.usage.trimmable_bytes, BYTES_UNKNOWN);
}

static void cells_are_known_if_all_pages_are_in_one_state(void **state)
{
	struct process_memory p;

	(void)state;
	set_up(&p);
	apply(&p, &tcmalloc);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_PRIVATE_DIRTY),
		KIB(70));
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_ANON, STATE_PRIVATE_DIRTY),
		KIB(64));
	assert_int_equal(matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_LAZYFREE),
			 0);
}

static void with_two_states_only_sums_are_known(void **state)
{
	struct process_memory p;
	uint64_t *bytes;

	(void)state;
	set_up(&p);
	bytes = p.mappings[2].counters.bytes;
	bytes[SMAPS_PRIVATE_DIRTY] = KIB(10);
	bytes[SMAPS_PRIVATE_CLEAN] = KIB(30);
	bytes[SMAPS_LAZYFREE] = KIB(30);
	classify(&p);
	apply(&p, &tcmalloc);
	check_sums(&p);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_LIVE), KIB(70));
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_ANON), KIB(64));
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_PRIVATE_DIRTY),
		BYTES_UNKNOWN);
	assert_int_equal(matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_LAZYFREE),
			 BYTES_UNKNOWN);
	assert_int_equal(
		matrix_cell_bytes(&p.usage.matrix, OWNER_LIVE, STATE_SHARED_DIRTY), 0);
}

/*
 * The allocator reports 1 MiB in use, but at most 120 KiB can be resident. That
 * leaves no room for free pages.
 */
static void no_owner_exceeds_the_resident_memory(void **state)
{
	struct allocator_stats stats = tcmalloc;
	struct process_memory p;

	(void)state;
	stats.values[0].value = KIB(1024);
	set_up(&p);
	apply(&p, &stats);
	check_row(&p, OWNER_LIVE, KIB(1024), KIB(120), KIB(120), KIB(120));
	check_row(&p, OWNER_POOL_PAGES, KIB(30), 0, KIB(36), 0);
	check_sums(&p);
}

static void mmapped_chunks_of_glibc_are_live(void **state)
{
	const struct allocator_stats stats = {
		.allocator = ALLOCATOR_GLIBC,
		.mallinfo = { .arena = KIB(100),
			      .hblkhd = KIB(20),
			      .uordblks = KIB(30),
			      .fordblks = KIB(58),
			      .keepcost = KIB(45) },
	};
	struct process_memory p;

	(void)state;
	set_up(&p);
	apply(&p, &stats);
	check_row(&p, OWNER_LIVE, KIB(50), KIB(10), KIB(50), KIB(50));
	/* 44 of top's 45 KiB are whole pages, and 40 KiB are not resident */
	check_row(&p, OWNER_POOL_PAGES, KIB(44), KIB(4), KIB(58), KIB(44));
	check_row(&p, OWNER_POOL_FRAGMENTS, KIB(14), 0, KIB(14), KIB(14));
	check_sums(&p);
}

static void cached_blocks_of_jemalloc_are_not_live(void **state)
{
	const struct allocator_stats stats = {
		.allocator = ALLOCATOR_JEMALLOC,
		.values = {
			{ "stats.allocated", KIB(60), false },
			{ "stats.active", KIB(72), false },
			{ "stats.metadata", KIB(5), false },
			{ "stats.arenas.all.dirty", KIB(8), false },
			{ "stats.arenas.all.muzzy", KIB(4), false },
			{ "stats.arenas.all.tcache_bytes", KIB(10), false },
		},
		.value_count = 6,
	};
	struct process_memory p;

	(void)state;
	set_up(&p);
	apply(&p, &stats);
	check_row(&p, OWNER_LIVE, KIB(50), KIB(10), KIB(50), KIB(50));
	check_row(&p, OWNER_POOL_FRAGMENTS, KIB(22), 0, KIB(22), KIB(22));
	check_row(&p, OWNER_POOL_PAGES, KIB(12), 0, KIB(34), KIB(12));
	check_row(&p, OWNER_HEAP_META, KIB(5), 0, KIB(5), KIB(5));
	check_sums(&p);
}

static void free_memory_of_mimalloc_stays_unknown(void **state)
{
	const struct allocator_stats stats = {
		.allocator = ALLOCATOR_MIMALLOC,
		.values = { { "current_commit", KIB(90), false } },
		.value_count = 1,
	};
	struct process_memory p;

	(void)state;
	set_up(&p);
	apply(&p, &stats);
	check_row(&p, OWNER_LIVE, KIB(90), KIB(50), KIB(90), KIB(90));
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_POOL_PAGES),
			 BYTES_UNKNOWN);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_ANON), KIB(80));
	check_sums(&p);
}

static void with_an_unknown_rss_nothing_changes(void **state)
{
	struct process_memory p;

	(void)state;
	set_up(&p);
	p.mappings[2].counters.bytes[SMAPS_RSS] = BYTES_UNKNOWN;
	apply(&p, &tcmalloc);
	assert_int_equal(p.bounds.owner_bytes[OWNER_LIVE], BYTES_UNKNOWN);
	assert_int_equal(matrix_owner_bytes(&p.usage.matrix, OWNER_LIVE), BYTES_UNKNOWN);
	assert_int_equal(p.usage.heap_quality, QUALITY_UNKNOWN);
}

static void an_allocator_without_figures_has_no_owners(void **state)
{
	const struct allocator_stats nothing = { .allocator = ALLOCATOR_TCMALLOC };
	const struct allocator_stats musl = { .allocator = ALLOCATOR_MUSL };
	struct process_memory p;

	(void)state;
	set_up(&p);
	apply(&p, &nothing);
	assert_int_equal(p.usage.heap_quality, QUALITY_UNKNOWN);
	apply(&p, &musl);
	assert_int_equal(p.usage.heap_quality, QUALITY_UNKNOWN);
	check_sums(&p);
}

static void a_walk_is_compared_with_the_figures_field_by_field(void **state)
{
	const struct allocator_stats stats = {
		.allocator = ALLOCATOR_GLIBC,
		.mallinfo = { .arena = 900,
			      .uordblks = 500,
			      .fordblks = 400,
			      .ordblks = 70 },
	};
	struct stats_pair pairs[STATS_PAIR_MAX];
	struct heap heap;
	size_t count;

	(void)state;
	heap_init(&heap);
	heap.allocator = ALLOCATOR_GLIBC;
	heap.quality = QUALITY_EXACT;
	heap.mallinfo = stats.mallinfo;
	heap.mallinfo.uordblks = 484;
	heap.mallinfo.ordblks = 1000;
	count = classify_stats_compare(&stats, &heap, pairs);
	assert_int_equal(count, 9);
	assert_string_equal(pairs[6].name, "uordblks");
	assert_int_equal(pairs[6].reported, 500);
	assert_int_equal(pairs[6].walked, 484);
	assert_int_equal(classify_stats_difference(pairs, count), 16);
	heap.quality = QUALITY_BOUND; /* some arenas could not be read */
	assert_int_equal(classify_stats_compare(&stats, &heap, pairs), 0);
	heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gperftools_owners_have_lower_and_upper_bounds),
		cmocka_unit_test(cells_are_known_if_all_pages_are_in_one_state),
		cmocka_unit_test(with_two_states_only_sums_are_known),
		cmocka_unit_test(no_owner_exceeds_the_resident_memory),
		cmocka_unit_test(mmapped_chunks_of_glibc_are_live),
		cmocka_unit_test(cached_blocks_of_jemalloc_are_not_live),
		cmocka_unit_test(free_memory_of_mimalloc_stays_unknown),
		cmocka_unit_test(with_an_unknown_rss_nothing_changes),
		cmocka_unit_test(an_allocator_without_figures_has_no_owners),
		cmocka_unit_test(a_walk_is_compared_with_the_figures_field_by_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
