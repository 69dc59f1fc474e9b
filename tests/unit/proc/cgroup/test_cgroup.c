/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct tree tree;
static struct procfs fs;

static int begin(void **state)
{
	(void)state;
	tree_make(&tree);
	fs = (struct procfs)PROCFS_INIT;
	return 0;
}

static int end(void **state)
{
	(void)state;
	procfs_release(&fs);
	tree_remove(&tree);
	return 0;
}

/* Make a /proc and a cgroup mount in the tree. */
static void make_mount(const char *type, const char *root, const char *options)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "22 1 0:20 / /proc rw - proc proc rw\n"
		 "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
		 "35 31 0:32 %s %s/cg\\040roup rw,relatime shared:9 - %s %s rw%s\n",
		 root, tree.root, type, type, options);
	tree_write(&tree, "proc/self/mountinfo", text);
	tree_write(&tree, "cg roup/cgroup.procs", "1\n");
	snprintf(text, sizeof(text), "%s/proc", tree.root);
	assert_int_equal(procfs_open(&fs, text), 0);
	fs.is_foreign = false; /* the tree stands for the kernel's own /proc */
}

static void make_v1(const char *root)
{
	make_mount("cgroup", root, ",memory");
}

static void make_v2(const char *root)
{
	tree_write(&tree, "cg roup/cgroup.controllers", "cpu memory pids\n");
	make_mount("cgroup2", root, "");
}

static void check_path_of(const char *groups, int expected, const char *expected_path)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	char *path = NULL;

	tree_write(&tree, "proc/77/cgroup", groups);
	tree_write(&tree, "proc/77/stat", "77");
	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	assert_int_equal(cgroup_mount_path_of(&mount, &fs, 77, &path), expected);
	if (expected == 0)
		assert_string_equal(path, expected_path);
	free(path);
	cgroup_mount_release(&mount);
}

static void the_group_is_that_of_the_memory_controller(void **state)
{
	(void)state;
	make_v1("/");
	check_path_of("5:cpuset:/a\n4:memory,hugetlb:/b/c\n0::/d\n", 0, "/b/c");
	check_path_of("4:memory:/\n", 0, "");
	check_path_of("5:cpuset:/a\n0::/d\n", -EOPNOTSUPP, NULL);
}

static void in_version_2_the_line_without_controllers_counts(void **state)
{
	(void)state;
	make_v2("/");
	check_path_of("1:name=systemd:/x\n0::/d/e\n", 0, "/d/e");
}

static void a_mount_may_contain_only_a_part_of_the_hierarchy(void **state)
{
	(void)state;
	make_v1("/docker/1");
	check_path_of("4:memory:/docker/1/x\n", 0, "/x");
	check_path_of("4:memory:/docker/1\n", 0, "");
	check_path_of("4:memory:/docker/12\n", -EXDEV, NULL);
}

static void a_group_outside_the_namespace_is_found_by_its_processes(void **state)
{
	(void)state;
	make_v2("/../..");
	tree_write(&tree, "cg roup/a/cgroup.procs", "5\n");
	tree_write(&tree, "cg roup/a/b/cgroup.procs", "770\n77\n");
	check_path_of("0::/\n", 0, "/a/b");
	tree_write(&tree, "cg roup/a/b/cgroup.procs", "770\n");
	check_path_of("0::/\n", -EXDEV, NULL);
}

static void a_missing_memory_controller_is_an_error(void **state)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;

	(void)state;
	tree_write(&tree, "cg roup/cgroup.controllers", "cpu pids\n");
	make_mount("cgroup2", "/", "");
	assert_int_equal(cgroup_mount_find(&fs, &mount), -EOPNOTSUPP);
}

static void check_resolve(const char *name, int expected, const char *expected_path)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	char *path = NULL;

	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	assert_int_equal(cgroup_mount_resolve(&mount, name, &path), expected);
	if (expected == 0)
		assert_string_equal(path, expected_path);
	free(path);
	cgroup_mount_release(&mount);
}

