/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry - the interface between the counting library and the libraries for allocators'
 * additional entry points (family.c).
 *
 * There is a small library for each allocator, which defines the entry points of that
 * allocator. It is preloaded after the counting library, but only if the program or one
 * of its libraries imports one of these names. If it were always preloaded, a program
 * that looks up mallocx would wrongly conclude that it runs with jemalloc.
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
 * The function type through which all entry points are called. Functions with fewer than
 * four parameters ignore the remaining arguments.
 */
typedef uintptr_t count_entry_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

struct count_entry {
	const char *name;
	enum count_function function;
	enum count_entry_size size;
	/* the allocator's own function; NULL before it has been looked up */
	count_entry_fn *next;
	/* address range of the file that contains the allocator's function */
	uintptr_t start, end;
	size_t (*usable)(const void *p, int flags);
};

struct count_entry_call {
	uintptr_t arguments[4];
	/* program counter, stack pointer and frame pointer of the calling function */
	uint64_t pc, sp, rbp;
};

/*
 * Call the allocator's function for this entry point, and return its result. Count the
 * call unless the allocator itself made it.
 */
__attribute__((visibility("default"))) uintptr_t
memstate_count_entry(const struct count_entry *entry,
		     const struct count_entry_call *call);

#endif
