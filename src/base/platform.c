/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/platform.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#	define MACHINE "x86-64"
#elif defined(__aarch64__)
#	define MACHINE "AArch64"
#else
#	define MACHINE "another machine"
#endif

/* The machine and the page size that all parts require. */
#define KNOWN_MACHINE "x86-64"
#define KNOWN_PAGE_BYTES 4096

static const struct {
	/* messages for an unsupported machine and an unsupported page size */
	const char *machine, *page;
} refusals[PLATFORM_PART_COUNT_] = {
	[PLATFORM_WALK] = { "heaps can be read from outside on x86-64 only",
			    "heaps can be read from outside only where pages have 4096 bytes" },
	[PLATFORM_BORROW] = { "a helper or hooks can be put into a running process on x86-64 only; "
			      "elsewhere they have to be there from the start",
			      "a helper or hooks can be put into a running process only where pages "
			      "have 4096 bytes" },
	[PLATFORM_BREAKPOINTS] = { "calls of a running process can be counted on x86-64 only",
				   "calls of a running process can be counted only where pages have "
				   "4096 bytes" },
};

static const struct platform *pretended;

struct platform platform_here(void)
{
	if (pretended)
		return *pretended;
	return (struct platform){ MACHINE, (uint64_t)sysconf(_SC_PAGESIZE) };
}

const char *platform_refusal_on(const struct platform *platform, enum platform_part part)
{
	if (strcmp(platform->machine, KNOWN_MACHINE) != 0)
		return refusals[part].machine;
	return platform->page_bytes == KNOWN_PAGE_BYTES ? NULL : refusals[part].page;
}

const char *platform_refusal(enum platform_part part)
{
	const struct platform here = platform_here();

	return platform_refusal_on(&here, part);
}

void platform_pretend(const struct platform *platform)
{
	pretended = platform;
}
