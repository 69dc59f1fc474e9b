/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotspot_library - the file libjvm.so of a made-up Java virtual machine, and the tables
 * in its data. Used only by hotspot_image.c.
 */
#ifndef MS_TESTS_HOTSPOT_LIBRARY_H
#define MS_TESTS_HOTSPOT_LIBRARY_H

#include "hotspot_image.h"

#define PAGE UINT64_C(4096)

/*
 * A file of LIBRARY_PAGES pages with the names, and its data, which is at
 * DATA_VADDR before relocation. Nothing of the test program is at these addresses.
 */
#define LIBRARY_ADDR UINT64_C(0x580000000000)
#define LIBRARY_PAGES 8
#define DATA_VADDR UINT64_C(0x10000)
#define DATA_ADDR (LIBRARY_ADDR + DATA_VADDR)
#define DATA_PAGES 4
#define LIBRARY_TEXTS_OFFSET 0x2000

/* Size of each structure of the JVM, at most. */
#define STRUCT_BYTES PAGE

/* The option MinHeapSize: the committed heap has 96 pages. */
#define MIN_HEAP_BYTES (90 * PAGE)

/* Kinds of regions, as in OpenJDK 17. */
#define TAG_FREE 0
#define TAG_EDEN 2
#define TAG_SURVIVOR 3
#define TAG_HUMONGOUS 12
#define TAG_CONTINUED 13
#define TAG_OLD 16
#define TAG_ARCHIVE 56

/* Create the file and open the access to its contents. */
void hotspot_library_open(struct hotspot_image *h);

/* Remove the file. */
void hotspot_library_close(struct hotspot_image *h);

/* Append a name to the read-only data of the file. Returns its address in memory. */
uint64_t hotspot_library_add_text(struct hotspot_image *h, const char *text);

/* Write the tables of fields, types, constants and flags into the image. */
void hotspot_library_make_tables(struct hotspot_image *h);

/* Return the bytes of the image at addr, which must be there. */
uint8_t *hotspot_image_at(struct hotspot_image *h, uint64_t addr, uint64_t length);

/* Return the address of memory for a structure. */
uint64_t hotspot_image_add_struct(struct hotspot_image *h);

/* Set a field of the structure at addr, or a static field. */
void hotspot_image_set(struct hotspot_image *h, uint64_t addr, enum hotspot_field field,
		       uint64_t value);

#endif
