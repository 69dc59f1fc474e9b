/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry - the interface between the counting library and the libraries for additional
 * entry points (family.c).
 *
 * There is a small library for each allocator, with the entry points of that allocator.
 * The library is preloaded after the counting library, and only if the program or one of
 * its libraries imports one of these names. Otherwise a program that looks up mallocx
 * would wrongly conclude that it runs with jemalloc.
 */
#ifndef MS_AGENT_COUNT_ENTRY_H
#define MS_AGENT_COUNT_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "agent/count/abi.h"
#include "agent/count/extra.h"

enum count_entry_size {
	COUNT_ENTRY_NONE,
	COUNT_ENTRY_FIRST,
	COUNT_ENTRY_SECOND,
	COUNT_ENTRY_THIRD,
	COUNT_ENTRY_PRODUCT,
	COUNT_ENTRY_LAST_PRODUCT,
};

/*
 * All entry points are called with four arguments. Functions with fewer parameters
 * ignore the others.
 */
typedef uintptr_t count_entry_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

struct count_entry {
	const char *name;
	enum count_function function;
	enum count_entry_size size;
	count_entry_fn *next; /* the allocator's own function; NULL: not looked up yet */
	/* address range of the file that contains the function `next` */
	uintptr_t start, end;
	size_t (*usable)(const void *p, int flags);
};

struct count_entry_call {
	uintptr_t arguments[4];
	uint64_t pc, sp, rbp; /* registers of the caller */
};

/*
 * Call the allocator's function for this entry, and return its result. Count the call
 * unless the allocator itself made it.
 */
__attribute__((visibility("default"))) uintptr_t
memstate_count_entry(const struct count_entry *entry,
		     const struct count_entry_call *call);

#endif
