/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lister of the kernel's own /proc, with children in states that the test knows. */
#include "config.h"

#include "proc/process/lister.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc/process/statm.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define PAGE_COUNT 64
#define STEP_PAGES 5 /* fewer than a counter of the kernel holds back on a CPU */
#define NOBODY 65534

struct fixture {
	struct procfs fs;
	struct lister *lister;
	pid_t pid; /* the process to look for */
	struct process found;
	bool is_found;
	size_t count;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(procfs_open(&f->fs, "/proc"), 0);
	f->lister = lister_new(&f->fs);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	lister_free(f->lister);
	procfs_release(&f->fs);
	free(f);
	return 0;
}

static int find(void *context, const struct process *p)
{
	struct fixture *f = context;

	f->count++;
	if (p->pid == f->pid) {
		f->found = *p;
		f->is_found = true;
	}
	return 0;
}

static void look(struct fixture *f)
{
	f->is_found = false;
	f->count = 0;
	assert_int_equal(lister_read(f->lister, NULL, 0, find, f), 0);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Release a few pages each time that the parent continues the child. */
static _Noreturn void release_pages(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, PAGE_COUNT * page_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (at == MAP_FAILED)
		_exit(1);
	(void)madvise(at, PAGE_COUNT * page_bytes, MADV_NOHUGEPAGE);
	memset(at, 1, PAGE_COUNT * page_bytes);
	for (size_t i = 0; i + STEP_PAGES <= PAGE_COUNT; i += STEP_PAGES) {
		(void)madvise(at + i * page_bytes, STEP_PAGES * page_bytes,
			      MADV_DONTNEED);
		raise(SIGSTOP);
	}
	_exit(0);
}

static void a_process_that_gives_a_few_pages_back_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), before_bytes = 0;

	if (!proc_statm_is_exact())
		skip();
	f->pid = fork();
	assert_true(f->pid >= 0);
	if (f->pid == 0)
		release_pages();
	/* after the first turn, the child touches no new pages of its own code */
	for (int i = 0; i < 6; i++) {
		assert_int_equal(waitpid(f->pid, NULL, WUNTRACED), f->pid);
		look(f);
		assert_true(f->is_found);
		if (i >= 2)
			assert_int_equal(before_bytes - f->found.stat_rss_bytes,
					 STEP_PAGES * page_bytes);
		before_bytes = f->found.stat_rss_bytes;
		kill(f->pid, SIGCONT);
	}
	end_child(f->pid);
	look(f);
	assert_false(f->is_found);
}

static void a_zombie_is_recognized_at_the_next_look(void **state)
{
	struct fixture *f = *state;
	siginfo_t info;

	f->pid = fork();
	assert_true(f->pid >= 0);
	if (f->pid == 0)
		for (;;)
			pause();
	look(f);
	assert_true(f->is_found && process_has_memory(&f->found));
	kill(f->pid, SIGKILL);
	/* wait, but leave the zombie */
	assert_int_equal(waitid(P_PID, (id_t)f->pid, &info, WEXITED | WNOWAIT), 0);
	look(f);
	assert_true(f->is_found && process_has_ended(&f->found));
	look(f);
	assert_true(f->is_found && process_has_ended(&f->found));
	end_child(f->pid);
	look(f);
	assert_false(f->is_found);
}

/* Start and end processes as fast as possible. */
static _Noreturn void fork_on(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
	}
}

static void processes_may_end_while_they_are_listed(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		fork_on();
	f->pid = pid;
	for (int i = 0; i < 300; i++) {
		look(f);
		assert_true(f->is_found && f->found.ppid == getpid());
	}
	end_child(pid);
}

/* Fork a process with the given pid, unless it is 0. Returns the pid, or -1. */
static pid_t fork_with_pid(pid_t pid, const char *name)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid > 0 ? (uintptr_t)&pid : 0,
		.set_tid_size = pid > 0,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	raise(SIGSTOP);
	_exit(0);
}

static void reuse_pid(struct fixture *f)
{
	const struct timespec tick = { .tv_nsec = 30000000 };
	struct process old;
	pid_t pid;

	/* allocate memory first, so that the two forks have the same pages */
	look(f);
	look(f);
	pid = fork_with_pid(0, "old");
	assert_true(pid > 0);
	f->pid = pid;
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	look(f);
	look(f);
	old = f->found;
	assert_string_equal(old.comm, "old");
	end_child(pid);
	nanosleep(&tick, NULL);
	if (fork_with_pid(pid, "new") < 0)
		skip();
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	look(f);
	end_child(pid);
	assert_true(f->is_found);
	assert_string_equal(f->found.comm, "new");
	assert_false(process_is_same(&f->found, &old));
}

static void a_reused_pid_is_another_process(void **state)
{
	reuse_pid(*state);
}

static void a_reused_pid_is_another_process_without_a_descriptor(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, few;
	int r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 1, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	/* descriptors run out, so the lister holds none from now on */
	r = lister_read(f->lister, NULL, 0, find, f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, -EMFILE);
	reuse_pid(f);
}

/* List as another user in a /proc with hidepid. Returns an exit status. */
static int list_hidden(const char *root, const char *options, pid_t root_pid)
{
	struct fixture f = { .fs = PROCFS_INIT, .pid = root_pid };
	bool is_own_found;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", root, "proc", 0, options) < 0)
		return 77;
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0 || procfs_open(&f.fs, root) < 0)
		return 77;
	f.lister = lister_new(&f.fs);
	for (int i = 0; i < 3; i++)
		if (lister_read(f.lister, NULL, 0, find, &f) < 0)
			return 1;
	/* hidepid=1 hides the files, and hidepid=2 the pid, too */
	if (f.is_found != (strcmp(options, "hidepid=1") == 0))
		return 2;
	if (f.is_found && (f.found.state != '\0' || f.found.uid != UINT32_MAX))
		return 3;
	f.is_found = false;
	f.pid = getpid();
	if (lister_read(f.lister, NULL, 0, find, &f) < 0)
		return 4;
	is_own_found = f.is_found && f.found.state == 'R';
	lister_free(f.lister);
	procfs_release(&f.fs);
	return is_own_found ? 0 : 5;
}

static void hidden_processes_are_listed_by_pid_or_not_at_all(void **state)
{
	static const char *const options[] = { "hidepid=1", "hidepid=2" };
	struct tree tree;

	(void)state;
	if (geteuid() != 0)
		skip();
	tree_make(&tree);
	assert_int_equal(chmod(tree.root, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(list_hidden(tree.root, options[i], getppid()));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77) {
			tree_remove(&tree);
			skip();
		}
		assert_row(WEXITSTATUS(status) == 0, options[i]);
	}
	tree_remove(&tree);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_that_gives_a_few_pages_back_is_noticed),
		TEST(a_zombie_is_recognized_at_the_next_look),
		TEST(processes_may_end_while_they_are_listed),
		TEST(a_reused_pid_is_another_process),
		TEST(a_reused_pid_is_another_process_without_a_descriptor),
		TEST(hidden_processes_are_listed_by_pid_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
