/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "classify/process/diagnose.h"
#include "model/usage.h"

/*
 * Make a process with 10 MiB of anonymous memory, and with file pages of
 * which `copies` are anonymous.
 */
static void make_usage(struct usage *u, uint64_t file_dirty_bytes, uint64_t copies_bytes)
{
	usage_init(u);
	usage_set_no_memory(u);
	u->matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 10 * MIB;
	u->matrix.cell[OWNER_FILE][STATE_PRIVATE_DIRTY] = file_dirty_bytes;
	u->state_bytes[STATE_PRIVATE_DIRTY] = 10 * MIB + file_dirty_bytes;
	u->total.bytes[SMAPS_RSS] = 10 * MIB + file_dirty_bytes;
	u->total.bytes[SMAPS_PSS] = 10 * MIB + file_dirty_bytes;
	u->total.bytes[SMAPS_ANONYMOUS] = 10 * MIB + copies_bytes;
}

/* Return the sentence that the rule yields, or NULL. */
static const char *find_sentence(const struct usage *u, const char *rule)
{
	static struct diagnosis found[32];
	size_t count = diagnose(u, found, ARRAY_SIZE(found));

	for (size_t i = 0; i < count; i++)
		if (strcmp(found[i].rule, rule) == 0)
			return found[i].text;
	return NULL;
}

static void written_pages_of_a_shared_file_are_not_copies(void **state)
{
	struct usage u;

	(void)state;
	make_usage(&u, 16 * MIB, 0);
	assert_null(find_sentence(&u, "file-copies"));
	usage_release(&u);
}

static void private_copies_of_file_pages_are_reported(void **state)
{
	struct usage u;
	const char *text;

	(void)state;
	make_usage(&u, 16 * MIB, 6 * MIB);
	text = find_sentence(&u, "file-copies");
	assert_non_null(text);
	assert_memory_equal(text, "6.0M (23%) is private copies", 28);
	usage_release(&u);
}

static void copies_are_not_guessed_if_owners_are_unknown(void **state)
{
	struct usage u;

	(void)state;
	make_usage(&u, 16 * MIB, 6 * MIB);
	matrix_set_unknown(&u.matrix);
	assert_null(find_sentence(&u, "file-copies"));
	usage_release(&u);
}

static void pages_shared_with_one_other_process_are_reported(void **state)
{
	struct usage u;
	const char *text;

	(void)state;
	make_usage(&u, 0, 0);
	u.total.bytes[SMAPS_PRIVATE_DIRTY] = 4 * MIB;
	u.total.bytes[SMAPS_PRIVATE_CLEAN] = 0;
	u.total.bytes[SMAPS_PSS] = 7 * MIB;
	text = find_sentence(&u, "shared");
	assert_non_null(text);
	assert_non_null(strstr(
		text, "(Pss) is 7.0M, and ending the process would free 4.0M (Uss)"));
	u.total.bytes[SMAPS_PRIVATE_DIRTY] = 6 * MIB;
	assert_null(find_sentence(&u, "shared"));
	usage_release(&u);
}

/*
 * Make a process of 100 MiB: live, free pages and fragments in MiB as given, and the
 * rest other anonymous memory.
 */
static void make_heap(struct usage *u, uint64_t live, uint64_t pages, uint64_t fragments)
{
	const uint64_t owners[] = { live * MIB, pages * MIB, fragments * MIB, 0 };

	make_usage(u, 0, 0);
	u->total.bytes[SMAPS_RSS] = 100 * MIB;
	u->matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] =
		(100 - live - pages - fragments) * MIB;
	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++) {
		for (unsigned int s = 0; s < STATE_COUNT_; s++)
			u->matrix.cell[o][s] = 0;
		u->matrix.cell[o][STATE_PRIVATE_DIRTY] = owners[o];
		u->matrix.owner_rss_bytes[o] = owners[o];
	}
	u->allocator = ALLOCATOR_GLIBC;
	u->heap_quality = QUALITY_EXACT;
}