static void a_group_is_found_by_path_folder_or_container_id(void **state)
{
	char folder[128];

	(void)state;
	make_v1("/");
	tree_write(&tree, "cg roup/docker/" ID "/cgroup.procs", "");
	tree_write(&tree, "cg roup/docker/" ID "/init/cgroup.procs", "");
	tree_write(&tree, "cg roup/x-conmon-" ID "/cgroup.procs", "");
	tree_write(&tree, "cg roup/a/cgroup.procs", "");
	tree_write(&tree, "cg roup/a/fedcba9876543210-1/cgroup.procs", "");
	tree_write(&tree, "cg roup/b/fedcba9876543210-2/cgroup.procs", "");
	snprintf(folder, sizeof(folder), "%s/cg roup/a/", tree.root);
	check_resolve("/docker/" ID, 0, "/docker/" ID);
	check_resolve("/a/", 0, "/a");
	check_resolve("/", 0, "");
	check_resolve("0123456789ab", 0, "/docker/" ID);
	check_resolve("0123456789a", -ENOENT, NULL);
	check_resolve("1111111111111", -ENOENT, NULL);
	check_resolve("fedcba9876543210", -EEXIST, NULL);
	check_resolve("/none", -ENOENT, NULL);
	check_resolve("/a/../b", -ENOENT, NULL);
}

static void read_group(const char *path, unsigned int parts, struct cgroup *cgroup)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	struct cgroup_reader *reader;

	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	assert_int_equal(cgroup_reader_open(&mount, path, &reader), 0);
	cgroup_init(cgroup);
	assert_int_equal(cgroup_reader_read(reader, parts, cgroup), 0);
	cgroup_reader_free(reader);
	cgroup_mount_release(&mount);
}

