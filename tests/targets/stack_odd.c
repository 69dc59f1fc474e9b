/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_odd MODE [NUMBER] - like stack_target, but does what few programs do. Prints
 * "NAME CALLS BYTES" for each function that allocates.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static long number = 1000;
static void *volatile sink;
static volatile sig_atomic_t handled;

static void say(const char *name, long calls, long bytes)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %ld %ld\n", name, calls, bytes);

	if (n < 0 || write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

NOINLINE static void allocate(long depth)
{
	if (depth > 0)
		allocate(depth - 1);
	else
		free(malloc(20));
	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
}

static void *allocate_often(void *unused)
{
	(void)unused;
	for (long i = 0; i < number; i++)
		allocate(i % 50);
	return NULL;
}

static void wait_for(pid_t child)
{
	int status = 1;

	if (waitpid(child, &status, 0) < 0 || status != 0)
		abort();
	say("child", child, 0);
}

/* The child starts threads, which allocate at the same time as its first thread. */
static void run_fork_threads(void)
{
	pthread_t threads[3];
	pid_t child;

	allocate(1);
	child = fork();
	for (int i = 0; child == 0 && i < 3; i++)
		if (pthread_create(&threads[i], NULL, allocate_often, NULL) != 0)
			abort();
	if (child == 0)
		allocate_often(NULL);
	for (int i = 0; child == 0 && i < 3; i++)
		pthread_join(threads[i], NULL);
	if (child == 0)
		_exit(0);
	wait_for(child);
	say("allocate", 4 * number, 80 * number);
}

static void handle(int signal)
{
	(void)signal;
	free(malloc(40));
	handled = handled + 1;
}

/* A signal handler runs during the child's first allocation, which takes a while. */
static void run_fork_handler(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } },
			       never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	pid_t child;

	for (long i = 0; i < number; i++)
		sink = malloc(1 << 16);
	sigaction(SIGALRM, &action, NULL);
	child = fork();
	if (child == 0) {
		setitimer(ITIMER_REAL, &often, NULL);
		allocate(0);
		while (handled < 20)
			;
		setitimer(ITIMER_REAL, &never, NULL);
		_exit(0);
	}
	wait_for(child);
}

NOINLINE static void branch(long depth, long path)
{
	if (depth == 0)
		free(malloc(20));
	else if (path & 1) {
		/* keeps compilers from merging the two calls */
		__asm__ volatile("nop");
		branch(depth - 1, path >> 1);
		__asm__ volatile("nop");
	} else {
		branch(depth - 1, path >> 1);
	}
	__asm__ volatile("" ::: "memory");
}

/*
 * The child raises its limit of address space, and has more stacks
 * than the parent had room for.
 */
static void run_fork_grow(void)
{
	struct rlimit limit;
	pid_t child;

	branch(1, 0);
	child = fork();
	if (child == 0) {
		getrlimit(RLIMIT_AS, &limit);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_AS, &limit);
		for (long path = 0; path < number; path++)
			branch(16, path);
		_exit(0);
	}
	wait_for(child);
}

static volatile pid_t handlers_child;

/*
 * Allocates a different size than the interrupted code, so that both
 * never use the same list in libc.
 */
static void fork_in_handler(int signal)
{
	pid_t child = handlers_child == 0 ? -1 : fork();

	(void)signal;
	if (child == 0) {
		handlers_child = 0;
		free(malloc(4000));
	} else if (child > 0) {
		int status = 1;

		if (waitpid(child, &status, 0) < 0 || status != 0)
			_exit(1);
		handled = handled + 1;
	}
}

/*
 * A child continues after a handler that forked, often in the middle
 * of recording an allocation.
 */
static void run_handler_fork(void)
{
	struct sigaction action = { .sa_handler = fork_in_handler,
				    .sa_flags = SA_RESTART };
	struct itimerval soon = { { 0, 0 }, { 0, 1 } };

	handlers_child = -1;
	sigaction(SIGALRM, &action, NULL);
	for (long path = 0; handled < number; path++) {
		soon.it_value.tv_usec = 1 + path / 300 * 37 % 300;
		if (path % 300 == 0 && handlers_child != 0)
			setitimer(ITIMER_REAL, &soon, NULL);
		branch(300, path * 31);
		if (handlers_child == 0 && path % 300 == 299)
			_exit(0);
	}
}

