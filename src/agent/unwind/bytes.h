/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bytes - read consecutive numbers from the unwind tables in .eh_frame. */
#ifndef MS_AGENT_UNWIND_BYTES_H
#define MS_AGENT_UNWIND_BYTES_H

#include <stdbool.h>
#include <stdint.h>

struct bytes {
	const uint8_t *at, *end;
	bool is_bad; /* true after a read beyond the end, or after an invalid number */
};

static inline uint64_t read_uint(struct bytes *b, unsigned int count)
{
	uint64_t value = 0;

	if ((uint64_t)(b->end - b->at) < count) {
		b->is_bad = true;
		b->at = b->end;
		return 0;
	}
	for (unsigned int i = 0; i < count; i++)
		value |= (uint64_t)b->at[i] << (8 * i);
	b->at += count;
	return value;
}

static inline uint64_t read_uleb(struct bytes *b)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = read_uint(b, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	b->is_bad = true;
	return 0;
}

static inline int64_t read_sleb(struct bytes *b)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = read_uint(b, 1);

		value |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && byte & 0x40)
			value |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)value;
	}
	b->is_bad = true;
	return 0;
}

static inline void skip(struct bytes *b, uint64_t count)
{
	if ((uint64_t)(b->end - b->at) < count) {
		b->is_bad = true;
		count = 0;
	}
	b->at += count;
}

#endif
