/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/oldmalloc/walk.h"

#include <string.h>

#include "walk/blocks/data_area.h"

/*
 * struct bin: a lock of two numbers, then the first and the last chunk. The word before
 * the bins has a bit for each bin that is not empty (binmap).
 */
#define BIN_HEAD 8
#define BIN_TAIL 16
#define MAP_BYTES UINT64_C(8)
#define ROW_BYTES (MAP_BYTES + OLDMALLOC_BINS * OLDMALLOC_BIN_BYTES)

/*
 * Limits for a valid array of bins. At most BROKEN_MAX bins may be inconsistent, because
 * the process may have been paused while it changed them. At least RINGS_MIN bins must
 * contain chunks.
 */
#define BROKEN_MAX 4
#define RINGS_MIN 1

/*
 * Maximum number of waiting threads in a valid lock. A lock consists of two numbers: the
 * first is 0 or 1, and the second is the number of waiting threads.
 */
#define WAITERS_MAX 65535

enum bin_kind {
	BIN_BAD,
	BIN_NEW,
	BIN_EMPTY,
	BIN_RING
};

/*
 * Return whether a bin is unused, empty, a valid ring or invalid. `at` points
 * to the copy of its bytes; self_addr is the address of the chunk that the
 * bin's head represents.
 */
static enum bin_kind read_bin(struct oldmalloc *m, const uint8_t *at, uint64_t self_addr)
{
	uint64_t lock, head, tail, back = 0, forth = 0;

	memcpy(&lock, at, sizeof(lock));
	if ((lock & UINT32_MAX) > 1 || lock >> 32 > WAITERS_MAX)
		return BIN_BAD;
	memcpy(&head, at + BIN_HEAD, sizeof(head));
	memcpy(&tail, at + BIN_TAIL, sizeof(tail));
	if (head == 0 && tail == 0 && lock == 0)
		return BIN_NEW;
	if (head == self_addr && tail == self_addr)
		return BIN_EMPTY;
	if (head % OLDMALLOC_HEAD_BYTES != 0 || tail % OLDMALLOC_HEAD_BYTES != 0 ||
	    head > UINT64_MAX - OLDMALLOC_ALIGN || tail > UINT64_MAX - OLDMALLOC_ALIGN)
		return BIN_BAD;
	return image_read(m->image, head + OLDMALLOC_PREV, &back) && back == self_addr &&
			       image_read(m->image, tail + OLDMALLOC_NEXT, &forth) &&
			       forth == self_addr
		       ? BIN_RING
		       : BIN_BAD;
}

/*
 * Return true if the bitmap of nonempty bins (binmap) and the bins are at addr. `at`
 * points to the copy of their bytes.
 */
static bool are_bins(struct oldmalloc *m, uint64_t addr, const uint8_t *at)
{
	unsigned int broken = 0, rings = 0;
	uint64_t map;

	memcpy(&map, at, sizeof(map));
	if (map == 0)
		return false;
	m->bins_addr = addr + MAP_BYTES;
	for (unsigned int i = 0; i < OLDMALLOC_BINS && broken <= BROKEN_MAX; i++) {
		enum bin_kind kind = read_bin(m, at + MAP_BYTES + OLDMALLOC_BIN_BYTES * i,
					      oldmalloc_bin_chunk(m, i));
		bool is_marked = map >> i & 1;

		broken += kind == BIN_BAD || is_marked != (kind == BIN_RING);
		rings += kind == BIN_RING && is_marked;
	}
	m->broken_count = broken;
	return broken <= BROKEN_MAX && rings >= RINGS_MIN && rings > broken;
}

static bool find_in_area(struct oldmalloc *m, const struct data_area *area)
{
	uint64_t addr = area->start_addr;

	while ((addr = image_next_resident(m->image, addr, area->end_addr)) <
	       area->end_addr) {
		const struct image_run *run = image_run_at(m->image, addr);
		uint64_t end = run->end_addr < area->end_addr ? run->end_addr
							      : area->end_addr;
		const uint8_t *at =
			m->image->bytes + run->offset_bytes + (addr - run->start_addr);

		for (; addr + ROW_BYTES <= end; addr += 8, at += 8)
			if (are_bins(m, addr, at))
				return true;
		addr = end;
	}
	return false;
}

bool oldmalloc_find_bins(struct oldmalloc *m)
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(m->input, &index, &area))
		if (find_in_area(m, &area))
			return true;
	m->bins_addr = 0;
	m->broken_count = 0;
	return false;
}
