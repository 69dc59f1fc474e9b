/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose memory need grows over time, or not, with any malloc:
 *
 *   growth_target leak|warm-up|teeth|leaking-teeth|kept
 *
 * The amounts depend on the clock, so on a busy machine the same amounts are reached
 * at slightly different times. leak: 4 MiB are lost each second. warm-up: the program
 * approaches 32 MiB, by two thirds of the remainder each second. teeth: 8 MiB fill up
 * and are freed three times a second. leaking-teeth: both leak and teeth. kept:
 * blocks grow by 4 MiB each second, but are freed as soon as they are written, and
 * malloc keeps the memory. The program prints "ready", starts when it has read a
 * byte, and ends with its input.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

#define BASE (8 * MIB)
#define LEAK_PER_S (4.0 * (double)MIB)
#define WARM (32.0 * (double)MIB)
#define WARM_PER_S (2.0 / 3)
#define TOOTH (8.0 * (double)MIB)
#define TEETH_PER_S 3.0
#define WARM_TEETH 10
#define STEP_MS 5
#define BLOCK_MAX (16 * KIB)
#define TOP_BLOCK (64 * KIB)
#define BLOCK_COUNT 16384

/* Blocks in use; the last one is freed first. */
struct pile {
	void *blocks[BLOCK_COUNT];
	size_t sizes[BLOCK_COUNT];
	size_t count, bytes;
};

static struct pile kept, tooth;

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Return a size for block `number`, always the same for the same number. */
static size_t size_of(size_t number)
{
	return 16 + ((unsigned int)number * 2654435761u >> 8) % BLOCK_MAX;
}

static void make_it(struct pile *pile, double bytes)
{
	while (pile->bytes < (size_t)bytes && pile->count < BLOCK_COUNT) {
		size_t size = size_of(pile->count);

		pile->blocks[pile->count] = malloc(size);
		memset(pile->blocks[pile->count], 1, size);
		pile->sizes[pile->count++] = size;
		pile->bytes += size;
	}
	while (pile->bytes > (size_t)bytes + BLOCK_MAX) {
		free(pile->blocks[--pile->count]);
		pile->bytes -= pile->sizes[pile->count];
	}
}

/* Make malloc mmap no block, and return no memory to the kernel. */
static int keep_all(void)
{
#ifdef M_TRIM_THRESHOLD
	return mallopt(M_MMAP_THRESHOLD, 32 << 20) && mallopt(M_TRIM_THRESHOLD, INT_MAX)
		       ? 0
		       : -1;
#else
	return -1;
#endif
}

/* Allocate all memory, then free all of it, so that it remains in the top chunk. */
static void make_top(double bytes)
{
	static size_t written_count;
	size_t count = (size_t)bytes / TOP_BLOCK;
	void **blocks = tooth.blocks;

	if (count <= written_count || count > BLOCK_COUNT)
		return;
	for (size_t i = 0; i < count; i++) {
		blocks[i] = malloc(TOP_BLOCK);
		if (i >= written_count)
			memset(blocks[i], 1, TOP_BLOCK);
	}
	written_count = count;
	while (count > 0)
		free(blocks[--count]);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int leaks, warms, bites, keeps;
	double begin;

	if (argc != 2)
		return 2;
	leaks = strstr(argv[1], "leak") != NULL;
	warms = strcmp(argv[1], "warm-up") == 0;
	bites = strstr(argv[1], "teeth") != NULL;
	keeps = strcmp(argv[1], "kept") == 0;
	make_it(&kept, (double)BASE);
	/* warm up the caches that grow with the first teeth */
	for (int i = 0; bites && i < WARM_TEETH; i++) {
		make_it(&tooth, TOOTH);
		make_it(&tooth, 0);
	}
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 0;
	if (keeps && keep_all() < 0)
		return 77;
	begin = seconds_now();
	while (poll(&input, 1, STEP_MS) == 0) {
		double t = seconds_now() - begin;
		double phase = t * TEETH_PER_S - floor(t * TEETH_PER_S);

		make_it(&kept, (double)BASE + leaks * LEAK_PER_S * t +
				       warms * WARM * (1 - pow(1 - WARM_PER_S, t)));
		if (keeps)
			make_top(LEAK_PER_S * t);
		if (bites)
			make_it(&tooth, TOOTH * (phase < 0.8 ? phase : 0));
	}
	return 0;
}
