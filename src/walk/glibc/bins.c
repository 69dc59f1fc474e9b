/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <string.h>

/* Number of small bins. Small bin i contains only chunks of 16 * i bytes. */
#define SMALL_BINS 64

/*
 * Number of bins to read in parallel. The address of a bin's next chunk is known only
 * after the previous chunk has been read, and the next chunk is usually not in the CPU
 * cache. The walker therefore prefetches chunks of several bins, from both ends of each.
 */
#define BINS_AT_ONCE 8

enum side {
	FORWARD, /* follow the fd pointers */
	BACKWARD /* follow the bk pointers */
};

struct bin_walk {
	uint64_t head_addr; /* address of the bin, treated as a chunk */
	uint64_t next_addr[2];
	uint64_t last_addr[2]; /* the chunk read last in each direction */
	unsigned int bin;
};

static void fetch(struct glibc *g, uint64_t addr)
{
	const struct image_run *run = image_run_at(g->image, addr);
	uint64_t offset;

	if (!run)
		return;
	offset = run->offset_bytes + (addr - run->start_addr);
	__builtin_prefetch(g->image->bytes + offset + 8);
	__builtin_prefetch(g->image->bytes + offset + CHUNK_HEAD);
	__builtin_prefetch(&g->blocks->not_live[offset / CHUNK_ALIGN / 64]);
}

/*
 * Return true if a chunk of the arena begins at addr and is marked as free by the chunk
 * that follows it.
 */
static bool is_unused_chunk(struct glibc *g, size_t index, uint64_t addr)
{
	const struct region *region = glibc_region_at(g, addr);

	return region && region->arena == index && addr % CHUNK_ALIGN == 0 &&
	       image_run_at(g->image, addr) &&
	       bit_is_set(g->blocks->not_live, glibc_bit(g, addr));
}

/* Start reading a bin. Bin 1 contains the unsorted chunks. */
static bool begin_bin(struct glibc *g, size_t index, unsigned int bin,
		      struct bin_walk *ret)
{
	uint64_t head = glibc_initial_top(g, g->heap->arenas[index].addr) +
			(bin - 1) * CHUNK_HEAD;

	*ret = (struct bin_walk){ .head_addr = head, .bin = bin };
	for (enum side side = FORWARD; side <= BACKWARD; side++) {
		ret->last_addr[side] = head;
		if (!image_read(g->image, head + CHUNK_HEAD + side * 8,
				&ret->next_addr[side]))
			return false;
		fetch(g, ret->next_addr[side]);
	}
	return true;
}

enum step {
	STEP_DONE,
	STEP_END,
	STEP_BROKEN
};

/*
 * Read the next chunk in one direction of a bin's list, and prefetch the chunk after it.
 */
static bool take(struct glibc *g, size_t index, struct bin_walk *walk, enum side side)
{
	uint64_t addr = walk->next_addr[side];
	uint64_t words[4]; /* the first four words of a chunk: prev_size, size, fd, bk */
	const uint8_t *at = image_at(g->image, addr, sizeof(words));

	if (!at || !is_unused_chunk(g, index, addr))
		return false;
	memcpy(words, at, sizeof(words));
	words[1] &= ~CHUNK_FLAGS;
	/*
	 * A chunk must point back to its predecessor. Thus no chunk can be in a bin
	 * twice, or in two bins.
	 */
	if (words[2 + !side] != walk->last_addr[side] ||
	    (walk->bin > 1 && walk->bin < SMALL_BINS &&
	     words[1] != walk->bin * CHUNK_ALIGN))
		return false;
	chunk_sum_add(&g->heap->arenas[index].bin, words[1]);
	walk->last_addr[side] = addr;
	walk->next_addr[side] = words[2 + side];
	fetch(g, words[2 + side]);
	return true;
}

/*
 * Read the next chunk of a bin's list in one direction. The list has been read completely
 * when the walks from both ends have met: the next chunk of each walk is then the chunk
 * that the other walk read last.
 */
static enum step step(struct glibc *g, size_t index, struct bin_walk *walk,
		      enum side side)
{
	if (walk->next_addr[side] == walk->last_addr[!side])
		return walk->next_addr[!side] == walk->last_addr[side] ? STEP_END
								       : STEP_BROKEN;
	return take(g, index, walk, side) ? STEP_DONE : STEP_BROKEN;
}

static enum step step_both(struct glibc *g, size_t index, struct bin_walk *walk)
{
	enum step outcome = step(g, index, walk, FORWARD);

	return outcome == STEP_DONE ? step(g, index, walk, BACKWARD) : outcome;
}

bool glibc_read_bins(struct glibc *g, size_t index)
{
	struct bin_walk walks[BINS_AT_ONCE];
	unsigned int next_bin = 1;
	size_t count = 0;

	do {
		for (; count < BINS_AT_ONCE && next_bin <= BIN_COUNT; next_bin++)
			if (!begin_bin(g, index, next_bin, &walks[count++]))
				return false;
		for (size_t i = 0; i < count; i++) {
			enum step outcome = step_both(g, index, &walks[i]);

			if (outcome == STEP_BROKEN)
				return false;
			if (outcome == STEP_END)
				walks[i--] = walks[--count];
		}
	} while (count > 0 || next_bin <= BIN_COUNT);
	return true;
}
