/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/slot.h"

#include <string.h>

#define UNIT_BYTES UINT64_C(16)
#define INDEX_MASK 31
/* value of start[-3] if the block begins after the start of the slot */
#define SKIPPED 0xe0
#define RESERVED_SHIFT 5
#define RESERVED_IN_FOOTER 5
#define RESERVED_GROUP 6

/*
 * Return the copy of the 4 bytes at addr. If they are not resident, set
 * slot->absent_addr.
 */
static const uint8_t *find_u32(struct image *image, uint64_t addr, struct slot *slot)
{
	const uint8_t *at = image_at(image, addr, sizeof(uint32_t));

	if (!at)
		slot->absent_addr = addr;
	return at;
}

static bool read_u32(struct image *image, uint64_t addr, uint32_t *ret, struct slot *slot)
{
	const uint8_t *at = find_u32(image, addr, slot);

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at != NULL;
}

/*
 * Read the slot header before p, the address that malloc returned: its first two bytes,
 * and the 16-bit number after them.
 */
static bool read_header(struct image *image, uint64_t p, uint8_t bytes[2],
			uint16_t *ret_offset, struct slot *slot)
{
	const uint8_t *at = find_u32(image, p - SLOT_HEADER_BYTES, slot);

	if (!at)
		return false;
	memcpy(bytes, at, 2);
	memcpy(ret_offset, at + 2, sizeof(*ret_offset));
	return true;
}

bool slot_read(struct image *image, uint64_t start_addr, uint64_t unit_bytes,
	       struct slot *ret)
{
	uint64_t end_addr = start_addr + unit_bytes - SLOT_HEADER_BYTES;
	uint64_t p = start_addr;
	uint32_t units, reserved;
	uint8_t header[2];
	uint16_t offset;

	*ret = (struct slot){ 0 };
	if (!read_header(image, p, header, &offset, ret))
		return false;
	if (header[1] == SKIPPED) {
		p += offset * UNIT_BYTES;
		if (offset == 0 || p >= end_addr ||
		    !read_header(image, p, header, &offset, ret))
			return false;
	}
	units = offset;
	if (header[0] > 1 || (header[0] == 1 && !read_u32(image, p - 8, &units, ret)))
		return false;
	*ret = (struct slot){
		.addr = p,
		.group_addr = p - units * UNIT_BYTES - SLOT_GROUP_HEAD_BYTES,
		.index = header[1] & INDEX_MASK,
		.has_group = header[1] >> RESERVED_SHIFT == RESERVED_GROUP,
	};
	reserved = header[1] >> RESERVED_SHIFT;
	if (ret->has_group)
		return true;
	if (reserved > RESERVED_IN_FOOTER ||
	    (reserved == RESERVED_IN_FOOTER &&
	     (!read_u32(image, end_addr - 4, &reserved, ret) ||
	      reserved < RESERVED_IN_FOOTER)) ||
	    reserved > end_addr - p)
		return false;
	ret->bytes = end_addr - reserved - p;
	return true;
}
