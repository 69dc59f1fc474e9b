/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm_target - a process that changes its memory all the time, in all ways that a copy
 * must survive. "storm_target MIB STORM…": one thread per storm; MIB is the size of the
 * heap. The storms: malloc, mremap, exchange, trim, munmap, fork, exec, thp, mlock, ksm,
 * write; "write-none" to "write-huge-10k" write to this many pages per second; "quiet"
 * only fills the heap with small blocks; "quiet-huge" does so in huge pages;
 * "mostly-freed" frees most of them; "large-blocks" fills the heap with blocks of 16 KB;
 * "mapped" fills memory outside of the heap; "mlocked" and "fault" have memory that
 * cannot be tracked; "vfork" has a thread that does not stop.
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

#include "storm_target.h"

#define STORM_SECONDS 300
#define BLOCK_BYTES 1000
#define MMAP_MAX_DEFAULT 65536 /* M_MMAP_MAX */

struct storm {
	const char *name;
	void *(*run)(void *storm);
	bool needs_blocks; /* small ones, of the size of the heap */
	uint64_t pages_per_s;
	int advice; /* for madvise(2) of the blocks' memory */
};

static size_t heap_bytes;
/* small blocks; none if no storm needs them */
static uint8_t **blocks;
static size_t block_count;
pthread_barrier_t barrier;
static char **arguments;

uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

void pause_us(long us)
{
	const struct timespec time = { .tv_nsec = us * 1000 };

	nanosleep(&time, NULL);
}

void fill(uint8_t *at, size_t length, uint64_t value)
{
	for (size_t i = 0; i + sizeof(value) <= length; i += 512)
		memcpy(at + i, &value, sizeof(value));
}

void *map(void *at, size_t bytes)
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
	static uint8_t *own[2][BLOCKS];
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
			free(own[trims][k]);
			own[trims][k] = NULL;
			sum -= sizes[trims][k];
			sizes[trims][k] = 0;
			continue;
		}
		own[trims][k] = realloc(own[trims][k], size);
		sum += size - sizes[trims][k];
		sizes[trims][k] = size;
		fill(own[trims][k], size, i);
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

/* Write to random small blocks, so to random pages. */
static void *run_write(void *arg)
{
	const struct storm *storm = arg;
	uint64_t x = 6364136223846793005U;

	pthread_barrier_wait(&barrier);
	for (uint64_t i = 1;; i++) {
		for (uint64_t k = 0; k < storm->pages_per_s / 1000; k++)
			memcpy(blocks[random_next(&x) % block_count], &i, sizeof(i));
		if (storm->pages_per_s < UINT32_MAX)
			pause_us(1000);
	}
	return NULL;
}

/*
 * Fill the heap with blocks of about this size; free one of `period` blocks, or keep only
 * that one; and then do nothing.
 */
static void *fill_and_free(size_t size, size_t period, bool keeps)
{
	size_t count = heap_bytes / (size + size / 40);
	uint8_t **made = calloc(count, sizeof(*made));

	for (size_t i = 0; i < count; i++) {
		made[i] = malloc(size + i * 7919 % (size / 20));
		fill(made[i], size, i);
	}
	for (size_t i = 0; i < count; i++)
		if ((i % period == 0) != keeps)
			free(made[i]);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

static void *run_quiet(void *unused)
{
	(void)unused;
	return fill_and_free(1000, 7, false);
}

/* All free chunks but those at the ends of the heaps have about 63 kB. */
static void *run_mostly_freed(void *unused)
{
	(void)unused;
	return fill_and_free(1000, 64, true);
}

static void *run_large_blocks(void *unused)
{
	(void)unused;
	return fill_and_free(16000, 7, false);
}

/* Fill memory that does not belong to malloc. */
static void *run_mapped(void *unused)
{
	uint8_t *area = map(NULL, heap_bytes);

	madvise(area, heap_bytes, MADV_NOHUGEPAGE);
	fill(area, heap_bytes, 1);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return unused;
}

static void *run_quiet_huge(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
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
	{ "ksm", run_ksm, false, 0, 0 },
	{ "write", run_write, true, 3000000, MADV_NORMAL },
	{ "exchange", run_exchange, false, 0, 0 },
	{ "write-none", run_write, true, 0, MADV_NOHUGEPAGE },
	{ "write-10k", run_write, true, 10000, MADV_NOHUGEPAGE },
	{ "write-100k", run_write, true, 100000, MADV_NOHUGEPAGE },
	{ "write-400k", run_write, true, 400000, MADV_NOHUGEPAGE },
	{ "write-always", run_write, true, UINT32_MAX, MADV_NOHUGEPAGE },
	{ "write-huge-10k", run_write, true, 10000, MADV_HUGEPAGE },
	{ "quiet", run_quiet, false, 0, 0 },
	{ "quiet-huge", run_quiet_huge, true, 0, MADV_HUGEPAGE },
	{ "mostly-freed", run_mostly_freed, false, 0, 0 },
	{ "large-blocks", run_large_blocks, false, 0, 0 },
	{ "mapped", run_mapped, false, 0, 0 },
	{ "mlocked", run_mlocked, false, 0, 0 },
	{ "vfork", run_vfork, false, 0, 0 },
	{ "fault", run_fault, false, 0, 0 },
};

/*
 * Fill the main arena, which only the main thread can do, with small blocks: memstate
 * need not copy the interiors of large ones. The advice must precede the first write to a
 * page, so a block of the size of the heap is written and freed first.
 */
static void allocate_blocks(int advice)
{
	uint8_t *whole;

	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1); /* never */
	whole = memalign(TABLE_BYTES, heap_bytes);
	if (!whole)
		_exit(99);
	madvise(whole, heap_bytes, advice);
	fill(whole, heap_bytes, 1);
	free(whole);
	block_count = heap_bytes / (BLOCK_BYTES + 16);
	blocks = map(NULL, (block_count * sizeof(*blocks) + PAGE - 1) / PAGE * PAGE);
	for (size_t i = 0; i < block_count; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		if (!blocks[i])
			_exit(99);
	}
	mallopt(M_MMAP_MAX, MMAP_MAX_DEFAULT);
}

static void start(const char *name)
{
	pthread_t thread;

	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		if (strcmp(storms[i].name, name) != 0)
			continue;
		if (storms[i].needs_blocks && !blocks)
			allocate_blocks(storms[i].advice);
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
