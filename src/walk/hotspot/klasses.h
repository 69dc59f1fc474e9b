/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * klasses - the classes of the objects in a Java heap, with the number and size of their
 * objects. Internal to walk/.
 */
#ifndef MS_WALK_HOTSPOT_KLASSES_H
#define MS_WALK_HOTSPOT_KLASSES_H

#include "walk/hotspot/walk.h"

#define KLASS_NAME_SIZE 512

struct hotspot_klass {
	uint64_t addr;
	char *name; /* name as in Java, such as "java.lang.String" or "[B" */
	/*
	 * Size of an instance in bytes. For an array class: size of the header, and log2
	 * of the size of an element.
	 */
	uint64_t bytes;
	unsigned int log2_element;
	bool is_array;
	/* true for java.lang.Class, whose objects have different sizes */
	bool is_mirror;
	struct chunk_sum live;
};

struct hotspot_klasses;

struct hotspot_klasses *hotspot_klasses_new(struct hotspot *h);
void hotspot_klasses_free(struct hotspot_klasses *klasses);

/*
 * Return the class at addr, or NULL if no class is there. The result for each address is
 * cached. The pointer is valid until the next search.
 */
struct hotspot_klass *hotspot_klasses_find(struct hotspot_klasses *klasses,
					   uint64_t addr);

/* Return the class with this index, or NULL if there are no more. */
const struct hotspot_klass *hotspot_klasses_at(const struct hotspot_klasses *klasses,
					       size_t index);

#endif
