/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_target - programs whose numbers of calls of the malloc functions are known. The
 * first argument selects the behaviour. The program prints its own calls to standard
 * error as "KEY NUMBER", with write(2). Nothing in it allocates except the calls that it
 * prints, and what libc allocates for a thread.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Volatile, so that the compiler removes no call. */
static void *volatile kept;
static void *(*volatile call_malloc)(size_t) = malloc;
static void (*volatile call_free)(void *) = free;

static void say(const char *key, uint64_t number)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "%s %llu\n", key,
			      (unsigned long long)number);

	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		_exit(99);
}

static void fail(const char *what)
{
	say(what, 0);
	_exit(99);
}

static void pairs(int count, size_t bytes)
{
	for (int i = 0; i < count; i++) {
		void *volatile p = call_malloc(bytes);

		call_free(p);
	}
}

/* Call each function a different number of times. */
static void functions(void)
{
	void *p;

	pairs(100, 100);
	for (int i = 0; i < 2; i++)
		kept = calloc(3, 7);
	p = realloc(NULL, 10);
	for (int i = 0; i < 2; i++)
		p = realloc(p, 1000u * (unsigned int)(i + 1));
	free(p);
	kept = reallocarray(NULL, 4, 5);
	for (int i = 0; i < 5; i++)
		if (posix_memalign(&p, 64, 50) != 0)
			fail("posix_memalign");
	for (int i = 0; i < 6; i++)
		kept = aligned_alloc(64, 64);
	for (int i = 0; i < 7; i++)
		kept = memalign(32, 9);
	for (int i = 0; i < 8; i++)
		kept = valloc(11);
	for (int i = 0; i < 9; i++)
		kept = pvalloc(13);
	free(NULL);
	say("malloc", 100);
	say("calloc", 2);
	say("realloc", 3);
	say("reallocarray", 1);
	say("posix_memalign", 5);
	say("aligned_alloc", 6);
	say("memalign", 7);
	say("valloc", 8);
	say("pvalloc", 9);
	say("free", 102);
	/*
	 * each pair, both blocks that realloc() replaced, and the block freed after that
	 */
	say("temporary", 103);
	say("requested", 100 * 100 + 2 * 21 + 10 + 1000 + 2000 + 20 + 5 * 50 + 6 * 64 +
				 7 * 9 + 8 * 11 + 9 * 13);
	say("blocks", 2 + 1 + 5 + 6 + 7 + 8 + 9);
}

static void must(int is_true, const char *what)
{
	if (!is_true)
		fail(what);
}

/* Check that results and errno are the same as without counting. */
static void corners(void)
{
	void *before = &before, *p = before;
	volatile size_t much = SIZE_MAX / 2;

	errno = 0;
	must(posix_memalign(&p, 3, 8) == EINVAL && p == before && errno == 0, "EINVAL");
	must(posix_memalign(&p, 16, SIZE_MAX - 64) == ENOMEM && p == before,
	     "posix ENOMEM");
	errno = 0;
	must(!malloc(much * 2) && errno == ENOMEM, "malloc ENOMEM");
	errno = 0;
	must(!calloc(much, 3) && errno == ENOMEM, "calloc ENOMEM");
	errno = 0;
	must(!reallocarray(NULL, much, 3) && errno == ENOMEM, "reallocarray ENOMEM");
	p = malloc(40);
	must(p && malloc_usable_size(p) >= 40, "malloc");
	memset(p, 7, 40);
	errno = 0;
	must(!realloc(p, much * 2) && errno == ENOMEM && ((char *)p)[39] == 7,
	     "realloc ENOMEM");
	errno = 5;
	free(p);
	must(errno == 5, "free keeps errno");
	p = malloc(0);
	must(p != NULL, "malloc(0)");
	must(realloc(p, 0) == NULL, "realloc(p, 0)");
	p = realloc(NULL, 0);
	must(p != NULL, "realloc(NULL, 0)");
	free(p);
	p = calloc(0, 8);
	must(p != NULL, "calloc(0, n)");
	free(p);
	p = memalign(4096, 1);
	must(p && (uintptr_t)p % 4096 == 0, "memalign");
	free(p);
	p = calloc(1, 1 << 20);
	must(p && ((char *)p)[(1 << 20) - 1] == 0, "calloc is 0");
	free(p);
	say("failed", 6);
	say("blocks", 0);
}

