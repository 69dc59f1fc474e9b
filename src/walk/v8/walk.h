/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for V8's heap, as in Node.js.
 * Internal to walk/.
 *
 * Sources: src/heap/memory-chunk.h, page-metadata.h, spaces.h and free-list.h of V8 10.2,
 * 11.3, 12.4 and 13.6 (Node.js 18, 20, 22 and 24) without pointer compression; x86-64.
 *
 * The heap of an isolate consists of spaces, and a space of chunks. A chunk is 2^18 bytes
 * of memory, aligned to its size, or a single large object. A descriptor, which begins
 * the chunk or is in malloc's memory, contains the addresses of the heap and of the
 * space, and links the chunk into the space's list. The area of a chunk contains objects;
 * the chunk's lists of free memory contain the memory between them.
 */
#ifndef MS_WALK_V8_WALK_H
#define MS_WALK_V8_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define V8_CHUNK_BYTES (UINT64_C(256) << 10)
#define V8_BIT_NONE 64

/*
 * The differences between V8 versions. The members of a chunk's descriptor are numbered
 * in words. If the descriptor is separate from the chunk (is_apart), word 0 of the chunk
 * contains the flags, and word 1 points to the descriptor, whose word 1 points back to
 * the chunk. Otherwise, word 1 contains the flags.
 */
struct v8_layout {
	bool is_apart;
	uint8_t size, heap, start, end, allocated, wasted, owner, next, categories;
	/*
	 * Indices of two words in the struct of a space: the address of the first chunk's
	 * descriptor, and the total size of the areas of all chunks. The number of
	 * allocated bytes is 2 words after the total size.
	 */
	uint8_t front, capacity;
	/* bit number of each flag; V8_BIT_NONE if the version lacks the flag */
	uint8_t executable_bit, trusted_bit, large_bit;
	/* unit of the sizes that the lists of free memory contain, in bytes */
	uint8_t free_unit_bytes;
	/*
	 * Offset in the heap of gc_state_, a 32-bit number that is 1 to 3 while V8
	 * collects garbage
	 */
	uint16_t state;
};

/* The spaces of V8, as v8.getHeapSpaceStatistics() names them. */
enum v8_kind {
	V8_NEW,
	V8_OLD, /* includes the map space of Node.js 18 */
	V8_CODE,
	V8_TRUSTED,
	V8_NEW_LARGE,
	V8_LARGE,
	V8_CODE_LARGE,
	V8_TRUSTED_LARGE,
	V8_POOLED, /* chunks that belong to no space */
	V8_KIND_COUNT_
};

struct v8_chunk {
	/* range of the whole chunk, with its descriptor or header */
	uint64_t addr, end_addr;
	uint64_t area_addr, area_end_addr; /* range with objects and free memory */
	uint64_t descriptor_addr;
	uint64_t flags, heap_addr, owner_addr;
	uint64_t allocated_bytes, wasted_bytes;
	uint64_t next_addr, prev_addr; /* descriptors */
	uint64_t place;		       /* index of the chunk in the list of the space */
	bool is_in_list, is_broken;
};

/*
 * A cached result of v8_find_top(): a heap, and the address where the objects end in
 * its new space.
 */
struct v8_top {
	uint64_t heap_addr, top_addr;
};

/* A space with lists of free memory, and the sums over its chunks. */
struct v8_space {
	uint64_t owner_addr;
	uint64_t area_bytes, allocated_bytes;
	enum v8_kind kind;
};

/* A range of free memory in a chunk. */
struct v8_range {
	uint64_t start_addr, end_addr;
};

struct v8 {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	const struct v8_layout *layout;
	/* chunks in ascending address order once all are found */
	struct v8_chunk *chunks;
	size_t chunk_count, chunk_capacity;
	struct v8_range *ranges; /* free memory of the chunk that is being read */
	size_t range_count, range_capacity;

	struct v8_space *listed;
	size_t listed_count, listed_capacity;

	uint64_t broken_count;	 /* number of chunks whose space failed a check */
	uint64_t unlisted_count; /* number of chunks whose free memory is unknown */
	/* number of chunks with dead objects that are not listed as free */
	uint64_t unswept_count;
	struct v8_top *tops;
	size_t top_count, top_capacity;
	bool is_collecting;  /* true if V8 was collecting garbage */
	bool may_lack_chunk; /* true if memory that may contain chunks is swapped out */
	/* true if the end of the objects in some new space is unknown */
	bool has_unknown_top;
	struct heap_space spaces[V8_KIND_COUNT_];
};

/* Flag bits of a chunk that are the same in all versions. */
#define V8_FROM_BIT 3 /* the chunk is in the half of the new space that is not in use */
#define V8_TO_BIT 4

static inline bool v8_has_flag(const struct v8_chunk *chunk, uint8_t bit)
{
	return bit != V8_BIT_NONE && (chunk->flags >> bit & 1);
}

/*
 * Find the chunks and their spaces. Return NULL on success, or a string that describes
 * the problem. (find.c)
 */
const char *v8_find(struct v8 *v);

/*
 * Store the ranges of free memory of a chunk that is not large in *v. Return false if the
 * chunk's lists of free memory fail a check. (free.c)
 */
bool v8_read_free(struct v8 *v, const struct v8_chunk *chunk);

/*
 * Find where the objects end in the new space of a heap: the address at which the next
 * object will be allocated. Return 0 if it is not found. (free.c)
 */
uint64_t v8_find_top(struct v8 *v, uint64_t heap_addr);

/* Set *ret to the version of Node.js, such as "v20.20.2", if it is found. (version.c) */
void v8_read_version(struct v8 *v, char ret[HEAP_VERSION_SIZE]);

/*
 * Sum the chunks by space, page and mapping, and append their extents to v->blocks.
 * (account.c)
 */
void v8_account(struct v8 *v);

/* Like walk_heap(), but walk only the heap of V8 in Node.js 18, 20, 22 and 24. */
void walk_v8(const struct walk_input *input, struct heap *ret, struct blocks *ret_blocks);

#endif
