/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify.h"

#include <string.h>

#include "../../support/unit.h"

#define R MAPPING_READ
#define RW (MAPPING_READ | MAPPING_WRITE)
#define RX (MAPPING_READ | MAPPING_EXEC)
#define SHARED MAPPING_SHARED
#define PAGE UINT64_C(4096)

static struct usage usage;
static struct classifier c;
static uint64_t next_addr;

static int begin(void **state)
{
	(void)state;
	usage_init(&usage);
	usage.process.thread_count = 2;
	classifier_begin(&c, &usage);
	next_addr = PAGE;
	return 0;
}

static int end(void **state)
{
	(void)state;
	classifier_release(&c);
	return 0;
}

/* Return a mapping of `pages` pages right after the last one, with no page resident. */
static struct mapping make_mapping(const char *name, uint32_t flags, uint64_t inode,
				   uint64_t pages)
{
	struct mapping m = { .start_addr = next_addr, .flags = flags, .inode = inode };

	m.end_addr = next_addr += pages * PAGE;
	m.name = name;
	m.name_length = (uint32_t)strlen(name);
	counters_set_zero(&m.counters);
	m.counters.bytes[SMAPS_SIZE] = pages * PAGE;
	return m;
}

static enum owner add_mapping(const char *name, uint32_t flags, uint64_t inode)
{
	struct mapping m = make_mapping(name, flags, inode, 4);

	return classifier_add(&c, &m);
}

