/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * holes_target COUNT - allocate from code in a segment far from the others, with nothing
 * mapped between them: linked with --section-start=.far_text=0x2000000.
 */
#include "config.h"

#include <stdlib.h>

static void *volatile sink;

__attribute__((section(".far_text"), noinline)) static void far_alloc(long count)
{
	for (long i = 0; i < count; i++) {
		sink = malloc(10);
		free(sink);
	}
}

__attribute__((noinline)) static void near_alloc(long count)
{
	for (long i = 0; i < count; i++) {
		sink = malloc(20);
		free(sink);
	}
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 100;

	far_alloc(count);
	near_alloc(2 * count);
	return 0;
}