static void *work(void *argument)
{
	pairs((int)(intptr_t)argument, 64);
	return NULL;
}

static void threads(int count, int each)
{
	pthread_t ids[64];

	for (int i = 0; i < count; i++)
		must(pthread_create(&ids[i], NULL, work,
				    (void *)(intptr_t)(each * (i + 1))) == 0,
		     "pthread_create");
	for (int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < count; i++)
		say("thread_malloc", (uint64_t)each * (unsigned int)(i + 1));
}

/* Run threads one after the other, more than there are slots for. */
static void churn(int count)
{
	for (int i = 0; i < count; i++) {
		pthread_t id;

		must(pthread_create(&id, NULL, work, (void *)(intptr_t)3) == 0,
		     "pthread_create");
		pthread_join(id, NULL);
	}
	say("malloc", (uint64_t)count * 3);
	say("threads", (uint64_t)count + 1);
}

/* Allocate a known amount, free half of it, then allocate a little more. */
static void peak(void)
{
	void *blocks[1000];
	uint64_t bytes = 0;

	for (int i = 0; i < 1000; i++) {
		blocks[i] = call_malloc(200u + (unsigned int)i);
		bytes += malloc_usable_size(blocks[i]);
	}
	say("peak", bytes);
	for (int i = 0; i < 500; i++) {
		bytes -= malloc_usable_size(blocks[i]);
		call_free(blocks[i]);
	}
	for (int i = 0; i < 3; i++) {
		blocks[i] = call_malloc(50);
		bytes += malloc_usable_size(blocks[i]);
	}
	say("bytes", bytes);
	say("blocks", 503);
}

static void wait_for(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		     WEXITSTATUS(status) == 0,
	     "the child");
}

/* The child frees some of its parent's blocks, and so does the grandchild. */
static void forks(void)
{
	void *blocks[10];
	pid_t pid;

	for (int i = 0; i < 10; i++)
		blocks[i] = call_malloc(100);
	say("pid", (uint64_t)getpid());
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 4; i++)
			call_free(blocks[i]);
		pairs(7, 32);
		pid = fork();
		if (pid == 0) {
			pairs(5, 32);
			_exit(0);
		}
		say("grandchild", (uint64_t)pid);
		wait_for(pid);
		_exit(0);
	}
	say("child", (uint64_t)pid);
	wait_for(pid);
	pairs(3, 32);
}

struct storm {
	int count;
	uint64_t malloc_count; /* calls made by this thread in this process */
};

static pid_t make_vforked(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static pid_t make_forked(int count)
{
	pid_t pid = fork();

	if (pid == 0) {
		pairs(count, 32);
		_exit(0);
	}
	return pid;
}

/* Fork while other threads allocate, alternately with fork and vfork. */
static void *fork_storm(void *argument)
{
	struct storm *storm = argument;

	for (int i = 0; i < storm->count; i++) {
		pid_t pid;

		pairs(i % 7, 64);
		storm->malloc_count += (unsigned int)(i % 7);
		pid = i % 3 == 2 ? make_vforked() : make_forked(1000 + i);
		must(pid > 0, "fork");
		wait_for(pid);
	}
	return NULL;
}

static void storms(int count)
{
	struct storm storms[4];
	pthread_t ids[4];
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++) {
		storms[i] = (struct storm){ count, 0 };
		must(pthread_create(&ids[i], NULL, fork_storm, &storms[i]) == 0,
		     "pthread_create");
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(ids[i], NULL);
		sum += storms[i].malloc_count;
	}
	say("pid", (uint64_t)getpid());
	say("malloc", sum);
	for (int i = 0; i < count; i++)
		if (i % 3 != 2)
			say("child_malloc", 1000 + (uint64_t)i);
}

