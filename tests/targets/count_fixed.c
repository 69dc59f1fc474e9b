/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program linked to a fixed address that takes the address of malloc in its code. The
 * linker then makes malloc's address that of a stub in the program, for all modules.
 */
#include <stdlib.h>

static void *(*volatile call_malloc)(size_t);
static void (*volatile call_free)(void *);

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;

	call_malloc = malloc;
	call_free = free;
	for (int i = 0; i < count; i++)
		call_free(call_malloc(16));
	return 0;
}
