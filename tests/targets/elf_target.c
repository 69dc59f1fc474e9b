/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_target FILE - map FILE as code, and hold blocks whose first words point into the
 * mapping, so that memstate looks up symbols in FILE. Prints "ready", then waits.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_COUNT 2000

struct block {
	const char *first_word;
	struct block *next;
	char rest[100];
};

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct block *blocks = NULL;
	struct stat status;
	const char *code;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0)
		return 99;
	code = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    0);
	if (code == MAP_FAILED)
		return 99;
	for (unsigned int i = 0; i < BLOCK_COUNT; i++) {
		struct block *block = calloc(1, sizeof(*block));

		if (!block)
			return 99;
		block->first_word = code + i * 7919ul % (unsigned long)status.st_size;
		block->next = blocks;
		blocks = block;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
