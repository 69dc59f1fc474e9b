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
 * Families of allocator functions. In a program that contains its own allocator, the code
 * of a family's functions is close together. jemalloc's mallocx and related functions
 * belong to the same family as malloc.
 */
enum count_family {
	COUNT_FAMILY_STANDARD,
	COUNT_FAMILY_JE,
	/* jemalloc functions as named by Rust's crate tikv-jemallocator */
	COUNT_FAMILY_RJEM,
	COUNT_FAMILY_MI,
	COUNT_FAMILY_TC,
	COUNT_FAMILY_COUNT_
};

struct counted_name {
	const char *name;
	/* the standard function that corresponds to this function */
	enum counted_call call;
	enum count_family family;
	/*
	 * true if the size is the first argument, unlike in the corresponding standard
	 * function
	 */
	bool size_is_first;
};

/*
 * Number of standard functions. They precede all other names in counted_names, and
 * start with malloc.
 */
#define COUNTED_STANDARD_COUNT 31
#define COUNTED_NAME_COUNT 128
extern const struct counted_name counted_names[COUNTED_NAME_COUNT];

/*
 * The additional allocator functions in alphabetical order, as indexes of counted_names.
 */
struct counted_order {
	size_t indexes[COUNTED_NAME_COUNT - COUNTED_STANDARD_COUNT];
};

void counted_order_init(struct counted_order *ret);

/*
 * Return the index in counted_names of the additional allocator function with this name,
 * or COUNTED_NAME_COUNT if not found. `length` is the length of the name in bytes.
 */
size_t counted_order_find(const struct counted_order *order, const char *name,
			  size_t length);

/*
 * Return true if the function is an additional one of an allocator, such as mallocx() or
 * mi_malloc(). Return false for the standard functions of libc and C++.
 */
static inline bool counted_name_is_extra(size_t i)
{
	return i >= COUNTED_STANDARD_COUNT;
}

#endif
