/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/walker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/system/procfs.h"
#include "sample/heap/reader.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define PAUSE_NS (7 * NS_PER_MS)
#define CPU_NS (3 * NS_PER_MS) /* CPU time of each thread that reads a heap */
#define ONE_ENTRY 3	       /* with "." and ".." */

/* Stands in for reads of a heap: each waits for a byte, and ends as the test says. */
static struct {
	int fds[2];
	int stopped_result; /* of reads that stop the process */
	bool finds_figures;
	unsigned int count;
	uint64_t image_bytes;	  /* size of the image that each read needs */
	uint64_t had_image_bytes; /* size of the image before the last read */
} reads;

/* Records calls that permit injection. */
static struct {
	unsigned int count;
	int pid; /* of the last call */
} permission;

/* The answer that the stand-in for the leak scan got when it reported its progress. */
static bool is_scan_cancelled;

uint64_t __wrap_clock_thread_cpu_ns(void);
void __wrap_helpers_allow(struct helpers *helpers, const struct targets *targets);

uint64_t __wrap_clock_thread_cpu_ns(void)
{
	return CPU_NS;
}

void __wrap_helpers_allow(struct helpers *helpers, const struct targets *targets)
{
	assert_non_null(helpers);
	assert_int_equal(targets->pid_count, 1);
	assert_int_equal(targets->name_count, 0);
	permission.count++;
	permission.pid = targets->pids[0].pid;
}

int __wrap_heap_leaks_scan(struct heap_reader *reader,
			   const struct mapping_list *mappings, const struct heap *heap,
			   const struct mark_progress *progress, struct heap_leaks *ret);

int __wrap_heap_leaks_scan(struct heap_reader *reader,
			   const struct mapping_list *mappings, const struct heap *heap,
			   const struct mark_progress *progress, struct heap_leaks *ret)
{
	(void)reader;
	(void)mappings;
	(void)heap;
	(void)ret;
	is_scan_cancelled = progress->report(progress->context, 1, 2);
	return is_scan_cancelled ? -ECANCELED : 0;
}

int __wrap_heap_reader_read(struct heap_reader *reader, struct usage *u,
			    struct mapping_list *mappings, struct heap *ret);

int __wrap_heap_reader_read(struct heap_reader *reader, struct usage *u,
			    struct mapping_list *mappings, struct heap *ret)
{
	char unused;

	(void)mappings;
	(void)!read(reads.fds[0], &unused, 1);
	reads.count++;
	reads.had_image_bytes = reader->image.capacity_bytes;
	assert_int_equal(image_reserve(&reader->image, reads.image_bytes), 0);
	heap_init(ret);
	if (!reader->is_running) {
		ret->pause_ns = PAUSE_NS;
		if (reads.stopped_result < 0)
			return reads.stopped_result;
	}
	if (reads.finds_figures) {
		ret->quality = QUALITY_EXACT;
		u->heap_quality = QUALITY_EXACT;
		u->taken_ns = reads.count;
	}
	return 0;
}

static void let_read_end(void)
{
	assert_int_equal(write(reads.fds[1], "e", 1), 1);
}

