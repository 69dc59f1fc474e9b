/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/uses.h"

#include <string.h>

#include "../../support/unit.h"
#include "base/units.h"

#define R MAPPING_READ
#define RW (MAPPING_READ | MAPPING_WRITE)
#define RX (MAPPING_READ | MAPPING_EXEC)
#define SHARED MAPPING_SHARED
#define MAPPING_MAX 24

/*
 * A mapping: the gap in front of it and its size in KiB, a name that begins with a slash
 * has an inode, and the use that is expected.
 */
struct row {
	uint64_t gap, kib;
	uint32_t flags;
	const char *name;
	enum known_use use;
	enum owner owner;
};

struct made {
	struct mapping items[MAPPING_MAX];
	struct mapping_list list;
	struct usage usage;
};

/* The first mapping begins at `addr` plus its gap. Half of each mapping is resident. */
static void make(struct made *made, uint64_t addr, const struct row *rows, size_t count)
{
	memset(made, 0, sizeof(*made));
	usage_init(&made->usage);
	made->list.items = made->items;
	made->list.count = count;
	for (size_t i = 0; i < count; i++) {
		struct mapping *m = &made->items[i];

		m->start_addr = addr + rows[i].gap * 1024;
		m->end_addr = addr = m->start_addr + rows[i].kib * 1024;
		m->flags = rows[i].flags;
		m->name = rows[i].name;
		m->name_length = (uint32_t)strlen(m->name);
		m->inode = m->name[0] == '/' ? 7 : 0;
		m->owner = rows[i].owner;
		counters_set_zero(&m->counters);
		m->counters.bytes[SMAPS_SIZE] = m->end_addr - m->start_addr;
		m->counters.bytes[SMAPS_RSS] = (m->end_addr - m->start_addr) / 2;
	}
}

static void check_rows(uint64_t addr, const struct row *rows, size_t count)
{
	struct made made;

	make(&made, addr, rows, count);
	classify_uses(&made.usage, &made.list, NULL, 0);
	for (size_t i = 0; i < count; i++)
		if (made.items[i].use != rows[i].use)
			fail_msg("mapping %zu: %d, not %d", i, (int)made.items[i].use,
				 (int)rows[i].use);
}

#define CHECK(addr, rows) check_rows(addr, rows, sizeof(rows) / sizeof((rows)[0]))

static const struct usage_use *find_use(const struct usage *u, enum known_use use)
{
	for (size_t i = 0; i < u->uses.count; i++)
		if (u->uses.items[i].use == use)
			return &u->uses.items[i];
	return NULL;
}

static void names_of_the_kernel_show_the_use(void **state)
{
	static const struct row rows[] = {
		{ 0, 8, RW | SHARED, "anon_inode:[io_uring]", USE_IO_URING, OWNER_FILE },
		{ 4, 8, RW | SHARED, "/[aio] (deleted)", USE_AIO, OWNER_FILE },
		{ 4, 8, R | SHARED, "anon_inode:[perf_event]", USE_PERF, OWNER_FILE },
		{ 4, 8, RW | SHARED, "socket:[1234]", USE_PACKET_RING, OWNER_FILE },
		{ 4, 8, RW | SHARED, "anon_inode:kvm-vcpu:0", USE_KVM, OWNER_FILE },
		{ 4, 8, RW | SHARED, "anon_inode:bpf-map", USE_BPF, OWNER_FILE },
		{ 4, 8, RW | SHARED, "/dev/nvidiactl", USE_GPU, OWNER_FILE },
		{ 4, 8, RW | SHARED, "/dev/dri/card0", USE_GPU, OWNER_FILE },
		{ 4, 8, RW | SHARED, "/dev/infiniband/uverbs0", USE_DEVICE, OWNER_FILE },
		{ 4, 8, RW | SHARED, "/dev/shm/some", USE_NONE, OWNER_SHMEM },
		{ 4, 8, RW | SHARED, "/dev/zero (deleted)", USE_NONE, OWNER_SHMEM },
		{ 4, 8, RW | SHARED, "/SYSV00000000 (deleted)", USE_SYSV, OWNER_SHMEM },
		{ 4, 8, RX, "", USE_JIT_CODE, OWNER_ANON },
		{ 4, 8, RX, "/usr/lib/libz.so.1", USE_NONE, OWNER_FILE },
		{ 4, 8, RW, "", USE_STACKS, OWNER_STACK },
		{ 4, 8192, RW, "", USE_NONE, OWNER_ANON },
	};

	(void)state;
	CHECK(UINT64_C(0x7f0000000000), rows);
}

