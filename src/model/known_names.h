/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_names - names in smaps from which memstate recognises the kind of a mapping.
 * Plain data: classify/ uses them to classify mappings, and store/ preserves them when
 * it redacts all other names.
 */
#ifndef MS_MODEL_KNOWN_NAMES_H
#define MS_MODEL_KNOWN_NAMES_H

#include "model/mapping.h"
#include "model/usage.h"

/*
 * A library that implements malloc. It is identified by the start of its file name, which
 * is the part of the path after the last slash.
 */
struct library_name {
	const char *prefix;
	enum allocator allocator;
};

/* An element with a NULL prefix ends the array. */
extern const struct library_name library_names[];

/*
 * Beginnings of the names that smaps shows for shared memory on the kernel's own tmpfs or
 * on /dev/shm. A NULL ends the array.
 */
extern const char *const shmem_prefixes[];

/* Return the element of library_names for a path, or NULL. */
const struct library_name *library_name_find(const char *path);

/*
 * Return true if an anonymous mapping is the first one of the Go runtime's heap, or one
 * that the runtime has named.
 */
bool is_heap_of_go(const struct mapping *m);

/*
 * Return true if the mapping contains code of Erlang's virtual machine: its program is
 * named beam.smp, or beam.KIND.smp in special builds such as beam.emu.smp.
 */
bool is_code_of_erlang(const struct mapping *m);

/* Return the entry of shmem_prefixes that name starts with, or NULL. */
const char *shmem_prefix_find(const char *name);

/*
 * Return true if name is the file name of a program that only starts another, such
 * as sh, env or timeout.
 */
bool wrapper_name_is(const char *name);

#endif
