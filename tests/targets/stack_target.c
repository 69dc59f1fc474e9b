/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_target MODE [NUMBER] - allocate from known functions, in known numbers and sizes
 * and in all kinds of places. Prints "NAME CALLS BYTES" for each function.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static long number = 1000;
/* of each thread, because the functions below return its value */
static __thread void *volatile sink;

static void say(const char *name, long calls, long bytes)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %ld %ld\n", name, calls, bytes);

	if (n < 0 || write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

NOINLINE static void *leaf_one(size_t bytes)
{
	sink = malloc(bytes);
	return sink;
}

NOINLINE static void *leaf_two(size_t bytes)
{
	sink = calloc(1, bytes);
	return sink;
}

NOINLINE static void *leaf_grow(void *p, size_t bytes)
{
	sink = realloc(p, bytes);
	return sink;
}

NOINLINE static void *leaf_aligned(size_t bytes)
{
	void *p = NULL;

	if (posix_memalign(&p, 256, bytes) != 0)
		abort();
	sink = p;
	return p;
}

NOINLINE static void leaf_free(void *p)
{
	free(p);
	sink = NULL;
}

/* Frames of all kinds: addressed through rbp, with a realigned stack, very large. */
NOINLINE static void through_variable(int n, void (*call)(void))
{
	volatile char room[n * 16 + 1];

	room[0] = 1;
	call();
	room[n] = room[0];
}

NOINLINE static void through_aligned(void (*call)(void))
{
	volatile char room[256] __attribute__((aligned(128)));

	room[0] = 1;
	call();
	room[255] = room[0];
}

NOINLINE static void through_large(void (*call)(void))
{
	volatile char room[100000];

	room[0] = 1;
	call();
	room[99999] = room[0];
}

NOINLINE static void keep_and_drop(void)
{
	for (long i = 0; i < number; i++) {
		void *kept = leaf_one(100);

		leaf_free(leaf_two(50));
		if (i % 2)
			leaf_free(kept);
	}
}

static void run_known(void)
{
	void *p = NULL;

	through_variable(7, keep_and_drop);
	through_aligned(keep_and_drop);
	through_large(keep_and_drop);
	for (long i = 1; i <= number; i++)
		p = leaf_grow(p, (size_t)i * 8);
	leaf_free(p);
	for (long i = 0; i < number; i++)
		leaf_free(leaf_aligned(512));
	say("leaf_one", 3 * number, 300 * number);
	say("leaf_two", 3 * number, 150 * number);
	say("leaf_grow", number, 4 * number * (number + 1));
	say("leaf_aligned", number, 512 * number);
	say("live_leaf_one", 3 * (number - number / 2), 300 * (number - number / 2));
}

/*
 * Allocate up to a height, free everything, and allocate up to a lower height again. Both
 * functions contribute to the peak.
 */
static void run_peak(void)
{
	void *one[64], *two[64];

	for (int round = 0; round < 3; round++) {
		int high = round == 1 ? 64 : 40;

		for (int i = 0; i < high; i++) {
			one[i] = leaf_one(1000);
			two[i] = leaf_two(i % 2 ? 3000 : 10);
		}
		for (int i = 0; i < high; i++) {
			leaf_free(one[i]);
			leaf_free(two[i]);
		}
	}
	say("peak_leaf_one", 0, 64 * 1000);
	say("peak_leaf_two", 0, 32 * 3010);
}

static void *do_little(void *unused)
{
	void *p = leaf_one(24);

	(void)unused;
	leaf_free(leaf_two(40));
	leaf_free(p);
	return NULL;
}

static void run_threads(void)
{
	for (long i = 0; i < number; i++) {
		pthread_t threads[4];
		int count = i % 10 ? 1 : 4;

		for (int k = 0; k < count; k++)
			if (pthread_create(&threads[k], NULL, do_little, NULL) != 0)
				abort();
		for (int k = 0; k < count; k++)
			pthread_join(threads[k], NULL);
		i += count - 1;
		if (i >= number)
			number = i + 1;
	}
	say("leaf_one", number, 24 * number);
	say("leaf_two", number, 40 * number);
}

static void *volatile handed[1024];

/* One thread allocates, another one frees. */
static void *take_back(void *unused)
{
	(void)unused;
	for (long i = 0; i < number; i++) {
		void *p;

		while (!(p = handed[i % 1024]))
			sched_yield();
		handed[i % 1024] = NULL;
		leaf_free(p);
	}
	return NULL;
}

static void run_hand_over(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_back, NULL) != 0)
		abort();
	for (long i = 0; i < number; i++) {
		while (handed[i % 1024])
			sched_yield();
		handed[i % 1024] = leaf_one(64);
	}
	pthread_join(thread, NULL);
	say("leaf_one", number, 64 * number);
	say("live_leaf_one", 0, 0);
}

