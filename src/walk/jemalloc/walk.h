/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the jemalloc walker. Internal to walk/.
 *
 * Sources: rtree.h, extent_structs.h, edata.h, base.c, emap.c, tcache_structs.h and
 * cache_bin.h of jemalloc 5.0 to 5.3.1; x86-64. The walker determines the version and the
 * configuration from the memory. "Extent" means extent_t up to jemalloc 5.2, and edata_t
 * since 5.3.
 *
 * jemalloc's own data is in base blocks, whose heads contain their sizes. A radix tree
 * maps addresses to extents. The root of the tree is in the data of the library or
 * program.
 */
#ifndef MS_WALK_JEMALLOC_WALK_H
#define MS_WALK_JEMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

/*
 * The value of MALLOCX_ARENA_LIMIT. An extent with this arena number belongs to no arena.
 */
#define JEMALLOC_ARENAS_MAX 4095
#define JEMALLOC_EXTENT_BYTES UINT64_C(128)
#define JEMALLOC_EXTENT_ALIGN UINT64_C(64)
#define JEMALLOC_SLAB_BLOCKS_MAX 512
#define JEMALLOC_SLAB_WORDS (JEMALLOC_SLAB_BLOCKS_MAX / 64)
#define JEMALLOC_LARGE_MIN_BYTES UINT64_C(16384)

/*
 * The shape of the radix tree. It depends on LG_VADDR, which is 48, or 57 if jemalloc was
 * built on a machine with five-level page tables.
 */
struct jemalloc_tree {
	unsigned int level_count;
	/* Number of address bits for each level, from the root to the leaves. */
	unsigned int level_bits[3];
	unsigned int element_bytes; /* size of an element of a leaf, in bytes */
};

/*
 * The bit positions of the fields in an extent's first word, e_bits. In all versions, the
 * arena number is in bits 0 to 11, and the slab flag is bit 12.
 */
struct jemalloc_layout {
	unsigned int state_shift, state_bits, class_shift, free_shift;
	/* true if leaves contain the extent's state, as in jemalloc 5.3 and later */
	bool has_leaf_state;
};

enum jemalloc_state {
	JEMALLOC_ACTIVE,
	JEMALLOC_DIRTY,
	JEMALLOC_MUZZY,
	JEMALLOC_RETAINED,
	/*
	 * this or a higher value means that jemalloc was changing the extent when
	 * memstate read it
	 */
	JEMALLOC_STATE_COUNT_
};

/* An element of a leaf, as read from memory. */
struct jemalloc_entry {
	uint64_t page_addr;
	uint64_t extent_addr; /* address of the extent structure */
	uint64_t words[2];
};

/* An extent structure, as read from memory. */
struct jemalloc_raw {
	uint64_t bits;
	uint64_t addr;
	uint64_t size;
	/* Bitmap of a slab. The bit of a free block is set. */
	uint64_t free_bits[JEMALLOC_SLAB_WORDS];
};

struct jemalloc_extent {
	uint64_t start_addr, end_addr; /* address range of the extent, page-aligned */
	uint64_t first_addr;	       /* address of the first block */
	uint64_t block_bytes;
	uint64_t first_bit; /* the first block's bit in the bit tables of struct blocks */
	uint16_t block_count;
	/* index of the extent's arena in the array `arenas` of struct heap */
	uint16_t arena;
	uint8_t class; /* size class; for active extents only */
	bool is_slab;
	enum jemalloc_state state;
	uint64_t extent_addr;
};

struct jemalloc_base {
	uint64_t start_addr, end_addr;
};

