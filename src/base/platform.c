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

/* The parts of memstate in unsupported_reasons require this machine and page size. */
#define KNOWN_MACHINE "x86-64"
#define KNOWN_PAGE_BYTES 4096

static const struct {
	const char *machine, *page;
} unsupported_reasons[PLATFORM_PART_COUNT_] = {
	[PLATFORM_WALK] = { "heaps can be read from outside only on x86-64",
			    "heaps can be read from outside only where pages have 4096 bytes" },
	[PLATFORM_BORROW] = { "a helper or hooks can be injected into a running "
			      "process only on x86-64; elsewhere they must be loaded "
			      "when the program starts",
			      "a helper or hooks can be injected into a running "
			      "process only where pages have 4096 bytes" },
	[PLATFORM_BREAKPOINTS] = { "calls of a running process can be counted only on "
				   "x86-64",
				   "calls of a running process can be counted only where pages have "
				   "4096 bytes" },
};

static const struct platform *overridden;

struct platform platform_current(void)
{
	if (overridden)
		return *overridden;
	return (struct platform){ MACHINE, (uint64_t)sysconf(_SC_PAGESIZE) };
}

const char *platform_unsupported_reason_on(const struct platform *platform,
					   enum platform_part part)
{
	if (strcmp(platform->machine, KNOWN_MACHINE) != 0)
		return unsupported_reasons[part].machine;
	return platform->page_bytes == KNOWN_PAGE_BYTES ? NULL
							: unsupported_reasons[part].page;
}

const char *platform_unsupported_reason(enum platform_part part)
{
	const struct platform here = platform_current();

	return platform_unsupported_reason_on(&here, part);
}

void platform_override(const struct platform *platform)
{
	overridden = platform;
}
