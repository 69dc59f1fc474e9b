/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include <string.h>

#include "base/units.h"
#include "classify/heap/heap_conclusion.h"

static const struct next_place live = { .is_live = true, .options = "" };
static const struct next_place mounted = { .is_live = true,
					   .options = " --procfs '/p q'" };

static void make_usage(struct usage *u)
{
	usage_init(u);
	u->process.pid = 4242;
	u->total.bytes[SMAPS_RSS] = 200 * MIB;
}

static void the_parts_of_a_heap_decide_the_next_command(void **state)
{
	static const struct {
		uint64_t live_mib, pages_mib, fragments_mib, trim_mib;
		const char *text, *next;
	} rows[] = {
		{ 82, 9, 9, 8,
		  "Rss 200.0M. The heap has 82.0M (82%) in allocated blocks, 9.0M in free "
		  "pages, and 9.0M in free fragments between blocks. malloc_trim(0) would "
		  "return 8.0M.",
		  "memstate leaks -p 4242" },
		{ 10, 80, 10, 0,
		  "Rss 200.0M. The heap has 10.0M (10%) in allocated blocks, 80.0M in free "
		  "pages, and 10.0M in free fragments between blocks.",
		  "memstate -p 4242" },
		{ 10, 20, 70, 0,
		  "Rss 200.0M. The heap has 10.0M (10%) in allocated blocks, 20.0M in free "
		  "pages, and 70.0M in free fragments between blocks.",
		  "memstate heap -p 4242 --top 100" },
		{ 40, 10, 50, 0,
		  "Rss 200.0M. The heap has 40.0M (40%) in allocated blocks, 10.0M in free "
		  "pages, and 50.0M in free fragments between blocks.",
		  "memstate heap -p 4242 --top 100" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct heap heap = { .allocator = ALLOCATOR_GLIBC,
				     .quality = QUALITY_EXACT,
				     .trimmable_bytes = rows[i].trim_mib * MIB };
		struct usage u;

		make_usage(&u);
		heap.owner_bytes[OWNER_LIVE] = rows[i].live_mib * MIB;
		heap.owner_bytes[OWNER_POOL_PAGES] = rows[i].pages_mib * MIB;
		heap.owner_bytes[OWNER_POOL_FRAGMENTS] = rows[i].fragments_mib * MIB;
		heap_conclude(&c, &u, &heap, &live);
		assert_string_equal(c.text.text, rows[i].text);
		assert_string_equal(c.next.text, rows[i].next);
		usage_release(&u);
	}
}

static void a_purge_is_the_trim_of_jemalloc(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct heap heap = { .allocator = ALLOCATOR_JEMALLOC,
			     .quality = QUALITY_EXACT,
			     .trimmable_bytes = MIB };
	struct usage u;

	(void)state;
	make_usage(&u);
	heap_conclude(&c, &u, &heap, &live);
	assert_non_null(strstr(c.text.text, "A purge would return 1.0M."));
	usage_release(&u);
}

/* An allocator such as mimalloc reports only what it obtained from the kernel. */
static void reported_figures_are_not_taken_apart(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct heap heap = { .allocator = ALLOCATOR_MIMALLOC,
			     .quality = QUALITY_BOUND,
			     .is_reported = true,
			     .trimmable_bytes = BYTES_UNKNOWN };
	struct usage u;

	(void)state;
	make_usage(&u);
	heap.owner_bytes[OWNER_LIVE] = 30 * MIB;
	heap.owner_bytes[OWNER_POOL_PAGES] = BYTES_UNKNOWN;
	heap.owner_bytes[OWNER_POOL_FRAGMENTS] = BYTES_UNKNOWN;
	heap_conclude(&c, &u, &heap, &live);
	assert_string_equal(c.text.text,
			    "Rss 200.0M. The heap has 30.0M, in use or free: "
			    "the allocator does not distinguish them.");
	assert_string_equal(c.next.text, "memstate map -p 4242 -s rss");
	usage_release(&u);
}

static void an_unread_heap_is_at_most_all_other_anonymous_memory(void **state)
{
	static const struct {
		enum allocator allocator;
		const char *words;
	} rows[] = {
		{ ALLOCATOR_ERLANG,
		  "Erlang allocators: unknown, at most the 60.0M in anon." },
		{ ALLOCATOR_HOTSPOT, "Java heap: unknown. " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct heap other = { .allocator = rows[i].allocator,
				      .trimmable_bytes = BYTES_UNKNOWN };
		struct heap heap = { .allocator = ALLOCATOR_GLIBC,
				     .quality = QUALITY_EXACT,
				     .trimmable_bytes = MIB,
				     .others = &other,
				     .other_count = 1 };
		struct usage u;

		make_usage(&u);
		usage_set_no_memory(&u);
		u.total.bytes[SMAPS_RSS] = 200 * MIB;
		u.matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 60 * MIB;
		u.matrix.owner_rss_bytes[OWNER_ANON] = 60 * MIB;
		heap_conclude(&c, &u, &heap, &live);
		assert_row(strstr(c.text.text, rows[i].words), rows[i].words);
		usage_release(&u);
	}
}

static void arenas_of_a_java_virtual_machine_have_an_advice(void **state)
{
	static const struct {
		bool has_java;
		const char *end;
	} rows[] = {
		{ true,
		  " malloc_trim(0) would return 1.0M. 50.0M (25%) is free, but held in 20 "
		  "arenas of glibc malloc besides the main arena: MALLOC_ARENA_MAX=2 in the "
		  "environment of the Java virtual machine limits their number." },
		{ false, " malloc_trim(0) would return 1.0M." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct heap heap = { .allocator = ALLOCATOR_GLIBC,
				     .quality = QUALITY_EXACT,
				     .trimmable_bytes = MIB };
		struct usage u;
		size_t length = strlen(rows[i].end);

		make_usage(&u);
		u.has_java = rows[i].has_java;
		u.heap_count = 1;
		u.heaps[0] = (struct usage_heap){ .allocator = ALLOCATOR_GLIBC,
						  .arena_count = 20,
						  .arena_free_bytes = 50 * MIB };
		heap_conclude(&c, &u, &heap, &live);
		assert_true(c.text.length > length);
		assert_string_equal(c.text.text + c.text.length - length, rows[i].end);
		usage_release(&u);
	}
}

static void leaks_are_measured_against_live_memory(void **state)
{
	static const struct {
		struct chunk_sum live, direct, indirect;
		enum quality quality;
		const struct next_place *place;
		const char *text, *next;
	} rows[] = {
		{ { 1506, 52 * MIB },
		  { 0, 0 },
		  { 0, 0 },
		  QUALITY_EXACT,
		  &mounted,
		  "52.0M in 1506 blocks are live; no block is leaked.",
		  "memstate heap --procfs '/p q' -p 4242" },
		{ { 1, MIB },
		  { 0, 0 },
		  { 0, 0 },
		  QUALITY_EXACT,
		  &live,
		  "1.0M in 1 block is live; no block is leaked.",
		  "memstate heap -p 4242" },
		{ { 200, 50 * MIB },
		  { 5, 9 * MIB },
		  { 40, 10 * MIB },
		  QUALITY_EXACT,
		  &live,
		  "19.0M in 45 blocks (38% of 50.0M live) is leaked: no pointer to it was "
		  "found.",
		  "memstate count -p 4242 --sample 1B -i 10s -n 1" },
		{ { 200, 50 * MIB },
		  { 1, 25 * MIB },
		  { 0, 0 },
		  QUALITY_BOUND,
		  &mounted,
		  "At most 25.0M in 1 block (50% of 50.0M live) is leaked: no pointer to it "
		  "was found.",
		  "memstate heap --procfs '/p q' -p 4242" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct leak_scan scan = { .quality = rows[i].quality };
		struct usage u;

		make_usage(&u);
		scan.mark.live = rows[i].live;
		scan.mark.direct = rows[i].direct;
		scan.mark.indirect = rows[i].indirect;
		leaks_conclude(&c, &u, &scan, NULL, rows[i].place);
		assert_string_equal(c.text.text, rows[i].text);
		assert_string_equal(c.next.text, rows[i].next);
		usage_release(&u);
	}
}

static void new_blocks_lead_to_an_explanation_of_one(void **state)
{
	static struct block_group group = { .examples = { 0x563ebcd5ae70 },
					    .example_count = 1 };
	static const struct block_groups grown = { .items = &group, .count = 1 };
	static const struct block_groups unchanged = BLOCK_GROUPS_INIT;
	static const struct {
		struct chunk_sum leaked;
		const struct block_groups *fresh;
		const struct next_place *place;
		const char *next;
	} rows[] = {
		{ { 5, MIB }, &grown, &live, "memstate explain -p 4242 563ebcd5ae70" },
		{ { 0, 0 }, &grown, &live, "memstate explain -p 4242 563ebcd5ae70" },
		{ { 0, 0 },
		  &grown,
		  &mounted,
		  "memstate explain --procfs '/p q' -p 4242 563ebcd5ae70" },
		{ { 5, MIB },
		  &unchanged,
		  &live,
		  "memstate count -p 4242 --sample 1B -i 10s -n 1" },
		{ { 0, 0 }, &unchanged, &live, "memstate heap -p 4242" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct leak_scan scan = { .quality = QUALITY_EXACT };
		struct usage u;

		make_usage(&u);
		scan.mark.live = (struct chunk_sum){ 20, 5 * MIB };
		scan.mark.direct = rows[i].leaked;
		leaks_conclude(&c, &u, &scan, rows[i].fresh, rows[i].place);
		assert_string_equal(c.next.text, rows[i].next);
		usage_release(&u);
	}
}

static void several_processes_are_ordered_by_their_leaks(void **state)
{
	struct leaking_process items[] = {
		{ .process = { .pid = 3, .comm = "c" }, .bytes = 1 },
		{ .process = { .pid = 9, .comm = "a\n" }, .bytes = 5 * MIB },
		{ .process = { .pid = 5, .comm = "b" },
		  .bytes = 7 * MIB,
		  .is_bound = true },
		{ .process = { .pid = 4, .comm = "c" }, .bytes = 1 },
		{ .process = { .pid = 2, .comm = "c" }, .bytes = 1 },
		{ .process = { .pid = 1, .comm = "last" }, .bytes = 0 },
	};
	static const struct {
		size_t count, process_count, unknown_count;
		const char *text;
	} rows[] = {
		{ 0, 2, 0, "No block is leaked in 2 of 2 processes." },
		{ 0, 3, 1,
		  "No block is leaked in 2 of 3 processes. 1 process could not be "
		  "searched for leaks." },
		{ 0, 2, 2, "2 processes could not be searched for leaks." },
		{ 1, 2, 0, "1 of 2 processes has leaked blocks: c (3, 1)." },
		{ 6, 9, 2,
		  "6 of 9 processes have leaked blocks: b (5, at most 7.0M), "
		  "a\\x0a (9, 5.0M), c (2, 1), c (3, 1), c (4, 1) and 1 more. "
		  "2 processes could not be searched for leaks." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct leaking_list list = {
			.items = items,
			.count = rows[i].count,
			.process_count = rows[i].process_count,
			.unknown_count = rows[i].unknown_count,
		};

		leaks_conclude_all(&c, &list);
		assert_string_equal(c.text.text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_heap_decide_the_next_command),
		cmocka_unit_test(a_purge_is_the_trim_of_jemalloc),
		cmocka_unit_test(reported_figures_are_not_taken_apart),
		cmocka_unit_test(an_unread_heap_is_at_most_all_other_anonymous_memory),
		cmocka_unit_test(arenas_of_a_java_virtual_machine_have_an_advice),
		cmocka_unit_test(leaks_are_measured_against_live_memory),
		cmocka_unit_test(new_blocks_lead_to_an_explanation_of_one),
		cmocka_unit_test(several_processes_are_ordered_by_their_leaks),
	};

	return cmocka_run_group_tests_name("heap_conclusion", tests, NULL, NULL);
}
