/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pins_target - a heap with one or two small blocks left on each
 * page, for tests to compare with.
 *
 * In each three of the NUMBER pages, the first has a block of 24 bytes, the second one
 * of 24 and one of 40, the third one of 40; the rest of each page is free. The target
 * prints as lines of "key value" how many pages of its heap are used to which degree,
 * computed from its own list of blocks and mincore(2). Then it prints its pid and
 * "ready". It waits for the end of its input, for at most five minutes. Exit status 77:
 * not possible on this system.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES_MAX 20000
#define HEAP_PAGES_MAX (PAGES_MAX + 1000)
#define BLOCKS_MAX (3 * PAGES_MAX + 1000)

/* A chunk is its block plus a word, with a size that is a multiple of 16. */
#define CHUNK_OF(usable) ((usable) + 8)

static char *blocks[BLOCKS_MAX];
static size_t block_count;
static uint16_t used_bytes[HEAP_PAGES_MAX];
static unsigned char is_resident[HEAP_PAGES_MAX];

static void say(const char *key, uint64_t value)
{
	char line[96];
	int length = snprintf(line, sizeof(line), "%s %lu\n", key, (unsigned long)value);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(99);
}

static char *take(size_t size)
{
	char *p = malloc(size);

	if (!p || block_count == BLOCKS_MAX)
		_exit(99);
	memset(p, 0x11, size);
	blocks[block_count++] = p;
	return p;
}

static void fill_page(size_t kind)
{
	size_t rest = PAGE;

	if (kind != 2) {
		take(24);
		rest -= CHUNK_OF(24);
	}
	if (kind != 0) {
		take(40);
		rest -= CHUNK_OF(40);
	}
	take(rest - 8);
}

static void count_used(const char *heap, const char *block)
{
	const char *start = block - 16;
	const char *end = start + CHUNK_OF(malloc_usable_size((void *)block));

	for (const char *at = start; at < end; at += 16)
		used_bytes[(size_t)(at - heap) / PAGE] += 16;
}

/*
 * Allocate so that the next chunk starts at a page boundary. The last word of the block
 * before it is on that page, too.
 */
static char *align(void)
{
	char *first = take(24);
	char *heap = (char *)((uintptr_t)first & ~(uintptr_t)(PAGE - 1));
	size_t at = (size_t)(first + 16 - heap) % PAGE;

	take(PAGE - at - 8);
	return heap;
}

static void say_fill(char *heap)
{
	size_t pages = (size_t)((char *)sbrk(0) - heap) / PAGE;
	uint64_t counts[6] = { 0 };
	static const char *const keys[] = {
		"none", "to25", "to50", "to75", "to99", "all"
	};

	if (pages > HEAP_PAGES_MAX || mincore(heap, pages * PAGE, is_resident))
		_exit(77);
	for (size_t i = 0; i < pages; i++) {
		unsigned int used = used_bytes[i];

		if (is_resident[i] & 1)
			counts[used == 0      ? 0
			       : used == PAGE ? 5
					      : 1 + (used * 4 - 1) / PAGE]++;
	}
	for (size_t i = 0; i < 6; i++)
		say(keys[i], counts[i]);
}

int main(int argc, char **argv)
{
	size_t number = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	char *heap, byte;

	if (number == 0 || number > PAGES_MAX)
		return 99;
	alarm(300);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	heap = align();
	for (size_t i = 0; i < number; i++)
		fill_page(i % 3);
	take(20000); /* keeps the block before it from being merged into top */
	/* the thread's cache and malloc's own data come before all blocks */
	used_bytes[0] = (uint16_t)(blocks[0] - 16 - heap);
	for (size_t i = 0; i < block_count; i++) {
		size_t bytes = malloc_usable_size(blocks[i]);

		if (i > 1 && bytes > 3900 && bytes < PAGE)
			free(blocks[i]);
		else
			count_used(heap, blocks[i]);
	}
	say_fill(heap);
	say("pid", (uint64_t)getpid());
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 99;
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	return 0;
}
