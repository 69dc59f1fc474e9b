/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mallocng/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "walk/blocks/slot.h"

#define UNIT_BYTES UINT64_C(16)

/*
 * Sizes of the parts of struct meta_area: a head of 24 bytes, followed by metas of 40
 * bytes.
 */
#define AREA_HEAD_BYTES 24
#define AREA_METAS 101
#define META_BYTES 40
#define META_MEM 16
#define META_AVAIL 24
#define META_FREED 28
#define META_BITS 32

/*
 * Slot size of each class in units of 16 bytes, from size_classes[] in musl's malloc.c.
 */
static const uint16_t class_units[MALLOCNG_CLASS_COUNT] = {
	1,    2,    3,	  4,	5,    6,    7,	  8,	9,    10,   12,	  15,
	18,   20,   25,	  31,	36,   42,   50,	  63,	72,   84,   102,  127,
	146,  170,  204,  255,	292,  340,  409,  511,	584,  682,  818,  1023,
	1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

uint64_t mallocng_class_bytes(unsigned int class)
{
	return class_units[class] * UNIT_BYTES;
}

/* The last member of struct meta, a word with bit fields. */
struct meta_bits {
	unsigned int last_index, class;
	bool is_freeable;
	uint64_t page_count;
};

static struct meta_bits split_bits(uint64_t word)
{
	return (struct meta_bits){
		.last_index = word & 31,
		.is_freeable = word >> 5 & 1,
		.class = word >> 6 & 63,
		.page_count = word >> 12,
	};
}

/*
 * Compute the size of a group and of its slots. Return false if the fields of the meta
 * contradict each other.
 */
static bool set_size(struct mallocng_group *group, const struct meta_bits *bits)
{
	uint64_t mapped_bytes = bits->page_count * IMAGE_PAGE_BYTES, bytes;

	if (bits->class >= MALLOCNG_CLASS_COUNT && bits->class != MALLOCNG_CLASS_MAPPED)
		return false;
	if (bits->page_count > UINT64_MAX / IMAGE_PAGE_BYTES)
		return false;
	if (bits->last_index == 0 && bits->page_count > 0)
		group->slot_bytes = mapped_bytes - SLOT_GROUP_HEAD_BYTES;
	else if (bits->class == MALLOCNG_CLASS_MAPPED)
		return false;
	else
		group->slot_bytes = mallocng_class_bytes(bits->class);
	group->slot_count = (uint8_t)(bits->last_index + 1);
	group->class = (uint8_t)bits->class;
	bytes = SLOT_GROUP_HEAD_BYTES + group->slot_count * group->slot_bytes;
	if (bits->page_count > 0 && bytes > mapped_bytes)
		return false;
	group->source = bits->page_count > 0 ? MALLOCNG_MAPPED
			: bits->is_freeable  ? MALLOCNG_NESTED
					     : MALLOCNG_DONATED;
	bytes = bits->page_count > 0 ? mapped_bytes : bytes;
	if (bytes > UINT64_MAX - group->start_addr)
		return false;
	group->end_addr = group->start_addr + bytes;
	return true;
}

/* Return true if the whole range is in mappings that the walkers read. */
static bool is_readable(struct mallocng *m, uint64_t start_addr, uint64_t end_addr)
{
	while (start_addr < end_addr) {
		const struct mapping *mapping =
			mapping_list_find(m->input->mappings, start_addr);

		if (m->budget == 0 || !mapping || !walk_wants_mapping(mapping))
			return false;
		m->budget--;
		start_addr = mapping->end_addr;
	}
	return true;
}

/*
 * Check that the head of the group points back to the group's meta. If the head is
 * swapped out, set is_absent and accept the group.
 */
static bool check_head(struct mallocng *m, struct mallocng_group *group)
{
	uint64_t owner;

	if (image_read(m->image, group->start_addr, &owner))
		return owner == group->meta_addr;
	group->is_absent = walk_is_swapped(m->input, group->start_addr);
	return group->is_absent;
}

/*
 * Read a meta. Return 1 if the meta is in use, 0 if it is unused, or -1 if it fails a
 * check.
 */
static int read_meta(struct mallocng *m, uint64_t addr, const uint8_t *at,
		     struct mallocng_group *ret)
{
	uint32_t available, freed;
	struct meta_bits bits;
	uint64_t word;

	*ret = (struct mallocng_group){ .meta_addr = addr };
	memcpy(&ret->start_addr, at + META_MEM, sizeof(ret->start_addr));
	if (ret->start_addr == 0)
		return 0;
	memcpy(&available, at + META_AVAIL, sizeof(available));
	memcpy(&freed, at + META_FREED, sizeof(freed));
	memcpy(&word, at + META_BITS, sizeof(word));
	bits = split_bits(word);
	ret->free_mask = available | freed;
	if (ret->start_addr % UNIT_BYTES != 0 || (available & freed) != 0 ||
	    (uint64_t)ret->free_mask >> (bits.last_index + 1) != 0 ||
	    !set_size(ret, &bits) || !is_readable(m, ret->start_addr, ret->end_addr) ||
	    !check_head(m, ret))
		return -1;
	return 1;
}

static void read_areas(struct mallocng *m)
{
	for (size_t i = 0; i < m->area_count; i++) {
		const uint8_t *at = image_at(m->image, m->areas[i], IMAGE_PAGE_BYTES);

		for (unsigned int k = 0; at && k < AREA_METAS; k++) {
			uint64_t offset = AREA_HEAD_BYTES + k * META_BYTES;
			struct mallocng_group group;
			int r = read_meta(m, m->areas[i] + offset, at + offset, &group);

			if (r < 0)
				m->broken_metas++;
			if (r <= 0)
				continue;
			m->groups = xgrow(m->groups, &m->group_capacity,
					  m->group_count + 1, sizeof(*m->groups));
			m->groups[m->group_count++] = group;
		}
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct mallocng_group *x = a, *y = b;

	if (x->start_addr != y->start_addr)
		return x->start_addr < y->start_addr ? -1 : 1;
	return (x->meta_addr > y->meta_addr) - (x->meta_addr < y->meta_addr);
}

/*
 * Mark the slot of the outer group that contains `group`, a nested group. Return false if
 * `group` is not inside an allocated slot. If the outer group is not counted, `group` is
 * not counted either.
 */
static bool nest(struct mallocng_group *outer, struct mallocng_group *group)
{
	uint64_t offset = group->start_addr - mallocng_slot_addr(outer, 0);
	unsigned int index = (unsigned int)(offset / outer->slot_bytes);

	if (outer->is_broken || group->source != MALLOCNG_NESTED ||
	    group->start_addr < mallocng_slot_addr(outer, 0) ||
	    offset % outer->slot_bytes != 0 || index >= outer->slot_count ||
	    outer->free_mask >> index & 1 || outer->group_mask >> index & 1 ||
	    group->end_addr > mallocng_slot_addr(outer, index) + outer->slot_bytes)
		return false;
	outer->group_mask |= UINT32_C(1) << index;
	group->is_absent = group->is_absent || outer->is_absent;
	return true;
}

static int compare_addrs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Return true if the address range of the group contains a meta area. */
static bool has_area(const struct mallocng *m, const struct mallocng_group *group)
{
	size_t i = SEARCH_FIRST(m->area_count, k,
				m->areas[k] + IMAGE_PAGE_BYTES > group->start_addr);

	return i < m->area_count && m->areas[i] < group->end_addr;
}

/*
 * Check the positions of all groups. A nested group must be in a slot of the innermost
 * group around it, and any other group must not be inside a group. No group may contain a
 * meta area.
 */
static void check_places(struct mallocng *m)
{
	size_t *outer = xcalloc(m->group_count + 1, sizeof(*outer)), depth = 0;

	for (size_t i = 0; i < m->group_count; i++) {
		struct mallocng_group *group = &m->groups[i];

		while (depth > 0 &&
		       m->groups[outer[depth - 1]].end_addr <= group->start_addr)
			depth--;
		if (depth > 0)
			group->is_broken = !nest(&m->groups[outer[depth - 1]], group);
		else
			group->is_broken = group->source == MALLOCNG_NESTED ||
					   has_area(m, group);
		m->broken_metas += group->is_broken;
		m->absent_groups += group->is_absent;
		if (!group->is_broken)
			outer[depth++] = i;
	}
	free(outer);
}

/* Check the header of an allocated slot. */
static void check_slot(struct mallocng *m, const struct mallocng_group *group,
		       unsigned int index)
{
	bool has_group = group->group_mask >> index & 1;
	struct slot slot;
	bool is_read = slot_read(m->image, mallocng_slot_addr(group, index),
				 group->slot_bytes, &slot);
	bool is_right = slot.group_addr == group->start_addr && slot.index == index &&
			slot.has_group == has_group;

	/* if only the footer is not resident, the header can still be checked */
	if (!is_read && (slot.addr == 0 || is_right) && slot.absent_addr != 0 &&
	    walk_is_swapped(m->input, slot.absent_addr))
		m->absent_slots++;
	else if (!is_read || !is_right)
		m->broken_slots++;
}

static void check_slots(struct mallocng *m, const struct mallocng_group *group)
{
	for (unsigned int i = 0; i < group->slot_count; i++)
		if (!(group->free_mask >> i & 1))
			check_slot(m, group, i);
}

const char *mallocng_read_groups(struct mallocng *m)
{
	read_areas(m);
	qsort(m->areas, m->area_count, sizeof(*m->areas), compare_addrs);
	if (m->group_count > 0)
		qsort(m->groups, m->group_count, sizeof(*m->groups), compare_groups);
	check_places(m);
	for (size_t i = 0; i < m->group_count; i++) {
		struct mallocng_group *group = &m->groups[i];

		group->first_bit = m->bit_count;
		m->bit_count += group->slot_count;
		if (!group->is_broken && !group->is_absent)
			check_slots(m, group);
	}
	return NULL;
}