static volatile long handled;

static void handle(int unused)
{
	(void)unused;
	leaf_free(leaf_two(32));
	handled++;
}

NOINLINE static void be_interrupted(void)
{
	for (long i = 0; i < number; i++)
		raise(SIGUSR1);
}

static void run_signals(void)
{
	struct sigaction action = { .sa_handler = handle };
	stack_t alternative = { .ss_size = 65536,
				.ss_sp = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };

	sigaction(SIGUSR1, &action, NULL);
	be_interrupted();
	sigaltstack(&alternative, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	be_interrupted();
	say("leaf_two", handled, 32 * handled);
	say("be_interrupted", handled, 32 * handled);
}

/* Signals arrive at any time, and their handlers allocate although they should not. */
static void run_storm(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		abort();
	timer_settime(timer, 0, &often, NULL);
	for (long i = 0; i < number; i++) {
		volatile double x = 1;

		for (int k = 0; k < 2000; k++)
			x = x * 1.01 + (double)k;
	}
	timer_delete(timer);
	say("leaf_two", handled, 32 * handled);
}

static void run_fork(void)
{
	void *held[10];
	pid_t child;

	for (int i = 0; i < 10; i++)
		held[i] = leaf_one(1000);
	child = fork();
	if (child == 0) {
		leaf_free(held[0]);
		for (long i = 0; i < number; i++)
			leaf_free(leaf_two(70));
		_exit(0);
	}
	for (long i = 0; i < number; i++)
		leaf_free(leaf_aligned(256));
	waitpid(child, NULL, 0);
	say("child", child, 0);
	say("leaf_one", 10, 10000);
	say("leaf_two", number, 70 * number);
	say("leaf_aligned", number, 256 * number);
}

static void run_spawn(void)
{
	char name[] = "true", *arguments[] = { name, NULL };

	for (volatile long i = 0; i < number; i++) {
		pid_t child;

		leaf_free(leaf_one(16));
		if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0)
			waitpid(child, NULL, 0);
		child = vfork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	say("leaf_one", number, 16 * number);
}

static ucontext_t outside, inside;

NOINLINE static void in_context(void)
{
	for (long i = 0; i < number; i++) {
		leaf_free(leaf_one(48));
		swapcontext(&inside, &outside);
	}
}

static void run_contexts(void)
{
	for (volatile int round = 0; round < 3; round++) {
		/*
		 * a different address each time, with no mapping above it,
		 * and unmapped afterwards
		 */
		char *room = mmap(NULL, 3 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		mprotect(room + 65536, 65536, PROT_READ | PROT_WRITE);
		getcontext(&inside);
		inside.uc_stack.ss_sp = room + 65536;
		inside.uc_stack.ss_size = 65536;
		inside.uc_link = &outside;
		makecontext(&inside, in_context, 0);
		for (long i = 0; i <= number; i++) {
			swapcontext(&outside, &inside);
			leaf_free(leaf_two(80));
		}
		munmap(room, 3 * 65536);
	}
	say("leaf_one", 3 * number, 3 * 48 * number);
	say("leaf_two", 3 * (number + 1), 3 * 80 * (number + 1));
}

NOINLINE static long go_deep(long depth)
{
	volatile char room[32];

	room[0] = 0;
	if (depth == 0)
		leaf_free(leaf_one(56));
	return depth == 0 ? room[0] : go_deep(depth - 1) + room[0];
}

static void run_deep(void)
{
	for (long depth = 1900; depth < 2200; depth += 10)
		go_deep(depth);
	for (long i = 0; i < number; i++)
		go_deep(20000);
	say("leaf_one", 30 + number, 56 * (30 + number));
}

NOINLINE static void call_back(void)
{
	leaf_free(leaf_one(72));
}

/* Code without unwind tables, as JIT compilers make it: calls the function in rdi. */
static void run_made_code(void)
{
	static const unsigned char code[] = { 0x53, 0xff, 0xd7, 0x5b, 0xc3 };
	void (*made)(void (*)(void));
	void *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	memcpy(room, code, sizeof(code));
	mprotect(room, 4096, PROT_READ | PROT_EXEC);
	memcpy(&made, &room, sizeof(made));
	for (long i = 0; i < number; i++)
		made(call_back);
	say("leaf_one", number, 72 * number);
	say("cut", number, 72 * number);
}

static void run_modules(void)
{
	const char *paths[] = { getenv("STACK_PLUGIN"), getenv("STACK_PLUGIN_OTHER") };

	for (long i = 0; i < number; i++) {
		void *module = dlopen(paths[i % 2], RTLD_NOW);
		void (*call)(void (*)(void));
		void *function = module ? dlsym(module, "plugin_call") : NULL;

		if (!function)
			abort();
		memcpy(&call, &function, sizeof(call));
		call(call_back);
		dlclose(module);
	}
	say("leaf_one", number, 72 * number);
	say("plugin_call", number, 72 * number);
}

static void run_killed(void)
{
	for (long i = 0; i < number; i++)
		leaf_one(88);
	say("leaf_one", number, 88 * number);
	raise(SIGKILL);
}

/* Many stacks, one after the other, so that the file grows. */
NOINLINE static void branch(long bits, int depth)
{
	if (depth == 0) {
		leaf_free(leaf_one(8));
	} else if (bits & 1) {
		/* keeps compilers from merging the two calls */
		__asm__ volatile("nop");
		branch(bits >> 1, depth - 1);
		sink = NULL;
	} else {
		branch(bits >> 1, depth - 1);
		sink = &number;
	}
}

static void run_many(void)
{
	for (long i = 0; i < number; i++)
		branch(i * 2654435761 >> 4, 24);
	say("leaf_one", number, 8 * number);
}

/* Sizes from small to large, for estimates. */
static void run_sizes(void)
{
	long bytes = 0, others = 0;

	for (long i = 0; i < number; i++) {
		long size = 1 + i * 7919 % 3000;

		leaf_free(leaf_one((size_t)size));
		bytes += size;
		if (i % 100 == 0) {
			leaf_two(100000);
			others++;
		}
	}
	say("leaf_one", number, bytes);
	say("leaf_two", others, others * 100000);
	say("live_leaf_two", others, others * 100000);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "known", run_known },		{ "peak", run_peak },
	{ "threads", run_threads },	{ "hand-over", run_hand_over },
	{ "signals", run_signals },	{ "storm", run_storm },
	{ "fork", run_fork },		{ "spawn", run_spawn },
	{ "contexts", run_contexts },	{ "deep", run_deep },
	{ "made-code", run_made_code }, { "modules", run_modules },
	{ "killed", run_killed },	{ "many", run_many },
	{ "sizes", run_sizes },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		number = strtol(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		modes[i].run();
		return 0;
	}
	fputs("usage: stack_target MODE [NUMBER]\n", stderr);
	return 2;
}
