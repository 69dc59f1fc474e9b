/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires the four headers above */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proc/process/statm.h"
#include "sample/process/watch.h"
#include "../../support/tree.h"

/* A made-up /proc, and the watch on it. */
struct fixture {
	struct tree tree;
	struct procfs fs;
	struct sampler *sampler;
	struct targets targets;
	struct watch *watch;
};

static void write_file(const struct fixture *f, int pid, const char *name,
		       const char *text)
{
	char path[32];

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	tree_write(&f->tree, path, text);
}

static void remove_file(const struct fixture *f, int pid, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	tree_delete(&f->tree, path);
}

static void remove_process(const struct fixture *f, int pid)
{
	remove_file(f, pid, "");
}

static void set_stat(const struct fixture *f, int pid, const char *comm, int start,
		     int faults)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 1 1 0 -1 4194304 %d 0 0 0 0 0 0 0 20 0 1 0 %d 8192000 256 "
		 "18446744073709551615\n",
		 pid, comm, faults, start);
	write_file(f, pid, "stat", text);
}

static void set_rss(const struct fixture *f, int pid, int mib)
{
	char text[256];

	snprintf(
		text, sizeof(text),
		"00400000-7fff0000 ---p 00000000 00:00 0                          [rollup]\n"
		"Rss:            %8d kB\nPss:            %8d kB\n",
		mib * 1024, mib * 1024);
	write_file(f, pid, "smaps_rollup", text);
}

static void set_process(const struct fixture *f, int pid, int start, int mib)
{
	set_stat(f, pid, "prog", start, 10);
	set_rss(f, pid, mib);
	write_file(f, pid, "cmdline", "prog");
}

