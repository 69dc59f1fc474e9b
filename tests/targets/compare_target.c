/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_target - work with a known kind of memory use under any
 * allocator, for comparing allocators.
 *
 *   compare_target fragmented|leaking|steady MIB MS [STATUS]
 *
 * fragmented  fills MIB with small blocks, then frees all but the first and the last.
 *             glibc, whose heap ends with the last block, keeps everything; an
 *             allocator that returns free pages has hardly any left.
 * leaking     adds small blocks up to MIB, evenly over MS, and frees none.
 * steady      fills MIB with small blocks, then frees and allocates them in turn.
 *
 * The target runs for at least MS milliseconds and allocates a little all the time. If
 * memstate started it, it also waits until memstate has taken some 50 samples, so that a
 * busy machine does not change what is measured. It prints the bytes of its blocks as
 * "live_bytes N" and "most_live_bytes N", and exits with STATUS (default 0). If MS is 0, it
 * fills (and empties) its memory immediately and continues until a signal ends it, its
 * parent ends, or five minutes have passed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "proc_file.h"
#include "say.h"

#define MIB ((size_t)1 << 20)
#define BLOCK_BYTES ((size_t)1000)
#define STEP_MS 5
#define SECONDS_MAX 300
/* read calls that memstate makes for some 50 samples of a process */
#define READS 1000

static void **blocks;
static size_t block_count, block_limit;
static uint64_t live_bytes, most_live_bytes;

/*
 * Allocate and fill a block. The volatile pointer keeps the
 * compiler from removing the call.
 */
__attribute__((noinline)) static void *take(void)
{
	void *volatile kept = malloc(BLOCK_BYTES);
	void *p = kept;

	if (!p)
		_exit(99);
	memset(p, 0x11, BLOCK_BYTES);
	live_bytes += BLOCK_BYTES;
	if (live_bytes > most_live_bytes)
		most_live_bytes = live_bytes;
	return p;
}

static void give(void *p)
{
	free(p);
	live_bytes -= BLOCK_BYTES;
}

static void fill_to(size_t count)
{
	while (block_count < count && block_count < block_limit)
		blocks[block_count++] = take();
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Return the number after the key in a file of /proc, or 0. */
static uint64_t read_figure(int pid, const char *file, const char *key)
{
	int fd = open_proc_file(pid, file);
	char text[4096];
	const char *at;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Return the pid of the nearest ancestor named memstate, or 0. */
static int find_memstate(void)
{
	int pid = getppid();
	char path[64], name[16] = "";

	while (pid > 1) {
		int fd, n;

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : (int)read(fd, name, sizeof(name));
		if (fd >= 0)
			close(fd);
		if (n == 9 && memcmp(name, "memstate\n", 9) == 0)
			return pid;
		pid = (int)read_figure(pid, "status", "\nPPid:");
	}
	return 0;
}

/* Return true if memstate has sampled this process often enough since before_reads. */
static bool is_sampled(int memstate, uint64_t before_reads)
{
	uint64_t reads = memstate > 0 ? read_figure(memstate, "io", "\nsyscr:") : 0;

	return reads == 0 || reads - before_reads >= READS;
}

static void rest(void)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };

	nanosleep(&step, NULL);
}

/*
 * Allocators that return memory after a delay check the clock only when they are called.
 */
static void allocate_a_little(void)
{
	for (int i = 0; i < 200; i++)
		give(take());
}

static void empty(void)
{
	for (size_t i = 1; i + 1 < block_count; i++)
		give(blocks[i]);
}

static void renew(size_t step)
{
	for (size_t i = 0; i < 200; i++) {
		size_t at = (step * 200 + i) * 7919 % block_count;

		give(blocks[at]);
		blocks[at] = take();
	}
}

int main(int argc, char **argv)
{
	uint64_t ms, before_reads, begin_ms = now_ms();
	const char *kind;
	bool is_leaking;
	int memstate;

	if (argc < 4)
		return 99;
	kind = argv[1];
	is_leaking = strcmp(kind, "leaking") == 0;
	block_limit = strtoul(argv[2], NULL, 10) * MIB / BLOCK_BYTES;
	ms = strtoul(argv[3], NULL, 10);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS_MAX);
	blocks = calloc(block_limit, sizeof(*blocks));
	if (!blocks || block_limit < 2)
		return 99;
	if (!is_leaking || ms == 0)
		fill_to(block_limit);
	if (strcmp(kind, "fragmented") == 0)
		empty();
	memstate = find_memstate();
	before_reads = read_figure(memstate, "io", "\nsyscr:");
	for (size_t step = 0;
	     ms == 0 || now_ms() - begin_ms < ms || !is_sampled(memstate, before_reads);
	     step++) {
		if (is_leaking && ms > 0)
			fill_to(block_limit * (now_ms() - begin_ms) / ms);
		else if (strcmp(kind, "steady") == 0)
			renew(step);
		allocate_a_little();
		rest();
	}
	say("live_bytes", live_bytes);
	say("most_live_bytes", most_live_bytes);
	return argc > 4 ? atoi(argv[4]) : 0;
}
