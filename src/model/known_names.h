/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_names - what the last column of smaps says of a mapping: the names that have a meaning.
 * Plain data: classify/ goes by them, and store/ keeps them where it hides all others.
 */
#ifndef MS_MODEL_KNOWN_NAMES_H
#define MS_MODEL_KNOWN_NAMES_H

#include "model/mapping.h"
#include "model/usage.h"

/* How the file's name (what follows the last slash) of a library with a malloc begins. */
struct library_name {
	const char *prefix;
	enum allocator allocator;
};

extern const struct library_name library_names[]; /* ends with a NULL prefix */

/*
 * How names of shared memory begin that is on the kernel's own tmpfs or on /dev/shm; ends
 * with NULL.
 */
extern const char *const shmem_prefixes[];

/* The library of a path, or NULL. */
const struct library_name *library_name_find(const char *path);

/* Whether an anonymous mapping is a part of the heap of the Go runtime. */
bool is_heap_of_go(const struct mapping *m);

/* The prefix of shmem_prefixes that the name has, or NULL. */
const char *shmem_prefix_find(const char *name);

/* A program whose work is to start another one, as sh, env and timeout, by its file's name. */
bool wrapper_name_is(const char *name);

#endif
