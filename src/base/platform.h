/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * platform - which parts of memstate work on this machine and with this page size.
 *
 * The parts listed here depend on registers, machine code, allocator layouts or the
 * page size. All other parts work on any 64-bit Linux. A single table defines what each
 * part requires.
 */
#ifndef MS_BASE_PLATFORM_H
#define MS_BASE_PLATFORM_H

#include <stdint.h>

enum platform_part {
	PLATFORM_WALK, /* read the heap of a process from outside: heap, leaks, explain */
	/* inject code into a running process: the helper, hooks that count */
	PLATFORM_BORROW,
	PLATFORM_BREAKPOINTS, /* count calls in a running process with uprobes */
	PLATFORM_PART_COUNT_
};

struct platform {
	const char *machine; /* for which memstate was built, such as "x86-64" */
	uint64_t page_bytes; /* page size of the running kernel */
};

struct platform platform_here(void);

/* Return why a part does not work on a platform (static text), or NULL if it works. */
const char *platform_refusal_on(const struct platform *platform, enum platform_part part);

/* Like platform_refusal_on() for platform_here(). */
const char *platform_refusal(enum platform_part part);

/* For tests: make platform_here() return *platform (borrowed). NULL restores it. */
void platform_pretend(const struct platform *platform);

#endif
