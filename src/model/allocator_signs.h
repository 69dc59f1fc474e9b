/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_signs - which allocator a process uses, by its mappings. All reports ask here;
 * only reading the heap can show more (a jemalloc that is linked into the program).
 */
#ifndef MS_MODEL_ALLOCATOR_SIGNS_H
#define MS_MODEL_ALLOCATOR_SIGNS_H

#include "model/mapping.h"
#include "model/usage.h"

struct allocator_signs {
	enum allocator libc, other; /* by the libraries that are mapped */
	uint64_t go_bytes, anonymous_bytes; /* resident */
	bool has_go;
};

#define ALLOCATOR_SIGNS_INIT { ALLOCATOR_UNKNOWN, ALLOCATOR_UNKNOWN, 0, 0, false }

/* Add the mappings in order of address. */
void allocator_signs_add(struct allocator_signs *signs, const struct mapping *m);

/* Go only where it has most of the anonymous memory: C code in it uses libc's malloc. */
enum allocator allocator_signs_find(const struct allocator_signs *signs);

/* True if the heap of this allocator can never be read, so that no stop is worth it. */
bool allocator_is_unreadable(enum allocator allocator);

#endif
