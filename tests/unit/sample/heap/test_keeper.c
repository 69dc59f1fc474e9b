/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "sample/heap/reader.h"
#include "../../support/smaps_texts.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

/*
 * These tests replace the walk and the clocks: processes are folders, a walk has the
 * result and the cost that the test sets, and time passes when the test advances it. The
 * thread that walks, and what the keeper does with the results, are real.
 */
#define LIVE_KIB 20
#define POOL_KIB 4
#define HEAP_HEADER \
	"55c8df39d000-55c8df3be000 rw-p 00000000 00:00 0                          [heap]"

static struct tree tree;
static struct procfs fs;
static struct sampler *sampler;
static struct heap_keeper *keeper;
static struct usage usage;
static struct mapping_list mappings;

/* The findings and the cost of the next walks. */
static struct {
	int results[2]; /* of the first and the second read */
	enum quality quality;
	uint64_t pause_ns, cpu_ns;
	bool hangs; /* until the test posts `hanging` */
} next;

static _Atomic uint64_t now_ns;
static atomic_int reading_count, running_count;
static sem_t hanging;
static struct sampler *last_sampler, *hung_sampler;
static int last_pid;

uint64_t __wrap_clock_now_ns(void);
uint64_t __wrap_clock_thread_cpu_ns(void);
int __wrap_heap_reader_read(struct heap_reader *reader, struct usage *u,
			    struct mapping_list *list, struct heap *ret);

uint64_t __wrap_clock_now_ns(void)
{
	return now_ns;
}

uint64_t __wrap_clock_thread_cpu_ns(void)
{
	return next.cpu_ns;
}

/* Read the mappings for real, and find live and free blocks in the first one. */
int __wrap_heap_reader_read(struct heap_reader *reader, struct usage *u,
			    struct mapping_list *list, struct heap *ret)
{
	int number = reading_count++ % 2, r;

	last_sampler = reader->sampler;
	last_pid = u->process.pid;
	running_count += reader->is_running;
	if (next.hangs)
		while (sem_wait(&hanging) < 0)
			;
	heap_init(ret);
	r = sampler_read_mappings(reader->sampler, u, list);
	if (r < 0)
		return r;
	ret->pause_ns = reader->is_running ? 0 : next.pause_ns;
	if (next.results[number] == -ETIME) { /* as the reader does */
		hung_sampler = reader->sampler;
		sampler_abandon(hung_sampler);
		reader->own_sampler = sampler_new(reader->fs, false);
		reader->sampler = reader->own_sampler;
	}
	if (next.results[number] < 0)
		return next.results[number];
	ret->quality = next.quality;
	ret->problem = next.quality == QUALITY_UNKNOWN ? "made problem" : NULL;
	u->heap_quality = next.quality;
	if (next.quality == QUALITY_UNKNOWN)
		return 0;
	ret->allocator = ALLOCATOR_GLIBC;
	ret->shares = xcalloc(1, sizeof(*ret->shares));
	ret->share_count = 1;
	ret->shares[0].owner_bytes[OWNER_LIVE] = KIB(LIVE_KIB);
	ret->shares[0].owner_bytes[OWNER_POOL_PAGES] = KIB(POOL_KIB);
	return 0;
}

static size_t count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static int begin(void **state)
{
	(void)state;
	tree_make(&tree);
	if (procfs_open(&fs, tree.root) < 0)
		return -1;
	sampler = sampler_new(&fs, false);
	usage_init(&usage);
	mappings = (struct mapping_list)MAPPING_LIST_INIT;
	memset(&next, 0, sizeof(next));
	next.quality = QUALITY_EXACT;
	now_ns = 1000 * NS_PER_S;
	reading_count = running_count = 0;
	keeper = NULL;
	return sem_init(&hanging, 0, 0);
}

static int end(void **state)
{
	(void)state;
	/* a walk still hangs if a test failed */
	sem_post(&hanging);
	heap_keeper_free(keeper, NULL, NULL);
	while (count_threads() > 1)
		usleep(1000);
	usage_release(&usage);
	mapping_list_release(&mappings);
	sampler_free(sampler);
	procfs_release(&fs);
	tree_remove(&tree);
	sem_destroy(&hanging);
	return 0;
}

