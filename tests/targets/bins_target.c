/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bins_target - a free chunk in each kind of list that glibc's malloc
 * has, for tests to compare with.
 *
 * Prints the chunks' addresses as lines of "key value": "cache48" and "cache208" in a
 * thread's cache, named after their size, "small" (208 bytes), "large", "unsorted", and
 * "fast" (48 bytes). "fast" is in the unsorted bin if this malloc has no fastbins.
 * "fast_bytes" is malloc's own figure for its fastbins. Then the target prints its "pid"
 * and "ready". It waits for the end of its input, for at most five minutes. Exit status 77:
 * not possible on this system.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "say.h"

#if defined(__GLIBC__) && defined(__x86_64__)

#	define CACHE_SLOTS 7

static void *take(size_t size)
{
	void *volatile p = malloc(size);

	if (!p)
		_exit(99);
	memset(p, 0x11, size);
	return p;
}

/*
 * Allocate a block, and another one after it so that the first cannot
 * be merged when it is freed.
 */
static void *take_apart(size_t size)
{
	void *p = take(size);

	take(24);
	return p;
}

/*
 * One block more than a thread's cache has room for: when all are
 * freed, the last goes elsewhere.
 */
struct row {
	void *blocks[CACHE_SLOTS + 1];
};

static void take_row(struct row *row, size_t size)
{
	for (size_t i = 0; i <= CACHE_SLOTS; i++)
		row->blocks[i] = take_apart(size);
}

static void free_row(struct row *row)
{
	for (size_t i = 0; i <= CACHE_SLOTS; i++)
		free(row->blocks[i]);
}

static uint64_t ask_fast_bytes(void)
{
#	if __GLIBC_PREREQ(2, 33)
	return mallinfo2().fsmblks;
#	else
	return (uint64_t)mallinfo().fsmblks;
#	endif
}

static void make(void)
{
	struct row tiny, small;
	void *large, *unsorted;

	take_row(&tiny, 40);
	take_row(&small, 200);
	large = take_apart(2000);
	unsorted = take_apart(3000);
	say("cache48", (uintptr_t)tiny.blocks[0]);
	say("cache208", (uintptr_t)small.blocks[0]);
	say("small", (uintptr_t)small.blocks[CACHE_SLOTS]);
	say("large", (uintptr_t)large);
	say("unsorted", (uintptr_t)unsorted);
	say("fast", (uintptr_t)tiny.blocks[CACHE_SLOTS]);
	free_row(&small);
	free(large);
	take(4000); /* an allocation of this size makes malloc sort the unsorted bin */
	free_row(&tiny);
	free(unsorted);
	say("fast_bytes", ask_fast_bytes());
}

int main(void)
{
	char byte;

	alarm(300);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make();
	say("pid", (uint64_t)getpid());
	say_word("ready");
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	return 0;
}

#else

int main(void)
{
	fprintf(stderr, "this is about glibc on x86-64\n");
	return 77;
}

#endif
