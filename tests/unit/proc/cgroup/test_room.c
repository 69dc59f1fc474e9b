/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/room.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/units.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

static struct tree tree;
static struct procfs fs;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n");
	if (procfs_open(&fs, tree.root) < 0)
		return -1;
	fs.is_foreign = false; /* the tree stands for the kernel's own /proc */
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	procfs_release(&fs);
	tree_remove(&tree);
	return 0;
}

/*
 * Add one mount at `point` below the tree; `root` is the folder of its
 * file system that is mounted.
 */
static void mount(const char *type, const char *root, const char *point)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "20 1 0:4 / /proc rw - proc proc rw\n"
		 "41 31 0:38 %s %s%s rw,relatime shared:5 - %s cgroup rw,%s\n",
		 root, tree.root, point, type,
		 strcmp(type, "cgroup") == 0 ? "memory" : "nsdelegate");
	tree_write(&tree, "self/mountinfo", line);
}

static void group_v2(const char *folder, const char *limit, const char *usage)
{
	char path[256];

	snprintf(path, sizeof(path), "cg%s/memory.max", folder);
	tree_write(&tree, path, limit);
	snprintf(path, sizeof(path), "cg%s/memory.current", folder);
	tree_write(&tree, path, usage);
	snprintf(path, sizeof(path), "cg%s/memory.stat", folder);
	tree_write(&tree, path, "anon 5\ninactive_file 1048576\nactive_file 7\n");
}

static void without_limits_the_room_is_the_machines_memory(void **state)
{
	struct room room;

	(void)state;
	room = proc_room_read(&fs);
	assert_int_equal(room.bytes, KIB(8000000));
	assert_non_null(strstr(room.limit, "machine"));
	tree_delete(&tree, "meminfo");
	room = proc_room_read(&fs);
	assert_false(bytes_known(room.bytes));
	assert_string_equal(room.limit, "");
}

static void a_cgroup_limit_reduces_the_room(void **state)
{
	struct room room;

	(void)state;
	tree_write(&tree, "self/cgroup", "4:memory:/other\n0::/a/b\n");
	mount("cgroup2", "/", "/cg");
	group_v2("/a/b", "104857600\n", "20971520\n");
	group_v2("/a", "max\n", "9000000000\n");
	room = proc_room_read(&fs);
	assert_int_equal(room.bytes, 100 * MIB - 20 * MIB + 1 * MIB);
	assert_non_null(strstr(room.limit, "cgroup"));
}

static void limits_of_parent_cgroups_count_too(void **state)
{
	(void)state;
	tree_write(&tree, "self/cgroup", "0::/a/b\n");
	mount("cgroup2", "/", "/cg");
	group_v2("/a/b", "104857600\n", "0\n");
	group_v2("/a", "52428800\n", "52428800\n");
	assert_int_equal(proc_room_read(&fs).bytes, 1 * MIB);
	group_v2("/a", "52428800\n", "62914560\n");
	assert_int_equal(proc_room_read(&fs).bytes, 0);
}

static void in_a_container_the_mounted_cgroup_counts(void **state)
{
	static const char *const paths[] = { "0::/docker/1\n", "0::/docker/1/x\n",
					     "0::/docker\n",   "0::/docker/12\n",
					     "0::/../..\n",    "0::/\n" };

	(void)state;
	mount("cgroup2", "/docker/1", "/cg");
	group_v2("", "104857600\n", "0\n");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		tree_write(&tree, "self/cgroup", paths[i]);
		assert_row(proc_room_read(&fs).bytes == 100 * MIB, paths[i]);
	}
}

static void version_1_files_are_read(void **state)
{
	(void)state;
	tree_write(&tree, "self/cgroup", "9:cpu,cpuacct:/x\n4:hugetlb,memory:/a\n0::/\n");
	mount("cgroup", "/", "/cg");
	tree_write(&tree, "cg/a/memory.limit_in_bytes", "104857600\n");
	tree_write(&tree, "cg/a/memory.usage_in_bytes", "52428800\n");
	tree_write(&tree, "cg/a/memory.stat",
		   "inactive_file 9\ntotal_inactive_file 2097152\n");
	tree_write(&tree, "cg/memory.limit_in_bytes", "9223372036854771712\n");
	tree_write(&tree, "cg/memory.usage_in_bytes", "52428800\n");
	assert_int_equal(proc_room_read(&fs).bytes, 52 * MIB);
}

static void malformed_limits_are_ignored(void **state)
{
	static const char *const cgroups[] = { "",    "\n",	":",	   "::",
					       "0::", "0::a\n", "x:memory" };

	(void)state;
	mount("cgroup2", "/", "/cg");
	tree_write(&tree, "cg/memory.max", "-1\n");
	tree_write(&tree, "cg/memory.current", "x\n");
	for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++) {
		tree_write(&tree, "self/cgroup", cgroups[i]);
		assert_row(proc_room_read(&fs).bytes == KIB(8000000), cgroups[i]);
	}
	tree_write(&tree, "self/mountinfo", "1 2 3:4 - cgroup2\n - cgroup2 x y\n");
	assert_int_equal(proc_room_read(&fs).bytes, KIB(8000000));
}

static void a_limit_of_address_space_counts(void **state)
{
	struct rlimit before, limit;
	struct room room;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 46; /* more than even a sanitized program uses */
	tree_write(&tree, "meminfo", "MemAvailable: 900000000000 kB\n");
	tree_write(&tree, "self/statm", "1024 500 1 1 0 1 0\n");
	if (before.rlim_max < limit.rlim_cur || setrlimit(RLIMIT_AS, &limit) < 0)
		skip();
	room = proc_room_read(&fs);
	setrlimit(RLIMIT_AS, &before);
	assert_int_equal(room.bytes, ((uint64_t)1 << 46) - 1024 * 4096);
	assert_non_null(strstr(room.limit, "ulimit"));
}

static void paths_in_a_captured_tree_are_not_followed(void **state)
{
	struct room room;

	(void)state;
	fs.is_foreign = true;
	tree_write(&tree, "self/cgroup", "0::/a/b\n");
	mount("cgroup2", "/", "/cg");
	group_v2("/a/b", "104857600\n", "20971520\n");
	room = proc_room_read(&fs);
	assert_int_equal(room.bytes, KIB(8000000));
}

/* The kernel writes a blank in the mount point's path as \040. */
static void the_mount_point_may_contain_blanks(void **state)
{
	struct room room;

	(void)state;
	tree_write(&tree, "self/cgroup", "0::/a\n");
	mount("cgroup2", "/", "/my\\040cg");
	tree_write(&tree, "my cg/a/memory.max", "104857600\n");
	tree_write(&tree, "my cg/a/memory.current", "20971520\n");
	room = proc_room_read(&fs);
	assert_int_equal(room.bytes, 80 << 20);
	assert_non_null(strstr(room.limit, "cgroup"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(paths_in_a_captured_tree_are_not_followed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_mount_point_may_contain_blanks,
						set_up, tear_down),
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(without_limits_the_room_is_the_machines_memory),
		TEST(a_cgroup_limit_reduces_the_room),
		TEST(limits_of_parent_cgroups_count_too),
		TEST(in_a_container_the_mounted_cgroup_counts),
		TEST(version_1_files_are_read),
		TEST(malformed_limits_are_ignored),
		TEST(a_limit_of_address_space_counts),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