static void watch_with_share(struct fixture *f, unsigned int per_mille)
{
	watch_free(f->watch);
	f->watch = watch_new(f->sampler, &f->targets, per_mille);
	watch_set_refresh_limit(f->watch, UINT64_MAX);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	tree_make(&f->tree);
	assert_int_equal(procfs_open(&f->fs, f->tree.root), 0);
	f->sampler = sampler_new(&f->fs, false);
	watch_with_share(f, 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	watch_free(f->watch);
	sampler_free(f->sampler);
	procfs_release(&f->fs);
	tree_remove(&f->tree);
	free(f);
	return 0;
}

static size_t refresh_for(struct fixture *f, unsigned int needs, const int *visible,
			  size_t count)
{
	size_t read_count, total;

	assert_int_equal(watch_refresh(f->watch, needs, visible, count), 0);
	watch_counts(f->watch, &read_count, &total);
	assert_int_equal(total, watch_snapshot(f->watch)->count);
	return read_count;
}

static size_t refresh(struct fixture *f, const int *visible, size_t count)
{
	return refresh_for(f, NEED_ROLLUP, visible, count);
}

static uint64_t known_rss(const struct fixture *f, int pid)
{
	const struct usage *u = snapshot_find(watch_snapshot(f->watch), pid);

	assert_non_null(u);
	return u->total.bytes[SMAPS_RSS];
}

static void make_processes(const struct fixture *f, int first, int last)
{
	for (int pid = first; pid <= last; pid++)
		set_process(f, pid, 1000 + pid, 1);
}

static void first_refresh_reads_everything(void **state)
{
	struct fixture *f = *state;

	make_processes(f, 1, 40);
	assert_int_equal(refresh(f, NULL, 0), 40);
	assert_int_equal(known_rss(f, 40), MIB);
}

static void unreadable_processes_have_the_rss_of_statm(void **state)
{
	struct fixture *f = *state;
	const struct usage *u;

	make_processes(f, 1, 3);
	remove_file(f, 2, "smaps_rollup");
	write_file(f, 2, "statm", "2000 300 100 5 0 200 0\n");
	remove_file(f, 3, "smaps_rollup");
	write_file(f, 3, "statm", "0 0 0 0 0 0 0\n");
	refresh(f, NULL, 0);
	u = snapshot_find(watch_snapshot(f->watch), 2);
	assert_true(u->error < 0);
	assert_int_equal(u->total.bytes[SMAPS_RSS],
			 300 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_false(bytes_known(u->total.bytes[SMAPS_PSS]));
	assert_int_equal(watch_snapshot(f->watch)->unreadable_count, 2);
	/* no figure is not 0 */
	assert_false(bytes_known(known_rss(f, 3)));
	/* it follows the process */
	write_file(f, 2, "statm", "2000 400 100 5 0 200 0\n");
	refresh(f, (const int[]){ 2 }, 1);
	assert_int_equal(known_rss(f, 2), 400 * (uint64_t)sysconf(_SC_PAGESIZE));
	remove_file(f, 2, "statm");
	remove_file(f, 3, "statm");
}

static void usages_are_sorted_by_pid(void **state)
{
	struct fixture *f = *state;
	const struct snapshot *s;

	make_processes(f, 1, 120);
	refresh(f, NULL, 0);
	s = watch_snapshot(f->watch);
	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(s->usages[i].process.pid, i + 1);
}

static void unchanged_visible_process_is_not_read_again(void **state)
{
	static const int visible[] = { 1, 2, 3 };
	struct fixture *f = *state;
	uint64_t taken_ns;

	make_processes(f, 1, 3);
	refresh(f, visible, 3);
	taken_ns = watch_snapshot(f->watch)->usages[0].taken_ns;
	set_rss(f, 1, 7); /* cannot be noticed: stat is the same */
	assert_int_equal(refresh(f, visible, 3), 0);
	assert_int_equal(known_rss(f, 1), MIB);
	assert_int_equal(watch_snapshot(f->watch)->usages[0].taken_ns, taken_ns);
}

static void process_with_new_faults_is_read_again(void **state)
{
	static const int visible[] = { 1, 2, 3 };
	struct fixture *f = *state;

	make_processes(f, 1, 3);
	refresh(f, visible, 3);
	set_stat(f, 2, "prog", 1002, 11);
	set_rss(f, 2, 5);
	assert_int_equal(refresh(f, visible, 3), 1);
	assert_int_equal(known_rss(f, 2), 5 * MIB);
}

/*
 * The rss in stat does not change when a process frees fewer pages than the kernel's
 * per-CPU counters hold back.
 */
static void process_that_freed_a_few_pages_is_read_again(void **state)
{
	struct fixture *f = *state;
	const int pid = 3;

	make_processes(f, 1, 5);
	for (int i = 1; i <= 5; i++)
		write_file(f, i, "statm", "2000 256 10 1 0 100 0\n");
	refresh(f, &pid, 1);
	set_rss(f, 3, 2);
	refresh(f, &pid, 1);
	assert_int_equal(known_rss(f, 3), MIB);
	write_file(f, 3, "statm", "2000 255 10 1 0 100 0\n");
	refresh(f, &pid, 1);
	assert_int_equal(known_rss(f, 3), 2 * MIB);
	for (int i = 1; i <= 5; i++)
		remove_file(f, i, "statm");
}

/* In the kernel's own /proc, each refresh looks up the statm of all processes. */
static void hidden_process_that_freed_a_page_is_read_at_the_next_refresh(void **state)
{
	struct fixture *f = *state;
	const int count = 299;

	if (!proc_statm_is_exact())
		skip();
	sampler_free(f->sampler);
	f->fs.is_foreign = false;
	f->sampler = sampler_new(&f->fs, false);
	watch_with_share(f, 0);
	make_processes(f, 1, count);
	for (int pid = 1; pid <= count; pid++)
		write_file(f, pid, "statm", "2000 256 10 1 0 100 0\n");
	refresh(f, NULL, 0);
	for (int pid = 10; pid <= count; pid += 40) {
		set_rss(f, pid, 2);
		write_file(f, pid, "statm", "2000 255 10 1 0 100 0\n");
	}
	refresh(f, NULL, 0);
	for (int pid = 10; pid <= count; pid += 40)
		assert_int_equal(known_rss(f, pid), 2 * MIB);
}

static void changed_hidden_process_is_read_before_unchanged_ones(void **state)
{
	struct fixture *f = *state;

	make_processes(f, 1, 200);
	refresh(f, NULL, 0);
	for (int pid = 150; pid <= 160; pid++) {
		set_stat(f, pid, "prog", 1000 + pid, 11);
		set_rss(f, pid, 9);
	}
	refresh(f, NULL, 0);
	for (int pid = 150; pid <= 160; pid++)
		assert_int_equal(known_rss(f, pid), 9 * MIB);
}

static void unchanged_processes_are_read_a_few_at_a_time(void **state)
{
	struct fixture *f = *state;
	size_t ticks = 0, read_count = 0;

	make_processes(f, 1, 100);
	refresh(f, NULL, 0);
	for (int pid = 1; pid <= 100; pid++)
		set_rss(f, pid, 2); /* stat does not change */
	while (read_count < 100) {
		size_t n = refresh(f, NULL, 0);

		assert_in_range(n, 1, 30);
		read_count += n;
		ticks++;
	}
	assert_in_range(ticks, 4, 100);
	for (int pid = 1; pid <= 100; pid++)
		assert_int_equal(known_rss(f, pid), 2 * MIB);
}

static void many_changed_processes_are_spread_over_ticks_and_none_starves(void **state)
{
	struct fixture *f = *state;

	make_processes(f, 1, 200);
	refresh(f, NULL, 0);
	for (int tick = 1; tick <= 10; tick++) {
		for (int pid = 1; pid <= 200; pid++) {
			set_stat(f, pid, "prog", 1000 + pid, 10 + tick);
			set_rss(f, pid, 2);
		}
		assert_in_range(refresh(f, NULL, 0), 1, 100);
	}
	for (int pid = 1; pid <= 200; pid++)
		assert_int_equal(known_rss(f, pid), 2 * MIB);
}

static void exec_is_noticed_by_the_name_and_updates_the_command_line(void **state)
{
	static const int visible[] = { 1 };
	struct fixture *f = *state;
	const struct usage *u;

	make_processes(f, 1, 1);
	refresh_for(f, NEED_COMMAND, visible, 1);
	set_stat(f, 1, "other", 1001, 10);
	set_rss(f, 1, 3);
	write_file(f, 1, "cmdline", "other --now");
	assert_int_equal(refresh_for(f, NEED_COMMAND, visible, 1), 1);
	u = watch_snapshot(f->watch)->usages;
	assert_string_equal(u->process.comm, "other");
	assert_string_equal(u->command, "other --now");
	assert_int_equal(known_rss(f, 1), 3 * MIB);
}

static void reused_pid_inherits_nothing(void **state)
{
	static const int visible[] = { 1 };
	struct fixture *f = *state;

	make_processes(f, 1, 1);
	refresh(f, visible, 1);
	set_stat(f, 1, "prog", 2000, 10); /* only the start time differs */
	remove_file(f, 1, "smaps_rollup");
	refresh(f, visible, 1);
	assert_false(bytes_known(known_rss(f, 1)));
	assert_int_not_equal(watch_snapshot(f->watch)->usages[0].error, 0);
	assert_int_equal(watch_snapshot(f->watch)->unreadable_count, 1);
}

static void ended_process_is_dropped_and_others_keep_their_figures(void **state)
{
	struct fixture *f = *state;

	make_processes(f, 1, 3);
	set_rss(f, 3, 33);
	refresh(f, NULL, 0);
	remove_process(f, 2);
	refresh(f, NULL, 0);
	assert_int_equal(watch_snapshot(f->watch)->count, 2);
	assert_null(snapshot_find(watch_snapshot(f->watch), 2));
	assert_int_equal(known_rss(f, 3), 33 * MIB);
}

static void new_process_is_read_immediately(void **state)
{
	static const int visible[] = { 1, 2, 4 };
	struct fixture *f = *state;

	make_processes(f, 1, 2);
	make_processes(f, 4, 4);
	refresh(f, visible, 3);
	set_process(f, 3, 5000, 6);
	assert_int_equal(refresh(f, visible, 3), 1);
	assert_int_equal(known_rss(f, 3), 6 * MIB);
}

static void zombie_is_left_out(void **state)
{
	struct fixture *f = *state;

	make_processes(f, 1, 2);
	refresh(f, NULL, 0);
	write_file(
		f, 2, "stat",
		"2 (prog) Z 1 1 1 0 -1 4194304 10 0 0 0 0 0 0 0 20 0 1 0 1002 0 0 0\n");
	refresh(f, NULL, 0);
	assert_int_equal(watch_snapshot(f->watch)->count, 1);
}

static void new_needs_make_old_figures_outdated(void **state)
{
	static const int visible[] = { 1 };
	struct fixture *f = *state;

	make_processes(f, 1, 1);
	write_file(f, 1, "smaps",
		   "00400000-00500000 rw-p 00000000 00:00 0 \n"
		   "Size:               1024 kB\nRss:                 512 kB\n"
		   "VmFlags: rd wr\n");
	refresh(f, visible, 1);
	assert_int_equal(watch_snapshot(f->watch)->usages[0].source, SOURCE_ROLLUP);
	assert_int_equal(refresh_for(f, NEED_SMAPS, visible, 1), 1);
	assert_int_equal(watch_snapshot(f->watch)->usages[0].source, SOURCE_SMAPS);
	assert_int_equal(refresh_for(f, NEED_ROLLUP, visible, 1), 0);
}

/*
 * Reading this process takes about a millisecond. At 1 per mille it may be
 * read again only after a second.
 */
static void expensive_process_is_read_within_its_cpu_share(void **state)
{
	static const int visible[] = { 1 };
	struct fixture *f = *state;
	char path[96];
	FILE *file;

	make_processes(f, 1, 1);
	snprintf(path, sizeof(path), "%s/1/smaps", f->tree.root);
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 0; i < 100000; i++)
		fprintf(file,
			"%08x-%08x rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr\n",
			i * 4096, i * 4096 + 4096);
	assert_int_equal(fclose(file), 0);
	watch_with_share(f, 1);
	assert_int_equal(refresh_for(f, NEED_SMAPS, visible, 1), 1);
	set_stat(f, 1, "prog", 1001, 11);
	assert_int_equal(refresh_for(f, NEED_SMAPS, visible, 1), 0);
	assert_int_equal(known_rss(f, 1), UINT64_C(100000) * 4096);
	watch_with_share(f, 1000);
	refresh_for(f, NEED_SMAPS, visible, 1);
	set_stat(f, 1, "prog", 1001, 12);
	assert_int_equal(refresh_for(f, NEED_SMAPS, visible, 1), 1);
}

static void target_pid_is_gone_with_its_process(void **state)
{
	struct target_pid pids[] = { { .pid = 2 } };
	struct fixture *f = *state;

	make_processes(f, 1, 3);
	f->targets = (struct targets){ .pids = pids, .pid_count = 1 };
	assert_int_equal(refresh(f, NULL, 0), 1);
	assert_int_equal(watch_snapshot(f->watch)->count, 1);
	set_stat(f, 2, "prog", 7777, 10);
	assert_int_equal(refresh(f, NULL, 0), 0);
	assert_int_equal(watch_snapshot(f->watch)->count, 0);
	assert_true(pids[0].is_gone);
}

static void failed_listing_keeps_earlier_figures(void **state)
{
	struct fixture *f = *state;
	int fd = f->fs.fd, kept_fd;

	make_processes(f, 1, 3);
	refresh(f, NULL, 0);
	kept_fd = dup(fd);
	assert_true(kept_fd >= 0);
	close(fd);
	assert_true(watch_refresh(f->watch, NEED_ROLLUP, NULL, 0) < 0);
	assert_int_equal(dup2(kept_fd, fd), fd);
	close(kept_fd);
	assert_int_equal(watch_snapshot(f->watch)->count, 3);
	assert_int_equal(known_rss(f, 3), MIB);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_refresh_reads_everything),
		TEST(unreadable_processes_have_the_rss_of_statm),
		TEST(usages_are_sorted_by_pid),
		TEST(unchanged_visible_process_is_not_read_again),
		TEST(process_with_new_faults_is_read_again),
		TEST(process_that_freed_a_few_pages_is_read_again),
		TEST(hidden_process_that_freed_a_page_is_read_at_the_next_refresh),
		TEST(changed_hidden_process_is_read_before_unchanged_ones),
		TEST(unchanged_processes_are_read_a_few_at_a_time),
		TEST(many_changed_processes_are_spread_over_ticks_and_none_starves),
		TEST(exec_is_noticed_by_the_name_and_updates_the_command_line),
		TEST(reused_pid_inherits_nothing),
		TEST(ended_process_is_dropped_and_others_keep_their_figures),
		TEST(new_process_is_read_immediately),
		TEST(zombie_is_left_out),
		TEST(new_needs_make_old_figures_outdated),
		TEST(expensive_process_is_read_within_its_cpu_share),
		TEST(target_pid_is_gone_with_its_process),
		TEST(failed_listing_keeps_earlier_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
