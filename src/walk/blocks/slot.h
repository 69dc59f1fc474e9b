/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot - decode the header of a slot in a group of musl's mallocng.
 *
 * Source: get_meta(), get_nominal_size() and enframe() in src/malloc/mallocng/meta.h of
 * musl 1.2.1 to 1.2.5.
 *
 * A slot has unit_bytes bytes. Its header is the 4 bytes before its start, so the last 4
 * bytes of a slot belong to the next slot's header. Below, p is the address that malloc
 * returned, which may be up to one page after the slot's start:
 *
 *    start[-3] == 0xe0: p = start + 16 * (u16 at start - 2); otherwise p = start
 *    p[-3] & 31: number of the slot in its group
 *    p[-3] >> 5: number of unused bytes at the end; 5: see the u32 before the end;
 *                6: the slot contains a group of smaller slots
 *    p[-4] == 0: u16 at p - 2 is the distance of p from the group's first slot, in units
 *                of 16 bytes; otherwise it is the u32 at p - 8
 */
#ifndef MS_WALK_BLOCKS_SLOT_H
#define MS_WALK_BLOCKS_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"

/* Size of a slot's header. */
#define SLOT_HEADER_BYTES UINT64_C(4)
/* Size of a group's header, which precedes its first slot. */
#define SLOT_GROUP_HEAD_BYTES UINT64_C(16)

struct slot {
	uint64_t addr;	     /* address that malloc returned */
	uint64_t bytes;	     /* number of bytes that the program requested */
	uint64_t group_addr; /* start of the group, according to the header */
	unsigned int index;  /* number of the slot in the group */
	/* true if the slot contains another group; bytes is then 0 */
	bool has_group;
	/* address of a part of the header that is not resident, or 0 if it is resident */
	uint64_t absent_addr;
};

/*
 * Decode the header of the allocated slot at start_addr. Return false if the header is
 * inconsistent, or not resident; in the latter case only, ret->absent_addr is not 0.
 */
bool slot_read(struct image *image, uint64_t start_addr, uint64_t unit_bytes,
	       struct slot *ret);

#endif
