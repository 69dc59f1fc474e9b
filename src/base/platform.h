/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * platform - what memstate can do on this machine and with this kernel's page size.
 *
 * The parts listed here know registers, code, layouts of allocators or the page size.
 * Every other part works on any 64-bit Linux. One table says which platform a part needs.
 */
#ifndef MS_BASE_PLATFORM_H
#define MS_BASE_PLATFORM_H

#include <stdint.h>

enum platform_part {
	PLATFORM_WALK,	/* read the heap of a process from outside: heap, leaks, explain */
	PLATFORM_BORROW, /* put code into a running process: the helper, hooks that count */
	PLATFORM_BREAKPOINTS, /* count the calls of a running process with uprobes */
	PLATFORM_PART_COUNT_
};

struct platform {
	const char *machine; /* "x86-64"; what memstate was built for */
	uint64_t page_bytes; /* of the running kernel */
};

struct platform platform_here(void);

/* Why a part does not work on a platform, or NULL if it does. Static. */
const char *platform_refusal_on(const struct platform *platform, enum platform_part part);

/* The same for platform_here(). */
const char *platform_refusal(enum platform_part part);

/* For tests: platform_here() returns *platform from now on. NULL: no more. */
void platform_pretend(const struct platform *platform);

#endif