static void owners_follow_from_name_flags_and_inode(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uint64_t inode;
		enum owner owner;
	} rows[] = {
		{ "", RW, 0, OWNER_ANON },
		{ "[heap]", RW, 0, OWNER_ANON },
		{ "[anon:scudo:primary]", RW, 0, OWNER_ANON },
		{ "[anon: glibc: malloc arena]", RW, 0, OWNER_ANON },
		{ "[uprobes]", RX, 0, OWNER_ANON },
		{ "", 0, 0, OWNER_ANON },
		/* private, so anonymous */
		{ "/dev/zero", RW, 5, OWNER_ANON },
		/* in a /dev that is a tmpfs */
		{ "/dev/zero", RW | MAPPING_TMPFS, 5, OWNER_ANON },
		{ "[stack]", RW, 0, OWNER_STACK },
		{ "[stack:1234]", RW, 0, OWNER_STACK },
		{ "[anon: glibc: pthread stack: 1234]", RW, 0, OWNER_STACK },
		{ "[anon:stack_and_tls:77]", RW, 0, OWNER_STACK },
		{ "/dev/zero (deleted)", RW | SHARED, 7, OWNER_SHMEM },
		{ "/dev/zero", RW | SHARED | MAPPING_TMPFS, 7, OWNER_SHMEM },
		{ "/memfd:name (deleted)", RW | SHARED, 7, OWNER_SHMEM },
		{ "/memfd:[stack] (deleted)", RW | SHARED, 7, OWNER_SHMEM },
		{ "/SYSV00000000 (deleted)", RW | SHARED, 7, OWNER_SHMEM },
		{ "/dev/shm/file", RW | SHARED, 7, OWNER_SHMEM },
		{ "/dev/shm/file", R, 7, OWNER_SHMEM },
		{ "[anon_shmem:name]", RW | SHARED, 7, OWNER_SHMEM },
		{ "/run/file", RW | SHARED | MAPPING_TMPFS, 7, OWNER_SHMEM },
		{ "/usr/lib/libc.so.6", RX, 7, OWNER_FILE },
		{ "/usr/lib/libc.so.6", RW, 7, OWNER_FILE },
		{ "/usr/lib/libc.so.6 (deleted)", RX, 7, OWNER_FILE },
		{ "/home/dev/shm/file", RW | SHARED, 7, OWNER_FILE },
		{ "/home/[stack]", RW, 7, OWNER_FILE },
		{ "/data/file", RW | SHARED, 7, OWNER_FILE },
		{ "/anon_hugepage (deleted)", RW | MAPPING_HUGETLB, 7, OWNER_FILE },
		{ "socket:[123]", RW | SHARED, 7, OWNER_FILE },
		{ "anon_inode:[io_uring]", RW | SHARED, 7, OWNER_FILE },
		{ "[vdso]", RX, 0, OWNER_FILE },
		{ "[vvar]", R, 0, OWNER_FILE },
		{ "[vvar_vclock]", R, 0, OWNER_FILE },
		{ "[vsyscall]", MAPPING_EXEC, 0, OWNER_FILE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(add_mapping(rows[i].name, rows[i].flags, rows[i].inode) ==
				   rows[i].owner,
			   rows[i].name);
	assert_true(usage.mapping_count == ARRAY_SIZE(rows));
}

/*
 * The three signs of a stack: a guard below it, MAP_STACK, and a stack pointer inside.
 * Any two of them make a mapping a stack.
 */
static void two_of_three_signs_make_a_stack(void **state)
{
	static const struct {
		bool has_guard, is_map_stack, has_pointer;
		enum owner owner;
	} rows[] = {
		{ false, false, false, OWNER_ANON }, { true, false, false, OWNER_ANON },
		{ false, true, false, OWNER_ANON },  { false, false, true, OWNER_ANON },
		{ true, true, false, OWNER_STACK },  { true, false, true, OWNER_STACK },
		{ false, true, true, OWNER_STACK },  { true, true, true, OWNER_STACK },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping m;
		uint64_t pointer;

		classifier_release(&c);
		begin(NULL);
		if (rows[i].has_guard)
			add_mapping("", 0, 0);
		m = make_mapping("", RW | (rows[i].is_map_stack ? MAPPING_NO_HUGE : 0), 0,
				 4);
		m.counters.bytes[SMAPS_RSS] = m.counters.bytes[SMAPS_PRIVATE_DIRTY] =
			PAGE;
		pointer = rows[i].has_pointer ? m.end_addr - 1 : m.end_addr;
		classifier_add(&c, &m);
		classifier_end(&c, &pointer, 1, NULL, NULL);
		assert_true(matrix_owner_bytes(&usage.matrix, rows[i].owner) == PAGE);
		assert_true(matrix_total_bytes(&usage.matrix) == PAGE);
	}
}

static void only_unnamed_private_anonymous_memory_can_be_a_stack(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uint64_t inode;
	} rows[] = {
		{ "[heap]", RW, 0 },	{ "/dev/zero", RW, 5 },
		{ "", R, 0 },		{ "", MAPPING_WRITE, 0 },
		{ "", RW | SHARED, 7 }, { "", RW | MAPPING_HUGETLB, 0 },
		{ "/a/file", RW, 7 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		add_mapping("", 0, 0);
		assert_row(add_mapping(rows[i].name, rows[i].flags | MAPPING_NO_HUGE,
				       rows[i].inode) != OWNER_STACK,
			   rows[i].name);
	}
	assert_int_equal(c.candidate_count, 0);
}

static void a_guard_is_a_small_anonymous_mapping_directly_below(void **state)
{
	struct mapping big = make_mapping("", 0, 0, 1 << 20);

	(void)state;
	classifier_add(&c, &big);
	assert_int_equal(add_mapping("", RW | MAPPING_NO_HUGE, 0), OWNER_ANON);
	add_mapping("", 0, 0);
	next_addr += PAGE; /* leave a hole */
	assert_int_equal(add_mapping("", RW | MAPPING_NO_HUGE, 0), OWNER_ANON);
	add_mapping("/a/file", 0, 7);
	assert_int_equal(add_mapping("", RW | MAPPING_NO_HUGE, 0), OWNER_ANON);
	add_mapping("", 0, 0);
	assert_int_equal(add_mapping("", RW | MAPPING_NO_HUGE, 0), OWNER_STACK);
	/* The guard belongs to the mapping above it and not to the next one as well. */
	assert_int_equal(add_mapping("", RW | MAPPING_NO_HUGE, 0), OWNER_ANON);
}

static void note_index(void *context, size_t index)
{
	*(uint64_t *)context |= UINT64_C(1) << index;
}

static void stack_pointers_decide_only_the_mappings_they_point_into(void **state)
{
	uint64_t pointers[3], seen = 0;
	struct mapping m[10];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		m[i] = make_mapping("", RW | MAPPING_NO_HUGE, 0, 4);
		m[i].counters.bytes[SMAPS_RSS] = m[i].counters.bytes[SMAPS_SHARED_DIRTY] =
			PAGE;
		next_addr += PAGE;
		classifier_add(&c, &m[i]);
	}
	pointers[0] = m[2].start_addr;
	pointers[1] = m[5].end_addr; /* in the hole after the mapping */
	pointers[2] = m[9].end_addr - 1;
	assert_true(classifier_wants_stack_pointers(&c));
	classifier_end(&c, pointers, 3, note_index, &seen);
	assert_true(seen == (1 << 2 | 1 << 9));
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_STACK) == 2 * PAGE);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_ANON) == 8 * PAGE);
}

