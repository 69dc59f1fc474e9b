/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/mounts.h"

#include "proc/system/local_devices.h"
#include "../../support/made_proc.h"
#include "../../support/unit.h"

static bool is_tmpfs(struct tmpfs_devices *devices, uint32_t minor)
{
	return proc_mounts_is_tmpfs(devices, &made_fs, 7, 0, minor);
}

static void tmpfs_mounts_are_recognized_by_their_device(void **state)
{
	struct tmpfs_devices devices = TMPFS_DEVICES_INIT;

	(void)state;
	tree_write(&made_tree, "7/mountinfo",
		   "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
		   "29 22 0:25 / /run rw,nosuid shared:11 - tmpfs tmpfs rw,size=1k\n"
		   "30 22 0:26 / /dev rw master:1 shared:2 - devtmpfs udev rw\n"
		   "31 22 0:27 / /o\\040p rw - overlay tmpfs rw\n"
		   "32 22 0:28 / /tmpfs\\040-\\040tmpfs rw - btrfs /dev/sda rw\n"
		   "33 22 0:29 / /none rw\n"
		   "junk - tmpfs tmpfs rw\n"
		   "34 22 0:30 / /last rw - tmpfs tmpfs rw");
	assert_true(is_tmpfs(&devices, 25));
	assert_true(is_tmpfs(&devices, 26));
	assert_false(is_tmpfs(&devices, 27));
	assert_false(is_tmpfs(&devices, 28));
	assert_false(is_tmpfs(&devices, 29));
	assert_true(is_tmpfs(&devices, 30));
	assert_false(is_tmpfs(&devices, 31));
	tmpfs_devices_release(&devices);
}

static void without_mountinfo_no_device_is_a_tmpfs(void **state)
{
	struct tmpfs_devices devices = TMPFS_DEVICES_INIT;

	(void)state;
	assert_false(is_tmpfs(&devices, 25));
	tmpfs_devices_release(&devices);
}

static bool is_local(const struct local_devices *devices, uint32_t minor)
{
	bool is_local = false;

	return local_devices_find(devices, 0, minor, &is_local) && is_local;
}

static void file_systems_that_may_hang_are_not_local(void **state)
{
	struct local_devices devices = LOCAL_DEVICES_INIT;
	const char text[] =
		"22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
		"29 22 0:25 / /run rw,nosuid shared:11 - tmpfs tmpfs rw,size=1k\n"
		"30 22 0:26 / /a rw - fuse a rw\n"
		"31 22 0:27 / /b rw - fuse.ext4 b rw\n"
		"32 22 0:28 / /c rw - nfs4 c:/ rw\n"
		"33 22 0:29 / /d rw - overlay overlay rw,lowerdir=/a\n"
		"34 22 8:1 / /e rw - fuseblk /dev/sda1 rw\n"
		"35 22 0:30 / /tmpfs\\040-\\040tmpfs rw - 9p d rw";

	(void)state;
	local_devices_parse(&devices, text, false);
	assert_true(is_local(&devices, 25));
	for (uint32_t minor = 26; minor <= 30; minor++)
		assert_false(is_local(&devices, minor));
	local_devices_parse(&devices, text, true);
	assert_true(is_local(&devices, 29));
	assert_false(is_local(&devices, 26));
	assert_int_equal(devices.count, 3);
	local_devices_release(&devices);
}

#define test(name) \
	cmocka_unit_test_setup_teardown(name, made_proc_set_up, made_proc_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(tmpfs_mounts_are_recognized_by_their_device),
		test(without_mountinfo_no_device_is_a_tmpfs),
		test(file_systems_that_may_hang_are_not_local),
	};

	return cmocka_run_group_tests_name("mounts", tests, NULL, NULL);
}
