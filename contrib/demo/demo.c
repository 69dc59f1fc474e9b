/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memstate-demo [SECONDS]: a process with changing memory in all states.
 *
 * It has a live cache, a growing leak, a pool that is filled and freed, fragments between
 * live blocks, pages given back with MADV_FREE and MADV_DONTNEED, threads with deep
 * stacks, a mapped file and shared memory. It uses less than 300 MiB, and exits after
 * 600 seconds or when its parent exits.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024ul
#define MIB (1024 * KIB)

#define TICK_MS 250
#define SECONDS 600
#define SECONDS_MAX 600
#define CACHE_SIZE (24 * MIB)
#define LEAK_STEP (32 * KIB)
#define LEAK_MAX (64 * MIB)
#define LEAK_BLOCK 1000
#define POOL_BLOCK (24 * KIB)
#define POOL_COUNT 1024
#define POOL_STEP 32
#define SMALL_SIZE 400
#define SMALL_COUNT (24 * 1024)
#define SMALL_KEEP 8 /* one in this many small blocks stays */
#define LAZY_SIZE (32 * MIB)
#define LAZY_PERIOD 80
#define BARE_SIZE (32 * MIB)
#define BARE_PERIOD 120
#define RESERVED_SIZE (64 * MIB)
#define FILE_SIZE (12 * MIB)
#define FILE_WRITTEN (2 * MIB)
#define SHARED_SIZE (10 * MIB)
#define THREAD_COUNT 4
#define STACK_FRAME (8 * KIB)
#define STACK_DEPTH 160

static char *cache;
static char *pool[POOL_COUNT];
static size_t pool_count;
static size_t leaked_bytes;
static char *kept[SMALL_COUNT / SMALL_KEEP];
static void *pool_end; /* keeps free() from returning the pool at the end of the heap */
static char *lazy;
static char *bare;
static volatile unsigned int tick_count;

static _Noreturn void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static char *map_pages(size_t size, int protection, int flags, int fd)
{
	char *p = mmap(NULL, size, protection, flags, fd, 0);

	if (p == MAP_FAILED)
		fail("memstate-demo: mmap");
	return p;
}

static char *allocate(size_t size)
{
	char *p = malloc(size);

	if (!p)
		fail("memstate-demo: malloc");
	memset(p, 0x5a, size);
	return p;
}

/* Write to each page of a range. */
static void touch(char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 4 * KIB)
		((volatile char *)from)[i] = (char)i;
}

static void wait_tick(void)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&tick, NULL);
}

/* Return a size in whole pages, which once per period rises from 0 to size and falls. */
static size_t wave(size_t size, unsigned int period)
{
	unsigned int phase = tick_count % period;
	unsigned int height = phase < period / 2 ? phase : period - phase;

	return size / (4 * KIB) * height / (period / 2) * (4 * KIB);
}

/* Leak more blocks, up to LEAK_MAX in total. */
static void leak(void)
{
	if (leaked_bytes >= LEAK_MAX)
		return;
	for (size_t done = 0; done < LEAK_STEP; done += LEAK_BLOCK)
		(void)*(volatile char *)allocate(LEAK_BLOCK);
	leaked_bytes += LEAK_STEP;
}

/* Fill a pool step by step, then free all of it. The allocator keeps the memory. */
static void fill_pool(void)
{
	if (pool_count == POOL_COUNT) {
		while (pool_count > 0)
			free(pool[--pool_count]);
		return;
	}
	for (size_t i = 0; i < POOL_STEP && pool_count < POOL_COUNT; i++)
		pool[pool_count++] = allocate(POOL_BLOCK);
	if (!pool_end)
		pool_end = pool_count == POOL_COUNT ? allocate(KIB) : NULL;
}

/* Allocate many small blocks and free most of them: each page keeps a live block. */
static void make_fragments(void)
{
	char **all = calloc(SMALL_COUNT, sizeof(*all));

	if (!all)
		fail("memstate-demo: calloc");
	for (size_t i = 0; i < SMALL_COUNT; i++)
		all[i] = allocate(SMALL_SIZE);
	for (size_t i = 0; i < SMALL_COUNT; i++) {
		if (i % SMALL_KEEP == 0)
			kept[i / SMALL_KEEP] = all[i];
		else
			free(all[i]);
	}
	free(all);
}