static void one_thread_needs_no_stack_pointers(void **state)
{
	(void)state;
	usage.process.thread_count = 1;
	add_mapping("", RW | MAPPING_NO_HUGE, 0);
	assert_false(classifier_wants_stack_pointers(&c));
}

static void lazyfree_is_subtracted_from_the_clean_states(void **state)
{
	static const struct {
		uint64_t private_clean, shared_clean, lazyfree;
		uint64_t want_private_clean, want_shared_clean;
	} rows
		[] = {
			{ 0, 0, 0, 0, 0 },	 { 100, 50, 0, 100, 50 },
			{ 100, 50, 30, 70, 50 }, { 100, 50, 100, 0, 50 },
			{ 100, 50, 120, 0, 30 }, /* forked: some are in Shared_Clean */
			{ 0, 50, 50, 0, 0 },
		};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t states[STATE_COUNT_];
		struct counters k;

		counters_set_zero(&k);
		k.bytes[SMAPS_PRIVATE_DIRTY] = 7;
		k.bytes[SMAPS_SHARED_DIRTY] = 9;
		k.bytes[SMAPS_PRIVATE_CLEAN] = rows[i].private_clean;
		k.bytes[SMAPS_SHARED_CLEAN] = rows[i].shared_clean;
		k.bytes[SMAPS_LAZYFREE] = rows[i].lazyfree;
		classify_states(&k, states);
		assert_true(states[STATE_PRIVATE_DIRTY] == 7 &&
			    states[STATE_SHARED_DIRTY] == 9);
		assert_true(states[STATE_LAZYFREE] == rows[i].lazyfree);
		assert_true(states[STATE_PRIVATE_CLEAN] == rows[i].want_private_clean);
		assert_true(states[STATE_SHARED_CLEAN] == rows[i].want_shared_clean);
	}
}

static void without_lazyfree_the_clean_states_are_unknown(void **state)
{
	uint64_t states[STATE_COUNT_];
	struct counters k;

	(void)state;
	counters_set_zero(&k);
	k.bytes[SMAPS_LAZYFREE] = BYTES_UNKNOWN;
	k.bytes[SMAPS_PRIVATE_DIRTY] = 5;
	classify_states(&k, states);
	assert_true(states[STATE_PRIVATE_DIRTY] == 5);
	assert_true(states[STATE_LAZYFREE] == BYTES_UNKNOWN);
	assert_true(states[STATE_PRIVATE_CLEAN] == BYTES_UNKNOWN);
	assert_true(states[STATE_SHARED_CLEAN] == BYTES_UNKNOWN);
}

/*
 * On Linux before 4.12, which has no LazyFree, the owner of the
 * bytes is known all the same.
 */
static void without_lazyfree_owners_are_known_from_rss(void **state)
{
	struct mapping m = make_mapping("", RW | MAPPING_NO_HUGE, 0, 4);
	uint64_t pointer = m.start_addr;

	(void)state;
	m.counters.bytes[SMAPS_RSS] = 3 * PAGE;
	m.counters.bytes[SMAPS_PRIVATE_DIRTY] = PAGE;
	m.counters.bytes[SMAPS_LAZYFREE] = BYTES_UNKNOWN;
	classifier_add(&c, &m);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_ANON) == 3 * PAGE);
	classifier_end(&c, &pointer, 1, NULL, NULL);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_ANON) == 0);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_STACK) == 3 * PAGE);
	assert_true(matrix_total_bytes(&usage.matrix) == BYTES_UNKNOWN);
	assert_true(usage_unexplained_bytes(&usage) == BYTES_UNKNOWN);
}

