/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_target - a program that contains the message SIGN, like a program with an
 * allocator linked in. With OWN_MALLOC it has its own malloc. Prints a line when its
 * memory is allocated, and waits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_COUNT 1000
#define BLOCK_BYTES 1000

extern const char *volatile sign;

#ifdef SIGN
const char *volatile sign = SIGN;
#else
const char *volatile sign;
#endif

#ifdef OWN_MALLOC

#	define HEAD_BYTES 16 /* holds the size of the block */

static _Alignas(16) uint8_t memory[4 << 20];
static size_t used;

void *malloc(size_t bytes)
{
	size_t whole = HEAD_BYTES + ((bytes + 15) & ~(size_t)15);
	uint8_t *block = memory + used;

	if (bytes > sizeof(memory) || whole > sizeof(memory) - used)
		return NULL;
	used += whole;
	memcpy(block, &bytes, sizeof(bytes));
	return block + HEAD_BYTES;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t bytes)
{
	return malloc(count * bytes); /* memory is used once, so it is zero */
}

void *realloc(void *block, size_t bytes)
{
	void *copy = malloc(bytes);
	size_t old;

	if (!block || !copy)
		return copy;
	memcpy(&old, (uint8_t *)block - HEAD_BYTES, sizeof(old));
	return memcpy(copy, block, old < bytes ? old : bytes);
}

#endif

int main(void)
{
	static void *volatile blocks[BLOCK_COUNT];

	for (size_t i = 0; i < BLOCK_COUNT; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		if (!blocks[i])
			return 1;
		memset(blocks[i], 1, BLOCK_BYTES);
	}
	if (write(STDOUT_FILENO, "\n", 1) != 1)
		return 1;
	pause();
	return 0;
}
