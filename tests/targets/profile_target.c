/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates from known stacks and prints them: each line is a stack starting with main,
 * its number of allocations, their bytes, and the blocks and bytes that are not freed.
 *
 * profile_target PLUGIN: also load a library that allocates.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_attribute(noclone)
#	define APART __attribute__((noinline, noclone))
#else
#	define APART __attribute__((noinline))
#endif

static int inner_line, outer_line;

static inline __attribute__((always_inline)) void *inner(size_t size)
{
	return inner_line = __LINE__, malloc(size);
}

static APART void *outer(size_t size)
{
	void *made = (outer_line = __LINE__, inner(size));

	memset(made, 1, size);
	return made;
}

static APART void keep(void)
{
	for (int i = 0; i < 10; i++)
		outer(100);
}

static APART void drop(void)
{
	for (int i = 0; i < 1000; i++)
		free(outer(24));
}

/* Has the name that a Swift function has in an object file. */
static APART void swift(void) __asm__("_$s4shop5shelfyyF");
static APART void swift(void)
{
	outer(50);
}

static void *volatile block;

static APART void descend(int depth)
{
	if (depth > 0)
		descend(depth - 1);
	else
		block = calloc(3, 5);
	free(block);
	block = NULL;
}

static void *thread(void *unused)
{
	(void)unused;
	keep();
	return NULL;
}

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*plug)(void (*)(void)) = NULL;
	pthread_t other;

	keep();
	drop();
	descend(3);
	swift();
	if (pthread_create(&other, NULL, thread, NULL) != 0 ||
	    pthread_join(other, NULL) != 0)
		return 1;
	if (plugin)
		*(void **)&plug = dlsym(plugin, "plug");
	if (plug)
		plug(keep);
	printf("stack main;keep;outer;inner 10 1000 10 1000\n"
	       "stack main;drop;outer;inner 1000 24000 0 0\n"
	       "stack main;descend;descend;descend;descend 1 15 0 0\n"
	       "stack thread;keep;outer;inner 10 1000 10 1000\n");
	if (plug)
		printf("stack main;plug;plugged 7 7000 7 7000\n"
		       "stack main;plug;keep;outer;inner 10 1000 10 1000\n");
	printf("line inner %d\nline outer %d\n", inner_line, outer_line);
	return 0;
}
