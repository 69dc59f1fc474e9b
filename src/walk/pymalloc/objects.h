/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects - count the objects in the arenas of Python by type.
 *
 * An object begins with its reference count and the address of its type. A type is an
 * object too: the types of types lead to an object with the name "type" that is its own
 * type. Objects that the cyclic garbage collector tracks have a header before them
 * (PyGC_Head). Since Python 3.11, objects with a dictionary have two more words before
 * this header. The flags of a type show which of these parts its objects have, so
 * memstate accepts an object only at the one place in its block that the flags determine.
 */
#ifndef MS_WALK_PYMALLOC_OBJECTS_H
#define MS_WALK_PYMALLOC_OBJECTS_H

#include "model/heap_objects.h"
#include "tracee/memory/memory.h"
#include "walk/blocks/blocks.h"

/*
 * Count the objects in the live blocks of a heap of Python. `heap` and `blocks` are
 * results of walk_pymalloc(). `memory` provides names in files; it may be NULL. Set *ret,
 * which the caller releases.
 */
void pymalloc_count_objects(const struct heap *heap, const struct blocks *blocks,
			    struct memory *memory, struct heap_objects *ret);

#endif