static void a_large_live_share_is_reported(void **state)
{
	struct usage u;

	(void)state;
	make_heap(&u, 50, 5, 5);
	u.process.pid = 4242;
	assert_string_equal(
		find_sentence(&u, "live"),
		"It is unknown whether the program can still reach these "
		"blocks; 'memstate leaks -p 4242' checks this. A trim does not "
		"return allocated blocks.");
	assert_memory_equal(find_sentence(&u, "dominant"),
			    "Most of it is allocated blocks: 50.0M", 37);
	u.allocator = ALLOCATOR_JEMALLOC;
	assert_non_null(find_sentence(&u, "live"));
	u.allocator = ALLOCATOR_PARTITION; /* memstate leaks does not support it */
	assert_null(find_sentence(&u, "live"));
	make_heap(&u, 49, 5, 5);
	assert_null(find_sentence(&u, "live"));
}

static void free_pages_are_reported_with_the_trimmable_amount(void **state)
{
	struct usage u;

	(void)state;
	make_heap(&u, 10, 9, 0);
	assert_null(find_sentence(&u, "pool-pages"));
	make_heap(&u, 10, 10, 0);
	u.trimmable_bytes = 8 * MIB;
	assert_string_equal(
		find_sentence(&u, "pool-pages"),
		"10.0M (10%) is free pages kept by glibc malloc: calling malloc_trim(0) "
		"in the program would return 8.0M.");
	u.allocator = ALLOCATOR_JEMALLOC;
	assert_string_equal(find_sentence(&u, "pool-pages"),
			    "10.0M (10%) is free pages that jemalloc keeps for future "
			    "allocations.");
	u.allocator = ALLOCATOR_MIMALLOC;
	assert_memory_equal(find_sentence(&u, "pool-pages"),
			    "10.0M (10%) is free pages kept by mimalloc: with "
			    "MIMALLOC_PURGE_DELAY=0 ",
			    72);
}

static void fragments_are_reported_from_ten_percent(void **state)
{
	struct usage u;

	(void)state;
	make_heap(&u, 10, 0, 9);
	assert_null(find_sentence(&u, "fragments"));
	make_heap(&u, 10, 0, 10);
	assert_memory_equal(find_sentence(&u, "fragments"),
			    "10.0M (10%) is free fragments", 29);
}

/* Arenas of glibc's malloc besides the main arena, and the sentence about them. */
struct arenas_row {
	size_t count;
	uint64_t free_mib, rss_mib;
	enum allocator allocator;
	bool has_java;
	const char *text;
};

