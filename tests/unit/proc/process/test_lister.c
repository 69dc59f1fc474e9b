/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/lister.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../support/tree.h"
#include "../../support/unit.h"

#define MADE_MAX 60
#define OWN_FILES "/proc/self/fd"

/* A made-up /proc, which the lister takes for that of the kernel. */
struct fixture {
	struct tree tree;
	struct procfs fs;
	struct lister *lister;
	struct process seen[MADE_MAX];
	size_t count;
	size_t fd_count; /* number of open descriptors before the first look */
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	tree_make(&f->tree);
	assert_int_equal(procfs_open(&f->fs, f->tree.root), 0);
	f->fs.is_foreign = false;
	f->lister = lister_new(&f->fs);
	f->fd_count = tree_count_entries(OWN_FILES);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	lister_free(f->lister);
	assert_int_equal(tree_count_entries(OWN_FILES), f->fd_count);
	procfs_release(&f->fs);
	tree_remove(&f->tree);
	free(f);
	return 0;
}

static void set_stat(const struct fixture *f, int pid, const char *comm, char state,
		     int ppid)
{
	char path[32], text[256];

	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (%s) %c %d 1 1 0 -1 4194304 10 0 0 0 0 0 0 0 20 0 1 0 %d 8192000 "
		 "256 18446744073709551615\n",
		 pid, comm, state, ppid, 1000 + pid);
	tree_write(&f->tree, path, text);
}

static void set_statm(const struct fixture *f, int pid, int resident_pages)
{
	char path[32], text[64];

	snprintf(path, sizeof(path), "%d/statm", pid);
	snprintf(text, sizeof(text), "2000 %d 10 1 0 100 0\n", resident_pages);
	tree_write(&f->tree, path, text);
}

static void set_process(const struct fixture *f, int pid, const char *comm)
{
	set_stat(f, pid, comm, 'S', 0);
	set_statm(f, pid, 300);
}

static void end_process(const struct fixture *f, int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "%d", pid);
	tree_delete(&f->tree, path);
}

static int add(void *context, const struct process *p)
{
	struct fixture *f = context;

	assert_in_range(f->count, 0, MADE_MAX - 1);
	f->seen[f->count++] = *p;
	return 0;
}

static int look_at(struct fixture *f, const int *pids, size_t count)
{
	f->count = 0;
	return lister_read(f->lister, pids, count, add, f);
}

static void look(struct fixture *f)
{
	assert_int_equal(look_at(f, NULL, 0), 0);
}

static const struct process *find(const struct fixture *f, int pid)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->seen[i].pid == pid)
			return &f->seen[i];
	return NULL;
}

static size_t count_held(const struct fixture *f)
{
	return tree_count_entries(OWN_FILES) - f->fd_count;
}