static void a_pool_of_innodb_has_reserved_memory_behind_it(void **state)
{
	static const struct row rows[] = {
		{ 0, 100, RX, "/usr/sbin/mariadbd (deleted)", USE_NONE, OWNER_FILE },
		/* an arena, and stacks of 8 MiB with a guard */
		{ 65436, 132, RW, "", USE_NONE, OWNER_ANON },
		{ 0, 65404, 0, "", USE_ARENA_RESERVE, OWNER_ANON },
		{ 8192, 16384, RW, "", USE_INNODB_BUFFERS, OWNER_ANON },
		{ 8192, 262144, RW, "", USE_INNODB_POOL, OWNER_ANON },
		{ 0, 1 << 24, 0, "", USE_INNODB_RESERVE, OWNER_ANON },
		{ 4, 516, RW, "", USE_NONE, OWNER_ANON },
		{ 4, 264, RW | SHARED, "/dev/zero (deleted)", USE_NONE, OWNER_SHMEM },
	};

	(void)state;
	CHECK(UINT64_C(0x7f0000000000), rows);
}

static void a_full_pool_of_innodb_is_the_largest_mapping_of_extents(void **state)
{
	static const struct row rows[] = {
		{ 0, 1024, RX, "/usr/sbin/mysqld", USE_NONE, OWNER_FILE },
		{ 7168, 16384, RW, "", USE_INNODB_BUFFERS, OWNER_ANON },
		{ 8192, 65536, RW, "", USE_INNODB_POOL, OWNER_ANON },
		{ 1024, 131072, RW, "", USE_INNODB_BUFFERS, OWNER_ANON },
	};

	(void)state;
	CHECK(UINT64_C(0x7f0000000000), rows);
}

static void the_same_shapes_in_another_program_are_unknown(void **state)
{
	static const struct row rows[] = {
		{ 0, 1024, RX, "/usr/sbin/mariadbd-other", USE_NONE, OWNER_FILE },
		{ 0, 1024, R, "/usr/sbin/mariadbd", USE_NONE, OWNER_FILE },
		{ 6144, 262144, RW, "", USE_NONE, OWNER_ANON },
		{ 0, 1 << 24, 0, "", USE_NONE, OWNER_ANON },
		{ 1024, 16384, RW, "", USE_NONE, OWNER_ANON },
	};

	(void)state;
	CHECK(UINT64_C(0x7f0000000000), rows);
}

static void memory_of_servers_is_recognised_by_their_program(void **state)
{
	static const struct row postgres[] = {
		{ 0, 64, RX, "/usr/lib/postgresql/15/bin/postgres", USE_NONE,
		  OWNER_FILE },
		{ 4, 64, RW | SHARED, "/dev/zero (deleted)", USE_POSTGRES_SHARED,
		  OWNER_SHMEM },
		{ 4, 4, RW | SHARED, "/SYSV0012 (deleted)", USE_POSTGRES_SHARED,
		  OWNER_SHMEM },
		{ 4, 64, RW | SHARED, "/dev/shm/PostgreSQL.99", USE_POSTGRES_DYNAMIC,
		  OWNER_SHMEM },
		{ 4, 1024, RW, "", USE_NONE, OWNER_ANON },
	};
	static const struct row php[] = {
		{ 0, 64, RX, "/usr/lib/php/20220829/opcache.so", USE_NONE, OWNER_FILE },
		{ 4, 64, RW | SHARED, "/dev/zero (deleted)", USE_PHP_OPCACHE,
		  OWNER_SHMEM },
	};
	static const struct row java[] = {
		{ 0, 64, RX, "/usr/lib/jvm/java-17/lib/server/libjvm.so", USE_NONE,
		  OWNER_FILE },
		{ 4, 64, RX | MAPPING_WRITE, "", USE_JAVA_CODE, OWNER_ANON },
		{ 4, 64, RW, "", USE_JAVA_STACKS, OWNER_STACK },
	};

	(void)state;
	CHECK(UINT64_C(0x7f0000000000), postgres);
	CHECK(UINT64_C(0x7f0000000000), php);
	CHECK(UINT64_C(0x7f0000000000), java);
}

static void memory_of_gcc_is_neither_zeroed_data_nor_small(void **state)
{
	static const struct row rows[] = {
		{ 0, 1024, RX, "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", USE_NONE,
		  OWNER_FILE },
		{ 0, 52, RW, "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", USE_NONE,
		  OWNER_FILE },
		{ 0, 1670, RW, "", USE_PROGRAM_DATA, OWNER_ANON },
		{ 64, 8192, RW, "[heap]", USE_NONE, OWNER_ANON },
		{ 64, 8192, RW, "", USE_GCC_COLLECTED, OWNER_ANON },
		{ 64, 60, RW, "", USE_NONE, OWNER_ANON },
		{ 64, 8, RW, "/usr/lib/libc.so.6", USE_NONE, OWNER_FILE },
		{ 0, 80, RW, "", USE_NONE, OWNER_ANON },
	};

	(void)state;
	CHECK(UINT64_C(0x400000), rows);
}

