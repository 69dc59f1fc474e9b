/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/ruby/walk.h"

#include <string.h>

#include "walk/blocks/page_use.h"

/*
 * The transient heap of Ruby 2.6 to 3.2 (transient_heap.c): a mapping of 32 MiB with
 * blocks of 32768 bytes. The header of a block has 16-bit numbers: the used bytes after
 * the header, the position of the object that was marked last or -1, and the number of
 * objects. The address of another block follows.
 */
#define TRANSIENT_BYTES (UINT64_C(32) << 20)
#define BLOCK_BYTES (UINT64_C(32) << 10)
#define HEADER_BYTES UINT64_C(16)

/*
 * Upper bound on the number of blocks without a successor. Ruby has three lists of
 * blocks, and the last block of each list has no successor.
 */
#define ENDS_MAX 4

/* Maximum number of swapped-out block headers that the search skips. */
#define SKIPPED_MAX (UINT64_C(1) << 20)

struct block_header {
	uint64_t used_bytes;
	uint64_t next_addr;
};

/* Read the header of a block. Return false if a check fails. */
static bool read_block(struct ruby *r, uint64_t addr, struct block_header *ret)
{
	const uint8_t *at = image_at(r->image, addr, HEADER_BYTES);
	int16_t numbers[4];

	if (!at)
		return false;
	memcpy(numbers, at, sizeof(numbers));
	memcpy(&ret->next_addr, at + 8, sizeof(ret->next_addr));
	ret->used_bytes = (uint64_t)numbers[0];
	return numbers[0] >= 0 && ret->used_bytes <= BLOCK_BYTES - HEADER_BYTES &&
	       ret->used_bytes % 8 == 0 && numbers[1] >= -1 && numbers[1] <= numbers[0] &&
	       numbers[2] >= 0 && numbers[3] == 0 && ret->next_addr % BLOCK_BYTES == 0;
}

/*
 * Return true if the block header at addr may be swapped out, and the search may skip it.
 * The number of skipped headers is limited, because a process may have a lot of
 * swapped-out memory.
 */
static bool is_skipped(struct ruby *r, uint64_t addr)
{
	if (!walk_is_swapped(r->input, addr))
		return false;
	r->has_swapped = true;
	return ++r->skipped_count <= SKIPPED_MAX;
}

/*
 * Return true if the transient heap begins at addr. More than half of its block headers
 * must be resident.
 */
static bool is_arena(struct ruby *r, uint64_t addr)
{
	unsigned int ends = 0, known = 0;

	for (uint64_t at = 0; at < TRANSIENT_BYTES; at += BLOCK_BYTES) {
		struct block_header header;

		if (!read_block(r, addr + at, &header)) {
			if (!is_skipped(r, addr + at))
				return false;
			continue;
		}
		known++;
		if (header.next_addr == 0)
			ends++;
		else if (header.next_addr - addr >= TRANSIENT_BYTES)
			return false;
		if (ends > ENDS_MAX)
			return false;
	}
	return known > TRANSIENT_BYTES / BLOCK_BYTES / 2;
}

uint64_t ruby_find_transient(struct ruby *r)
{
	const struct mapping_list *list = r->input->mappings;

	for (size_t i = 0; i < list->count; i++) {
		const struct mapping *m = &list->items[i];
		uint64_t addr = (m->start_addr + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);

		if (!walk_wants_mapping(m) || m->inode != 0 || m->name[0] != '\0')
			continue;
		/* the kernel may have merged the mapping with others */
		for (; addr < m->end_addr && m->end_addr - addr >= TRANSIENT_BYTES;
		     addr += BLOCK_BYTES)
			if (is_arena(r, addr))
				return addr;
	}
	return 0;
}

void ruby_account_transient(struct ruby *r, uint64_t arena, struct heap_space *space)
{
	struct heap_arena *sums = &r->heap->arenas[0];

	for (uint64_t addr = arena; addr < arena + TRANSIENT_BYTES; addr += BLOCK_BYTES) {
		uint64_t start = addr + HEADER_BYTES, used;
		struct block_header header;

		if (!read_block(r, addr, &header)) {
			if (!walk_is_swapped(r->input, addr))
				continue;
			/*
			 * the number of used bytes is unknown, so assume that all
			 * bytes are used
			 */
			header.used_bytes = BLOCK_BYTES - HEADER_BYTES;
		}
		used = header.used_bytes;
		page_use_add(r->blocks, addr, addr + BLOCK_BYTES, USE_HEAP);
		page_use_add(r->blocks, start, start + used, USE_LIVE);
		page_use_add(r->blocks, start + used, addr + BLOCK_BYTES, USE_FREE);
		space->count += used > 0;
		space->live_bytes += used;
		space->free_bytes += BLOCK_BYTES - HEADER_BYTES - used;
		sums->system_bytes += BLOCK_BYTES;
	}
	space->resident_bytes +=
		image_resident_bytes(r->image, arena, arena + TRANSIENT_BYTES);
}
