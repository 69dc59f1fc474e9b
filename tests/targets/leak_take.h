/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_take - allocate blocks whose addresses are in no other place. If malloc fails, the
 * program ends with status 99.
 */
#ifndef MS_TESTS_LEAK_TAKE_H
#define MS_TESTS_LEAK_TAKE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Erase stale values below this frame and in registers. */
__attribute__((noinline)) static void scrub(void)
{
	char stale[64 << 10];

	memset(stale, 0, sizeof(stale));
	__asm__ volatile("" : : "r"(stale) : "memory");
	__asm__ volatile("pxor %xmm0, %xmm0; pxor %xmm1, %xmm1; pxor %xmm2, %xmm2;"
			 "pxor %xmm3, %xmm3; pxor %xmm4, %xmm4; pxor %xmm5, %xmm5");
}

/* Allocate a zeroed block, so that no stale address remains in it. */
__attribute__((noinline)) static void *take(size_t size)
{
	void *volatile p = calloc(1, size);

	if (!p)
		_exit(99);
	return p;
}

/*
 * Allocate a block at a multiple of 1 GiB, but not of 4 GiB: read-only data of libraries
 * has pairs of 32-bit numbers such as { 20, 0x7f6c }, which look like an address shortly
 * after 0x7f6c00000000.
 */
__attribute__((noinline)) static void *take_aligned(size_t bytes)
{
	void *volatile p = aligned_alloc((size_t)1 << 30, bytes), *volatile other = NULL;

	if ((uint32_t)(uintptr_t)p == 0) {
		other = p;
		p = aligned_alloc((size_t)1 << 30, bytes);
	}
	free(other);
	if ((uint32_t)(uintptr_t)p == 0)
		_exit(99);
	return p;
}

#endif
