/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types - recognize the types of Python: struct _typeobject of CPython 3.6 to 3.13.
 */
#ifndef MS_WALK_PYMALLOC_TYPES_H
#define MS_WALK_PYMALLOC_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"
#include "tracee/memory/memory.h"

#define PYTHON_NAME_SIZE 128

struct python_type {
	uint64_t addr;
	char *name;
	uint64_t basic_bytes; /* tp_basicsize */
	bool is_collected;    /* true if a PyGC_Head precedes each object of the type */
	bool has_extra;	      /* true if two more words precede the PyGC_Head */
};

struct python_types;

/* Image and memory are borrowed until python_types_free(). memory may be NULL. */
struct python_types *python_types_new(struct image *image, struct memory *memory);
void python_types_free(struct python_types *types);

/*
 * Return the number of the type at addr, counted from 1, or 0 if there is no type. The
 * result for each address is cached.
 */
uint32_t python_types_find(struct python_types *types, uint64_t addr);

/* Return a type by its number. The pointer is valid until the next search. */
const struct python_type *python_types_get(const struct python_types *types,
					   uint32_t number);

/* Return a static text that explains why some types were not examined, or NULL. */
const char *python_types_problem(const struct python_types *types);

#endif
