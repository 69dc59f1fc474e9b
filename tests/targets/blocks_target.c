/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks_target - a program whose blocks are known, for any malloc. The tests of musl
 * build it with musl-gcc, and others preload a malloc or link with it.
 *
 *     blocks_target blocks THREADS COUNT  allocate, free half, and print the other blocks
 *     blocks_target foreign COUNT BYTES   free a third of the blocks of another thread
 *     blocks_target leak COUNT BYTES      lose COUNT blocks, and keep as many
 *     blocks_target churn THREADS         allocate and free for at most a minute
 *
 * Prints "ADDRESS BYTES" for each block in use, as malloc_usable_size() reports it, then
 * "ready", and ends when its input ends.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS_MAX 16
#define CHURN_BLOCKS 512
#define CHURN_S 60

static unsigned int thread_count, block_count;
static void **blocks[THREADS_MAX]; /* not in malloc's memory */
static pthread_barrier_t barrier;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Sizes from 1 byte to 3 MiB, most of them small. */
static size_t choose_size(uint64_t *state)
{
	uint64_t kind = next_random(state) % 1000;

	if (kind < 5)
		return 300000 + next_random(state) % 3000000;
	if (kind < 100)
		return 1 + next_random(state) % 60000;
	return 1 + next_random(state) % 700;
}

static void *allocate(uint64_t *state)
{
	size_t bytes = choose_size(state), align = (size_t)16 << next_random(state) % 9;
	void *block = next_random(state) % 50 ? malloc(bytes) : NULL;

	if (!block && posix_memalign(&block, align, bytes))
		abort();
	memset(block, 0x5a, bytes);
	return block;
}

static void *work(void *argument)
{
	unsigned int number = (unsigned int)(uintptr_t)argument;
	uint64_t state = 88172645463325252u + number;
	void **own = blocks[number], **other = blocks[(number + 1) % thread_count];

	for (unsigned int i = 0; i < block_count; i++)
		own[i] = allocate(&state);
	pthread_barrier_wait(&barrier);
	/* another thread frees a third of the blocks, and realloc changes some */
	for (unsigned int i = 0; i < block_count; i++) {
		if (i % 3 == 0) {
			free(other[i]);
			other[i] = NULL;
		} else if (i % 7 == 0) {
			other[i] = realloc(other[i], choose_size(&state));
		}
	}
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < block_count; i++)
		if (next_random(&state) % 4 == 0) {
			free(own[i]);
			own[i] = NULL;
		}
	return NULL;
}

static void run_threads(void *(*run)(void *), unsigned int count, pthread_t *threads)
{
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i))
			abort();
}

static void **map_table(unsigned int count)
{
	void *table = mmap(NULL, (count + 1) * sizeof(void *), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED)
		abort();
	return table;
}

static void print_blocks(void)
{
	for (unsigned int t = 0; t < thread_count; t++)
		for (unsigned int i = 0; i < block_count; i++)
			if (blocks[t][i])
				printf("%lx %zu\n", (unsigned long)blocks[t][i],
				       malloc_usable_size(blocks[t][i]));
}

static void make_blocks(void)
{
	pthread_t threads[THREADS_MAX];

	for (unsigned int t = 0; t < thread_count; t++)
		blocks[t] = map_table(block_count);
	pthread_barrier_init(&barrier, NULL, thread_count);
	run_threads(work, thread_count, threads);
	for (unsigned int t = 0; t < thread_count; t++)
		pthread_join(threads[t], NULL);
	print_blocks();
}

static size_t foreign_bytes;

/* Allocate all blocks, and then keep the thread without using malloc again. */
static void *own_blocks(void *argument)
{
	for (unsigned int i = 0; i < block_count; i++) {
		blocks[0][i] = malloc(foreign_bytes);
		memset(blocks[0][i], 0x5a, foreign_bytes);
	}
	pthread_barrier_wait(&barrier);
	pause();
	return argument;
}

static void make_foreign(void)
{
	pthread_t thread;

	thread_count = 1;
	blocks[0] = map_table(block_count);
	pthread_barrier_init(&barrier, NULL, 2);
	run_threads(own_blocks, 1, &thread);
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < block_count; i += 3) {
		free(blocks[0][i]);
		blocks[0][i] = NULL;
	}
	print_blocks();
}

/* A frame of its own, so that main()'s has no copies of the pointers. */
static __attribute__((noinline)) void lose_blocks(size_t bytes)
{
	for (unsigned int i = 0; i < block_count; i++) {
		void *volatile lost = malloc(bytes);

		memset(lost, 0x5a, bytes);
		lost = NULL;
		blocks[0][i] = malloc(bytes);
		memset(blocks[0][i], 0x5a, bytes);
	}
}

static __attribute__((noinline)) void clear_stack(void)
{
	volatile char bytes[8192];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}

static void *churn(void *argument)
{
	uint64_t state = 362436069u + (uintptr_t)argument;
	void *own[CHURN_BLOCKS] = { 0 };

	for (;;) {
		size_t i = next_random(&state) % CHURN_BLOCKS;

		free(own[i]);
		own[i] = malloc(1 + next_random(&state) % 2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	unsigned int first = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	unsigned int second = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;

	if (argc < 3)
		return 2;
	alarm(CHURN_S);
	if (strcmp(argv[1], "leak") == 0) {
		thread_count = 1;
		block_count = first;
		blocks[0] = map_table(block_count);
		lose_blocks(second);
		clear_stack();
		print_blocks();
	} else if (strcmp(argv[1], "foreign") == 0) {
		block_count = first;
		foreign_bytes = second;
		make_foreign();
	} else if (first == 0 || first > THREADS_MAX) {
		return 2;
	} else if (strcmp(argv[1], "churn") == 0) {
		run_threads(churn, first, threads);
	} else {
		thread_count = first;
		block_count = second;
		make_blocks();
	}
	printf("ready\n");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	return 0;
}
