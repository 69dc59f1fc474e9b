/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/past_heap.h"

#include <string.h>

#include "classify/process/classify.h"
#include "classify/process/classify_heap.h"
#include "../../support/unit.h"

#define STACK_END UINT64_C(0x7ffc00000000)

/*
 * The mappings of a process: the heap, a second arena, and
 * mappings that identify the program.
 */
enum {
	PROGRAM,
	HEAP,
	ARENA,
	STACK,
	VDSO,
	MAPPING_COUNT
};

struct scene {
	struct mapping items[MAPPING_COUNT];
	struct mapping_list list;
	struct heap_share shares[2];
	struct heap heap;
	struct past_heap past;
};

static void set_up_mapping(struct mapping *m, uint64_t start_addr, const char *name,
			   uint64_t rss_bytes)
{
	*m = (struct mapping){
		.start_addr = start_addr,
		.end_addr = start_addr + KIB(1024),
		.flags = MAPPING_READ | MAPPING_WRITE,
		.owner = OWNER_ANON,
		.name = name,
		.name_length = (uint32_t)strlen(name),
	};
	counters_set_zero(&m->counters);
	m->counters.bytes[SMAPS_SIZE] = KIB(1024);
	m->counters.bytes[SMAPS_RSS] = rss_bytes;
	m->counters.bytes[SMAPS_PRIVATE_DIRTY] = rss_bytes;
}

static void set_rss(struct scene *s, int mapping, uint64_t rss_bytes)
{
	s->items[mapping].counters.bytes[SMAPS_RSS] = rss_bytes;
	s->items[mapping].counters.bytes[SMAPS_PRIVATE_DIRTY] = rss_bytes;
}

/*
 * Set up a heap of 100 KiB with 40 live, 30 in free pages, 10 in fragments and 4 of
 * malloc's own data, and an arena of 20 KiB with 8 live.
 */
static void set_up_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	set_up_mapping(&s->items[PROGRAM], 0x400000, "/bin/program", KIB(12));
	s->items[PROGRAM].inode = 17;
	s->items[PROGRAM].flags = MAPPING_READ | MAPPING_EXEC;
	set_up_mapping(&s->items[HEAP], 0x10000000, "[heap]", KIB(100));
	set_up_mapping(&s->items[ARENA], 0x7f0000000000, "", KIB(20));
	set_up_mapping(&s->items[STACK], STACK_END - KIB(1024), "[stack]", KIB(8));
	set_up_mapping(&s->items[VDSO], STACK_END + 0x1000000, "[vdso]", 0);
	s->list = (struct mapping_list){ s->items, MAPPING_COUNT, MAPPING_COUNT };
	/* not sorted by address: a walk may report shares in any order */
	s->shares[0] = (struct heap_share){ ARENA, { KIB(8), KIB(12), 0, 0 } };
	s->shares[1] = (struct heap_share){ HEAP, { KIB(40), KIB(30), KIB(10), KIB(4) } };
	heap_init(&s->heap);
	s->heap.allocator = ALLOCATOR_GLIBC;
	s->heap.quality = QUALITY_EXACT;
	s->heap.trimmable_bytes = KIB(38);
	s->heap.shares = s->shares;
	s->heap.share_count = 2;
	past_heap_store(&s->past, &s->heap, &s->list);
}

/*
 * Classify the present mappings with the carried heap. Assert
 * that all parts add up to Rss.
 */
static void read_now(struct scene *s, struct usage *ret)
{
	struct classifier classifier;
	struct heap carried;

	usage_init(ret);
	classifier_begin(&classifier, ret);
	for (size_t i = 0; i < s->list.count; i++)
		s->items[i].owner = classifier_add(&classifier, &s->items[i]);
	classifier_end(&classifier, NULL, 0, NULL, NULL);
	classifier_release(&classifier);
	if (past_heap_estimate(&s->past, &s->list, &carried)) {
		classify_heap(ret, &s->list, &carried);
		heap_release(&carried);
	} else {
		past_heap_estimate_stats(&s->past, ret, &s->list);
	}
	assert_int_equal(usage_unexplained_bytes(ret), 0);
	for (unsigned int state = 0; state < STATE_COUNT_; state++)
		assert_int_equal(matrix_state_bytes(&ret->matrix, (enum page_state)state),
				 ret->state_bytes[state]);
	past_heap_release(&s->past);
}

