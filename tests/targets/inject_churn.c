/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that allocate, wait, or count. */
#include "config.h"

#include "inject_target.h"

#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

enum {
	BLOCKS = 512
};

struct block {
	unsigned char *p;
	size_t size;
};

/*
 * Free the block after checking its marks, or allocate one of some size if it is free.
 */
static void replace(struct block *block, uint64_t random, unsigned char mark)
{
	if (block->p) {
		const unsigned char *p = block->p;

		if (p[0] != mark || p[block->size / 2] != mark ||
		    p[block->size - 1] != mark)
			__atomic_fetch_add(&shown->wrong, 1, __ATOMIC_RELAXED);
		free(block->p);
		block->p = NULL;
		return;
	}
	block->size = 16 + (random >> 20) % (random >> 60 ? 2000 : 140000);
	block->p = malloc(block->size);
	if (!block->p)
		failed("malloc");
	memset(block->p, mark, block->size < 64 ? block->size : 64);
	block->p[block->size / 2] = mark;
	block->p[block->size - 1] = mark;
}

static unsigned int pause_us; /* between rounds; 0: no pause */

enum {
	ROUND = 256
};

static void *churn(void *arg)
{
	unsigned long id = (uintptr_t)arg;
	uint64_t x = 88172645463325252U + id * 7919;
	struct block blocks[BLOCKS] = { 0 };

	for (;;) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		replace(&blocks[x % BLOCKS], x, (unsigned char)(x % BLOCKS ^ id));
		count_one(id);
		if (pause_us && shown->counters[id][0] % ROUND == 0)
			usleep(pause_us);
	}
	return NULL;
}

/*
 * ARGUMENT: "N", or "N:MICROSECONDS" for threads that pause and leave CPU time to others.
 */
void churn_run(const char *argument)
{
	char *end;
	unsigned long count = strtoul(argument, &end, 10);

	pause_us = *end == ':' ? (unsigned int)number_of(end + 1) : 0;
	if (!count || count > COUNTERS_MAX)
		failed(argument);
	shown->counter_count = count;
	for (unsigned long i = 1; i < count; i++)
		start_thread(churn, (void *)(uintptr_t)i);
	target_is_ready();
	churn(NULL);
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		poll(NULL, 0, -1);
	return unused;
}

static void say_own_state(void)
{
	struct stat place;
	sigset_t mask;
	stack_t stack;
	mode_t old = umask(0);

	umask(old);
	sigaltstack(NULL, &stack);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (stat(".", &place))
		failed("stat");
	say("stack_addr", (uintptr_t)stack.ss_sp);
	say("stack_size", stack.ss_size);
	say("stack_flags", (uint64_t)stack.ss_flags);
	say("place", place.st_ino);
	say("umask", old);
	say("blocks_usr2", (uint64_t)sigismember(&mask, SIGUSR2));
	say("blocks_usr1", (uint64_t)sigismember(&mask, SIGUSR1));
}

/*
 * Print, at any letter, the part of the process's state that is invisible from outside.
 */
void still_run(const char *argument)
{
	static char stack_memory[65536];
	stack_t stack = { .ss_sp = stack_memory, .ss_size = sizeof(stack_memory) };
	unsigned long count = number_of(argument);
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
	sigset_t mask;
	char letter;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (sigaltstack(&stack, NULL))
		failed("sigaltstack");
	have_heap();
	for (unsigned long i = 0; i < count; i++)
		start_thread(wait_for_ever, NULL);
	target_is_ready();
	/* wait in poll(), like a server: no allocator ever calls it */
	while (poll(&input, 1, -1) == 1 && read(STDIN_FILENO, &letter, 1) == 1) {
		say_own_state();
		say_word("done");
	}
}

void spin_run(const char *argument)
{
	(void)argument;
	have_heap();
	shown->counter_count = 1;
	target_is_ready();
	for (;;)
		count_one(0);
}

static void *time_allocations(void *unused)
{
	for (;;) {
		uint64_t start = now_ns();
		void *volatile p = malloc(2000); /* too large for the thread's cache */
		uint64_t took = now_ns() - start;

		free(p);
		if (took > __atomic_load_n(&shown->worst_ns, __ATOMIC_RELAXED))
			__atomic_store_n(&shown->worst_ns, took, __ATOMIC_RELAXED);
		count_one(0);
		usleep(100);
	}
	return unused;
}

/*
 * Use one arena in which every second block is free, without free neighbours.
 * The main thread then waits.
 */
void chunks_run(const char *argument)
{
	unsigned long count = number_of(argument);
	void **blocks = calloc(2 * count, sizeof(*blocks));

	if (!blocks)
		failed("calloc");
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MXFAST, 0);
	for (unsigned long i = 0; i < 2 * count; i++)
		blocks[i] = malloc(24);
	for (unsigned long i = 0; i < 2 * count; i += 2)
		free(blocks[i]);
	shown->counter_count = 1;
	start_thread(time_allocations, NULL);
	target_is_ready();
	wait_for_ever(NULL);
}