static void keep(enum heap_stops stops, unsigned int share_per_mille)
{
	keeper = heap_keeper_new(&fs, sampler, stops, NS_PER_S, share_per_mille);
}

/*
 * Make the folder of a process, unless it exists: the thread of a walk may be reading it.
 * The first mapping of the process is the heap.
 */
static void make_process(int pid)
{
	char name[32], path[80];

	snprintf(name, sizeof(name), "%d/smaps", pid);
	snprintf(path, sizeof(path), "%s/%s", tree.root, name);
	if (access(path, F_OK) < 0)
		tree_write(&tree, name,
			   SMAPS_RECORD_6_18(HEAP_HEADER)
				   SMAPS_RECORD_6_18(SMAPS_STACK_HEADER));
}

static void read_process(int pid, uint64_t start_ticks)
{
	make_process(pid);
	usage_release(&usage);
	usage_init(&usage);
	usage.process.pid = pid;
	usage.process.start_ticks = start_ticks;
	usage.process.state = 'S';
	assert_int_equal(heap_keeper_read(keeper, &usage, &mappings), 0);
	assert_int_equal(mappings.count, 2);
}

static void pass_ms(uint64_t ms)
{
	now_ns += ms * NS_PER_MS;
}

static void a_process_is_walked_again_when_its_cost_is_within_the_share(void **state)
{
	uint64_t first_ns;

	(void)state;
	keep(STOPS_SHORT, 10);
	next.cpu_ns = 3 * NS_PER_MS; /* and the pause: 5 ms in 500 ms are 10 per mille */
	next.pause_ns = 2 * NS_PER_MS;
	read_process(7, 1);
	assert_int_equal(reading_count, 1);
	assert_int_equal(usage.heap_quality, QUALITY_EXACT);
	assert_int_equal(usage.heap_error, 0);
	assert_true(usage.heap_pause_ns == 2 * NS_PER_MS);
	first_ns = usage.heap_taken_ns;
	assert_true(first_ns == now_ns);
	pass_ms(499);
	read_process(7, 1);
	assert_int_equal(reading_count, 1);
	pass_ms(1);
	read_process(7, 1);
	assert_int_equal(reading_count, 2);
	assert_true(usage.heap_taken_ns == first_ns + 500 * NS_PER_MS);
}

/* Figures of a past walk are an estimate, and have the time of that walk. */
static void figures_are_carried_over_between_walks(void **state)
{
	uint64_t first_ns = now_ns;

	(void)state;
	keep(STOPS_SHORT, 10);
	next.cpu_ns = 5 * NS_PER_MS;
	read_process(7, 1);
	pass_ms(100);
	read_process(7, 1);
	assert_int_equal(reading_count, 1);
	assert_int_equal(usage.heap_quality, QUALITY_ESTIMATE);
	assert_true(usage.heap_taken_ns == first_ns);
	assert_true(usage.taken_ns == now_ns);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_LIVE) == KIB(LIVE_KIB));
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_POOL_PAGES) == KIB(POOL_KIB));
	assert_true(usage_unexplained_bytes(&usage) == 0);
}

static void a_reused_pid_gets_no_figures_of_the_former_process(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 10);
	next.cpu_ns = 5 * NS_PER_MS;
	read_process(7, 1);
	next.quality = QUALITY_UNKNOWN;
	read_process(7, 2);
	assert_int_equal(reading_count, 2);
	assert_int_equal(usage.heap_quality, QUALITY_UNKNOWN);
	assert_true(usage.heap_taken_ns == 0);
	assert_string_equal(usage.heap_problem, "made problem");
}

/* The last walks of all processes cost 10 ms together. */
static void all_processes_share_the_budget(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 10);
	next.cpu_ns = 5 * NS_PER_MS;
	read_process(7, 1);
	read_process(8, 1);
	assert_int_equal(reading_count, 2);
	pass_ms(999);
	read_process(7, 1);
	read_process(8, 1);
	assert_int_equal(reading_count, 2);
	pass_ms(1);
	read_process(7, 1);
	assert_int_equal(reading_count, 3);
	assert_int_equal(last_pid, 7);
	read_process(8, 1);
	assert_int_equal(last_pid, 8);
}