struct jemalloc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	/* base blocks, disjoint and in ascending address order */
	struct jemalloc_base *bases;
	size_t base_count, base_capacity;

	const struct jemalloc_tree *tree;
	const struct jemalloc_layout *layout;
	uint64_t root_addr;
	uint64_t class_bytes[HEAP_CLASS_MAX];
	size_t class_count;
	size_t small_count; /* number of size classes whose blocks are in slabs */
	/* size of a large extent minus the size of its block */
	uint64_t pad_bytes;

	/* extents, disjoint and in ascending address order */
	struct jemalloc_extent *extents;
	size_t extent_count, extent_capacity;
	uint64_t bit_count;
	size_t arena_capacity;
	/*
	 * For each of jemalloc's arena numbers, 1 + the index in the array `arenas` of
	 * struct heap, or 0 if there is no such arena.
	 */
	uint16_t arena_slots[JEMALLOC_ARENAS_MAX];

	/*
	 * count of thread caches that failed a check, and of those that are at least
	 * partly swapped out
	 */
	uint64_t broken_caches, absent_caches;
	/*
	 * True if opt.hpa is set. Some extents are then parts of huge pages that are not
	 * in the radix tree.
	 */
	bool has_huge_slabs;
	uint64_t budget; /* number of steps that the searches may still take in total */
};

/*
 * Return true if the target ran during the copy. The walker then accepts inconsistencies
 * that it would reject in a copy of a stopped target.
 */
static inline bool jemalloc_is_running(const struct jemalloc *j)
{
	return j->input->is_running;
}

/*
 * Return true if `count` matching samples out of `all` suffice to accept a hypothesis.
 * Some samples may not match because jemalloc was changing them during the copy,
 * especially if the target was running.
 */
static inline bool jemalloc_is_majority(const struct jemalloc *j, size_t count,
					size_t all)
{
	return count > 0 && count + 1 + all / (jemalloc_is_running(j) ? 2 : 16) >= all;
}

/* Deduct steps from the budget. Return false once the budget is exhausted. */
static inline bool jemalloc_spend(struct jemalloc *j, uint64_t steps)
{
	j->budget = j->budget > steps ? j->budget - steps : 0;
	return j->budget > 0;
}

static inline uint64_t jemalloc_start_of(const struct jemalloc_raw *raw)
{
	return raw->addr & ~(IMAGE_PAGE_BYTES - 1);
}

/*
 * Return the size of the extent in bytes, a multiple of the page size. The low bits of
 * the field are a serial number.
 */
static inline uint64_t jemalloc_size_of(const struct jemalloc_raw *raw)
{
	return raw->size & ~(IMAGE_PAGE_BYTES - 1);
}

static inline bool jemalloc_is_slab(const struct jemalloc_raw *raw)
{
	return raw->bits >> 12 & 1;
}

/*
 * Return true if the extent is part of a huge page of opt.hpa, which exists in jemalloc
 * 5.3 and later.
 */
static inline bool jemalloc_is_of_huge_page(const struct jemalloc_raw *raw)
{
	return raw->bits >> 14 & 1;
}

/*
 * Find the base blocks, and the root of the radix tree. Return NULL on success, or a
 * static string that describes the problem. Defined in find.c.
 */
const char *jemalloc_find_bases(struct jemalloc *j);
const char *jemalloc_find_root(struct jemalloc *j);

/*
 * Return true if the part of the radix tree's root that describes memory of the process
 * is swapped out.
 */
bool jemalloc_may_lack_extents(const struct jemalloc *j);

/* Return true if the head of a base block that was not found may be swapped out. */
bool jemalloc_may_lack_base(const struct jemalloc *j);

/*
 * Return true if all memory in [start_addr, end_addr) is anonymous. The range may consist
 * of several mappings, because madvise() and mprotect() split mappings.
 */
bool jemalloc_is_anonymous(struct jemalloc *j, uint64_t start_addr, uint64_t end_addr);

/* Return the first base block that ends after addr, or NULL. */
const struct jemalloc_base *jemalloc_base_after(const struct jemalloc *j, uint64_t addr);

/* Return the base block that contains [addr, addr + length), or NULL. */
const struct jemalloc_base *jemalloc_base_at(const struct jemalloc *j, uint64_t addr,
					     uint64_t length);

