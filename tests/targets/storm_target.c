/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm_target - a process that changes its memory all the time, in all ways that a copy
 * must survive. "storm_target MIB STORM…": one thread per storm; MIB is the size of the
 * heap. The storms: malloc, mremap, exchange, trim, munmap, fork, exec, thp, mlock,
 * write; "write-none" to "write-huge-10k" write to this many pages per second; "quiet"
 * only fills the heap; "quiet-huge" fills huge pages; "mapped" fills memory outside of the
 * heap; "mlocked" and "fault" have memory that cannot be tracked; "vfork" has a thread
 * that does not stop.
 *
 * It prints "ready" when all memory was written once, and ends with its parent or after
 * STORM_SECONDS.
 */
#include "config.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#	define MREMAP_DONTUNMAP 4
#endif
#ifndef MADV_COLLAPSE
#	define MADV_COLLAPSE 25
#endif

#define STORM_SECONDS 300
/* the memory that a page table of the lowest level maps */
#define TABLE_BYTES ((size_t)2 << 20)
#define PAGE 4096
#define AREA_BYTES ((size_t)8 << 20)
/* far below the addresses that the kernel chooses, and far above the program */
#define LOW_ADDR ((void *)0x200000000000)
#define MMAP_MAX_DEFAULT 65536 /* M_MMAP_MAX */

struct storm {
	const char *name;
	void *(*run)(void *storm);
	bool needs_block; /* of the size of the heap */
	uint64_t pages_per_s;
	int advice; /* for madvise(2) */
};

static size_t heap_bytes;
static uint8_t *block; /* of heap_bytes; NULL if no storm needs it */
static pthread_barrier_t barrier;
static char **arguments;

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void pause_us(long us)
{
	const struct timespec time = { .tv_nsec = us * 1000 };

	nanosleep(&time, NULL);
}

static void fill(uint8_t *at, size_t length, uint64_t value)
{
	for (size_t i = 0; i + sizeof(value) <= length; i += 512)
		memcpy(at + i, &value, sizeof(value));
}

static void *map(void *at, size_t bytes)
{
	void *area = mmap(at, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (area == MAP_FAILED)
		_exit(99);
	return area;
}

/* Allocate, grow, write and free blocks of all sizes. */
static void storm_malloc(bool trims)
{
	enum {
		BLOCKS = 2048
	};
	static uint8_t *blocks[2][BLOCKS];
	static size_t sizes[2][BLOCKS];
	uint64_t x = 88172645463325252U + trims;
	size_t sum = 0;

	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t k = random_next(&x) % BLOCKS, kind = random_next(&x) % 100;
		size_t size = kind < 70	  ? 16 + random_next(&x) % 2000
			      : kind < 98 ? 4000 + random_next(&x) % 100000
					  : 200000 + random_next(&x) % 1000000;

		if (sum + size > heap_bytes) {
			free(blocks[trims][k]);
			blocks[trims][k] = NULL;
			sum -= sizes[trims][k];
			sizes[trims][k] = 0;
			continue;
		}
		blocks[trims][k] = realloc(blocks[trims][k], size);
		sum += size - sizes[trims][k];
		sizes[trims][k] = size;
		fill(blocks[trims][k], size, i);
		if (trims && i % 1000 == 0)
			malloc_trim(0);
		if (i % 64 == 0)
			pause_us(100);
	}
}

static void *run_malloc(void *unused)
{
	storm_malloc(false);
	return unused;
}

static void *run_trim(void *unused)
{
	storm_malloc(true);
	return unused;
}

/*
 * Move parts of an area back and forth. No other thread can map memory at an address that
 * a part has left: it stays mapped, except if mremap() fails, and the kernel prefers
 * higher addresses for new mappings.
 */
static void *run_mremap(void *unused)
{
	uint8_t *from = map(LOW_ADDR, AREA_BYTES);
	uint8_t *to = map(from + AREA_BYTES, AREA_BYTES);
	uint64_t x = 4101842887655102017U;

	fill(from, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t part = (1 + random_next(&x) % (AREA_BYTES / PAGE)) * PAGE;
		uint8_t *old = from;

		/* older kernels fail after unmapping `to` if `part` is in two mappings */
		if (mremap(from, part, part,
			   MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   to) == MAP_FAILED) {
			map(from, AREA_BYTES);
			map(to, AREA_BYTES);
			fill(from, AREA_BYTES / 8, i);
		}
		fill(from, part / 2, i);
		fill(to + part / 2 / PAGE * PAGE, PAGE, i);
		from = to;
		to = old;
		pause_us(300);
	}
	return unused;
}

