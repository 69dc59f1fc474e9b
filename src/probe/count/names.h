/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - the names of functions that allocate and free: those of libc and C++, and
 * the entry points that allocators provide besides them.
 */
#ifndef MS_PROBE_COUNT_NAMES_H
#define MS_PROBE_COUNT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"

/*
 * If an allocator is linked into a program, the functions of one family are next to each
 * other. jemalloc's mallocx and similar functions belong to malloc's family.
 */
enum count_family {
	COUNT_FAMILY_STANDARD,
	COUNT_FAMILY_JE,
	COUNT_FAMILY_RJEM, /* Rust's tikv-jemallocator */
	COUNT_FAMILY_MI,
	COUNT_FAMILY_TC,
	COUNT_FAMILY_COUNT_
};

struct counted_name {
	const char *name;
	enum counted_call call; /* the standard function that it corresponds to */
	enum count_family family;
	/* the size is the first argument, unlike in the standard function */
	bool size_is_first;
};

/* The standard names come first, starting with malloc. */
#define COUNTED_STANDARD_COUNT 31
#define COUNTED_NAME_COUNT 123
extern const struct counted_name counted_names[COUNTED_NAME_COUNT];

/* Return false for names of functions that libc or C++ defines. */
static inline bool counted_name_is_extra(size_t i)
{
	return i >= COUNTED_STANDARD_COUNT;
}

#endif
