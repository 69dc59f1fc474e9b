/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uprobe_target - a process whose numbers of calls of the malloc functions are known, for
 * breakpoints on these functions. This includes calls that the allocator makes to itself.
 *
 * Prints "ready". It then obeys the letters on its standard input. For each letter it
 * prints its calls as "FUNCTION NUMBER", and "done":
 *
 *   w   call all functions, on each path on which glibc's call each other
 *   p   100000 pairs of malloc and free
 *   n   7 direct calls of free with NULL, and 2 with a block
 *   t   20 threads, one after the other, which do what w does, and leave blocks
 *       in the thread's cache
 *   f   a child that calls 1000 times and starts a thread; "fork" and "thread" are
 *       the errors
 *   x   execute itself again
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static void *(*volatile call_malloc)(size_t) = malloc;
static void (*volatile call_free)(void *) = free;
static void *volatile kept;
static volatile size_t nothing;

enum {
	PAIRS = 100000,
	THREADS = 20,
	CHILD_PAIRS = 1000,
	ROUNDS = 10
};

static void pairs(int count)
{
	for (int i = 0; i < count; i++)
		call_free(call_malloc(64));
}

/*
 * Makes 2 calls of malloc, 1 of calloc, 6 of realloc, 1 of reallocarray, 2 each of
 * posix_memalign and aligned_alloc, 1 each of valloc and pvalloc, and 10 of free.
 */
static void work_once(void)
{
	void *p;

	kept = call_malloc(10);
	kept = realloc(kept, 100);     /* moves the block */
	kept = realloc(kept, nothing); /* frees the block */
	p = realloc(NULL, 100);	       /* acts like malloc */
	p = realloc(p, 400000);	       /* large enough to be mmapped */
	p = realloc(p, 800000);
	kept = realloc(p, 50);
	call_free(kept);
	kept = reallocarray(NULL, 10, 10);
	call_free(kept);
	kept = calloc(10, 10);
	call_free(kept);
	if (posix_memalign(&p, 8, 80) != 0) /* malloc's own alignment is enough */
		_exit(99);
	call_free(p);
	if (posix_memalign(&p, 4096, 80) != 0)
		_exit(99);
	call_free(p);
	kept = aligned_alloc(8, 80);
	call_free(kept);
	kept = aligned_alloc(64, 128);
	call_free(kept);
	kept = valloc(80);
	call_free(kept);
	kept = pvalloc(80);
	call_free(kept);
	kept = call_malloc((size_t)-1); /* too large: fails */
	call_free(NULL);
}

enum {
	BYTES_ONCE = 10 + 100 + 100 + 400000 + 800000 + 50 + 100 + 100 + 2 * 80 + 80 +
		     128 + 2 * 80
};

static void work(void)
{
	for (int i = 0; i < ROUNDS; i++)
		work_once();
}

static void say_work(int times)
{
	uint64_t n = (uint64_t)ROUNDS * (unsigned int)times;

	say("malloc", 2 * n);
	say("free", 10 * n);
	say("free_null", n);
	say("calloc", n);
	say("realloc", 6 * n);
	say("reallocarray", n);
	say("posix_memalign", 2 * n);
	say("aligned_alloc", 2 * n);
	say("valloc", n);
	say("pvalloc", n);
	say("bytes", BYTES_ONCE * n);
}

static void *live(void *unused)
{
	work();
	return unused;
}

static int run_thread(void)
{
	pthread_t thread;
	int r = pthread_create(&thread, NULL, live, NULL);

	return r != 0 ? r : pthread_join(thread, NULL);
}

static void run_threads(void)
{
	for (int i = 0; i < THREADS; i++)
		if (run_thread() != 0)
			_exit(99);
	say_work(THREADS);
}

static void run_child(void)
{
	pid_t child = fork();
	int error = child < 0 ? errno : 0;

	if (child == 0) {
		pairs(CHILD_PAIRS);
		_exit(run_thread());
	}
	if (child > 0 && waitpid(child, NULL, 0) != child)
		_exit(99);
	say("fork", (uint64_t)error);
	say("thread", (uint64_t)run_thread());
	say_work(1);
}

static void free_directly(void)
{
	for (int i = 0; i < 7; i++)
		free(NULL);
	for (int i = 0; i < 2; i++) {
		kept = malloc(10);
		free(kept);
	}
}

int main(int argc, char **argv)
{
	char letter;

	(void)argc;
	/* the first call makes malloc initialize itself */
	pairs(1);
	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'w') {
			work();
			say_work(1);
		} else if (letter == 'n') {
			free_directly();
			say("malloc", 2);
			say("free", 9);
			say("free_null", 7);
		} else if (letter == 'p') {
			pairs(PAIRS);
			say("malloc", PAIRS);
			say("free", PAIRS);
		} else if (letter == 't') {
			run_threads();
		} else if (letter == 'f') {
			run_child();
		} else if (letter == 'x') {
			execv("/proc/self/exe", argv);
			_exit(99);
		}
		say_word("done");
	}
	return 0;
}