static bool is_readable(const struct heap_walker *walker)
{
	struct pollfd fd = { .fd = heap_walker_fd(walker), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static int start(struct heap_walker *walker, enum heap_stops stops)
{
	const struct process process = { .pid = 17, .start_ticks = 4 };
	const struct heap_request request = { .process = &process, .stops = stops };

	return heap_walker_start(walker, &request);
}

static struct procfs fs = PROCFS_INIT;

static int begin(void **state)
{
	(void)state;
	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	reads.stopped_result = 0;
	reads.finds_figures = false;
	reads.count = 0;
	reads.image_bytes = 0;
	permission.count = 0;
	is_scan_cancelled = false;
	return pipe(reads.fds);
}

static int end(void **state)
{
	(void)state;
	/* valgrind reports the stacks of threads that have not ended yet as lost */
	while (tree_count_entries("/proc/self/task") > ONE_ENTRY)
		usleep(1000);
	procfs_release(&fs);
	close(reads.fds[0]);
	close(reads.fds[1]);
	return 0;
}

static void findings_are_handed_over_once(void **state)
{
	struct heap_walker *walker = heap_walker_new(&fs);
	struct heap_findings found;

	(void)state;
	assert_non_null(walker);
	assert_false(heap_walker_wait(walker, UINT64_MAX)); /* nothing to wait for */
	assert_int_equal(start(walker, STOPS_SHORT), 0);
	assert_int_equal(start(walker, STOPS_SHORT), -EBUSY);
	assert_false(heap_walker_wait(walker, NS_PER_MS));
	assert_false(heap_walker_take(walker, &found));
	assert_false(is_readable(walker));

	let_read_end();
	assert_true(heap_walker_wait(walker, UINT64_MAX));
	assert_true(is_readable(walker));
	assert_true(heap_walker_is_running(walker));
	assert_true(heap_walker_take(walker, &found));
	assert_int_equal(found.usage.process.pid, 17);
	assert_int_equal(found.error, 0);
	assert_false(heap_walker_is_running(walker));
	assert_false(heap_walker_take(walker, &found));
	assert_false(is_readable(walker));
	heap_findings_release(&found);

	let_read_end();
	assert_int_equal(start(walker, STOPS_SHORT), 0);
	assert_true(heap_walker_wait(walker, UINT64_MAX));
	heap_walker_free(walker); /* with findings that were not taken */
}

static void an_abandoned_read_frees_what_it_uses(void **state)
{
	size_t fds = tree_count_entries("/proc/self/fd");
	struct heap_walker *walker = heap_walker_new(&fs);

	(void)state;
	assert_true(tree_count_entries("/proc/self/fd") > fds);
	assert_int_equal(start(walker, STOPS_SHORT), 0);
	heap_walker_free(walker);
	assert_true(tree_count_entries("/proc/self/fd") > fds);
	let_read_end();
	while (tree_count_entries("/proc/self/fd") > fds)
		usleep(1000);
	assert_int_equal(reads.count, 1);
}

static void a_freed_walker_cancels_its_read(void **state)
{
	const struct process process = { .pid = 17, .start_ticks = 4 };
	const struct heap_request request = { .process = &process, .wants_leaks = true };

	(void)state;
	for (int is_freed = 0; is_freed < 2; is_freed++) {
		size_t fds = tree_count_entries("/proc/self/fd");
		struct heap_walker *walker = heap_walker_new(&fs);

		is_scan_cancelled = !is_freed;
		assert_int_equal(heap_walker_start(walker, &request), 0);
		if (is_freed)
			heap_walker_free(walker);
		let_read_end();
		if (!is_freed) {
			assert_true(heap_walker_wait(walker, UINT64_MAX));
			heap_walker_free(walker);
		}
		while (tree_count_entries("/proc/self/fd") > fds)
			usleep(1000);
		assert_int_equal(is_scan_cancelled, is_freed);
	}
}

static void injection_needs_permission(void **state)
{
	static const struct {
		bool wants_helper, may_inject;
		unsigned int count;
	} rows[] = {
		{ false, false, 0 }, { false, true, 0 }, { true, false, 0 },
		{ true, true, 1 },   { true, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* a pid that no process can have, so that no helper is ever found */
		const struct process process = { .pid = INT_MAX - (int)i };
		const struct heap_request request = {
			.process = &process,
			.wants_helper = rows[i].wants_helper,
			.may_inject = rows[i].may_inject,
		};
		struct heap_walker *walker = heap_walker_new(&fs);

		permission.count = 0;
		let_read_end();
		assert_int_equal(heap_walker_start(walker, &request), 0);
		assert_true(heap_walker_wait(walker, UINT64_MAX));
		assert_int_equal(permission.count, rows[i].count);
		if (rows[i].count)
			assert_int_equal(permission.pid, process.pid);
		heap_walker_free(walker);
	}
}

static void only_a_small_image_is_kept(void **state)
{
	static const struct {
		uint64_t image_bytes;
		bool is_kept;
	} rows[] = {
		{ UINT64_C(16) << 20, true },
		{ UINT64_C(33) << 20, false },
		{ UINT64_C(16) << 20, true },
	};
	struct heap_walker *walker = heap_walker_new(&fs);
	bool is_kept = false;

	(void)state;
	for (size_t i = 0; i <= sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_last = i == sizeof(rows) / sizeof(rows[0]);
		struct heap_findings found;

		reads.image_bytes = is_last ? 0 : rows[i].image_bytes;
		let_read_end();
		assert_int_equal(start(walker, STOPS_SHORT), 0);
		assert_true(heap_walker_wait(walker, UINT64_MAX));
		assert_true(heap_walker_take(walker, &found));
		assert_int_equal(reads.had_image_bytes > 0, is_kept);
		heap_findings_release(&found);
		is_kept = !is_last && rows[i].is_kept;
	}
	heap_walker_free(walker);
}

static void a_stop_that_would_be_too_long_can_be_avoided(void **state)
{
	static const struct {
		int result;
		enum heap_stops stops;
		int error, refusal;
		unsigned int count;
		bool is_running;
		uint64_t pause_ns;
	} rows[] = {
		{ -EFBIG, STOPS_SHORT, -EFBIG, 0, 1, false, PAUSE_NS },
		{ -EFBIG, STOPS_SHORT_OR_NONE, 0, -EFBIG, 2, true, PAUSE_NS },
		{ -ETIMEDOUT, STOPS_SHORT_OR_NONE, 0, -ETIMEDOUT, 2, true, PAUSE_NS },
		{ -EPERM, STOPS_SHORT_OR_NONE, -EPERM, 0, 1, false, PAUSE_NS },
		{ -EFBIG, STOPS_NONE, 0, 0, 1, true, 0 },
		{ 0, STOPS_SHORT_OR_NONE, 0, 0, 1, false, PAUSE_NS },
	};
	struct heap_walker *walker = heap_walker_new(&fs);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heap_findings found;

		reads.stopped_result = rows[i].result;
		reads.count = 0;
		for (unsigned int k = 0; k < rows[i].count; k++)
			let_read_end();
		assert_int_equal(start(walker, rows[i].stops), 0);
		assert_true(heap_walker_wait(walker, UINT64_MAX));
		assert_true(heap_walker_take(walker, &found));
		assert_int_equal(found.error, rows[i].error);
		assert_int_equal(found.refusal, rows[i].refusal);
		assert_int_equal(reads.count, rows[i].count);
		assert_int_equal(found.is_running, rows[i].is_running);
		assert_int_equal(found.heap.pause_ns, rows[i].pause_ns);
		assert_int_equal(found.cpu_ns, CPU_NS + rows[i].pause_ns);
		heap_findings_release(&found);
	}
	heap_walker_free(walker);
}

static void figures_outlast_a_read_that_finds_none(void **state)
{
	struct heap_walker *walker = heap_walker_new(&fs);
	struct carried_heap carried = CARRIED_HEAP_INIT;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct heap_findings found;

		reads.finds_figures = i == 0;
		reads.stopped_result = i == 2 ? -EPERM : 0;
		let_read_end();
		assert_int_equal(start(walker, STOPS_SHORT), 0);
		assert_true(heap_walker_wait(walker, UINT64_MAX));
		assert_true(heap_walker_take(walker, &found));
		assert_int_equal(carried_heap_update(&carried, &found), i == 0);
		assert_int_equal(carried.error, i == 2 ? -EPERM : 0);
		assert_int_equal(carried.taken_ns, 1);
		heap_findings_release(&found);
	}
	carried_heap_release(&carried);
	heap_walker_free(walker);
}

static void an_operation_stays_within_its_share(void **state)
{
	(void)state;
	assert_int_equal(heap_share_ns(500, 0), 0);
	assert_int_equal(heap_share_ns(500, 1000), 0);
	assert_int_equal(heap_share_ns(500, 10), 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(findings_are_handed_over_once, begin,
						end),
		cmocka_unit_test_setup_teardown(an_abandoned_read_frees_what_it_uses,
						begin, end),
		cmocka_unit_test_setup_teardown(a_freed_walker_cancels_its_read, begin,
						end),
		cmocka_unit_test_setup_teardown(injection_needs_permission, begin, end),
		cmocka_unit_test_setup_teardown(only_a_small_image_is_kept, begin, end),
		cmocka_unit_test_setup_teardown(
			a_stop_that_would_be_too_long_can_be_avoided, begin, end),
		cmocka_unit_test_setup_teardown(figures_outlast_a_read_that_finds_none,
						begin, end),
		cmocka_unit_test(an_operation_stays_within_its_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