static void rss_is_that_of_statm(void **state)
{
	struct fixture *f = *state;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	set_process(f, 5, "prog");
	look(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(find(f, 5)->stat_rss_bytes, 300 * page_bytes);
	assert_int_equal(find(f, 5)->start_ticks, 1005);
	assert_string_equal(find(f, 5)->comm, "prog");
	set_statm(f, 5, 299);
	look(f);
	assert_int_equal(find(f, 5)->stat_rss_bytes, 299 * page_bytes);
}

static void stat_is_read_if_statm_has_changed(void **state)
{
	struct fixture *f = *state;

	set_process(f, 4, "before");
	set_process(f, 5, "before");
	look(f);
	set_stat(f, 4, "after", 'S', 0);
	set_stat(f, 5, "after", 'S', 0);
	set_statm(f, 5, 301);
	look(f);
	assert_string_equal(find(f, 4)->comm, "before");
	assert_string_equal(find(f, 5)->comm, "after");
}

static void stat_is_read_for_requested_processes(void **state)
{
	static const int pids[] = { 9, 5, 77 };
	struct fixture *f = *state;

	set_process(f, 4, "before");
	set_process(f, 5, "before");
	set_process(f, 9, "before");
	look(f);
	for (int pid = 4; pid <= 9; pid += pid == 4 ? 1 : 4)
		set_stat(f, pid, "after", 'S', 0);
	assert_int_equal(look_at(f, pids, ARRAY_SIZE(pids)), 0);
	assert_string_equal(find(f, 4)->comm, "before");
	assert_string_equal(find(f, 5)->comm, "after");
	assert_string_equal(find(f, 9)->comm, "after");
}

static void stat_is_read_in_turn(void **state)
{
	struct fixture *f = *state;
	size_t late = 0;

	for (int pid = 1; pid <= 40; pid++)
		set_process(f, pid, "before");
	look(f);
	for (int pid = 1; pid <= 40; pid++)
		set_stat(f, pid, "after", 'S', 0);
	for (int i = 0; i < LISTER_TURNS; i++) {
		late = 0;
		look(f);
		for (int pid = 1; pid <= 40; pid++)
			late += strcmp(find(f, pid)->comm, "before") == 0;
		/* not all of them in the same look */
		assert_int_equal(late, 40 - 2 * (i + 1));
	}
	assert_int_equal(late, 0);
}

static void stat_is_read_if_the_parent_has_ended(void **state)
{
	struct fixture *f = *state;

	set_process(f, 1, "init");
	set_process(f, 5, "parent");
	set_process(f, 6, "child");
	set_stat(f, 6, "child", 'S', 5);
	look(f);
	assert_int_equal(find(f, 6)->ppid, 5);
	end_process(f, 5);
	set_stat(f, 6, "child", 'S', 1);
	look(f);
	assert_null(find(f, 5));
	assert_int_equal(find(f, 6)->ppid, 1);
}

/* The statm of a main thread that has ended is 0, while other threads may run. */
static void stat_is_read_at_each_look_without_pages(void **state)
{
	struct fixture *f = *state;

	set_process(f, 5, "prog");
	tree_write(&f->tree, "5/statm", "0 0 0 0 0 0 0\n");
	look(f);
	set_stat(f, 5, "prog", 'Z', 0);
	look(f);
	assert_int_equal(find(f, 5)->state, 'Z');
}

static void a_process_without_statm_is_listed_by_its_stat(void **state)
{
	struct fixture *f = *state;

	set_process(f, 5, "prog");
	tree_delete(&f->tree, "5/statm");
	look(f);
	assert_string_equal(find(f, 5)->comm, "prog");
	set_stat(f, 5, "other", 'S', 0);
	look(f);
	assert_string_equal(find(f, 5)->comm, "other");
	assert_int_equal(count_held(f), 0);
}

static void only_the_pid_is_known_if_stat_is_corrupt(void **state)
{
	struct fixture *f = *state;

	set_process(f, 5, "prog");
	tree_write(&f->tree, "5/stat", "5 (prog");
	look(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(find(f, 5)->state, 0);
}

static void the_descriptors_of_ended_processes_are_closed(void **state)
{
	struct fixture *f = *state;

	for (int pid = 1; pid <= 9; pid++)
		set_process(f, pid, "prog");
	look(f);
	assert_int_equal(count_held(f), 9);
	for (int pid = 2; pid <= 7; pid++)
		end_process(f, pid);
	look(f);
	assert_int_equal(f->count, 3);
	assert_int_equal(count_held(f), 3);
	set_process(f, 4, "new");
	look(f);
	assert_int_equal(f->count, 4);
	assert_string_equal(find(f, 4)->comm, "new");
}

static struct rlimit set_limit(rlim_t count)
{
	struct rlimit before, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ count, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	return before;
}

static void at_most_half_of_the_limit_is_held(void **state)
{
	struct fixture *f = *state;
	struct rlimit before;
	size_t held, late_held;

	for (int pid = 1; pid <= 50; pid++)
		set_process(f, pid, "before");
	before = set_limit(60);
	look(f);
	held = count_held(f);
	/* the limit of the running memstate is lowered */
	set_limit(24);
	look(f);
	late_held = count_held(f);
	for (int pid = 1; pid <= 50; pid++)
		set_stat(f, pid, "after", 'S', 0);
	set_statm(f, 50, 301); /* a process without a held descriptor */
	look(f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(held, 30);
	assert_int_equal(late_held, 12);
	assert_int_equal(f->count, 50);
	assert_string_equal(find(f, 50)->comm, "after");
	assert_string_equal(find(f, 48)->comm, "before");
}

/* A new process has a new inode, even if all its figures are those of the old one. */
static void a_reused_pid_is_noticed_without_a_descriptor(void **state)
{
	struct fixture *f = *state;
	struct rlimit before;

	for (int pid = 1; pid <= 50; pid++)
		set_process(f, pid, "before");
	before = set_limit(40);
	look(f);
	/* the new file exists before the old one is deleted: another inode */
	tree_write(&f->tree, "new/statm", "2000 300 10 1 0 100 0\n");
	set_stat(f, 50, "after", 'S', 0);
	{
		char from[64], to[64];

		snprintf(from, sizeof(from), "%s/new/statm", f->tree.root);
		snprintf(to, sizeof(to), "%s/50/statm", f->tree.root);
		assert_int_equal(rename(from, to), 0);
	}
	look(f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_string_equal(find(f, 50)->comm, "after");
	assert_string_equal(find(f, 48)->comm, "before");
}

static void nothing_is_held_once_descriptors_have_run_out(void **state)
{
	struct fixture *f = *state;
	struct rlimit before;
	size_t held, dup_count = 0;
	int dups[64], r;

	for (int pid = 1; pid <= 30; pid++)
		set_process(f, pid, "prog");
	before = set_limit(40);
	look(f);
	held = count_held(f);
	while (dup_count < ARRAY_SIZE(dups) &&
	       (dups[dup_count] = dup(STDERR_FILENO)) >= 0)
		dup_count++;
	r = look_at(f, NULL, 0);
	while (dup_count > 0)
		close(dups[--dup_count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(held, 20);
	assert_int_equal(r, 0);
	assert_int_equal(f->count, 30);
	look(f);
	assert_int_equal(f->count, 30);
	assert_int_equal(count_held(f), 0);
}

static void a_list_without_any_descriptor_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct rlimit before;
	int r;

	set_process(f, 5, "prog");
	before = set_limit(3);
	r = look_at(f, NULL, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, -EMFILE);
	look(f);
	assert_int_equal(f->count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rss_is_that_of_statm),
		TEST(stat_is_read_if_statm_has_changed),
		TEST(stat_is_read_for_requested_processes),
		TEST(stat_is_read_in_turn),
		TEST(stat_is_read_if_the_parent_has_ended),
		TEST(stat_is_read_at_each_look_without_pages),
		TEST(a_process_without_statm_is_listed_by_its_stat),
		TEST(only_the_pid_is_known_if_stat_is_corrupt),
		TEST(the_descriptors_of_ended_processes_are_closed),
		TEST(at_most_half_of_the_limit_is_held),
		TEST(a_reused_pid_is_noticed_without_a_descriptor),
		TEST(nothing_is_held_once_descriptors_have_run_out),
		TEST(a_list_without_any_descriptor_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
