/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry - what the libraries for entry points beside malloc (family.c) call in
 * the library that counts.
 *
 * Each allocator has a library of its own with its entry points, which is preloaded, behind
 * the one that counts, only where the program or a library of it imports such a name: a
 * program may look for mallocx to find out whether it runs with jemalloc.
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

/* All with as many arguments as any of them has; functions that take fewer ignore the rest. */
typedef uintptr_t count_entry_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

struct count_entry {
	const char *name;
	enum count_function function;
	enum count_entry_size size;
	count_entry_fn *next; /* the allocator's; NULL: not looked up yet */
	uintptr_t start, end; /* the allocator's file, where next is */
	size_t (*usable)(const void *p, int flags);
};

struct count_entry_call {
	uintptr_t arguments[4];
	uint64_t pc, sp, rbp; /* of the caller */
};

/* Count a call unless the allocator makes it, and pass it on. */
__attribute__((visibility("default"))) uintptr_t
memstate_count_entry(const struct count_entry *entry,
		     const struct count_entry_call *call);

#endif