/* A process that was not read in a whole round has ended. */
static void an_ended_process_leaves_the_budget_to_the_others(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 10);
	next.cpu_ns = 5 * NS_PER_MS;
	read_process(7, 1);
	read_process(8, 1);
	pass_ms(1);
	read_process(7, 1);
	read_process(7, 1);
	pass_ms(499);
	read_process(7, 1);
	assert_int_equal(reading_count, 3);
}

static void walks_that_find_nothing_become_rare(void **state)
{
	static const uint64_t waits_ms[] = {
		1000, 2000, 4000, 8000, 16000, 32000, 32000
	};

	(void)state;
	keep(STOPS_SHORT, 10);
	next.cpu_ns = 5 * NS_PER_MS;
	next.quality = QUALITY_UNKNOWN;
	read_process(7, 1);
	for (size_t i = 0; i < ARRAY_SIZE(waits_ms); i++) {
		int before = reading_count;

		pass_ms(waits_ms[i] - 1);
		read_process(7, 1);
		assert_int_equal(reading_count, before);
		pass_ms(1);
		read_process(7, 1);
		assert_int_equal(reading_count, before + 1);
	}
	/* a walk that finds the heap resets the wait */
	next.quality = QUALITY_EXACT;
	pass_ms(32000);
	read_process(7, 1);
	assert_int_equal(usage.heap_quality, QUALITY_EXACT);
	pass_ms(500);
	read_process(7, 1);
	assert_true(usage.heap_taken_ns == now_ns);
}

/* Read the process until its walk has ended. */
static void read_until_known(int pid)
{
	do {
		usleep(100);
		read_process(pid, 1);
	} while (usage.heap_error == -EINPROGRESS);
}

static void a_slow_walk_is_not_waited_for_beyond_the_patience(void **state)
{
	uint64_t began_ns = now_ns;

	(void)state;
	keep(STOPS_SHORT, 10);
	heap_keeper_set_patience(keeper, NS_PER_MS);
	next.cpu_ns = 5 * NS_PER_MS;
	next.hangs = true;
	read_process(7, 1);
	assert_int_equal(usage.heap_error, -EINPROGRESS);
	assert_int_equal(usage.heap_quality, QUALITY_UNKNOWN);
	assert_true(usage.total.bytes[SMAPS_RSS] == KIB(200));
	/* there is one walk at a time */
	read_process(8, 1);
	assert_int_equal(usage.heap_error, -ENODATA);
	sem_post(&hanging);
	while (count_threads() > 1)
		usleep(1000);
	pass_ms(100);
	read_process(7, 1);
	assert_int_equal(reading_count, 1);
	assert_int_equal(usage.heap_quality, QUALITY_ESTIMATE);
	assert_true(usage.heap_taken_ns == began_ns);
	assert_true(matrix_owner_bytes(&usage.matrix, OWNER_LIVE) == KIB(LIVE_KIB));
}

static void new_processes_wait_for_the_cost_of_the_last_walk(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 10);
	heap_keeper_set_patience(keeper, NS_PER_MS);
	next.cpu_ns = 1 * NS_PER_MS;
	next.pause_ns = 4 * NS_PER_MS;
	read_process(7, 1);
	read_until_known(7);
	pass_ms(499);
	read_process(8, 1);
	assert_int_equal(usage.heap_error, -ENODATA);
	assert_int_equal(reading_count, 1);
	pass_ms(1);
	read_process(8, 1);
	read_until_known(8);
	assert_int_equal(reading_count, 2);
	assert_int_equal(last_pid, 8);
}

static void walks_can_be_forced_and_forbidden(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 10);
	heap_keeper_set_patience(keeper, 0);
	next.cpu_ns = 5 * NS_PER_MS;
	heap_keeper_set_walks(keeper, WALKS_NONE);
	read_process(7, 1);
	assert_int_equal(usage.heap_error, -ENODATA);
	assert_int_equal(reading_count, 0);
	heap_keeper_set_walks(keeper, WALKS_ALL);
	for (int i = 1; i <= 3; i++) {
		read_process(7, 1);
		assert_int_equal(reading_count, i);
		assert_int_equal(usage.heap_quality, QUALITY_EXACT);
	}
	heap_keeper_set_walks(keeper, WALKS_NONE);
	pass_ms(3600000);
	read_process(7, 1);
	assert_int_equal(reading_count, 3);
	assert_int_equal(usage.heap_quality, QUALITY_ESTIMATE);
}

