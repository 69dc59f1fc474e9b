/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/answer.h"

#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

#define ALL (~UINT64_C(0))

static uint64_t figure(const struct allocator_stats *stats, const char *name)
{
	for (size_t i = 0; i < stats->value_count; i++)
		if (strcmp(stats->values[i].name, name) == 0)
			return stats->values[i].value;
	return BYTES_UNKNOWN;
}

/* Return the figures of a helper that supports only this command. */
static struct allocator_stats read_answer(enum agent_command command,
					  const struct ctlpage_answer *answer)
{
	struct allocator_stats stats;

	answer_read(answer_allocator(UINT32_C(1) << command), answer, &stats);
	return stats;
}

static void the_allocator_that_replaces_malloc_is_queried(void **state)
{
	const uint32_t glibc = 1 << AGENT_MALLINFO2 | 1 << AGENT_MALLOC_INFO;

	(void)state;
	assert_int_equal(answer_allocator(glibc)->allocator, ALLOCATOR_GLIBC);
	assert_true(answer_allocator(glibc)->is_slow);
	assert_int_equal(answer_allocator(glibc | 1 << AGENT_JEMALLOC)->allocator,
			 ALLOCATOR_JEMALLOC);
	assert_int_equal(answer_allocator(glibc | 1 << AGENT_GPERFTOOLS)->allocator,
			 ALLOCATOR_TCMALLOC);
	assert_int_equal(answer_allocator(glibc | 1 << AGENT_MIMALLOC)->allocator,
			 ALLOCATOR_MIMALLOC);
	assert_null(answer_allocator(1 << AGENT_PING | 1 << AGENT_EXIT));
}

static void glibc_figures_come_from_mallinfo2(void **state)
{
	struct ctlpage_answer answer = { .known = ALL,
					 .cost_ns = 5,
					 .values = { 1000, 2, 3, 4, 500, 0, 7, 600, 400,
						     90 } };
	struct allocator_stats stats = read_answer(AGENT_MALLINFO2, &answer);

	(void)state;
	assert_int_equal(stats.mallinfo.arena, 1000);
	assert_int_equal(stats.mallinfo.keepcost, 90);
	assert_int_equal(stats.system_bytes, 1500);
	assert_int_equal(stats.live_bytes, 1100);
	assert_int_equal(stats.pool_bytes, 400);
	assert_true(stats.meta_bytes == BYTES_UNKNOWN);
	assert_int_equal(stats.cost_ns, 5);
	assert_int_equal(figure(&stats, "fordblks"), 400);
	assert_int_equal(stats.value_count, 10);
}

/*
 * The values are allocated, active, metadata, resident, mapped, retained, dirty and muzzy
 * pages, …, and the page size.
 */
static void jemalloc_counts_free_memory_in_pages(void **state)
{
	struct ctlpage_answer answer = { .known = ALL,
					 .values = { 100, 150, 20, 300, 400, 50, 2, 1, 9,
						     60, 40, 4096 } };
	struct allocator_stats stats = read_answer(AGENT_JEMALLOC, &answer);

	(void)state;
	assert_int_equal(figure(&stats, "stats.arenas.all.dirty"), 8192);
	assert_int_equal(stats.pool_bytes, 50 + 3 * 4096);
	assert_int_equal(stats.system_bytes, 450);
	assert_int_equal(stats.meta_bytes, 20);
	assert_int_equal(stats.resident_bytes, 300);
}

static void missing_values_are_unknown(void **state)
{
	struct ctlpage_answer answer = { .known = ALL & ~(UINT64_C(1) << 6),
					 .values = { [6] = 2, [11] = 4096 } };
	struct allocator_stats stats = read_answer(AGENT_JEMALLOC, &answer);

	(void)state;
	assert_true(stats.pool_bytes == BYTES_UNKNOWN);
	assert_true(figure(&stats, "stats.arenas.all.dirty") == BYTES_UNKNOWN);
	assert_int_equal(stats.value_count, 11);
	answer.known = 0;
	stats = read_answer(AGENT_MALLINFO2, &answer);
	assert_true(stats.live_bytes == BYTES_UNKNOWN);
	assert_int_equal(stats.value_count, 0);
}

static void overflowing_sums_are_unknown(void **state)
{
	struct ctlpage_answer answer = { .known = ALL };
	struct allocator_stats stats;

	(void)state;
	for (size_t i = 0; i < AGENT_VALUE_MAX; i++)
		answer.values[i] = UINT64_MAX - 1;
	for (uint32_t c = AGENT_MALLINFO2; c < AGENT_COMMAND_COUNT_; c++) {
		if (!answer_allocator(UINT32_C(1) << c))
			continue;
		stats = read_answer((enum agent_command)c, &answer);
		assert_true(stats.value_count <= ALLOCATOR_VALUE_MAX);
		if (stats.allocator != ALLOCATOR_MIMALLOC)
			assert_true(stats.pool_bytes == BYTES_UNKNOWN ||
				    stats.allocator == ALLOCATOR_GLIBC);
	}
}

static void unmapped_memory_of_gperftools_is_not_resident(void **state)
{
	struct ctlpage_answer answer = { .known = ALL,
					 .values = { 10, 100, 20, 30, 1, 2, 3 } };
	struct allocator_stats stats = read_answer(AGENT_GPERFTOOLS, &answer);

	(void)state;
	assert_int_equal(stats.live_bytes, 10);
	assert_int_equal(stats.pool_bytes, 26);
	assert_int_equal(stats.resident_bytes, 70);
}

static void mimalloc_reports_only_committed_memory(void **state)
{
	struct ctlpage_answer answer = { .known = ALL,
					 .values = { 1, 2, 3, 4, 5, 6, 7, 8 } };
	struct allocator_stats stats = read_answer(AGENT_MIMALLOC, &answer);

	(void)state;
	assert_int_equal(stats.system_bytes, 6);
	assert_int_equal(figure(&stats, "current_commit"), 6);
	assert_true(stats.live_bytes == BYTES_UNKNOWN);
	assert_true(stats.resident_bytes == BYTES_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_allocator_that_replaces_malloc_is_queried),
		cmocka_unit_test(glibc_figures_come_from_mallinfo2),
		cmocka_unit_test(jemalloc_counts_free_memory_in_pages),
		cmocka_unit_test(missing_values_are_unknown),
		cmocka_unit_test(overflowing_sums_are_unknown),
		cmocka_unit_test(unmapped_memory_of_gperftools_is_not_resident),
		cmocka_unit_test(mimalloc_reports_only_committed_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
