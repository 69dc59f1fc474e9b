/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/kernel_files.h"

#include <string.h>
#include <unistd.h>

#include "proc/cgroup/parse.h"
#include "../../support/unit.h"

#define PAGE 4096

/* The format of Linux 5.4; since 5.9 the file is empty. */
static void inode_and_socket_slabs_are_distinguished(void **state)
{
	static const char text[] =
		"slabinfo - version: 2.1\n"
		"# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : "
		"tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> "
		"<sharedavail>\n"
		"shmem_inode_cache    100    110    720   11    2 : tunables    0    0    0 : slabdata "
		"    10     10      0\n"
		"dentry               210    210    192   21    1 : tunables    0    0    0 : slabdata "
		"    10     10      0\n"
		"sock_inode_cache      46     46    704   23    4 : tunables    0    0    0 : slabdata "
		"     2      2      0\n"
		"TCP                   14     14   2240   14    8 : tunables    0    0    0 : slabdata "
		"     1      1      0\n"
		"kmalloc-64            64     64     64   64    1 : tunables    0    0    0 : slabdata "
		"     1      1      0\n";
	struct cgroup_kernel k;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	memset(&k, 0xff, sizeof(k));
	cgroup_slabs_parse("", &k);
	cgroup_slabs_parse("spoilt\n", &k);
	assert_true(k.inode_slab_bytes == BYTES_UNKNOWN);
	assert_true(k.socket_slab_bytes == BYTES_UNKNOWN);
	cgroup_slabs_parse(text, &k);
	assert_int_equal(k.inode_slab_bytes, 30 * page);
	assert_int_equal(k.socket_slab_bytes, 16 * page);
}

static void a_pipe_uses_at_most_a_page_per_byte_and_two_more(void **state)
{
	(void)state;
	assert_int_equal(proc_kernel_files_pipe_limit(16 * PAGE, 0, PAGE), 2 * PAGE);
	assert_int_equal(proc_kernel_files_pipe_limit(16 * PAGE, 1, PAGE), 3 * PAGE);
	assert_int_equal(proc_kernel_files_pipe_limit(16 * PAGE, 16 * PAGE, PAGE),
			 18 * PAGE);
	assert_int_equal(proc_kernel_files_pipe_limit(PAGE, 300, PAGE), 3 * PAGE);
}

/* Both ends of a pipe count as one pipe, and a process may read its own descriptors. */
static void own_pipes_and_sockets_are_counted_once(void **state)
{
	struct procfs fs = PROCFS_INIT;
	struct cgroup_kernel before, after;
	int pid = getpid(), fds[2];

	(void)state;
	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	assert_int_equal(proc_kernel_files_read(&fs, &pid, 1, &before), 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(proc_kernel_files_read(&fs, &pid, 1, &after), 0);
	assert_int_equal(after.pipe_count, before.pipe_count + 1);
	assert_int_equal(after.socket_count, before.socket_count);
	close(fds[0]);
	close(fds[1]);
	procfs_release(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inode_and_socket_slabs_are_distinguished),
		cmocka_unit_test(a_pipe_uses_at_most_a_page_per_byte_and_two_more),
		cmocka_unit_test(own_pipes_and_sockets_are_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