static void a_heap_too_large_for_a_pause_is_read_without_one_if_permitted(void **state)
{
	static const struct {
		enum heap_stops stops;
		int result, readings, running, error;
		enum quality quality;
		uint64_t pause_ms;
	} rows[] = {
		{ STOPS_SHORT, -EFBIG, 1, 0, -EFBIG, QUALITY_UNKNOWN, 2 },
		{ STOPS_SHORT_OR_NONE, -EFBIG, 2, 1, -EFBIG, QUALITY_EXACT, 2 },
		{ STOPS_SHORT_OR_NONE, -ETIMEDOUT, 2, 1, -ETIMEDOUT, QUALITY_EXACT, 2 },
		{ STOPS_SHORT_OR_NONE, -ENOMEM, 1, 0, -ENOMEM, QUALITY_UNKNOWN, 2 },
		{ STOPS_SHORT_OR_NONE, 0, 1, 0, 0, QUALITY_EXACT, 2 },
		{ STOPS_NONE, 0, 1, 1, 0, QUALITY_EXACT, 0 },
	};

	(void)state;
	next.pause_ns = 2 * NS_PER_MS;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		keep(rows[i].stops, 1000);
		reading_count = running_count = 0;
		next.results[0] = rows[i].result;
		read_process(7, 1);
		assert_int_equal(reading_count, rows[i].readings);
		assert_int_equal(running_count, rows[i].running);
		assert_int_equal(usage.heap_error, rows[i].error);
		assert_int_equal(usage.heap_quality, rows[i].quality);
		assert_int_equal(usage.heap_is_running, rows[i].running);
		assert_true(usage.heap_pause_ns == rows[i].pause_ms * NS_PER_MS);
		heap_keeper_free(keeper, NULL, NULL);
	}
	keeper = NULL;
}

/* The thread of such a walk still uses its sampler. */
static void the_sampler_of_a_walk_that_hung_is_never_used_again(void **state)
{
	struct sampler *replacement;

	(void)state;
	keep(STOPS_SHORT, 1000);
	next.results[0] = -ETIME;
	read_process(7, 1);
	assert_int_equal(usage.heap_error, -ETIME);
	next.results[0] = next.results[1] = 0;
	read_process(7, 1);
	assert_int_equal(usage.heap_quality, QUALITY_EXACT);
	replacement = last_sampler;
	assert_ptr_not_equal(replacement, hung_sampler);
	read_process(7, 1);
	assert_ptr_equal(last_sampler, replacement);
}

static void the_keeper_ends_before_its_walk(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 10);
	heap_keeper_set_patience(keeper, 0);
	next.hangs = true;
	read_process(7, 1);
	heap_keeper_free(keeper, NULL, NULL);
	keeper = NULL;
	sampler_free(sampler);
	sampler = NULL;
	/* the walk still has its own sampler and procfs, and frees all of it */
	sem_post(&hanging);
	while (count_threads() > 1)
		usleep(1000);
}

static void a_process_without_memory_is_not_walked(void **state)
{
	(void)state;
	keep(STOPS_SHORT, 1000);
	usage.process.pid = 7;
	usage.process.state = 'Z';
	usage.process.thread_count = 1;
	assert_int_equal(heap_keeper_read(keeper, &usage, &mappings), 0);
	assert_int_equal(reading_count, 0);
	assert_int_equal(mappings.count, 0);
	assert_true(usage.total.bytes[SMAPS_RSS] == 0);
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_process_is_walked_again_when_its_cost_is_within_the_share),
		test(figures_are_carried_over_between_walks),
		test(a_reused_pid_gets_no_figures_of_the_former_process),
		test(all_processes_share_the_budget),
		test(an_ended_process_leaves_the_budget_to_the_others),
		test(walks_that_find_nothing_become_rare),
		test(a_slow_walk_is_not_waited_for_beyond_the_patience),
		test(new_processes_wait_for_the_cost_of_the_last_walk),
		test(walks_can_be_forced_and_forbidden),
		test(a_heap_too_large_for_a_pause_is_read_without_one_if_permitted),
		test(the_sampler_of_a_walk_that_hung_is_never_used_again),
		test(the_keeper_ends_before_its_walk),
		test(a_process_without_memory_is_not_walked),
	};

	return cmocka_run_group_tests_name("heap_keeper", tests, NULL, NULL);
}