static void address_space_without_pages_is_unbacked_or_reserved(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uint64_t inode;
		/* pages; the mapping has 10, of which 3 are resident and 2 are in swap */
		uint64_t unbacked, reserved;
	} rows[] = {
		{ "", RW, 0, 5, 0 },
		{ "[heap]", RW, 0, 5, 0 },
		{ "[stack]", RW, 0, 5, 0 },
		{ "", R, 0, 5, 0 },
		{ "", MAPPING_EXEC, 0, 5, 0 },
		{ "", 0, 0, 0, 5 },
		{ "/dev/zero", RW, 5, 5, 0 },
		{ "/a/file", RW, 7, 0, 0 },
		{ "", RW | SHARED, 7, 0, 0 },
		{ "/memfd:x (deleted)", RW, 7, 0, 0 },
		{ "", RW | MAPPING_HUGETLB, 0, 0, 0 },
		{ "[vdso]", RX, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping m;

		classifier_release(&c);
		begin(NULL);
		m = make_mapping(rows[i].name, rows[i].flags, rows[i].inode, 10);
		m.counters.bytes[SMAPS_RSS] = m.counters.bytes[SMAPS_PRIVATE_DIRTY] =
			3 * PAGE;
		m.counters.bytes[SMAPS_SWAP] = 2 * PAGE;
		classifier_add(&c, &m);
		assert_row(usage.unbacked_bytes == rows[i].unbacked * PAGE, rows[i].name);
		assert_row(usage.reserved_bytes == rows[i].reserved * PAGE, rows[i].name);
		m.counters.bytes[SMAPS_SWAP] = BYTES_UNKNOWN;
		classifier_add(&c, &m);
		assert_row(!rows[i].unbacked || usage.unbacked_bytes == BYTES_UNKNOWN,
			   rows[i].name);
	}
}

static void the_allocator_is_identified_by_its_library(void **state)
{
	static const struct {
		const char *names[3];
		enum allocator allocator;
	} rows[] = {
		{ { "/usr/bin/true" }, ALLOCATOR_UNKNOWN },
		{ { "/lib/x86_64-linux-gnu/libc.so.6" }, ALLOCATOR_GLIBC },
		{ { "/lib/libc-2.31.so" }, ALLOCATOR_GLIBC },
		{ { "/lib/ld-musl-x86_64.so.1" }, ALLOCATOR_MUSL },
		{ { "/usr/lib/libjemalloc.so.2", "/lib/libc.so.6" }, ALLOCATOR_JEMALLOC },
		{ { "/lib/libc.so.6", "/usr/lib/libjemalloc.so.2" }, ALLOCATOR_JEMALLOC },
		{ { "/lib/libc.so.6", "/usr/lib/libtcmalloc_minimal.so.4" },
		  ALLOCATOR_TCMALLOC },
		{ { "/lib/libc.so.6", "/opt/libmimalloc.so.2.1 (deleted)" },
		  ALLOCATOR_MIMALLOC },
		{ { "/lib/libc.so.6", "/opt/libjemalloc.txt.d/x" }, ALLOCATOR_GLIBC },
		{ { "/lib/ld-musl-x86_64.so.1", "/x/libmimalloc.so" },
		  ALLOCATOR_MIMALLOC },
		{ { "libjemalloc.so.2" }, ALLOCATOR_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		classifier_release(&c);
		begin(NULL);
		for (size_t n = 0; n < 3 && rows[i].names[n]; n++)
			add_mapping(rows[i].names[n], RX, 7);
		assert_row(usage.allocator == rows[i].allocator, rows[i].names[0]);
	}
}

static void only_executable_mappings_identify_the_allocator(void **state)
{
	(void)state;
	add_mapping("/usr/lib/libjemalloc.so.2", RW, 7);
	assert_int_equal(usage.allocator, ALLOCATOR_UNKNOWN);
}

static uint64_t seed = 88172645463325252u;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/*
 * Fill in counters that a kernel may report: each page is in one of the four states, and
 * LazyFree pages are among the clean ones.
 */
static void fill_counters(struct counters *k)
{
	static const enum smaps_field parts[] = { SMAPS_SHARED_CLEAN, SMAPS_SHARED_DIRTY,
						  SMAPS_PRIVATE_CLEAN,
						  SMAPS_PRIVATE_DIRTY };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		k->bytes[parts[i]] = any(2) * any(100) * PAGE;
		k->bytes[SMAPS_RSS] += k->bytes[parts[i]];
	}
	k->bytes[SMAPS_LAZYFREE] =
		any(1 + (k->bytes[SMAPS_PRIVATE_CLEAN] + k->bytes[SMAPS_SHARED_CLEAN]) /
				PAGE) *
		PAGE;
	k->bytes[SMAPS_SIZE] = k->bytes[SMAPS_RSS] + any(100) * PAGE;
}

