/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_malloc_target - a program with a built-in malloc that its libraries use, too. It
 * creates the file named by its argument.
 */
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>
#include <string.h>

static _Alignas(16) char room[1 << 20];
static size_t used;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *p);

void *malloc(size_t size)
{
	char *p = room + used;

	size = (size + 15) & ~(size_t)15;
	if (size > sizeof(room) - used)
		return NULL;
	used += size;
	return p;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

/*
 * Copies size bytes even if the old block was shorter: all of them lie inside the room.
 */
void *realloc(void *old, size_t size)
{
	char *p = malloc(size);

	for (size_t i = 0; p && old && i < size; i++)
		p[i] = ((char *)old)[i];
	return p;
}

void free(void *p)
{
	(void)p;
}

/* With the argument "-", print "ready" and wait until told to end. */
static int wait_to_end(void)
{
	char byte;

	return write(STDOUT_FILENO, "ready\n", 6) != 6 ||
	       read(STDIN_FILENO, &byte, 1) < 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "-") == 0)
		return wait_to_end();
	return argc > 1 && open(argv[1], O_CREAT | O_WRONLY, 0666) < 0;
}
