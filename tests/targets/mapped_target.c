/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_target - "mapped_target MIB KIND": a heap of this size in blocks that malloc has
 * mapped separately, and some small blocks. The kinds:
 *
 *   plain    blocks from malloc()
 *   aligned  from memalign(), with alignments up to 4 MiB, and of the C++ type Big
 *   moved    some of them moved by realloc(), and shrunk to the old size
 *   zeros    like "moved", but filled with zeros, except for pointers
 *   forged   the data contains what looks like heads of blocks
 *
 * The large blocks contain the only pointers to the small ones. The program prints its
 * pid, the number of large blocks, the sum of their malloc_usable_size(), some fields of
 * mallinfo2(), and "ready". It waits for the end of its input.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "say.h"

#if __GLIBC_PREREQ(2, 33)
#	define MALLINFO mallinfo2
#else
#	define MALLINFO mallinfo /* the int members are large enough */
#endif

#define SECONDS 300
#define PAGE 4096U
#define SIZE_MIN ((size_t)200 << 10)
#define SIZE_STEP 77777U
#define SIZE_STEPS 40
#define ALIGN_SHIFTS 11 /* 4 KiB to 4 MiB */
#define SMALL_COUNT 2000
#define POINTERS_OFFSET 100000
#define BLOCKS_MAX 20000

static const char *kind;

/* memstate takes this for a vtable. Objects begin with the address of its third word. */
extern const uintptr_t table_of_big[3];
const uintptr_t table_of_big[3] __asm__("_ZTV3Big") = { 0 };

static int is_kind(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void fill(unsigned char *block, size_t length)
{
	uint64_t x = (uintptr_t)block | 1;

	if (is_kind("zeros")) {
		memset(block, 0, length);
		return;
	}
	for (size_t at = 0; at + 8 <= length; at += 8) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		memcpy(block + at, &x, 8);
	}
}

/* Write what a second head of the mapping that begins at `start` would be. */
static void forge(unsigned char *start, size_t length)
{
	for (size_t offset = 2 * PAGE - 16; offset + 2 * PAGE < length; offset += PAGE) {
		uint64_t head[2] = { offset, ((length - offset) & ~UINT64_C(7)) | 2 };

		memcpy(start + offset, head, sizeof(head));
	}
}

static void *make_block(size_t i)
{
	const uintptr_t *table = &table_of_big[2];
	size_t size = SIZE_MIN + i % SIZE_STEPS * SIZE_STEP;
	unsigned char *block;

	block = is_kind("plain") || is_kind("forged") || i % 3 == 0
			? malloc(size)
			: memalign((size_t)PAGE << i % ALIGN_SHIFTS, size);
	if (block && (is_kind("moved") || is_kind("zeros")) && i % 2) {
		block = realloc(block, 3 * size);
		block = block ? realloc(block, size) : NULL;
	}
	if (!block)
		_exit(77);
	fill(block, malloc_usable_size(block));
	if (is_kind("aligned"))
		memcpy(block, &table, sizeof(table));
	if (is_kind("forged"))
		forge(block - 16, malloc_usable_size(block) + 16);
	return block;
}

int main(int argc, char **argv)
{
	static unsigned char *volatile blocks[BLOCKS_MAX];
	struct MALLINFO info;
	size_t limit, sum = 0, count = 0;
	char unused;

	if (argc != 3)
		return 99;
	kind = argv[2];
	limit = (size_t)strtoul(argv[1], NULL, 10) << 20;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	mallopt(M_MMAP_THRESHOLD, SIZE_MIN / 2);
	for (; sum < limit && count < BLOCKS_MAX; count++) {
		blocks[count] = make_block(count);
		sum += malloc_usable_size(blocks[count]);
	}
	for (size_t i = 0; i < SMALL_COUNT; i++) {
		void *small = malloc(24 + i % 500);

		/* only the interior of a large block refers to a small one */
		if (i % 3)
			memcpy(blocks[i % count] + POINTERS_OFFSET + i / count * 8,
			       &small, sizeof(small));
		else
			free(small);
	}
	info = MALLINFO();
	say("count", (uint64_t)count);
	say("usable", (uint64_t)sum);
	say("hblks", (uint64_t)info.hblks);
	say("hblkhd", (uint64_t)info.hblkhd);
	say("uordblks", (uint64_t)info.uordblks);
	say("fordblks", (uint64_t)info.fordblks);
	say("pid", (uint64_t)getpid());
	say_word("ready");
	while (read(STDIN_FILENO, &unused, 1) > 0)
		;
	return 0;
}
