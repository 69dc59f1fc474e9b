/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors in proc/ when memstate has no free file descriptors. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proc/cgroup/cgroup.h"
#include "proc/process/list.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

static struct rlimit before;

/* Lower the limit so that only count more descriptors can be opened. */
static void leave_descriptors(rlim_t count)
{
	struct rlimit few;
	int next_fd = dup(STDERR_FILENO);

	assert_true(next_fd >= 0);
	close(next_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ (rlim_t)next_fd + count, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void leave_all_descriptors(void)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static int stop(void *context, const struct process *p)
{
	(void)p;
	*(size_t *)context += 1;
	return 7;
}

/* A list without any process is not a result: the caller itself would be missing. */
static void a_process_list_that_cannot_be_read_is_an_error(void **state)
{
	struct procfs live = PROCFS_INIT;
	size_t count = 0;
	int r;

	(void)state;
	assert_int_equal(procfs_open(&live, "/proc"), 0);
	assert_int_equal(proc_list_read(&live, LIST_STAT, stop, &count), 7);
	assert_int_equal(count, 1);
	leave_descriptors(0);
	r = proc_list_read(&live, LIST_STAT, stop, &count);
	leave_all_descriptors();
	assert_int_equal(r, -EMFILE);
	assert_int_equal(count, 1);
	procfs_release(&live);
}

/* The processes are read through a second descriptor of the directory. */
static void a_cgroup_that_cannot_be_opened_twice_is_an_error(void **state)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	struct procfs fs = PROCFS_INIT;
	struct cgroup_reader *reader = NULL;
	struct tree tree;
	char text[512];
	int r;

	(void)state;
	tree_make(&tree);
	snprintf(text, sizeof(text),
		 "35 31 0:32 / %s/cg rw shared:9 - cgroup2 cgroup2 rw\n", tree.root);
	tree_write(&tree, "proc/self/mountinfo", text);
	tree_write(&tree, "cg/cgroup.procs", "1\n");
	tree_write(&tree, "cg/cgroup.controllers", "memory\n");
	snprintf(text, sizeof(text), "%s/proc", tree.root);
	assert_int_equal(procfs_open(&fs, text), 0);
	fs.is_foreign = false; /* the tree stands for the kernel's own /proc */
	assert_int_equal(cgroup_mount_find(&fs, &mount), 0);
	leave_descriptors(1);
	r = cgroup_reader_open(&mount, "", &reader);
	leave_all_descriptors();
	assert_int_equal(r, -EMFILE);
	assert_int_equal(cgroup_reader_open(&mount, "", &reader), 0);
	cgroup_reader_free(reader);
	cgroup_mount_release(&mount);
	procfs_release(&fs);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_list_that_cannot_be_read_is_an_error),
		cmocka_unit_test(a_cgroup_that_cannot_be_opened_twice_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
