/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/golang/walk.h"

#include <stdlib.h>
#include <string.h>

/* Object size of each class: class_to_size in runtime/sizeclasses.go. */
static const uint16_t class_bytes[GOLANG_CLASS_COUNT] = {
	0,     8,     16,      24,    32,    48,    64,	   80,	  96,	 112,
	128,   144,   160,     176,   192,   208,   224,   240,	  256,	 288,
	320,   352,   384,     416,   448,   480,   512,   576,	  640,	 704,
	768,   896,   1 << 10, 1152,  1280,  1408,  1536,  1792,  2048,	 2304,
	2688,  3072,  3200,    3456,  4096,  4864,  5376,  6144,  6528,	 6784,
	6912,  8192,  9472,    9728,  10240, 10880, 12288, 13568, 14336, 16384,
	18432, 19072, 20480,   21760, 24576, 27264, 28672, 32768,
};

#define INLINE_MARK_BYTES 128

uint64_t golang_class_bytes(unsigned int class)
{
	return class_bytes[class];
}

bool golang_read_span(struct image *image, uint64_t addr,
		      const struct golang_layout *layout, struct golang_span *ret)
{
	const uint8_t *at = image_at(image, addr, GOLANG_SPAN_BYTES);
	const size_t number_bytes = layout->is_short ? 2 : 8;
	uint64_t pages;
	uint16_t live;

	if (!at)
		return false;
	*ret = (struct golang_span){ .addr = addr };
	memcpy(&ret->start_addr, at + 24, sizeof(ret->start_addr));
	memcpy(&pages, at + 32, sizeof(pages));
	memcpy(&ret->free_index, at + layout->free_index, number_bytes);
	memcpy(&ret->object_count, at + layout->count, number_bytes);
	memcpy(&ret->bits_addr, at + layout->alloc_bits, sizeof(ret->bits_addr));
	memcpy(&ret->marks_addr, at + layout->alloc_bits + 8, sizeof(ret->marks_addr));
	memcpy(&live, at + 96, sizeof(live));
	memcpy(&ret->object_bytes, at + 104, sizeof(ret->object_bytes));
	ret->live_count = live;
	/*
	 * bit 0 of spanclass is not part of the size class: it is set if the objects
	 * contain no pointers
	 */
	ret->class = at[98] >> 1;
	ret->state = at[99];
	if (pages == 0 || pages > UINT64_C(1) << 34 ||
	    ret->start_addr % GOLANG_PAGE_BYTES != 0 || ret->start_addr == 0 ||
	    ret->start_addr >> WALK_ADDR_BITS != 0)
		return true; /* end_addr stays 0, which marks the span as invalid */
	ret->end_addr = ret->start_addr + pages * GOLANG_PAGE_BYTES;
	return true;
}

bool golang_is_sound(const struct golang_span *span)
{
	uint64_t bytes = span->end_addr - span->start_addr, used, unused;

	if (span->end_addr == 0 || span->state != GOLANG_IN_USE ||
	    span->class >= GOLANG_CLASS_COUNT || span->live_count > span->object_count ||
	    span->free_index > span->object_count)
		return false;
	if (span->class == 0)
		return span->object_count == 1 && span->object_bytes <= bytes;
	used = span->object_count * span->object_bytes;
	/*
	 * Since Go 1.22, up to 1/64 of the span may contain its heap bits. Since Go 1.26,
	 * the end of the span may contain its mark bits (struct spanInlineMarkBits).
	 */
	unused = span->object_bytes + bytes / 64 + INLINE_MARK_BYTES;
	return span->object_count > 0 && span->object_count <= GOLANG_OBJECTS_MAX &&
	       span->object_bytes == golang_class_bytes(span->class) && used <= bytes &&
	       bytes - used <= unused;
}

void walk_golang(const struct walk_input *input, struct heap *ret,
		 struct blocks *ret_blocks)
{
	struct golang g = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	ret->problem = golang_find(&g);
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_GO;
		golang_read_spans(&g);
		golang_account(&g);
	}
	free(g.spans);
	free(g.arenas);
}