/* Request sizes that cannot be allocated, with other calls before and after. */
static void run_too_much(void)
{
	static const size_t sizes[] = { PTRDIFF_MAX, (size_t)1 << 62, (size_t)1 << 46,
					(size_t)PTRDIFF_MAX + 5000, SIZE_MAX };
	volatile size_t bytes;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bytes = sizes[i];
		sink = malloc(bytes);
		if (sink)
			abort();
		for (long k = 0; k < number; k++)
			allocate(1);
	}
	say("allocate", 5 * number, 100 * number);
}

#define SITE_COUNT 16
#define SITE(n)                                                      \
	case n:                                                      \
		__asm__ volatile(".balign 256\n\t# %c0" : : "i"(n)); \
		sink = malloc(bytes);                                \
		__asm__ volatile("# %c0" : : "i"(n) : "memory");     \
		break;

/*
 * The call sites are multiples of 256 bytes apart. Their addresses then differ like the
 * numbers of their callers, which a weak hash would confuse.
 */
NOINLINE static void call_from(long level, unsigned int random)
{
	size_t bytes = (size_t)level;

	for (int i = 0; i < 4; i++) {
		random = random * 1103515245 + 12345;
		switch (random >> 16 & (SITE_COUNT - 1)) {
			SITE(0)
			SITE(1)
			SITE(2)
			SITE(3)
			SITE(4)
			SITE(5)
			SITE(6)
			SITE(7)
			SITE(8)
			SITE(9)
			SITE(10)
			SITE(11)
			SITE(12)
			SITE(13)
			SITE(14)
			SITE(15)
		}
	}
	if (level < number)
		call_from(level + 1, random);
	__asm__ volatile("" ::: "memory");
}

static void *call_nothing(void *none)
{
	for (long i = 0; i < number; i++)
		sink = calloc((size_t)(uintptr_t)none, 8);
	return NULL;
}

/* A thread's first request is for 0 bytes. */
static void run_nothing(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, call_nothing, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		abort();
	say("call_nothing", number, 0);
}

static void allocate_once(void)
{
	free(malloc(20));
	__asm__ volatile("" ::: "memory");
}

/* Load a module through a relative path, then delete the path. */
static void run_gone(void)
{
	const char *plugin = getenv("STACK_PLUGIN");
	char folder[] = "/tmp/stack_odd.XXXXXX";
	void *module = NULL, *function;
	void (*call)(void (*)(void));

	if (plugin && mkdtemp(folder) && chdir(folder) == 0 &&
	    symlink(plugin, "module") == 0)
		module = dlopen("./module", RTLD_NOW);
	unlink("module");
	rmdir(folder);
	function = module ? dlsym(module, "plugin_call") : NULL;
	if (!function)
		abort();
	memcpy(&call, &function, sizeof(call));
	errno = 0;
	call(allocate_once);
	if (errno != 0)
		abort();
	say("allocate_once", 1, 20);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (argc > 2)
		number = strtol(argv[2], NULL, 10);
	if (strcmp(mode, "fork-threads") == 0)
		run_fork_threads();
	else if (strcmp(mode, "fork-handler") == 0)
		run_fork_handler();
	else if (strcmp(mode, "fork-grow") == 0)
		run_fork_grow();
	else if (strcmp(mode, "handler-fork") == 0)
		run_handler_fork();
	else if (strcmp(mode, "too-much") == 0)
		run_too_much();
	else if (strcmp(mode, "sites") == 0)
		call_from(1, 1);
	else if (strcmp(mode, "nothing") == 0)
		run_nothing();
	else if (strcmp(mode, "gone") == 0)
		run_gone();
	else
		return 2;
	return 0;
}