static void version_1_files_are_read(void **state)
{
	struct cgroup c;

	(void)state;
	make_v1("/");
	tree_write(&tree, "cg roup/release_agent", "\n");
	tree_write(&tree, "cg roup/memory.limit_in_bytes", "9223372036854771712\n");
	tree_write(&tree, "cg roup/g/cgroup.procs", "9\n5\n");
	tree_write(&tree, "cg roup/g/k/cgroup.procs", "7\n");
	tree_write(&tree, "cg roup/g/memory.usage_in_bytes", "1000\n");
	tree_write(&tree, "cg roup/g/memory.limit_in_bytes", "4096\n");
	tree_write(&tree, "cg roup/g/memory.memsw.usage_in_bytes", "1300\n");
	tree_write(&tree, "cg roup/g/memory.memsw.limit_in_bytes",
		   "9223372036854771712\n");
	tree_write(&tree, "cg roup/g/memory.failcnt", "12\n");
	tree_write(&tree, "cg roup/g/memory.kmem.usage_in_bytes", "77\n");
	tree_write(&tree, "cg roup/g/memory.oom_control",
		   "oom_kill_disable 1\nunder_oom 0\noom_kill 3\n");
	tree_write(
		&tree, "cg roup/g/memory.stat",
		"cache 1\nrss 2\nshmem 3\nhierarchical_memory_limit 4096\ntotal_cache 10\n"
		"total_rss 20\ntotal_shmem 30\ntotal_inactive_file 40\n");
	read_group("/g", CGROUP_ALL, &c);
	assert_int_equal(c.level_count, 2);
	assert_string_equal(c.levels[0].path, "/g");
	assert_int_equal(c.levels[0].usage_bytes, 1000);
	assert_int_equal(c.levels[0].swap_bytes, 300);
	assert_true(c.levels[0].swap_limit_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(c.levels[0].max_count, 12);
	assert_int_equal(c.levels[0].oom_kill_count, 3);
	assert_true(c.levels[0].is_kill_disabled);
	assert_true(c.levels[1].limit_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(c.tightest, 0);
	assert_false(c.is_cut);
	assert_int_equal(c.stat.anon_bytes, 20);
	assert_int_equal(c.stat.file_bytes, 10);
	assert_int_equal(c.stat.kernel_bytes, 77);
	assert_true(c.stat.pagetables_bytes == BYTES_UNKNOWN);
	assert_int_equal(c.pid_count, 3);
	assert_int_equal(c.pids[0], 5);
	assert_int_equal(c.pids[2], 9);
	cgroup_release(&c);
}

static void in_version_1_a_limit_above_the_visible_part_counts(void **state)
{
	struct cgroup c;

	(void)state;
	make_v1("/docker");
	tree_write(&tree, "cg roup/g/cgroup.procs", "");
	tree_write(&tree, "cg roup/g/memory.limit_in_bytes", "8192\n");
	tree_write(&tree, "cg roup/g/memory.stat", "hierarchical_memory_limit 4096\n");
	read_group("/g", CGROUP_STAT, &c);
	assert_true(c.is_cut);
	assert_int_equal(c.hidden_limit_bytes, 4096);
	assert_int_equal(cgroup_limit_bytes(&c), 4096);
	assert_int_equal(cgroup_tightest(&c)->limit_bytes, 8192);
	cgroup_release(&c);
}

static void the_whole_path_includes_the_hidden_part(void **state)
{
	static const struct {
		const char *root, *whole;
	} rows[] = { { "/", "/g" }, { "/docker/1", "/docker/1/g" }, { "/../..", "/g" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cgroup_mount mount = CGROUP_MOUNT_INIT;
		struct cgroup_reader *reader;

		make_v1(rows[i].root);
		tree_write(&tree, "cg roup/g/cgroup.procs", "");
		assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
		assert_int_equal(cgroup_reader_open(&mount, "/g", &reader), 0);
		assert_string_equal(cgroup_reader_full_path(reader), rows[i].whole);
		cgroup_reader_free(reader);
		cgroup_mount_release(&mount);
		procfs_release(&fs);
	}
}

static void in_version_2_an_ancestors_limit_and_figures_count(void **state)
{
	struct cgroup c;

	(void)state;
	make_v2("/");
	tree_write(&tree, "cg roup/p/cgroup.procs", "3\n");
	tree_write(&tree, "cg roup/p/memory.max", "5000\n");
	tree_write(&tree, "cg roup/p/memory.current", "4900\n");
	tree_write(&tree, "cg roup/p/memory.events.local",
		   "low 0\nhigh 0\nmax 37\noom 1\noom_kill 0\n");
	tree_write(&tree, "cg roup/p/memory.stat", "anon 4000\nslab_reclaimable 7\n");
	tree_write(&tree, "cg roup/p/k/cgroup.procs", "");
	tree_write(&tree, "cg roup/p/k/memory.max", "max\n");
	tree_write(&tree, "cg roup/p/k/memory.high", "9000\n");
	tree_write(&tree, "cg roup/p/k/memory.current", "100\n");
	tree_write(&tree, "cg roup/p/k/memory.swap.current", "6\n");
	tree_write(&tree, "cg roup/p/k/memory.oom.group", "1\n");
	tree_write(&tree, "cg roup/p/k/memory.events", "max 0\noom 0\noom_kill 1\n");
	tree_write(&tree, "cg roup/p/k/memory.stat",
		   "anon 90\nfile 8\nkernel_stack 3\npagetables 4\nslab_reclaimable 5\n"
		   "pglazyfree 12800\n");
	tree_write(&tree, "cg roup/p/k/memory.pressure",
		   "some avg10=1.25 avg60=0.00 avg300=0.00 total=3000\n"
		   "full avg10=0.50 avg60=0.00 avg300=0.00 total=2000\n");
	read_group("/p/k", CGROUP_ALL, &c);
	assert_int_equal(c.level_count, 3);
	assert_true(c.levels[0].limit_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(c.levels[0].high_bytes, 9000);
	assert_true(c.levels[0].is_oom_group);
	assert_int_equal(c.levels[0].oom_kill_count, 1);
	assert_int_equal(c.tightest, 1);
	assert_int_equal(c.levels[1].max_count, 37);
	assert_int_equal(c.levels[1].oom_kill_count, 0);
	assert_int_equal(c.stat.anon_bytes, 90);
	assert_int_equal(c.stat.kernel_bytes, 12);
	assert_int_equal(c.stat.swap_bytes, 6);
	assert_int_equal(c.stat.lazyfree_count, 12800);
	assert_int_equal(c.limit_stat.anon_bytes, 4000);
	assert_int_equal(c.pid_count, 1);
	assert_true(c.has_pressure);
	assert_int_equal(c.pressure.some_ns, 3000000);
	assert_int_equal(c.pressure.full_avg10_percent_x100, 50);
	assert_false(c.is_cut);
	assert_true(c.levels[2].limit_bytes == CGROUP_NO_LIMIT);
	cgroup_release(&c);
}

static void a_group_without_charges_counts_in_its_parent(void **state)
{
	struct cgroup c;

	(void)state;
	make_v2("/");
	tree_write(&tree, "cg roup/p/memory.max", "5000\n");
	tree_write(&tree, "cg roup/p/memory.current", "4900\n");
	tree_write(&tree, "cg roup/p/cgroup.procs", "");
	tree_write(&tree, "cg roup/p/q/r/cgroup.procs", "9\n");
	tree_write(&tree, "cg roup/p/q/cgroup.procs", "");
	read_group("/p/q/r", CGROUP_ALL, &c);
	assert_int_equal(c.level_count, 2);
	assert_string_equal(c.levels[0].path, "/p");
	assert_int_equal(c.levels[0].usage_bytes, 4900);
	assert_int_equal(c.pid_count, 1);
	assert_false(c.is_cut);
	cgroup_release(&c);
}

static void a_subtree_without_the_controller_is_not_the_root(void **state)
{
	struct cgroup c;

	(void)state;
	make_v2("/");
	tree_write(&tree, "cg roup/cgroup.events", "populated 1\n");
	tree_write(&tree, "cg roup/cgroup.procs", "1\n");
	read_group("", 0, &c);
	assert_true(c.is_cut);
	assert_true(c.levels[0].limit_bytes == CGROUP_NO_LIMIT);
	cgroup_release(&c);
}

static void the_processes_are_those_of_the_group_not_the_limit(void **state)
{
	struct cgroup_mount mount;
	struct cgroup_reader *reader;
	struct cgroup c;

	(void)state;
	make_v2("/");
	tree_write(&tree, "cg roup/p/cgroup.procs", "3\n");
	tree_write(&tree, "cg roup/p/memory.max", "5000\n");
	/* group k has no charges of its own */
	tree_write(&tree, "cg roup/p/k/cgroup.procs", "9\n8\n");
	tree_write(&tree, "cg roup/p/k/l/cgroup.procs", "7\n");
	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	assert_int_equal(cgroup_reader_open(&mount, "/p/k", &reader), 0);
	cgroup_mount_release(&mount);
	cgroup_init(&c);
	assert_int_equal(cgroup_reader_read_pids(reader, &c), 0);
	assert_int_equal(c.pid_count, 3);
	assert_int_equal(c.pids[0], 7);
	assert_int_equal(c.pids[2], 9);
	tree_delete(&tree, "cg roup/p/k/cgroup.procs");
	assert_int_equal(cgroup_reader_read_pids(reader, &c), -ESRCH);
	assert_int_equal(c.pid_count, 3);
	cgroup_release(&c);
	cgroup_reader_free(reader);
}

static void a_root_with_a_limit_is_a_namespace_root(void **state)
{
	struct cgroup c;

	(void)state;
	make_v2("/");
	tree_write(&tree, "cg roup/memory.max", "4096\n");
	read_group("", 0, &c);
	assert_true(c.is_cut);
	assert_int_equal(c.tightest, 0);
	assert_string_equal(c.levels[0].path, "/");
	cgroup_release(&c);
}

static void reading_a_removed_group_fails_and_keeps_the_figures(void **state)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	struct cgroup_reader *reader;
	struct cgroup c;

	(void)state;
	make_v2("/");
	tree_write(&tree, "cg roup/g/cgroup.procs", "");
	tree_write(&tree, "cg roup/g/memory.current", "100\n");
	tree_write(&tree, "cg roup/g/memory.max", "max\n");
	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	assert_int_equal(cgroup_reader_open(&mount, "/none", &reader), -ESRCH);
	assert_int_equal(cgroup_reader_open(&mount, "/g", &reader), 0);
	cgroup_init(&c);
	assert_int_equal(cgroup_reader_read(reader, CGROUP_ALL, &c), 0);
	tree_write(&tree, "cg roup/g/memory.current", "200\n");
	assert_int_equal(cgroup_reader_read(reader, CGROUP_ALL, &c), 0);
	assert_int_equal(c.levels[0].usage_bytes, 200);
	tree_delete(&tree, "cg roup/g");
	assert_int_equal(cgroup_reader_read(reader, CGROUP_ALL, &c), -ESRCH);
	assert_int_equal(c.levels[0].usage_bytes, 200);
	cgroup_release(&c);
	cgroup_reader_free(reader);
	cgroup_mount_release(&mount);
}

static void read_kernel(struct cgroup *c)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	struct cgroup_reader *reader;

	cgroup_init(c);
	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	assert_int_equal(cgroup_reader_open(&mount, "/g", &reader), 0);
	assert_int_equal(cgroup_reader_read(reader, CGROUP_ALL, c), 0);
	cgroup_reader_read_kernel(reader, c);
	cgroup_reader_free(reader);
	cgroup_mount_release(&mount);
}

/* The kernel starts to count TCP buffers when they get a limit. */
static void uncounted_tcp_buffers_are_unknown(void **state)
{
	struct cgroup c;

	(void)state;
	make_v1("/");
	tree_write(&tree, "cg roup/g/cgroup.procs", "");
	tree_write(&tree, "cg roup/g/memory.kmem.tcp.usage_in_bytes", "0\n");
	tree_write(&tree, "cg roup/g/memory.kmem.tcp.limit_in_bytes",
		   "9223372036854771712\n");
	read_kernel(&c);
	assert_true(c.kernel.tcp_bytes == BYTES_UNKNOWN);
	cgroup_release(&c);
	tree_write(&tree, "cg roup/g/memory.kmem.tcp.limit_in_bytes", "4096\n");
	read_kernel(&c);
	assert_int_equal(c.kernel.tcp_bytes, 0);
	cgroup_release(&c);
	tree_write(&tree, "cg roup/g/memory.kmem.tcp.usage_in_bytes", "8192\n");
	tree_write(&tree, "cg roup/g/memory.kmem.tcp.limit_in_bytes",
		   "9223372036854771712\n");
	read_kernel(&c);
	assert_int_equal(c.kernel.tcp_bytes, 8192);
	cgroup_release(&c);
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(the_group_is_that_of_the_memory_controller),
		test(in_version_2_the_line_without_controllers_counts),
		test(a_mount_may_contain_only_a_part_of_the_hierarchy),
		test(a_group_outside_the_namespace_is_found_by_its_processes),
		test(a_missing_memory_controller_is_an_error),
		test(a_group_is_found_by_path_folder_or_container_id),
		test(version_1_files_are_read),
		test(in_version_1_a_limit_above_the_visible_part_counts),
		test(the_whole_path_includes_the_hidden_part),
		test(in_version_2_an_ancestors_limit_and_figures_count),
		test(the_processes_are_those_of_the_group_not_the_limit),
		test(a_root_with_a_limit_is_a_namespace_root),
		test(a_group_without_charges_counts_in_its_parent),
		test(a_subtree_without_the_controller_is_not_the_root),
		test(reading_a_removed_group_fails_and_keeps_the_figures),
		test(uncounted_tcp_buffers_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
