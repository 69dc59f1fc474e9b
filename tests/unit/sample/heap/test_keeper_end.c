/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a keeper, and of a walker, whose walk hangs in the kernel. The walk, the
 * wait for it and the clock are replaced.
 */
#include "config.h"

#include "sample/heap/keeper.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include "base/units.h"
#include "sample/heap/reader.h"
#include "sample/heap/walker.h"
#include "../../support/smaps_texts.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define HEAP_HEADER \
	"55c8df39d000-55c8df3be000 rw-p 00000000 00:00 0                          [heap]"

static sem_t hanging;
static bool is_late;
static _Atomic uint64_t wait_ns; /* duration of all waits; the clock is ahead by this */

uint64_t __real_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void);
int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
		 const sigset_t *mask);
int __wrap_heap_reader_read(struct heap_reader *reader, struct usage *u,
			    struct mapping_list *list, struct heap *ret);

/* Hang until the test posts `hanging`. */
int __wrap_heap_reader_read(struct heap_reader *reader, struct usage *u,
			    struct mapping_list *list, struct heap *ret)
{
	(void)reader;
	(void)u;
	(void)list;
	heap_init(ret);
	while (sem_wait(&hanging) < 0)
		;
	return -ESRCH;
}

/* While is_late, let a wait end immediately, without the event. */
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
		 const sigset_t *mask)
{
	if (!is_late)
		return __real_ppoll(fds, count, limit, mask);
	wait_ns += (uint64_t)limit->tv_sec * NS_PER_S + (uint64_t)limit->tv_nsec;
	return 0;
}

uint64_t __wrap_clock_now_ns(void)
{
	return __real_clock_now_ns() + wait_ns;
}

static void store_pid(void *context, int pid, const char *what)
{
	assert_non_null(what);
	*(int *)context = pid;
}

static void a_walk_that_hangs_does_not_keep_the_keeper(void **state)
{
	size_t threads = tree_count_entries("/proc/self/task");
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct heap_keeper *keeper;
	struct sampler *sampler;
	struct usage usage;
	struct procfs fs;
	struct tree tree;
	int left_pid = 0;
	size_t fds;

	(void)state;
	tree_make(&tree);
	assert_int_equal(sem_init(&hanging, 0, 0), 0);
	assert_int_equal(procfs_open(&fs, tree.root), 0);
	tree_write(&tree, "7/smaps", SMAPS_RECORD_6_18(HEAP_HEADER));
	usage_init(&usage);
	usage.process.pid = 7;
	usage.process.state = 'S';
	fds = tree_count_entries("/proc/self/fd");

	sampler = sampler_new(&fs, false);
	keeper = heap_keeper_new(&fs, sampler, STOPS_SHORT, NS_PER_S, 10);
	heap_keeper_set_helpers(keeper, helpers_new(&fs, false, false));
	heap_keeper_set_patience(keeper, 0);
	assert_int_equal(heap_keeper_read(keeper, &usage, &mappings), 0);
	assert_int_equal(usage.heap_error, -EINPROGRESS);
	is_late = true;
	heap_keeper_free(keeper, store_pid, &left_pid);
	is_late = false;
	assert_int_equal(left_pid, 7);
	assert_in_range(wait_ns, NS_PER_S, 10 * NS_PER_S);
	wait_ns = 0;
	sampler_free(sampler);

	/* when the walk ends after all, it frees what it uses, and the helpers */
	assert_true(tree_count_entries("/proc/self/task") > threads);
	assert_true(tree_count_entries("/proc/self/fd") > fds);
	sem_post(&hanging);
	while (tree_count_entries("/proc/self/task") > threads)
		usleep(1000);
	assert_int_equal(tree_count_entries("/proc/self/fd"), fds);
	usage_release(&usage);
	mapping_list_release(&mappings);
	procfs_release(&fs);
	tree_remove(&tree);
	sem_destroy(&hanging);
}

static void a_walker_waits_only_once_after_a_cancel(void **state)
{
	size_t threads = tree_count_entries("/proc/self/task");
	const struct process process = { .pid = 7 };
	const struct heap_request request = { .process = &process, .wants_helper = true };
	struct heap_walker *walker;
	struct procfs fs;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	assert_int_equal(sem_init(&hanging, 0, 0), 0);
	assert_int_equal(procfs_open(&fs, tree.root), 0);
	for (int is_cancelled = 0; is_cancelled < 2; is_cancelled++) {
		walker = heap_walker_new(&fs);
		assert_int_equal(heap_walker_start(walker, &request), 0);
		is_late = true;
		if (is_cancelled) {
			heap_walker_cancel(walker);
			assert_false(heap_walker_wait(walker, HEAP_WALKER_HELPER_NS));
		}
		heap_walker_free(walker);
		is_late = false;
		assert_in_range(wait_ns, HEAP_WALKER_HELPER_NS / 2,
				HEAP_WALKER_HELPER_NS);
		wait_ns = 0;
		sem_post(&hanging);
		while (tree_count_entries("/proc/self/task") > threads)
			usleep(1000);
	}
	procfs_release(&fs);
	tree_remove(&tree);
	sem_destroy(&hanging);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_that_hangs_does_not_keep_the_keeper),
		cmocka_unit_test(a_walker_waits_only_once_after_a_cancel),
	};

	return cmocka_run_group_tests_name("keeper_end", tests, NULL, NULL);
}
