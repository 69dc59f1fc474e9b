/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects - count the objects of a Java heap by class.
 *
 * In a region of G1, or in a space of the Serial and Parallel collectors, objects are
 * adjacent from the bottom to the top. The exceptions are the allocation buffers of
 * threads, which are unused from their own top to their end. The header of an object
 * contains the address of its class, and the class contains the size of its objects. If
 * an object has no valid class, the rest of the region is not read.
 */
#ifndef MS_WALK_HOTSPOT_OBJECTS_H
#define MS_WALK_HOTSPOT_OBJECTS_H

#include "model/heap_objects.h"
#include "walk/blocks/input.h"

/*
 * Count the objects in the heap of the Java virtual machine in the process. Set *ret,
 * which the caller releases.
 */
void hotspot_count_objects(const struct walk_input *input, struct heap_objects *ret);

#endif