/*
 * A signal handler that allocates. Signals are blocked inside malloc's functions, where
 * a handler must not allocate.
 */
static volatile uint64_t handler_count;

static void on_timer(int number)
{
	(void)number;
	pairs(3, 40);
	handler_count++;
}

static void timers(int count)
{
	const struct itimerval soon = { { 0, 200 }, { 0, 200 } },
			       never = { { 0, 0 }, { 0, 0 } };
	sigset_t alarm;
	uint64_t sum = 0;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (handler_count < (uint64_t)count) {
		sigprocmask(SIG_BLOCK, &alarm, NULL);
		pairs(10, 24);
		sum += 10;
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	say("malloc", sum + 3 * handler_count);
}

/*
 * Start a program as posix_spawn() does: with vfork(), so that the child's calls before
 * exec use its parent's memory.
 */
static void spawn(char *self)
{
	char *arguments[] = { self, (char *)(uintptr_t) "pairs", (char *)(uintptr_t) "11",
			      NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		pairs(2, 16);
		execv(self, arguments);
		_exit(99);
	}
	say("vforked", (uint64_t)pid);
	wait_for(pid);
	must(posix_spawn(&pid, self, NULL, NULL, arguments, environ) == 0, "posix_spawn");
	say("spawned", (uint64_t)pid);
	wait_for(pid);
}

static void on_signal(int number)
{
	(void)number;
	pairs(1, 24);
}

static void signals(void)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		pairs(1, 48);
	}
	say("malloc", 100);
}

static void on_exit_of_thread(void *argument)
{
	(void)argument;
	pairs(5, 64);
}

/* Allocate in a destructor of a thread, and in the program's atexit() handler. */
static void late(void)
{
	pthread_key_t key;
	pthread_t id;

	pthread_key_create(&key, on_exit_of_thread);
	must(pthread_create(&id, NULL, work, (void *)(intptr_t)4) == 0, "pthread_create");
	pthread_join(id, NULL);
	pthread_setspecific(key, &key);
	on_exit_of_thread(NULL);
	say("malloc", 9);
}

static __attribute__((constructor)) void early(void)
{
	if (getenv("COUNT_TARGET_EARLY"))
		pairs(1000, 16);
}

static __attribute__((destructor)) void at_end(void)
{
	if (getenv("COUNT_TARGET_EARLY"))
		pairs(500, 16);
}

/*
 * Load a module, and look up a missing symbol, for which the loader allocates a message.
 */
static void modules(void)
{
	void *module = dlopen("libm.so.6", RTLD_NOW);

	must(module != NULL, "dlopen");
	must(!dlsym(module, "no_such_symbol") && dlerror() != NULL, "dlsym");
	dlclose(module);
	pairs(10, 16);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(what, "functions") == 0)
		functions();
	else if (strcmp(what, "corners") == 0)
		corners();
	else if (strcmp(what, "pairs") == 0)
		pairs(number, 16);
	else if (strcmp(what, "threads") == 0)
		threads(number, 1000);
	else if (strcmp(what, "churn") == 0)
		churn(number);
	else if (strcmp(what, "peak") == 0)
		peak();
	else if (strcmp(what, "forks") == 0)
		forks();
	else if (strcmp(what, "spawn") == 0)
		spawn(argv[0]);
	else if (strcmp(what, "storms") == 0)
		storms(number);
	else if (strcmp(what, "timers") == 0)
		timers(number);
	else if (strcmp(what, "signals") == 0)
		signals();
	else if (strcmp(what, "late") == 0)
		late();
	else if (strcmp(what, "modules") == 0)
		modules();
	else if (strcmp(what, "crash") == 0) {
		pairs(number, 16);
		raise(number % 2 ? SIGKILL : SIGSEGV);
	} else if (strcmp(what, "status") == 0) {
		return number;
	} else if (strcmp(what, "loop") == 0) {
		for (;;)
			pairs(1000, 16);
	} else {
		return 99;
	}
	return 0;
}