static void rows_and_columns_add_up_to_rss_for_random_processes(void **state)
{
	static const char *const names[] = { "",	  "",
					     "",	  "[heap]",
					     "[stack]",	  "/a/file",
					     "[vdso]",	  "/memfd:x (deleted)",
					     "/dev/shm/x" };

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint64_t pointers[64], rows = 0, columns = 0, rss;
		size_t pointer_count = 0;

		classifier_release(&c);
		begin(NULL);
		for (uint64_t i = any(200); i > 0; i--) {
			const char *name = names[any(ARRAY_SIZE(names))];
			struct mapping m = make_mapping(name, (uint32_t)any(32),
							name[0] == '/' ? 7 : 0,
							1 + any(300));

			fill_counters(&m.counters);
			if (pointer_count < ARRAY_SIZE(pointers) && any(3) == 0)
				pointers[pointer_count++] = m.start_addr + any(PAGE);
			classifier_add(&c, &m);
		}
		classifier_end(&c, pointers, pointer_count, NULL, NULL);

		rss = usage.total.bytes[SMAPS_RSS];
		for (unsigned int o = OWNER_HEAP_LAST + 1; o < OWNER_COUNT_; o++)
			rows += matrix_owner_bytes(&usage.matrix, (enum owner)o);
		for (unsigned int s = 0; s < STATE_COUNT_; s++) {
			uint64_t margin =
				matrix_state_bytes(&usage.matrix, (enum page_state)s);

			columns += margin;
			assert_true(margin == usage.state_bytes[s]);
		}
		assert_true(rows == rss && columns == rss);
		for (unsigned int o = OWNER_HEAP_LAST + 1; o < OWNER_COUNT_; o++)
			assert_true(usage.matrix.owner_rss_bytes[o] ==
				    matrix_owner_bytes(&usage.matrix, (enum owner)o));
		assert_true(matrix_total_bytes(&usage.matrix) == rss);
		assert_true(usage_unexplained_bytes(&usage) == 0);
	}
}

static void a_rollup_gives_states_but_no_owners(void **state)
{
	struct counters k;

	(void)state;
	counters_set_zero(&k);
	k.bytes[SMAPS_RSS] = 100;
	k.bytes[SMAPS_PRIVATE_DIRTY] = 60;
	k.bytes[SMAPS_SHARED_CLEAN] = 40;
	assert_true(classify_rollup_is_enough(&k));
	classify_rollup(&usage, &k);
	assert_int_equal(usage.source, SOURCE_ROLLUP);
	assert_true(usage.state_bytes[STATE_SHARED_CLEAN] == 40);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_ANON) == BYTES_UNKNOWN);
	assert_true(usage_unexplained_bytes(&usage) == 0);
	k.bytes[SMAPS_LAZYFREE] = 1;
	assert_false(classify_rollup_is_enough(&k));
	k.bytes[SMAPS_LAZYFREE] = BYTES_UNKNOWN;
	assert_false(classify_rollup_is_enough(&k));
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(owners_follow_from_name_flags_and_inode),
		test(two_of_three_signs_make_a_stack),
		test(only_unnamed_private_anonymous_memory_can_be_a_stack),
		test(a_guard_is_a_small_anonymous_mapping_directly_below),
		test(stack_pointers_decide_only_the_mappings_they_point_into),
		test(one_thread_needs_no_stack_pointers),
		test(lazyfree_is_subtracted_from_the_clean_states),
		test(without_lazyfree_the_clean_states_are_unknown),
		test(without_lazyfree_owners_are_known_from_rss),
		test(address_space_without_pages_is_unbacked_or_reserved),
		test(the_allocator_is_identified_by_its_library),
		test(only_executable_mappings_identify_the_allocator),
		test(rows_and_columns_add_up_to_rss_for_random_processes),
		test(a_rollup_gives_states_but_no_owners),
	};

	return cmocka_run_group_tests_name("classify", tests, NULL, NULL);
}
