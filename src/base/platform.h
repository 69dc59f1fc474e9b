/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * platform - determine which parts of memstate work on this machine and page size.
 *
 * The values of enum platform_part are the parts that depend on registers, machine code,
 * allocator layouts or the page size. All other parts of memstate work on any 64-bit
 * Linux. The table of the requirements is in platform.c.
 */
#ifndef MS_BASE_PLATFORM_H
#define MS_BASE_PLATFORM_H

#include <stdint.h>

enum platform_part {
	/*
	 * Read the heap of a process from outside, for the commands heap, leaks
	 * and explain.
	 */
	PLATFORM_WALK,
	/* Inject code into a running process: a helper, or hooks that count calls. */
	PLATFORM_BORROW,
	PLATFORM_BREAKPOINTS, /* count calls in a running process with uprobes */
	PLATFORM_PART_COUNT_
};

struct platform {
	const char *machine; /* machine for which memstate was built, such as "x86-64" */
	uint64_t page_bytes; /* page size of the running kernel, in bytes */
};

struct platform platform_current(void);

/*
 * Return the reason why a part of memstate does not work on the given platform, or NULL
 * if it works. The string is static.
 */
const char *platform_unsupported_reason_on(const struct platform *platform,
					   enum platform_part part);

/*
 * Return the reason why a part of memstate does not work on this machine, or NULL if it
 * works. The string is static.
 */
const char *platform_unsupported_reason(enum platform_part part);

/*
 * For tests: make platform_current() return *platform, which is borrowed.
 * NULL restores the real platform.
 */
void platform_override(const struct platform *platform);

#endif