/*
 * Find the first element of an array, starting at *addr, whose first word is resident and
 * not zero. Store the address of the element in *addr and the word in *ret. If there is
 * no such element, set *addr to `end`. Return false if the budget is exhausted (each
 * examined element is one step) or if a word is only partly resident.
 */
bool jemalloc_next_word(struct jemalloc *j, uint64_t *addr, uint64_t end,
			uint64_t element_bytes, uint64_t *ret);

/*
 * Read the extent structure at extent_addr. Return false if the structure is not
 * completely in a base block, or does not describe whole pages.
 */
bool jemalloc_read_raw(struct jemalloc *j, uint64_t extent_addr,
		       struct jemalloc_raw *ret);

/*
 * Compute the page that element `index` of a radix tree leaf must describe if the element
 * points to this extent. Return false if no page of the extent can have this index.
 */
bool jemalloc_place_element(const struct jemalloc_tree *tree,
			    const struct jemalloc_raw *raw, uint64_t index,
			    uint64_t *ret_page_addr);

/*
 * Call fn in address order for each element of the radix tree that points to an extent.
 * fn returns the lowest address that it needs next, or 0 to stop. Return false if the
 * tree has more elements than fit into the copy, which proves that it is broken.
 */
bool jemalloc_for_each_entry(struct jemalloc *j,
			     uint64_t (*fn)(void *context,
					    const struct jemalloc_entry *entry),
			     void *context);

/*
 * Return the address of the radix tree's leaf that describes addr, or 0 if not found.
 */
uint64_t jemalloc_find_leaf(struct jemalloc *j, uint64_t addr);

/* Return how many bytes of address space a leaf of the radix tree describes. */
uint64_t jemalloc_leaf_span_bytes(const struct jemalloc *j);

/*
 * Determine jemalloc's version and configuration. Return NULL on success, or a static
 * string that describes the problem. Defined in layout.c.
 */
const char *jemalloc_find_layout(struct jemalloc *j);
enum jemalloc_state jemalloc_state_of(const struct jemalloc *j,
				      const struct jemalloc_raw *raw);

/*
 * Return true if the extent is free but cached for reuse, which happens only with
 * opt.hpa. The extent is then still marked as active but has no size class, and the radix
 * tree still contains its old entry.
 */
bool jemalloc_is_in_huge_cache(const struct jemalloc *j, const struct jemalloc_raw *raw);
bool jemalloc_entry_fits(const struct jemalloc *j, const struct jemalloc_entry *entry,
			 const struct jemalloc_raw *raw);

/*
 * Compute the position and size of the blocks in an active extent. Return false if the
 * extent's size class does not match its size.
 */
bool jemalloc_read_blocks(const struct jemalloc *j, const struct jemalloc_raw *raw,
			  struct jemalloc_extent *ret);

/*
 * Return true if the extent is not a slab, or if the number of free blocks in its bitmap
 * equals its free count.
 */
bool jemalloc_is_bitmap_valid(const struct jemalloc *j, const struct jemalloc_raw *raw,
			      const struct jemalloc_extent *extent);

/*
 * Read all extents, their blocks, and the bits of the blocks. Return NULL on success, or
 * a static string that describes the problem. Defined in extents.c.
 */
const char *jemalloc_read_extents(struct jemalloc *j);

/* Return the extent that contains addr, or NULL. */
const struct jemalloc_extent *jemalloc_extent_at(const struct jemalloc *j, uint64_t addr);

/* Mark an arena as untrusted, and record the first problem found in it. */
void jemalloc_reject_arena(struct jemalloc *j, size_t arena, const char *problem);

/* Read the thread caches of all threads. Defined in cache.c. */
void jemalloc_read_caches(struct jemalloc *j);

/*
 * Sum the walker's results by arena, class, page and mapping, and append the extents of
 * the trusted arenas to j->blocks. Defined in account.c.
 */
void jemalloc_account(struct jemalloc *j);

/*
 * Like walk_heap(), but walk only the heap of jemalloc 5.0 to 5.3.1, linked dynamically
 * or statically.
 */
void walk_jemalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