static void sanitizers_are_recognised_by_all_their_bounds(void **state)
{
	static const struct row whole[] = {
		{ 0, 0x10000000 / 1024, RW, "", USE_ASAN_SHADOW, OWNER_ANON },
		{ 0, 0x20000000000 / 1024, 0, "", USE_ASAN_SHADOW, OWNER_ANON },
		{ 0, 0xdfff0001000 / 1024, RW, "", USE_ASAN_SHADOW, OWNER_ANON },
		{ 0x4fff7fff8000 / 1024, 64, RW, "", USE_NONE, OWNER_ANON },
		{ 64, 64, RW, "", USE_ASAN_HEAP, OWNER_ANON },
	};
	static const struct row part[] = {
		{ 0, 0x10000000 / 1024, RW, "", USE_NONE, OWNER_ANON },
		{ 0, 0x20000000000 / 1024, 0, "", USE_NONE, OWNER_ANON },
		{ 0, 0xdfff0000000 / 1024, RW, "", USE_NONE, OWNER_ANON },
	};

	(void)state;
	CHECK(UINT64_C(0x7fff7000), whole);
	CHECK(UINT64_C(0x7fff7000), part);
}

#define GIB_KIB (UINT64_C(1) << 20)

static void heaps_of_chromium_are_recognised_by_the_pools(void **state)
{
	/* as in Chromium 156: V8's sandbox, Oilpan's cage, and PartitionAlloc's pools */
	static const struct row rows[] = {
		{ 0, 64 * GIB_KIB, 0, "", USE_NONE, OWNER_ANON },
		{ 0, 64, R, "", USE_V8_CAGE, OWNER_ANON },
		{ 0, 256, RX, "", USE_JIT_CODE, OWNER_ANON },
		{ 0, 4 * GIB_KIB - 320, RW, "", USE_V8_CAGE, OWNER_ANON },
		{ 0, GIB_KIB, RW, "", USE_V8_SANDBOX, OWNER_ANON },
		{ 0, 1024 * GIB_KIB, 0, "", USE_V8_SANDBOX, OWNER_ANON },
		{ 11 * GIB_KIB, 32768, 0, "", USE_OILPAN, OWNER_ANON },
		{ 0, 1024, RW, "", USE_OILPAN, OWNER_ANON },
		{ 0, 16 * GIB_KIB - 33792, 0, "", USE_OILPAN, OWNER_ANON },
		/* the same size, but not aligned to it */
		{ 4, 16 * GIB_KIB, RW, "", USE_NONE, OWNER_ANON },
		{ 16 * GIB_KIB - 4, 16, 0, "", USE_PARTITION, OWNER_ANON },
		{ 0, 4096, RW, "", USE_PARTITION, OWNER_ANON },
		{ 0, 32 * GIB_KIB - 4112, 0, "", USE_PARTITION, OWNER_ANON },
	};
	struct row others[sizeof(rows) / sizeof(rows[0])];

	(void)state;
	CHECK(UINT64_C(0x100000000000), rows);
	memcpy(others, rows, sizeof(rows));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (others[i].use != USE_JIT_CODE)
			others[i].use = USE_NONE;
	/* without the last mapping, the pools are not complete */
	check_rows(UINT64_C(0x100000000000), others,
		   sizeof(others) / sizeof(others[0]) - 1);
	/* at another address, the pools are not aligned */
	CHECK(UINT64_C(0x100100000000), others);
}

static void heaps_of_chromium_may_adjoin_other_memory(void **state)
{
	/*
	 * an arena of malloc directly before the sandbox, whose ArrayBuffers begin like
	 * the pools, and Oilpan's cage directly before the pools, so that the
	 * inaccessible memory between them is one mapping
	 */
	static const struct row rows[] = {
		{ 64 * 1024, 128, RW, "", USE_NONE, OWNER_ANON },
		{ 0, 64 * 1024 - 128, 0, "", USE_ARENA_RESERVE, OWNER_ANON },
		{ 0, 48 * GIB_KIB - 128 * 1024, 0, "", USE_NONE, OWNER_ANON },
		{ 0, 4 * GIB_KIB, RW, "", USE_V8_CAGE, OWNER_ANON },
		{ 0, 12 * GIB_KIB + 16, 0, "", USE_V8_SANDBOX, OWNER_ANON },
		{ 0, 256, RW, "", USE_V8_SANDBOX, OWNER_ANON },
		{ 0, 1024 * GIB_KIB - 272, 0, "", USE_V8_SANDBOX, OWNER_ANON },
		{ 16 * GIB_KIB, 1024, RW, "", USE_OILPAN, OWNER_ANON },
		{ 0, 16 * GIB_KIB - 1008, 0, "", USE_NONE, OWNER_ANON },
		{ 0, 4096, RW, "", USE_PARTITION, OWNER_ANON },
		{ 0, 32 * GIB_KIB - 4112, 0, "", USE_PARTITION, OWNER_ANON },
	};

	(void)state;
	CHECK(UINT64_C(0x100000000000), rows);
}

