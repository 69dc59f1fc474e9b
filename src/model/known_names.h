/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_names - names in smaps by which memstate recognises the kind of a mapping. Plain
 * data: classify/ uses them to classify mappings, and store/ preserves them when it
 * redacts all other names.
 */
#ifndef MS_MODEL_KNOWN_NAMES_H
#define MS_MODEL_KNOWN_NAMES_H

#include "model/mapping.h"
#include "model/usage.h"

/*
 * A library that implements malloc. memstate recognises it by the start of its file name.
 */
struct library_name {
	const char *prefix;
	enum allocator allocator;
};

/* An element with a NULL prefix ends the array. */
extern const struct library_name library_names[];

/*
 * Prefixes of the names that smaps shows for shared memory on the kernel's internal tmpfs
 * or on /dev/shm. A NULL ends the array.
 */
extern const char *const shmem_prefixes[];

/* Return the element of library_names that matches a path, or NULL. */
const struct library_name *library_name_find(const char *path);

/*
 * Return true if an anonymous mapping is the first mapping of the Go runtime's heap, or
 * if the runtime has named the mapping as part of its heap.
 */
bool is_heap_of_go(const struct mapping *m);

/*
 * Return true if the mapping contains code of Erlang's virtual machine. The program is
 * named beam.smp, or beam.KIND.smp in special builds such as beam.emu.smp.
 */
bool is_code_of_erlang(const struct mapping *m);

/* Return true if the mapping contains code of Node.js, or of its library. */
bool is_code_of_node(const struct mapping *m);

/* Return true if the mapping contains code of Ruby, or of its library. */
bool is_code_of_ruby(const struct mapping *m);

/* Return the element of shmem_prefixes with which the name starts, or NULL. */
const char *shmem_prefix_find(const char *name);

/*
 * Return true if this is the file name of a program that only starts another program,
 * such as sh, env or timeout.
 */
bool wrapper_name_is(const char *name);

#endif