/*
 * Exchange two blocks without writing to them. mremap(2) moves the page tables of aligned
 * blocks as a whole. The old address stays mapped, as above.
 */
static void *run_exchange(void *unused)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
	uint8_t *area = map(NULL, 4 * TABLE_BYTES), *at[3];

	at[0] = area + (TABLE_BYTES - (uintptr_t)area % TABLE_BYTES);
	for (int i = 0; i < 3; i++)
		at[i] = at[0] + (size_t)i * TABLE_BYTES;
	madvise(area, 4 * TABLE_BYTES, MADV_NOHUGEPAGE);
	fill(at[0], TABLE_BYTES, 1);
	fill(at[1], TABLE_BYTES, 2);
	pthread_barrier_wait(&barrier);
	for (;;) {
		pause_us(500000);
		mremap(at[0], TABLE_BYTES, TABLE_BYTES, flags, at[2]);
		mremap(at[1], TABLE_BYTES, TABLE_BYTES, flags, at[0]);
		mremap(at[2], TABLE_BYTES, TABLE_BYTES, flags, at[1]);
	}
	return unused;
}

/* Replace memory by new memory at the same address; release pages. */
static void *run_munmap(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 2685821657736338717U;

	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t page = random_next(&x) % (AREA_BYTES / PAGE);
		size_t length = (1 + random_next(&x) % 256) * PAGE;
		uint8_t *at = area + page * PAGE;

		if (length > AREA_BYTES - page * PAGE)
			length = AREA_BYTES - page * PAGE;
		if (i % 3 == 0) {
			map(at, length);
		} else if (i % 3 == 1) {
			madvise(at, length, MADV_DONTNEED);
		} else {
			mprotect(at, length, PROT_NONE);
			pause_us(100);
			mprotect(at, length, PROT_READ | PROT_WRITE);
			pause_us(100);
		}
		fill(at, length / 2, i);
		pause_us(300);
	}
	return unused;
}

/* Fork children that write to the shared pages, as the parent does. */
static void fork_once(uint8_t *area, uint64_t i, bool executes)
{
	pid_t pid = fork();

	if (pid == 0) {
		fill(area, AREA_BYTES / 4, ~i);
		if (executes)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	fill(area, AREA_BYTES / 2, i);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	pause_us(2000);
}

static void *run_fork(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);

	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++)
		fork_once(area, i, false);
	return unused;
}

static void *run_exec(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);

	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++)
		fork_once(area, i, true);
	return unused;
}

/* Execute this program again and again. */
static void *run_reexec(void *unused)
{
	pthread_barrier_wait(&barrier);
	pause_us(30000);
	execv("/proc/self/exe", arguments);
	_exit(99);
	return unused;
}

/* Make and split huge pages. */
static void *run_thp(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 1181783497276652981U;

	madvise(area, AREA_BYTES, MADV_HUGEPAGE);
	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t page = random_next(&x) % (AREA_BYTES / PAGE);

		switch (i % 4) {
		case 0: madvise(area, AREA_BYTES, MADV_COLLAPSE); break;
		case 1: madvise(area + page * PAGE, PAGE, MADV_DONTNEED); break;
		case 2: fill(area + page * PAGE, PAGE, i); break;
		default: fill(area, AREA_BYTES / 4, i); break;
		}
		pause_us(500);
	}
	return unused;
}

static void *run_mlock(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 3935559000370003845U;

	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		uint8_t *at = area + random_next(&x) % (AREA_BYTES / PAGE / 2) * PAGE;

		mlock(at, 64 * (size_t)PAGE);
		fill(at, 64 * (size_t)PAGE, i);
		munlock(at, 64 * (size_t)PAGE);
		pause_us(300);
	}
	return unused;
}

/* Write to random pages of a block of the size of the heap. */
static void *run_write(void *arg)
{
	const struct storm *storm = arg;
	uint8_t *area = block;
	uint64_t x = 6364136223846793005U;

	madvise(area, heap_bytes, storm->advice);
	fill(area, heap_bytes, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 1;; i++) {
		for (uint64_t k = 0; k < storm->pages_per_s / 1000; k++)
			memcpy(area + random_next(&x) % (heap_bytes / 8) * 8, &i,
			       sizeof(i));
		if (storm->pages_per_s < UINT32_MAX)
			pause_us(1000);
	}
	return NULL;
}