static uint64_t kib(const struct usage *u, enum owner owner)
{
	return matrix_owner_bytes(&u->matrix, owner) / 1024;
}

static void assert_owners(const struct usage *u,
			  const uint64_t wanted[OWNER_HEAP_LAST + 1], uint64_t anon)
{
	assert_int_equal(u->heap_quality, QUALITY_ESTIMATE);
	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++)
		assert_int_equal(kib(u, (enum owner)o), wanted[o]);
	assert_int_equal(kib(u, OWNER_ANON), anon);
}

static void an_unchanged_heap_is_carried_over(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	read_now(&s, &u);
	assert_owners(&u, (uint64_t[]){ 48, 42, 10, 4 }, 16);
	assert_int_equal(u.trimmable_bytes, KIB(38));
	assert_int_equal(u.allocator, ALLOCATOR_GLIBC);
}

static void growth_stays_with_the_owner_of_the_mapping(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	set_rss(&s, HEAP, KIB(150));
	read_now(&s, &u);
	assert_owners(&u, (uint64_t[]){ 48, 42, 10, 4 }, 66);
}

static void lost_memory_is_taken_from_free_pages_first(void **state)
{
	static const struct {
		const char *what;
		uint64_t heap_rss_kib;
		uint64_t owners[OWNER_HEAP_LAST + 1];
		uint64_t anon;
	} rows[] = {
		{ "within the free pages", 80, { 48, 22, 10, 4 }, 16 },
		{ "and fragments", 65, { 48, 12, 5, 4 }, 16 },
		{ "and live", 40, { 28, 12, 0, 4 }, 16 },
		{ "and its own", 18, { 8, 12, 0, 2 }, 16 },
		{ "all of the heap", 16, { 8, 12, 0, 0 }, 16 },
		{ "more than the heap had", 7, { 8, 12, 0, 0 }, 7 },
		{ "all", 0, { 8, 12, 0, 0 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;
		struct usage u;

		set_up_scene(&s);
		set_rss(&s, HEAP, KIB(rows[i].heap_rss_kib));
		read_now(&s, &u);
		for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++)
			assert_row(kib(&u, (enum owner)o) == rows[i].owners[o],
				   rows[i].what);
		assert_row(kib(&u, OWNER_ANON) == rows[i].anon, rows[i].what);
	}
}

static void trimmable_memory_is_limited_to_the_remaining_free_pages(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	set_rss(&s, HEAP, KIB(75));
	read_now(&s, &u);
	assert_int_equal(u.trimmable_bytes, KIB(17));
}

static void the_share_of_an_unmapped_mapping_is_dropped(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	s.items[ARENA].start_addr += 0x100000;
	s.items[ARENA].end_addr += 0x100000;
	read_now(&s, &u);
	assert_owners(&u, (uint64_t[]){ 40, 30, 10, 4 }, 36);
}

static void merged_mappings_have_the_shares_of_both(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	s.items[HEAP].end_addr = 0x7f0000000000 + KIB(1024);
	set_rss(&s, HEAP, KIB(115));
	s.items[ARENA] = s.items[HEAP];
	s.items[HEAP].start_addr = 0x1000;
	s.items[HEAP].end_addr = 0x2000;
	set_rss(&s, HEAP, 0);
	read_now(&s, &u);
	assert_owners(&u, (uint64_t[]){ 48, 37, 10, 4 }, 16);
}

static void a_file_mapped_over_the_heap_gets_no_share(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	s.items[ARENA].inode = 5;
	s.items[ARENA].name = "/some/file";
	read_now(&s, &u);
	assert_owners(&u, (uint64_t[]){ 40, 30, 10, 4 }, 16);
	assert_int_equal(kib(&u, OWNER_FILE), 32);
}

static void another_program_inherits_no_heap(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	s.items[VDSO].start_addr += 0x1000;
	read_now(&s, &u);
	assert_int_equal(u.heap_quality, QUALITY_UNKNOWN);
	assert_int_equal(matrix_owner_bytes(&u.matrix, OWNER_LIVE), BYTES_UNKNOWN);

	set_up_scene(&s);
	s.items[PROGRAM].inode++;
	read_now(&s, &u);
	assert_int_equal(u.heap_quality, QUALITY_UNKNOWN);
}

static void a_growing_stack_is_still_the_same_program(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	set_up_scene(&s);
	s.items[STACK].start_addr -= KIB(64);
	read_now(&s, &u);
	assert_int_equal(u.heap_quality, QUALITY_ESTIMATE);
}

/*
 * Take figures that an allocator reports: 70 KiB live, 28 KiB free in top, 20 KiB free
 * elsewhere. 120 KiB of the memory that may be heap are resident at that time.
 */
static void take_words(struct scene *s)
{
	const struct allocator_stats stats = {
		.allocator = ALLOCATOR_GLIBC,
		.mallinfo = { .uordblks = KIB(70),
			      .fordblks = KIB(48),
			      .keepcost = KIB(28) },
		.text = (char *)"not kept",
	};

	set_up_scene(s);
	past_heap_store_stats(&s->past, &stats, &s->list);
	assert_null(s->past.stats.text);
}

static void reported_figures_are_fitted_to_the_resident_memory(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	take_words(&s);
	set_rss(&s, HEAP, KIB(80));
	read_now(&s, &u);
	/* in the remaining 100 KiB, live memory comes first and whole free pages last */
	assert_int_equal(u.heap_quality, QUALITY_ESTIMATE);
	assert_int_equal(kib(&u, OWNER_LIVE), 70);
	assert_int_equal(kib(&u, OWNER_POOL_FRAGMENTS), 20);
	assert_int_equal(kib(&u, OWNER_POOL_PAGES), 10);
	assert_int_equal(kib(&u, OWNER_ANON), 0);
}

static void another_program_inherits_no_figures(void **state)
{
	struct scene s;
	struct usage u;

	(void)state;
	take_words(&s);
	s.items[VDSO].start_addr += 0x1000;
	read_now(&s, &u);
	assert_int_equal(u.heap_quality, QUALITY_UNKNOWN);
	assert_int_equal(kib(&u, OWNER_ANON), 120);
}

static void without_an_earlier_heap_nothing_is_carried_over(void **state)
{
	const struct past_heap none = PAST_HEAP_INIT;
	struct scene s;
	struct heap heap;

	(void)state;
	set_up_scene(&s);
	assert_false(past_heap_estimate(&none, &s.list, &heap));
	past_heap_release(&s.past);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unchanged_heap_is_carried_over),
		cmocka_unit_test(growth_stays_with_the_owner_of_the_mapping),
		cmocka_unit_test(lost_memory_is_taken_from_free_pages_first),
		cmocka_unit_test(trimmable_memory_is_limited_to_the_remaining_free_pages),
		cmocka_unit_test(the_share_of_an_unmapped_mapping_is_dropped),
		cmocka_unit_test(merged_mappings_have_the_shares_of_both),
		cmocka_unit_test(a_file_mapped_over_the_heap_gets_no_share),
		cmocka_unit_test(another_program_inherits_no_heap),
		cmocka_unit_test(a_growing_stack_is_still_the_same_program),
		cmocka_unit_test(reported_figures_are_fitted_to_the_resident_memory),
		cmocka_unit_test(another_program_inherits_no_figures),
		cmocka_unit_test(without_an_earlier_heap_nothing_is_carried_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
