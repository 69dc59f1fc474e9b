/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map - the page map and the arenas of mimalloc 3. Internal to walk/mimalloc/. */
#ifndef MS_WALK_MIMALLOC_MAP_H
#define MS_WALK_MIMALLOC_MAP_H

#include "walk/mimalloc/walk.h"

/* Size of struct mi_memid_s, which begins with the address of the arena, if any. */
#define MIMALLOC_MEMORY_BYTES 24

/*
 * Offsets in struct mi_page_s of mimalloc 3. Versions with equal offsets share a layout.
 */
struct mimalloc_map_layout {
	const char *versions;
	/* true if the struct contains the offset of the page's first block */
	bool has_offset;
	uint16_t keys, memory; /* keys 0: none */
};

/* Add the arena at addr, unless it was added before. Defined in arenas.c. */
void mimalloc_add_arena(struct mimalloc *m, uint64_t addr);

/*
 * Read the arenas: which of their slices are free or contain mimalloc's own data. Return
 * NULL on success, or a static string that describes the problem. Defined in arenas.c.
 */
const char *mimalloc_read_arenas(struct mimalloc *m);

/*
 * Read the pages and arenas of mimalloc 3. Return NULL on success, or a static string
 * that describes the problem. If the page map was found, map_addr is not 0. Defined in
 * map.c.
 */
const char *mimalloc_read_map(struct mimalloc *m);

#endif
