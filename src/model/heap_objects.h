/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_objects - the objects in the heap of a language runtime by type, and which of them
 * prevent nearly empty arenas from being freed. Plain data.
 *
 *     sum of types[].live + other + unused = the live bytes of the heap's objects
 */
#ifndef MS_MODEL_HEAP_OBJECTS_H
#define MS_MODEL_HEAP_OBJECTS_H

#include "model/heap.h"

struct heap_object_type {
	char *name; /* owned */
	struct chunk_sum live;
};

/* The blocks of one type and one size that are in nearly empty arenas. */
struct heap_object_pin {
	size_t type; /* index of the blocks' type in `types`, or HEAP_OBJECT_OTHER */
	uint64_t size_bytes;
	uint64_t block_count;
	/* number of arenas that contain at least one of the blocks */
	uint64_t arena_count;
};

#define HEAP_OBJECT_OTHER SIZE_MAX

struct heap_objects {
	enum allocator allocator;
	struct heap_object_type *types; /* types in descending order of bytes */
	size_t type_count, type_capacity;
	/*
	 * Live blocks that are not objects, such as the tables of dictionaries; Java:
	 * parts of the heap that could not be read.
	 */
	struct chunk_sum other;
	/* Java: unused ends of the threads' allocation buffers. */
	struct chunk_sum unused;
	/* Number of nearly empty arenas, and their free bytes. */
	struct chunk_sum empty;
	struct heap_object_pin *pins; /* sorted by arena_count, largest first */
	size_t pin_count;
	/*
	 * String constant that explains why the types of some objects are unknown; NULL
	 * if all objects were examined.
	 */
	const char *problem;
};

/* Append a type. The name is copied. */
void heap_objects_add(struct heap_objects *objects, const char *name,
		      const struct chunk_sum *live);

/* Merge types that have the same name, and sort the types by bytes, largest first. */
void heap_objects_sort(struct heap_objects *objects);

void heap_objects_release(struct heap_objects *objects);

#endif
