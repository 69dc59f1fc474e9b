/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_made KIND MIB BLOCKS - a process with a heap of about
 * this size and number of chunks.
 *
 * KIND blocks: random sizes, a third of them freed in random order. KIND list: one list
 * that starts in a global variable; successive nodes are far apart. Prints "ready" and
 * waits until its parent ends.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"

#define HEAD_BYTES 8

struct node {
	struct node *next;
};

/* All allocated blocks are reachable from here. */
static void **blocks;
static struct node *volatile list;

static uint64_t next_random(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/* Allocate a table outside of malloc's heap, which is to contain blocks only. */
static void **make_table(size_t count)
{
	void *at = mmap(NULL, count * sizeof(void *), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		bench_die("mmap");
	return at;
}

static void allocate(size_t count, size_t min, size_t spread)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = min + (spread ? next_random() % spread : 0);

		blocks[i] = malloc(size);
		if (!blocks[i])
			bench_die("malloc");
		memset(blocks[i], 0x11, size);
	}
}

static void shuffle(size_t count)
{
	for (size_t i = count - 1; i > 0; i--) {
		size_t k = next_random() % (i + 1);
		void *block = blocks[i];

		blocks[i] = blocks[k];
		blocks[k] = block;
	}
}

static void make_blocks(size_t count, size_t each)
{
	allocate(count, each / 4, each * 3 / 2);
	for (size_t freed = 0; freed < count / 3;) {
		size_t i = next_random() % count;

		freed += blocks[i] != NULL;
		free(blocks[i]);
		blocks[i] = NULL;
	}
	/*
	 * a large request makes malloc sort the freed chunks into the bins of their sizes
	 */
	blocks[0] = realloc(blocks[0], 100000);
}

static void make_list(size_t count, size_t each)
{
	allocate(count, each, 0);
	shuffle(count);
	for (size_t i = 0; i < count; i++) {
		struct node *node = blocks[i];

		node->next = list;
		list = node;
	}
	munmap(blocks, count * sizeof(void *));
}

int main(int argc, char **argv)
{
	size_t count, each;

	if (argc != 4) {
		fputs("usage: heap_made blocks|list MIB BLOCKS\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	count = bench_number(argv[3]);
	each = (bench_number(argv[2]) << 20) / count - HEAD_BYTES;
	blocks = make_table(count);
	if (strcmp(argv[1], "list") == 0)
		make_list(count, each);
	else
		make_blocks(count, each);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
