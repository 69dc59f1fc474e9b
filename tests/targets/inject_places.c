/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A main thread that is stopped where no function may be called: in malloc, in the
 * loader, in fork(), in a signal handler; and processes that must not be entered. "parked
 * PLACE" prints "ready" when it is there. At the letter u it continues, and then counts.
 */
#include "config.h"

#include "inject_target.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject_plugin.h"
#include "say.h"

static int release_fds[2]; /* a parked thread waits for it; written at the letter u */

static void park_in_read(void)
{
	char letter;

	while (read(release_fds[0], &letter, 1) != 1)
		;
}

static void park_in_poll(void)
{
	struct pollfd fd = { release_fds[0], POLLIN, 0 };

	while (poll(&fd, 1, -1) != 1)
		;
}

static void (*park)(void) = park_in_read;

/* ---- in malloc: it touches a page that arrives only at the letter u ---- */

static struct uffdio_range far_part;

static int fault_fd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		cannot("no userfaultfd here");
	return fd;
}

/* Let a userfaultfd supply the pages at the end of the heap that were never touched. */
static int watch_heap(void)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)sbrk(0);
	uint64_t start = (uintptr_t)malloc(24);
	int fd = fault_fd();

	start = (start + 2 * page) / page * page;
	if (!start || start + 16 * page > end)
		cannot("malloc does not take its memory from the break");
	reg.range.start = start;
	reg.range.len = end / page * page - start;
	if (ioctl(fd, UFFDIO_REGISTER, &reg))
		failed("UFFDIO_REGISTER");
	far_part = reg.range;
	return fd;
}

/*
 * Release the main thread from another process, because the target
 * must not have another thread.
 */
static void release_later(int fd)
{
	pid_t parent = getpid(), child = fork();
	char letter = 0;

	if (child < 0)
		failed("fork");
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/*
	 * Print this when the thread is parked. It is then in no system call,
	 * or in the one it parks in.
	 */
	say("pid", (uint64_t)parent);
	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1 && letter != 'u')
		;
	if (fd >= 0 && ioctl(fd, UFFDIO_UNREGISTER, &far_part))
		failed("UFFDIO_UNREGISTER");
	if (write(release_fds[1], "uu", 2) != 2)
		failed("write");
	_exit(0);
}

static void count_for_ever(void)
{
	for (;;) {
		void *volatile p = malloc(100);

		free(p);
		count_one(0);
	}
}

static void park_in_malloc(void)
{
	void *volatile p;

	release_later(watch_heap());
	__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
	p = malloc(60000);
	free(p);
}

static void *allocate_once(void *unused)
{
	void *volatile p = malloc(60000);

	free(p);
	return unused;
}

/*
 * Return whether another thread sleeps, without allocating. stat
 * contains "1234 (comm) S …".
 */
static bool sleeps(pid_t tid)
{
	char path[64], text[256] = "";
	const char *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		failed(path);
	close(fd);
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static pid_t allocating_tid;

static void *allocate_as_other(void *unused)
{
	__atomic_store_n(&allocating_tid, gettid(), __ATOMIC_RELEASE);
	return allocate_once(unused);
}

/* With a single arena, another thread holds its lock while it waits for a page. */
static void park_at_lock_of_malloc(void)
{
	pthread_t thread;

	if (!mallopt(M_ARENA_MAX, 1))
		cannot("no limit of arenas here");
	release_later(watch_heap());
	if (pthread_create(&thread, NULL, allocate_as_other, NULL))
		failed("pthread_create");
	while (!__atomic_load_n(&allocating_tid, __ATOMIC_ACQUIRE) ||
	       !sleeps(allocating_tid))
		usleep(1000);
	__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
	allocate_once(NULL);
	pthread_join(thread, NULL);
}

static void handle(int number)
{
	(void)number;
	__atomic_store_n(&shown->is_in_call, 2, __ATOMIC_RELEASE);
	park();
}

static void set_handler(int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	if (sigaction(SIGUSR1, &action, NULL))
		failed("sigaction");
}

/* The test sends SIGUSR1 while the thread is in malloc. */
static void park_in_handler_in_malloc(void)
{
	set_handler(0);
	park_in_malloc();
}

static void park_in_poll_in_handler_in_malloc(void)
{
	park = park_in_poll;
	park_in_handler_in_malloc();
}

/* ---- elsewhere ---- */

static void park_on_other_stack(void)
{
	static char memory[65536];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	if (sigaltstack(&stack, NULL))
		failed("sigaltstack");
	set_handler(SA_ONSTACK);
	release_later(-1);
	raise(SIGUSR1);
}

static void park_in_poll_on_other_stack(void)
{
	park = park_in_poll;
	park_on_other_stack();
}

/* Called by the library's constructor. */
void plugin_is_loading(void)
{
	__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
	park();
}

static void park_in_constructor(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);

	if (length <= 0)
		failed("readlink");
	path[length] = '\0';
	memcpy(strrchr(path, '/') + 1, "inject_plugin.so", sizeof("inject_plugin.so"));
	release_later(-1);
	if (!dlopen(path, RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(99);
	}
}

static void prepare_fork(void)
{
	__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
	park();
}

static void park_in_fork(void)
{
	pid_t child;

	release_later(-1);
	if (pthread_atfork(prepare_fork, NULL, NULL))
		failed("pthread_atfork");
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static const struct place {
	const char *name;
	void (*go)(void);
} places[] = {
	{ "malloc", park_in_malloc },
	{ "lock-of-malloc", park_at_lock_of_malloc },
	{ "handler-in-malloc", park_in_handler_in_malloc },
	{ "poll-in-handler-in-malloc", park_in_poll_in_handler_in_malloc },
	{ "other-stack", park_on_other_stack },
	{ "poll-on-other-stack", park_in_poll_on_other_stack },
	{ "constructor", park_in_constructor },
	{ "fork", park_in_fork },
};

void parked_run(const char *argument)
{
	shown->counter_count = 1;
	have_heap();
	if (pipe(release_fds))
		failed("pipe");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i].name, argument) == 0) {
			places[i].go();
			count_for_ever();
		}
	failed(argument);
}

/* ---- processes that must not be entered ---- */

static void wait_and_count(void)
{
	have_heap();
	shown->counter_count = 1;
	target_is_ready();
	for (;;) {
		poll(NULL, 0, 1);
		count_one(0);
	}
}

void traced_run(const char *argument)
{
	pid_t parent = getpid(), child;
	int fds[2];
	char byte;

	(void)argument;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (pipe(fds))
		failed("pipe");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_SEIZE, parent, NULL, NULL))
			cannot("it cannot be traced here");
		if (write(fds[1], "t", 1) == 1)
			for (;;)
				pause();
	}
	close(fds[1]);
	if (child < 0 || read(fds[0], &byte, 1) != 1)
		cannot("it cannot be traced here");
	say("tracer", (uint64_t)child);
	wait_and_count();
}

void dumpable_run(const char *argument)
{
	(void)argument;
	prctl(PR_SET_DUMPABLE, 0);
	wait_and_count();
}
