/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/cost.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

static const char stat_line[] =
	"7 (a) R (b) S 1 7 7 0 -1 4194560 100 20 3 4 50 6 70 8 20 0 1 0 99\n";

static void times_and_faults_include_reaped_children(void **state)
{
	uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	struct process_cost cost;

	(void)state;
	assert_int_equal(proc_cost_parse(stat_line, &cost), 0);
	assert_true(cost.user_ns == (50 + 70) * tick_ns);
	assert_true(cost.system_ns == (6 + 8) * tick_ns);
	assert_true(cost.minor_fault_count == 120);
	assert_true(cost.major_fault_count == 7);
}

static void malformed_stat_lines_are_refused(void **state)
{
	static const char *const texts[] = {
		"", "7", "7 (a)", "7 (a) S 1 7 7 0 -1 4194560 100 20 3 4 50 6 70",
		"7 (a) S 1 7 7 0 -1 4194560 100 20 3 4 50 6 x 8 20"
	};
	struct process_cost cost = { .user_ns = 1234 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_row(proc_cost_parse(texts[i], &cost) == -EBADMSG, texts[i]);
	assert_true(cost.user_ns == 1234);
}

static void a_process_without_memory_has_no_peak(void **state)
{
	struct procfs fs = PROCFS_INIT;
	uint64_t bytes = 1234;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "7/status",
		   "Name:\ta\nVmPeak:\t  999 kB\nVmHWM:\t  12 kB\nVmRSS:\t  8 kB\n");
	tree_write(&tree, "8/status", "Name:\ta\nThreads:\t1\n");
	assert_int_equal(procfs_open(&fs, tree.root), 0);
	assert_int_equal(proc_cost_read_peak_rss(&fs, 8, &bytes), -EBADMSG);
	assert_int_equal(proc_cost_read_peak_rss(&fs, 9, &bytes), -ESRCH);
	assert_true(bytes == 1234);
	assert_int_equal(proc_cost_read_peak_rss(&fs, 7, &bytes), 0);
	assert_true(bytes == KIB(12));
	procfs_release(&fs);
	tree_remove(&tree);
}

static void the_program_name_has_no_folder(void **state)
{
	struct procfs fs = PROCFS_INIT;
	struct tree tree;
	char name[64], path[sizeof(tree.root) + 16];

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "7/comm", "another\n");
	snprintf(path, sizeof(path), "%s/7/exe", tree.root);
	assert_int_equal(symlink("/usr/bin/a program", path), 0);
	assert_int_equal(procfs_open(&fs, tree.root), 0);
	assert_int_equal(proc_cost_read_program(&fs, 7, name, sizeof(name)), 0);
	assert_string_equal(name, "a program");
	assert_int_equal(proc_cost_read_program(&fs, 8, name, sizeof(name)), -ESRCH);
	procfs_release(&fs);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_and_faults_include_reaped_children),
		cmocka_unit_test(malformed_stat_lines_are_refused),
		cmocka_unit_test(a_process_without_memory_has_no_peak),
		cmocka_unit_test(the_program_name_has_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