static void many_arenas_of_a_java_virtual_machine_are_reported(void **state)
{
	static const struct arenas_row rows[] = {
		{ 30, 25, 100, ALLOCATOR_GLIBC, true,
		  "25.0M (25%) is free, but held in 30 arenas of glibc malloc besides the "
		  "main arena: MALLOC_ARENA_MAX=2 in the environment of the Java virtual "
		  "machine limits their number." },
		{ 9, 10, 100, ALLOCATOR_GLIBC, true,
		  "10.0M (10%) is free, but held in 9 " },
		{ 9, 8, 80, ALLOCATOR_GLIBC, true, "8.0M (10%) is free" },
		{ 8, 10, 100, ALLOCATOR_GLIBC, true, NULL },
		{ 9, 9, 100, ALLOCATOR_GLIBC, true, NULL },
		{ 9, 7, 20, ALLOCATOR_GLIBC, true, NULL },
		{ 30, 25, 100, ALLOCATOR_GLIBC, false, NULL },
		{ 30, 25, 100, ALLOCATOR_JEMALLOC, true, NULL },
		{ 30, 25, 100, ALLOCATOR_UNKNOWN, true, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct usage u;
		const char *text;

		make_heap(&u, 10, 10, 10);
		u.total.bytes[SMAPS_RSS] = rows[i].rss_mib * MIB;
		u.has_java = rows[i].has_java;
		u.heap_count = rows[i].allocator != ALLOCATOR_UNKNOWN;
		u.heaps[0].allocator = rows[i].allocator;
		u.heaps[0].arena_count = rows[i].count;
		u.heaps[0].arena_free_bytes = rows[i].free_mib * MIB;
		text = find_sentence(&u, "arenas");
		assert_int_equal(text != NULL, rows[i].text != NULL);
		if (text && rows[i].text)
			assert_memory_equal(text, rows[i].text, strlen(rows[i].text));
	}
}

/* A heap of a runtime beside that of malloc, and the sentence about it. */
static void heaps_of_runtimes_are_reported_with_their_limits(void **state)
{
	static const struct {
		enum allocator allocator;
		uint64_t malloc_mib;
		const char *rule, *text;
	} rows[] = {
		{ ALLOCATOR_PHP, 1, "php-heap",
		  "30.0M (30%) is PHP's heap: 20.0M is allocated and 10.0M is free. "
		  "memory_limit limits it in each process, and gc_mem_caches() would return "
		  "5.0M. The cache of compiled scripts (opcache.memory_consumption) is shared "
		  "memory." },
		{ ALLOCATOR_V8, 1, "js-heap",
		  "30.0M (30%) is the JavaScript heap: 20.0M is in use, garbage included, "
		  "and 10.0M is free. --max-old-space-size and --max-semi-space-size limit "
		  "it." },
		{ ALLOCATOR_V8, 40, "js-heap",
		  "30.0M (30%) is the JavaScript heap: 20.0M is in use, garbage included, "
		  "and 10.0M is free. --max-old-space-size and --max-semi-space-size limit "
		  "it, but not Buffers and ArrayBuffers: they are among the 40.0M allocated "
		  "by malloc." },
		{ ALLOCATOR_RUBY, 1, "ruby-objects",
		  "30.0M (30%) is slots for Ruby objects: 20.0M is in use and 10.0M is "
		  "free. Ruby returns a page only when no object is left in it; "
		  "GC.compact moves objects together, and "
		  "RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO limits the free slots." },
		{ ALLOCATOR_RUBY, 40, "ruby-objects",
		  "30.0M (30%) is slots for Ruby objects: 20.0M is in use and 10.0M is "
		  "free (GC.compact moves objects together). Their contents are among the "
		  "40.0M allocated by malloc; Ruby collects garbage when "
		  "malloc_increase_bytes of GC.stat exceeds its limit "
		  "(RUBY_GC_MALLOC_LIMIT_MAX)." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct usage u;
		const char *text;

		make_heap(&u, 60, 10, 0);
		u.total.bytes[SMAPS_RSS] = 100 * MIB;
		assert_null(find_sentence(&u, rows[i].rule));
		u.heap_count = 2;
		u.heaps[0].allocator = ALLOCATOR_GLIBC;
		u.heaps[0].owner_bytes[OWNER_LIVE] = rows[i].malloc_mib * MIB;
		u.heaps[1].allocator = rows[i].allocator;
		u.heaps[1].owner_bytes[OWNER_LIVE] = 20 * MIB;
		u.heaps[1].owner_bytes[OWNER_POOL_PAGES] = 10 * MIB;
		u.heaps[1].trimmable_bytes = 5 * MIB;
		text = find_sentence(&u, rows[i].rule);
		assert_non_null(text);
		assert_memory_equal(text, rows[i].text, strlen(rows[i].text));
		/* at least a tenth of Rss */
		u.total.bytes[SMAPS_RSS] = 400 * MIB;
		assert_null(find_sentence(&u, rows[i].rule));
	}
}

static void live_memory_is_not_reported_if_it_includes_free_memory(void **state)
{
	struct usage u;

	(void)state;
	make_heap(&u, 60, 0, 0);
	u.heap_quality = QUALITY_BOUND;
	u.heap_is_reported = true;
	/* the amount of free memory is known: 0 */
	assert_non_null(find_sentence(&u, "live"));
	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		u.matrix.cell[OWNER_POOL_FRAGMENTS][s] = BYTES_UNKNOWN;
		u.matrix.owner_rss_bytes[OWNER_POOL_FRAGMENTS] = BYTES_UNKNOWN;
	}
	assert_null(find_sentence(&u, "live"));
	assert_non_null(strstr(find_sentence(&u, "dominant"), "in use or free"));
}

static void advice_for_reading_the_heap_is_given_if_there_is_any(void **state)
{
	struct usage u;

	(void)state;
	make_usage(&u, 0, 0);
	assert_null(find_sentence(&u, "heap-unknown")); /* no heap walk was tried */
	u.heap_error = -EPERM;
	assert_non_null(strstr(find_sentence(&u, "heap-unknown"), "CAP_SYS_PTRACE"));
	u.heap_error = -EFBIG;
	u.heap_expected_ns = 700 * NS_PER_MS;
	assert_non_null(strstr(find_sentence(&u, "heap-unknown"),
			       "use --heap walk, which copies most of it while the "
			       "process runs, or allow a pause of about 700.0ms"));
	u.heap_pre_copy_problem = "the kernel does not track writes";
	assert_non_null(strstr(find_sentence(&u, "heap-unknown"),
			       "in use, allow a pause of about 700.0ms with "
			       "--max-pause"));
	u.heap_error = -ENOMEM; /* nothing the user could do would help */
	assert_null(find_sentence(&u, "heap-unknown"));
	u.heap_error = -EPERM;
	u.heap_quality = QUALITY_ESTIMATE; /* the figures are from an earlier walk */
	assert_null(find_sentence(&u, "heap-unknown"));
}

static void anon_is_said_to_contain_only_an_unread_heap(void **state)
{
	struct usage u;

	(void)state;
	make_usage(&u, 0, 0);
	assert_non_null(strstr(find_sentence(&u, "dominant"), "the heap is part of it"));
	make_heap(&u, 10, 10, 10);
	assert_non_null(
		strstr(find_sentence(&u, "dominant"), "other private anonymous memory"));
}

/* Only EACCES and EPERM are reported as missing rights. */
static void read_errors_are_named(void **state)
{
	static const struct {
		int error;
		const char *words;
	} cases[] = {
		{ -EACCES, "without more rights" }, { -EPERM, "without more rights" },
		{ -EIO, "Input/output error" },	    { -ENOMEM, "Cannot allocate memory" },
		{ -EMFILE, "Too many open files" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct usage u;
		const char *text;

		usage_init(&u);
		u.error = cases[i].error;
		text = find_sentence(&u, "unreadable");
		assert_non_null(text);
		assert_row(strstr(text, cases[i].words), cases[i].words);
		assert_row(i < 2 || !strstr(text, "rights"), cases[i].words);
		usage_release(&u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_errors_are_named),
		cmocka_unit_test(written_pages_of_a_shared_file_are_not_copies),
		cmocka_unit_test(private_copies_of_file_pages_are_reported),
		cmocka_unit_test(copies_are_not_guessed_if_owners_are_unknown),
		cmocka_unit_test(pages_shared_with_one_other_process_are_reported),
		cmocka_unit_test(a_large_live_share_is_reported),
		cmocka_unit_test(free_pages_are_reported_with_the_trimmable_amount),
		cmocka_unit_test(fragments_are_reported_from_ten_percent),
		cmocka_unit_test(many_arenas_of_a_java_virtual_machine_are_reported),
		cmocka_unit_test(heaps_of_runtimes_are_reported_with_their_limits),
		cmocka_unit_test(live_memory_is_not_reported_if_it_includes_free_memory),
		cmocka_unit_test(advice_for_reading_the_heap_is_given_if_there_is_any),
		cmocka_unit_test(anon_is_said_to_contain_only_an_unread_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