/* Use the front of the range and free the rest lazily; the border between them moves. */
static void move_lazy_border(void)
{
	size_t used = wave(LAZY_SIZE, LAZY_PERIOD);

	touch(lazy, used);
	if (madvise(lazy + used, LAZY_SIZE - used, MADV_FREE) < 0)
		(void)madvise(lazy + used, LAZY_SIZE - used, MADV_DONTNEED);
}

static void move_bare_border(void)
{
	size_t used = wave(BARE_SIZE, BARE_PERIOD);

	touch(bare, used);
	(void)madvise(bare + used, BARE_SIZE - used, MADV_DONTNEED);
}

/* Map a deleted file: read all of it, and write the first pages privately. */
static void map_file(void)
{
	char path[] = "/var/tmp/memstate-demo-XXXXXX";
	int fd = mkstemp(path);
	char *file;

	if (fd < 0)
		return; /* not writable: do without the file */
	unlink(path);
	for (size_t done = 0; done < FILE_SIZE; done += MIB)
		if (write(fd, cache, MIB) != (ssize_t)MIB)
			fail("memstate-demo: /var/tmp");
	fsync(fd); /* data not yet on disk counts as dirty */
	file = map_pages(FILE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	close(fd);
	for (size_t i = 0; i < FILE_SIZE; i += 4 * KIB)
		(void)((volatile char *)file)[i];
	touch(file, FILE_WRITTEN);
}

/* Share half of a memfd with a child that does nothing else. */
static void share_memory(void)
{
	int fd = memfd_create("demo-shared", MFD_CLOEXEC);
	pid_t parent = getpid();
	char *shared;

	if (fd < 0 || ftruncate(fd, SHARED_SIZE) < 0)
		fail("memstate-demo: memfd");
	shared = map_pages(SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	close(fd);
	touch(shared, SHARED_SIZE);
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "demo-child");
	touch(shared, SHARED_SIZE / 2);
	while (getppid() == parent)
		wait_tick();
	_exit(0);
}

__attribute__((noinline)) static char go_down(unsigned int depth)
{
	volatile char frame[STACK_FRAME];

	for (size_t i = 0; i < sizeof(frame); i += KIB)
		frame[i] = (char)depth;
	return depth > 0 ? (char)(go_down(depth - 1) + frame[0]) : frame[KIB];
}

/* Thread with a growing call depth; its stack keeps the largest size it ever had. */
static void *work(void *arg)
{
	unsigned int number = (unsigned int)(uintptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "demo-worker-%u", number);
	prctl(PR_SET_NAME, name);
	for (;;) {
		unsigned int depth = tick_count / 4 * number;

		go_down(depth < STACK_DEPTH ? depth : STACK_DEPTH);
		wait_tick();
	}
	return NULL;
}

static void start_threads(void)
{
	for (uintptr_t i = 1; i <= THREAD_COUNT; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)i) != 0)
			fail("memstate-demo: pthread_create");
	}
}

static void set_up(void)
{
	share_memory(); /* first, so that the child shares little other memory */
	cache = allocate(CACHE_SIZE);
	make_fragments();
	lazy = map_pages(LAZY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1);
	/* keeps the mappings before and after it from merging */
	(void)map_pages(RESERVED_SIZE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	bare = map_pages(BARE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1);
	touch(lazy, LAZY_SIZE);
	touch(bare, BARE_SIZE);
	map_file();
	start_threads();
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS;
	pid_t parent = getppid();

	if (argc > 2 || seconds < 1 || seconds > SECONDS_MAX) {
		fprintf(stderr, "Usage: memstate-demo [SECONDS]   (1 to %d)\n",
			SECONDS_MAX);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 0;
	set_up();
	for (; tick_count < seconds * 1000 / TICK_MS; tick_count++) {
		leak();
		fill_pool();
		move_lazy_border();
		move_bare_border();
		wait_tick();
	}
	_exit(0);
}
