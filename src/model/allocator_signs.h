/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_signs - detect which allocator a process uses from its mappings. Every report
 * uses this detection. Only reading the heap can show more, such as a jemalloc that is
 * linked statically into the program.
 */
#ifndef MS_MODEL_ALLOCATOR_SIGNS_H
#define MS_MODEL_ALLOCATOR_SIGNS_H

#include "model/mapping.h"
#include "model/usage.h"

struct allocator_signs {
	enum allocator libc, other; /* found from the mapped libraries */
	uint64_t go_bytes, anonymous_bytes; /* resident bytes */
	bool has_go;
};

#define ALLOCATOR_SIGNS_INIT { ALLOCATOR_UNKNOWN, ALLOCATOR_UNKNOWN, 0, 0, false }

/* Add one mapping. Call it for the mappings in ascending address order. */
void allocator_signs_add(struct allocator_signs *signs, const struct mapping *m);

/*
 * Return the allocator in use. Go is returned only if its heap holds at least half of the
 * anonymous memory: C code in a Go program uses libc's malloc.
 */
enum allocator allocator_signs_find(const struct allocator_signs *signs);

/*
 * Return true if memstate cannot read heaps of this allocator, so stopping
 * the process is pointless.
 */
bool allocator_is_unreadable(enum allocator allocator);

#endif
