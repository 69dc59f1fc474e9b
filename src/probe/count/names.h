/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - the names of functions that allocate and free: functions of libc and C++, and
 * additional entry points of allocators.
 */
#ifndef MS_PROBE_COUNT_NAMES_H
#define MS_PROBE_COUNT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"

/*
 * Families of functions. In a program that contains its own allocator, the functions of
 * a family are close together. jemalloc's mallocx and similar functions belong to
 * malloc's family.
 */
enum count_family {
	COUNT_FAMILY_STANDARD,
	COUNT_FAMILY_JE,
	/*
	 * jemalloc with the names that Rust's crate tikv-jemallocator gives its functions
	 */
	COUNT_FAMILY_RJEM,
	COUNT_FAMILY_MI,
	COUNT_FAMILY_TC,
	COUNT_FAMILY_COUNT_
};

struct counted_name {
	const char *name;
	/* the standard function that this function corresponds to */
	enum counted_call call;
	enum count_family family;
	/*
	 * the size is the first argument, unlike in the corresponding standard function
	 */
	bool size_is_first;
};

/* The first COUNTED_STANDARD_COUNT names are standard functions, starting with malloc. */
#define COUNTED_STANDARD_COUNT 31
#define COUNTED_NAME_COUNT 128
extern const struct counted_name counted_names[COUNTED_NAME_COUNT];

/* The additional entry points in alphabetical order, as indexes of counted_names. */
struct counted_order {
	size_t indexes[COUNTED_NAME_COUNT - COUNTED_STANDARD_COUNT];
};

void counted_order_init(struct counted_order *ret);

/*
 * Return the index in counted_names of the additional entry point with this name, which
 * has the given length in bytes, or COUNTED_NAME_COUNT if no entry point has this name.
 */
size_t counted_order_find(const struct counted_order *order, const char *name,
			  size_t length);

/* Return true for additional entry points, and false for functions of libc or C++. */
static inline bool counted_name_is_extra(size_t i)
{
	return i >= COUNTED_STANDARD_COUNT;
}

#endif