/* Fill the heap with blocks, free some, and then do nothing. */
static void *run_quiet(void *unused)
{
	size_t count = heap_bytes / 16384;
	uint8_t **blocks = calloc(count, sizeof(*blocks));

	for (size_t i = 0; i < count; i++) {
		blocks[i] = malloc(16000 + i * 7919 % 700);
		fill(blocks[i], 16000, i);
	}
	for (size_t i = 0; i < count; i += 7)
		free(blocks[i]);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return unused;
}

static void *fill_and_wait(uint8_t *area, int advice)
{
	madvise(area, heap_bytes, advice);
	fill(area, heap_bytes, 1);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

/* Fill memory that does not belong to malloc. */
static void *run_mapped(void *unused)
{
	(void)unused;
	return fill_and_wait(map(NULL, heap_bytes), MADV_NOHUGEPAGE);
}

/* Fill a heap in huge pages, if there are any. */
static void *run_quiet_huge(void *unused)
{
	(void)unused;
	return fill_and_wait(block, MADV_HUGEPAGE);
}

static void *run_mlocked(void *unused)
{
	uint8_t *area = map(NULL, PAGE);

	if (mlock(area, PAGE) < 0)
		_exit(99);
	pthread_barrier_wait(&barrier);
	pause();
	return unused;
}

/* Wait for a child of vfork(2), which no stop interrupts. */
static void *run_vfork(void *unused)
{
	pthread_barrier_wait(&barrier);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return unused;
}

/* Track the writes to a page with a userfaultfd of its own. */
static void *run_fault(void *unused)
{
	uint8_t *area = map(NULL, PAGE);
	struct uffdio_api api = { .api = UFFD_API,
				  .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	struct uffdio_register range = { .range = { (uintptr_t)area, PAGE },
					 .mode = UFFDIO_REGISTER_MODE_WP };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);

	fill(area, PAGE, 1);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		_exit(99);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return unused;
}

static const struct storm storms[] = {
	{ "malloc", run_malloc, false, 0, 0 },
	{ "trim", run_trim, false, 0, 0 },
	{ "mremap", run_mremap, false, 0, 0 },
	{ "munmap", run_munmap, false, 0, 0 },
	{ "fork", run_fork, false, 0, 0 },
	{ "exec", run_exec, false, 0, 0 },
	{ "reexec", run_reexec, false, 0, 0 },
	{ "thp", run_thp, false, 0, 0 },
	{ "mlock", run_mlock, false, 0, 0 },
	{ "write", run_write, true, 3000000, MADV_NORMAL },
	{ "exchange", run_exchange, false, 0, 0 },
	{ "write-none", run_write, true, 0, MADV_NOHUGEPAGE },
	{ "write-10k", run_write, true, 10000, MADV_NOHUGEPAGE },
	{ "write-100k", run_write, true, 100000, MADV_NOHUGEPAGE },
	{ "write-400k", run_write, true, 400000, MADV_NOHUGEPAGE },
	{ "write-always", run_write, true, UINT32_MAX, MADV_NOHUGEPAGE },
	{ "write-huge-10k", run_write, true, 10000, MADV_HUGEPAGE },
	{ "quiet", run_quiet, false, 0, 0 },
	{ "quiet-huge", run_quiet_huge, true, 0, 0 },
	{ "mapped", run_mapped, false, 0, 0 },
	{ "mlocked", run_mlocked, false, 0, 0 },
	{ "vfork", run_vfork, false, 0, 0 },
	{ "fault", run_fault, false, 0, 0 },
};

/*
 * Allocate a block of the size of the heap in the main arena, which only the main thread
 * can do. memstate need not copy large blocks that have their own mappings.
 */
static void allocate_block(void)
{
	mallopt(M_MMAP_MAX, 0);
	block = memalign(TABLE_BYTES, heap_bytes);
	mallopt(M_MMAP_MAX, MMAP_MAX_DEFAULT);
	if (!block)
		_exit(99);
}

static void start(const char *name)
{
	pthread_t thread;

	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		if (strcmp(storms[i].name, name) != 0)
			continue;
		if (storms[i].needs_block && !block)
			allocate_block();
		if (pthread_create(&thread, NULL, storms[i].run,
				   (void *)(uintptr_t)&storms[i]) == 0)
			return;
	}
	_exit(99);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 99;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(STORM_SECONDS);
	arguments = argv;
	heap_bytes = (size_t)strtoul(argv[1], NULL, 10) << 20;
	if (heap_bytes == 0)
		return 99;
	pthread_barrier_init(&barrier, NULL, (unsigned int)argc - 1);
	for (int i = 2; i < argc; i++)
		start(argv[i]);
	pthread_barrier_wait(&barrier);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
