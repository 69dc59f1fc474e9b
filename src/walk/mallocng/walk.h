/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for mallocng, the malloc of musl.
 * Internal to walk/.
 *
 * Sources: src/malloc/mallocng/meta.h, malloc.c, free.c and donate.c of musl 1.2.1 to
 * 1.2.5, whose structures are the same; x86-64.
 *
 * The context is a struct in the data of musl or of a static program. It contains the
 * head of a list of meta areas, which are pages with up to 101 metas. Each meta describes
 * a group: up to 32 slots of one size, with two masks of free slots. A group has its own
 * mapping, or is in a slot of a group with larger slots, or in unused memory at the end
 * of a file's data. The context and each meta area contain a random number, the secret.
 */
#ifndef MS_WALK_MALLOCNG_WALK_H
#define MS_WALK_MALLOCNG_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define MALLOCNG_CLASS_COUNT 48
#define MALLOCNG_SLOTS_MAX 32

/* Value of sizeclass in the meta of a block that has its own mapping. */
#define MALLOCNG_CLASS_MAPPED 63

/* The members of struct malloc_context that the walker reads. */
struct mallocng_context {
	uint64_t addr;
	uint64_t secret;
	uint64_t first_area_addr;
	/* number of slots in all groups of each class, except donated groups */
	uint64_t class_slots[MALLOCNG_CLASS_COUNT];
	bool is_swapped; /* true if part of class_slots may be swapped out */
};

/* The source of a group's memory. */
enum mallocng_source {
	MALLOCNG_MAPPED, /* the group has its own mapping */
	MALLOCNG_NESTED, /* the group is in a slot of another group */
	MALLOCNG_DONATED /* the group is in unused memory at the end of a data segment */
};

struct mallocng_group {
	uint64_t meta_addr;
	/* range of the group, including its head and any unused end */
	uint64_t start_addr, end_addr;
	uint64_t slot_bytes; /* distance between the starts of adjacent slots */
	/* the bit of the group's first slot in the bit tables of struct blocks */
	uint64_t first_bit;
	uint32_t free_mask;  /* mask of the slots that are not allocated */
	uint32_t group_mask; /* mask of the slots that contain a nested group */
	uint8_t slot_count;  /* number of slots, 1 to 32 */
	uint8_t class;	     /* size class, or MALLOCNG_CLASS_MAPPED */
	enum mallocng_source source;
	bool is_broken; /* true if the group failed a check; it is then not counted */
	/*
	 * true if the head of the group, or of a group around it, is swapped out; the
	 * group is then not counted
	 */
	bool is_absent;
};

struct mallocng {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct mallocng_context context;
	/* addresses of the meta areas; sorted once all areas are known */
	uint64_t *areas;
	size_t area_count, area_capacity;

	/* groups in ascending address order; a nested group follows its outer group */
	struct mallocng_group *groups;
	size_t group_count, group_capacity;
	uint64_t bit_count;
	/* number of mappings that may still be looked up to check the groups */
	uint64_t budget;
	/*
	 * number of metas that failed a check, and number of slots with an invalid
	 * header
	 */
	uint64_t broken_metas, broken_slots;
	/*
	 * count of groups whose heads, and count of slots whose headers, are swapped out
	 */
	uint64_t absent_groups, absent_slots;
};

/* Return the size of the slots of a class, in bytes. */
uint64_t mallocng_class_bytes(unsigned int class);

/* Return the address of a slot. */
static inline uint64_t mallocng_slot_addr(const struct mallocng_group *group,
					  unsigned int index)
{
	return group->start_addr + 16 + index * group->slot_bytes;
}

/*
 * Find the context and the meta areas. Return NULL on success, or a static string that
 * describes the problem. If the context was found, context.addr is not 0. Defined in
 * find.c.
 */
const char *mallocng_find(struct mallocng *m);

/*
 * Read the metas and check their groups. Return NULL on success, or a static string that
 * describes the problem. Defined in groups.c.
 */
const char *mallocng_read_groups(struct mallocng *m);

/*
 * Sum the groups by class, page and mapping, and append their extents to m->blocks.
 * Defined in account.c.
 */
void mallocng_account(struct mallocng *m);

/* Like walk_heap(), but walk only the heap of mallocng in musl 1.2.1 to 1.2.5. */
void walk_mallocng(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
