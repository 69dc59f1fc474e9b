/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotspot_image - memory of a made-up Java virtual machine, and a file libjvm.so.
 *
 * The file exports the symbols of the tables and contains the names. The image holds the
 * tables, the JVM's structures, a Java heap, a code heap, two chunks of metaspace, a card
 * table and stacks. The offsets of the fields are arbitrary, as the walker has to find
 * them in the tables. The image is consistent when built; tests then damage it.
 */
#ifndef MS_TESTS_HOTSPOT_IMAGE_H
#define MS_TESTS_HOTSPOT_IMAGE_H

#include "walk/hotspot/walk.h"

struct hotspot_image {
	struct image image;
	struct mapping_list mappings;
	struct memory memory;
	struct blocks blocks; /* set by the last walk */
	enum hotspot_collector collector;
	bool is_running;
	char folder[64];    /* of libjvm.so */
	char library[80];   /* path of libjvm.so */
	uint64_t next_addr; /* for the next structure */
	uint64_t text_addr; /* for the next name in the file */
	int fd;

	/* addresses in the image */
	uint64_t tables_addr;
	uint64_t heap_addr, table_addr, region_addr, space_addr, klass_addr, loader_addr;
	/* set by hotspot_image_add_objects() */
	uint64_t thing_addr, array_klass_addr; /* classes */
	uint64_t things_addr, arrays_addr, mirror_addr;
	uint64_t code_heap_addr, first_block_addr, thread_list_addr, cards_addr;

	/* The correct figures, which a walk must report. */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
	uint64_t live_bytes[HOTSPOT_SPACE_COUNT_], free_bytes[HOTSPOT_SPACE_COUNT_];
	uint64_t trimmable_bytes;
};

void hotspot_image_init(struct hotspot_image *h, enum hotspot_collector collector);
void hotspot_image_release(struct hotspot_image *h);

/*
 * Fill the first region with objects of HOTSPOT_IMAGE_OBJECT_BYTES each: things, then
 * arrays of integers, an object of java.lang.Class, the unused end of an allocation
 * buffer, and more things. thing_addr, array_klass_addr, things_addr, arrays_addr and
 * mirror_addr are set. All other regions stay empty.
 */
#define HOTSPOT_IMAGE_OBJECT_BYTES UINT64_C(512)
#define HOTSPOT_IMAGE_THINGS 100 /* in front of the arrays */
#define HOTSPOT_IMAGE_ARRAYS 10
#define HOTSPOT_IMAGE_UNUSED 9 /* in units of the size of an object */
#define HOTSPOT_IMAGE_LAST_THINGS 8
void hotspot_image_add_objects(struct hotspot_image *h);

/* Return the address of a field of the structure at addr, or of a static field. */
uint64_t hotspot_image_field(enum hotspot_field field, uint64_t addr);

void hotspot_image_write(struct hotspot_image *h, uint64_t addr, uint64_t value);
uint64_t hotspot_image_read(struct hotspot_image *h, uint64_t addr);

/* Remove the page at addr from the image. */
void hotspot_image_drop(struct hotspot_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void hotspot_image_walk(struct hotspot_image *h, struct heap *ret);

#endif