static void bytes_of_a_heap_are_not_those_of_a_use(void **state)
{
	static const struct row rows[] = {
		{ 0, 1024, RX, "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", USE_NONE,
		  OWNER_FILE },
		{ 64, 8192, RW, "", USE_GCC_COLLECTED, OWNER_ANON },
		{ 64, 4096, RW, "", USE_GCC_COLLECTED, OWNER_ANON },
	};
	struct heap_share shares[] = { { 1, { 100, 20, 3, 0 } },
				       { 2, { MIB, MIB / 2, 0, 0 } } };
	const struct usage_use *use;
	struct made made;

	(void)state;
	make(&made, UINT64_C(0x7f0000000000), rows, 3);
	classify_uses(&made.usage, &made.list, NULL, 0);
	use = find_use(&made.usage, USE_GCC_COLLECTED);
	assert_int_equal(use->rss_bytes, 6 * MIB);
	assert_true(use->is_upper_bound);

	made.usage.heap_quality = QUALITY_EXACT;
	classify_uses(&made.usage, &made.list, shares, 2);
	use = find_use(&made.usage, USE_GCC_COLLECTED);
	assert_int_equal(use->rss_bytes, 6 * MIB - 123 - 3 * MIB / 2);
	assert_int_equal(use->size_bytes, 12 * MIB);
	assert_false(use->is_upper_bound);
	assert_int_equal(made.items[1].use, USE_GCC_COLLECTED);
	assert_int_equal(made.items[2].use, USE_NONE); /* mostly malloc's */
}

static void the_heap_of_postgres_is_its_backend_memory(void **state)
{
	static const struct row rows[] = {
		{ 0, 64, RX, "/usr/lib/postgresql/15/bin/postgres", USE_NONE,
		  OWNER_FILE },
		{ 64, 1024, RW, "[heap]", USE_NONE, OWNER_ANON },
	};
	const struct heap_share share = { 1, { 1000, 0, 0, 24 } };
	struct made made;

	(void)state;
	make(&made, UINT64_C(0x7f0000000000), rows, 2);
	made.usage.heap_quality = QUALITY_EXACT;
	classify_uses(&made.usage, &made.list, &share, 1);
	assert_int_equal(made.usage.uses.count, 1);
	assert_int_equal(made.usage.uses.items[0].use, USE_POSTGRES_BACKEND);
	assert_int_equal(made.usage.uses.items[0].rss_bytes, 1024);
	memset(&made.usage.matrix, 0, sizeof(made.usage.matrix));
	made.usage.matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 5000;
	assert_int_equal(usage_unknown_anon_bytes(&made.usage), 5000);
}

static void every_use_has_a_name_and_evidence(void **state)
{
	(void)state;
	for (size_t i = USE_NONE + 1; i < USE_COUNT_; i++) {
		assert_non_null(known_use_texts[i].name);
		assert_non_null(known_use_texts[i].evidence);
	}
	assert_null(known_use_texts[USE_NONE].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_the_kernel_show_the_use),
		cmocka_unit_test(a_pool_of_innodb_has_reserved_memory_behind_it),
		cmocka_unit_test(a_full_pool_of_innodb_is_the_largest_mapping_of_extents),
		cmocka_unit_test(the_same_shapes_in_another_program_are_unknown),
		cmocka_unit_test(memory_of_servers_is_recognised_by_their_program),
		cmocka_unit_test(memory_of_gcc_is_neither_zeroed_data_nor_small),
		cmocka_unit_test(sanitizers_are_recognised_by_all_their_bounds),
		cmocka_unit_test(heaps_of_chromium_are_recognised_by_the_pools),
		cmocka_unit_test(heaps_of_chromium_may_adjoin_other_memory),
		cmocka_unit_test(bytes_of_a_heap_are_not_those_of_a_use),
		cmocka_unit_test(the_heap_of_postgres_is_its_backend_memory),
		cmocka_unit_test(every_use_has_a_name_and_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
