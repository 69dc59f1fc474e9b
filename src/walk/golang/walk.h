/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for the heap of Go. Internal to
 * walk/.
 *
 * Sources: src/runtime/mheap.go, sizeclasses.go and mpagealloc.go of Go 1.18 to 1.26;
 * linux/amd64.
 *
 * The heap consists of spans, which are ranges of pages of 8192 bytes. A span contains
 * objects of one size class, a single large object, or a goroutine's stack.
 * mheap_.allspans, in the data of the program, is a slice of pointers to the description
 * of each span (struct mspan).
 */
#ifndef MS_WALK_GOLANG_WALK_H
#define MS_WALK_GOLANG_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/data_area.h"
#include "walk/blocks/input.h"

#define GOLANG_PAGE_BYTES UINT64_C(8192)
#define GOLANG_ARENA_BYTES (UINT64_C(64) << 20)
/* number of size classes, including class 0 for large objects */
#define GOLANG_CLASS_COUNT 68
/* maximum number of objects in a span */
#define GOLANG_OBJECTS_MAX (GOLANG_PAGE_BYTES / 8)
#define GOLANG_SPAN_BYTES 160 /* size of the part of struct mspan that the walker reads */

/* Offsets of members of struct mspan that depend on the version of Go. */
struct golang_layout {
	uint8_t free_index, count, alloc_bits;
	bool is_short; /* true if free_index and count are 16-bit numbers */
};

/* Values of mspan.state. */
enum golang_state {
	GOLANG_DEAD,
	GOLANG_IN_USE, /* span with objects */
	/* span with a stack, or with work buffers of the garbage collector */
	GOLANG_MANUAL,
};

struct golang_span {
	uint64_t addr; /* address of the struct mspan */
	uint64_t start_addr, end_addr;
	uint64_t object_bytes;
	uint64_t object_count; /* maximum number of objects */
	uint64_t free_index;   /* all objects below this index are allocated */
	/* address of allocBits, in which bit n is set if object n is allocated */
	uint64_t bits_addr;
	/* address of gcmarkBits, the bits for the next collection */
	uint64_t marks_addr;
	/* the first object's bit in the bit tables of struct blocks */
	uint64_t first_bit;
	uint32_t live_count; /* number of allocated objects (allocCount) */
	uint8_t class;
	uint8_t state;
	bool is_broken; /* true if the span failed a check; it is then not counted */
};

struct golang {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct data_area area; /* data of the program, which contains mheap_ */
	/* address and length of the array of mheap_.allspans */
	uint64_t list_addr, list_count;
	const struct golang_layout *layout;

	/* spans that are not dead, in ascending order of start_addr */
	struct golang_span *spans;
	size_t span_count, span_capacity;
	uint64_t bit_count;
	uint64_t broken_count; /* number of spans that failed a check */
	/*
	 * True if spans may be missing, because their descriptions or parts of the list
	 * of spans are swapped out. The memory of these spans would look idle.
	 */
	bool lacks_spans;
	/* number of spans that are not counted because their bits are swapped out */
	uint64_t absent_count;
	bool may_lack_tables; /* true if tables of Go may be swapped out */

	/* start addresses of the arenas, in ascending order */
	uint64_t *arenas;
	size_t arena_count, arena_capacity;
};

/* Return the size of the objects of a class, or 0 for class 0. */
uint64_t golang_class_bytes(unsigned int class);

/*
 * Read the struct mspan at addr without checking its contents. Return false if the struct
 * is not resident.
 */
bool golang_read_span(struct image *image, uint64_t addr,
		      const struct golang_layout *layout, struct golang_span *ret);

/* Return true if the members of a span with objects are consistent with each other. */
bool golang_is_sound(const struct golang_span *span);

/*
 * Find mheap_.allspans. Return NULL on success, or a static string that describes the
 * problem. Defined in find.c.
 */
const char *golang_find(struct golang *g);

/* Read and check all spans. Defined in spans.c. */
void golang_read_spans(struct golang *g);

/*
 * List the arenas in the runtime's table of arenas or, if the table is not found, the
 * arenas that contain spans. Set *ret_table_addr to the address of the table, or to 0.
 * Defined in tables.c.
 */
void golang_find_arenas(struct golang *g, uint64_t *ret_table_addr);

/*
 * Sum the spans by class, page and mapping, and append their extents to g->blocks.
 * Defined in account.c.
 */
void golang_account(struct golang *g);

/*
 * Add the pages of the runtime's own tables to the heap: descriptions of spans, bits of
 * objects, and the tables of pages and arenas. The runtime's other memory cannot be
 * distinguished from memory that the program has mapped. Defined in tables.c.
 */
void golang_account_tables(struct golang *g, uint64_t arena_table_addr);

/* Like walk_heap(), but walk only the heap of Go 1.18 to 1.26. */
void walk_golang(const struct walk_input *input, struct heap *ret,
		 struct blocks *ret_blocks);

#endif
