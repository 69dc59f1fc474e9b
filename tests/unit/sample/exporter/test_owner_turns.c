/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The selection of processes whose mappings are read, in a made-up /proc. */
#include "config.h"

#include "sample/exporter/owner_turns.h"

#include <string.h>

#include "base/clock.h"
#include "../../support/made_proc.h"
#include "../../support/unit.h"

#define COUNT 3

static struct sampler *sampler;
static struct owner_turns *turns;
static struct snapshot processes;
static bool is_wanted[COUNT];

static int begin(void **state)
{
	int r = made_proc_set_up(state);

	sampler = sampler_new(&made_fs, false);
	turns = owner_turns_new(sampler, 0, 0);
	snapshot_init(&processes);
	for (int pid = 1; pid <= COUNT; pid++) {
		struct usage *u = snapshot_add(&processes);

		made_proc_write_process(pid, "prog", 0);
		u->process.pid = pid;
		u->process.start_ticks = 100 + (uint64_t)pid;
		u->source = SOURCE_ROLLUP;
		u->read_ns = 0;
		is_wanted[pid - 1] = true;
	}
	return r;
}

static int end(void **state)
{
	owner_turns_free(turns);
	sampler_free(sampler);
	snapshot_release(&processes);
	return made_proc_tear_down(state);
}

static void take(void)
{
	(void)owner_turns_take(turns, &processes, is_wanted, UINT64_MAX);
}

static const struct owner_figures *find(int pid)
{
	return owner_turns_find(turns, &processes.usages[pid - 1].process,
				clock_now_ns());
}

/* Read the Rss of the process as a rollup, now. */
static void refresh(int pid, uint64_t rss_bytes)
{
	processes.usages[pid - 1].total.bytes[SMAPS_RSS] = rss_bytes;
	processes.usages[pid - 1].taken_ns = clock_now_ns();
}

static uint64_t sum_of(const struct owner_figures *figures)
{
	uint64_t sum = 0;

	for (int o = 0; o < OWNER_COUNT_; o++)
		sum += figures->bytes[o];
	return sum;
}

static void only_the_selected_processes_are_read(void **state)
{
	(void)state;
	is_wanted[1] = false;
	take();
	assert_non_null(find(1));
	assert_null(find(2));
	assert_non_null(find(3));
	assert_true(sum_of(find(1)) > 0);
	/* what is known about a process that is no longer selected is forgotten */
	is_wanted[0] = false;
	take();
	assert_null(find(1));
	assert_non_null(find(3));
}

static void a_changed_process_is_read_again(void **state)
{
	uint64_t first_ns, rss_bytes;

	(void)state;
	take();
	first_ns = find(1)->taken_ns;
	rss_bytes = sum_of(find(1));
	refresh(1, rss_bytes);
	take();
	assert_true(find(1)->taken_ns == first_ns);
	refresh(1, rss_bytes + 4096);
	take();
	assert_true(find(1)->taken_ns > first_ns);
	/* the same change does not count twice, because the reading is newer */
	first_ns = find(1)->taken_ns;
	take();
	assert_true(find(1)->taken_ns == first_ns);
}

static void page_faults_are_a_change(void **state)
{
	uint64_t first_ns;

	(void)state;
	take();
	first_ns = find(2)->taken_ns;
	processes.usages[1].process.minor_fault_count++;
	refresh(2, sum_of(find(2)));
	take();
	assert_true(find(2)->taken_ns > first_ns);
}

static void the_share_of_a_process_is_kept(void **state)
{
	uint64_t first_ns;

	(void)state;
	owner_turns_free(turns);
	turns = owner_turns_new(sampler, 0, 1);
	take();
	assert_non_null(find(1));
	first_ns = find(1)->taken_ns;
	/* reading takes some microseconds, so the next one is due after milliseconds */
	do {
		refresh(1, clock_now_ns());
		take();
	} while (find(1)->taken_ns == first_ns);
	assert_true(find(1)->taken_ns - first_ns >= 1000 * 1000);
}

static void a_process_that_the_budget_cannot_read_in_time_is_left_out(void **state)
{
	(void)state;
	owner_turns_free(turns);
	/* 0.001% is 3 ms in five minutes */
	turns = owner_turns_new(sampler, 1, 0);
	processes.usages[0].read_ns = 3 * NS_PER_MS + 1;
	processes.usages[1].read_ns = 3 * NS_PER_MS - 1;
	take();
	assert_null(find(1));
	assert_non_null(find(2));
}

static void a_reused_pid_is_another_process(void **state)
{
	(void)state;
	take();
	processes.usages[0].process.start_ticks++;
	assert_null(find(1));
	is_wanted[1] = is_wanted[2] = false;
	made_proc_write(1, "smaps", "damaged");
	take();
	assert_null(find(1));
}

static void old_figures_are_unknown(void **state)
{
	(void)state;
	take();
	assert_null(owner_turns_find(turns, &processes.usages[0].process,
				     find(1)->taken_ns + OWNER_TURNS_KEEP_NS));
	assert_non_null(owner_turns_find(turns, &processes.usages[0].process,
					 find(1)->taken_ns + OWNER_TURNS_KEEP_NS - 1));
}

static void an_ended_process_is_unknown(void **state)
{
	(void)state;
	tree_delete(&made_tree, "2");
	take();
	assert_non_null(find(1));
	assert_null(find(2));
	processes.count = 0;
	take();
	assert_null(find(1));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(only_the_selected_processes_are_read),
		TEST(a_changed_process_is_read_again),
		TEST(page_faults_are_a_change),
		TEST(the_share_of_a_process_is_kept),
		TEST(a_process_that_the_budget_cannot_read_in_time_is_left_out),
		TEST(a_reused_pid_is_another_process),
		TEST(old_figures_are_unknown),
		TEST(an_ended_process_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
