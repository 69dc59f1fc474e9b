/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aligned_target - large blocks from memalign(), each mmapped separately.
 *
 * Prints the address and the malloc_usable_size() of every block as "addr_N ADDR" and
 * "size_N BYTES", its pid and "ready". It waits for the end of its input, for at most a
 * minute. Every third block was moved by realloc(), so its address is no longer aligned.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "say.h"

#define ALIGN_SHIFT_MIN 5
#define ALIGN_SHIFT_MAX 22
#define SIZE_MIN (300 * 1024)

static void say_block(int number, void *block)
{
	char key[32];

	snprintf(key, sizeof(key), "addr_%d", number);
	say(key, (uint64_t)(uintptr_t)block);
	snprintf(key, sizeof(key), "size_%d", number);
	say(key, (uint64_t)malloc_usable_size(block));
}

int main(void)
{
	static void *volatile blocks[2 * (ALIGN_SHIFT_MAX + 1)];
	int count = 0;
	char unused;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(300);
	mallopt(M_MMAP_THRESHOLD, SIZE_MIN / 2);
	for (int shift = ALIGN_SHIFT_MIN; shift <= ALIGN_SHIFT_MAX; shift++)
		for (int i = 0; i < 2; i++) {
			size_t size = SIZE_MIN + (size_t)(count * 12345);
			void *block = memalign((size_t)1 << shift, size);

			if (block && count % 3 == 2)
				block = realloc(block, 3 * size);
			if (!block)
				return 77;
			memset(block, count + 1, malloc_usable_size(block));
			blocks[count++] = block;
		}
	for (int i = 0; i < count; i++)
		say_block(i, blocks[i]);
	say("blocks", (uint64_t)count);
	say("pid", (uint64_t)getpid());
	say_word("ready");
	while (read(STDIN_FILENO, &unused, 1) > 0)
		;
	return 0;
}
