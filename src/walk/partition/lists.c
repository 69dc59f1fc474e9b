/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/partition/walk.h"

#include <byteswap.h>

/*
 * An element of a list is a free slot. Its first word is the next slot's offset from the
 * start of the pool, with the bytes in reverse order. Its second word is the complement
 * of the first word.
 */
uint64_t partition_next_free(struct partition *p, const struct partition_root *root,
			     uint64_t slot_addr, bool *ret_is_sound)
{
	uint64_t next, shadow, offset;

	*ret_is_sound = true;
	if (!image_read(p->image, slot_addr, &next) ||
	    !image_read(p->image, slot_addr + 8, &shadow))
		return 0;
	/*
	 * both words are 0 if the kernel has reclaimed, and thus zeroed, the page of the
	 * list's last slot
	 */
	if (next == 0 && shadow == 0)
		return 0;
	offset = bswap_64(next);
	*ret_is_sound = shadow == ~next && offset < root->pool_bytes;
	return *ret_is_sound && next != 0 ? root->pool_addr + offset : 0;
}

/* Mark the slots in the list of a span as free. Return false if the list is corrupt. */
static bool read_list(struct partition *p, const struct partition_span *span)
{
	uint32_t count = span->used_count - span->live_count;
	uint64_t addr = span->first_free;
	bool is_sound = true;

	for (; addr != 0 && count > 0; count--) {
		uint64_t offset = addr - span->start_addr;
		uint64_t bit = span->first_bit + offset / span->slot_bytes;

		if (addr < span->start_addr || offset % span->slot_bytes != 0 ||
		    offset / span->slot_bytes >= span->used_count ||
		    bit_is_set(p->blocks->not_live, bit))
			return false;
		bit_set(p->blocks->not_live, bit);
		addr = partition_next_free(p, &p->roots[span->root], addr, &is_sound);
	}
	return is_sound && addr == 0 && count == 0;
}

void partition_read_lists(struct partition *p)
{
	for (size_t i = 0; i < p->span_count; i++) {
		const struct partition_span *span = &p->spans[i];

		for (uint32_t slot = span->used_count; slot < span->slot_count; slot++)
			bit_set(p->blocks->not_live, span->first_bit + slot);
		if (!read_list(p, span))
			p->roots[span->root].broken_count++;
	}
}
