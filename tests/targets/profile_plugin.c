/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that a program loads at run time. */
#include <stdlib.h>

void *volatile kept;

static __attribute__((noinline)) void plugged(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(1000);
}

void plug(void (*call)(void))
{
	plugged();
	call();
	__asm__ volatile("");
}
