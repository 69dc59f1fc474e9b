/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_jemalloc - what the parts of the jemalloc walker share. Internal to walk/.
 *
 * Sources: rtree.h, extent_structs.h, edata.h, base.c, emap.c, tcache_structs.h and
 * cache_bin.h of jemalloc 5.0 to 5.3.1; x86-64. Which version and configuration it is
 * shows in the memory itself. What is called an extent here is extent_t up to 5.2 and
 * edata_t from 5.3 on.
 *
 * jemalloc's own data is in base blocks, which describe themselves. A radix tree maps
 * addresses to extents; its root is in the data of the library or program.
 */
#ifndef MS_WALK_WALK_JEMALLOC_H
#define MS_WALK_WALK_JEMALLOC_H

#include "walk/walk.h"

#define JEMALLOC_ARENAS_MAX 4095 /* MALLOCX_ARENA_LIMIT; that number itself: no arena */
#define JEMALLOC_EXTENT_BYTES UINT64_C(128)
#define JEMALLOC_EXTENT_ALIGN UINT64_C(64)
#define JEMALLOC_SLAB_BLOCKS_MAX 512
#define JEMALLOC_SLAB_WORDS (JEMALLOC_SLAB_BLOCKS_MAX / 64)
#define JEMALLOC_LARGE_MIN_BYTES UINT64_C(16384)

/* The radix tree, by LG_VADDR: 48, or 57 where the machine that built it had 5-level paging. */
struct jemalloc_tree {
	unsigned int level_count;
	unsigned int level_bits[3]; /* from the root on; the last is the leaves' */
	unsigned int element_bytes; /* of a leaf */
};

/* e_bits of an extent: arena in bits 0 to 11, slab in bit 12, then what differs. */
struct jemalloc_layout {
	unsigned int state_shift, state_bits, class_shift, free_shift;
	bool has_leaf_state; /* 5.3 and later */
};

enum jemalloc_state {
	JEMALLOC_ACTIVE,
	JEMALLOC_DIRTY,
	JEMALLOC_MUZZY,
	JEMALLOC_RETAINED,
	JEMALLOC_STATE_COUNT_ /* from here on: in the middle of a change */
};

/* A leaf's element, as it is in the memory. */
struct jemalloc_entry {
	uint64_t page_addr;
	uint64_t extent_addr; /* of the structure */
	uint64_t words[2];
};

/* The structure, as it is in the memory. */
struct jemalloc_raw {
	uint64_t bits;
	uint64_t addr;
	uint64_t size;
	uint64_t free_bits[JEMALLOC_SLAB_WORDS]; /* of a slab: set if free */
};

struct jemalloc_extent {
	uint64_t start_addr, end_addr; /* whole pages */
	uint64_t first_addr;	       /* of the first block, and what each has */
	uint64_t block_bytes;
	uint64_t first_bit; /* in struct blocks */
	uint16_t block_count;
	uint16_t arena; /* index in struct heap */
	uint8_t class;	/* of active ones */
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

	struct jemalloc_base *bases; /* by address, disjoint */
	size_t base_count, base_capacity;

	const struct jemalloc_tree *tree;
	const struct jemalloc_layout *layout;
	uint64_t root_addr;
	uint64_t class_bytes[HEAP_CLASS_MAX];
	size_t class_count;
	size_t small_count; /* classes that live in slabs */
	uint64_t pad_bytes; /* what a large extent has beyond its block */

	struct jemalloc_extent *extents; /* by address, disjoint */
	size_t extent_count, extent_capacity;
	uint64_t bit_count;
	size_t arena_capacity;
	uint16_t arena_slots
		[JEMALLOC_ARENAS_MAX]; /* 1 + index in struct heap, by arena number */

	bool has_broken_cache;
	bool has_huge_slabs; /* opt.hpa: extents are cut from huge pages that the tree does not have */
	uint64_t budget; /* steps left */
};

/* What is not believed of a target that stood still happens to one that runs. */
static inline bool jemalloc_is_running(const struct jemalloc *j)
{
	return j->input->is_running;
}

/*
 * Do so many of all speak for what it is taken for? One may be in the middle of a change,
 * and more of a target that runs.
 */
static inline bool jemalloc_is_most(const struct jemalloc *j, size_t count, size_t all)
{
	return count > 0 && count + 1 + all / (jemalloc_is_running(j) ? 2 : 16) >= all;
}

/* Take steps from the budget. False, and none left, when they are used up. */
static inline bool jemalloc_spend(struct jemalloc *j, uint64_t steps)
{
	j->budget = j->budget > steps ? j->budget - steps : 0;
	return j->budget > 0;
}

static inline uint64_t jemalloc_start_of(const struct jemalloc_raw *raw)
{
	return raw->addr & ~(IMAGE_PAGE_BYTES - 1);
}

/* Pages alone; the low bits are a serial number. */
static inline uint64_t jemalloc_size_of(const struct jemalloc_raw *raw)
{
	return raw->size & ~(IMAGE_PAGE_BYTES - 1);
}

static inline bool jemalloc_is_slab(const struct jemalloc_raw *raw)
{
	return raw->bits >> 12 & 1;
}

/* From 5.3 on. */
static inline bool jemalloc_is_of_huge_page(const struct jemalloc_raw *raw)
{
	return raw->bits >> 14 & 1;
}

/* walk_jemalloc_find.c: base blocks, and the root of the tree. Return NULL, or why not. */
const char *jemalloc_find_bases(struct jemalloc *j);
const char *jemalloc_find_root(struct jemalloc *j);

/*
 * Is all of it mapped, and of no file? It goes on from mapping to mapping: huge pages
 * asked for a part of it, and other protections, split it.
 */
bool jemalloc_is_anonymous(struct jemalloc *j, uint64_t start_addr, uint64_t end_addr);

/* The first base block that ends after addr, or NULL. */
const struct jemalloc_base *jemalloc_base_after(const struct jemalloc *j, uint64_t addr);

/* The base block that holds [addr, addr + length), or NULL. */
const struct jemalloc_base *jemalloc_base_at(const struct jemalloc *j, uint64_t addr,
					     uint64_t length);

/* walk_jemalloc_tree.c */

/* False if it is not a whole structure in a base block that speaks of whole pages. */
bool jemalloc_read_raw(struct jemalloc *j, uint64_t extent_addr,
		       struct jemalloc_raw *ret);

/*
 * Where an element of a leaf at index must belong, by the extent that it points to: the
 * address of its page. False if that extent has no such page.
 */
bool jemalloc_place_element(const struct jemalloc_tree *tree,
			    const struct jemalloc_raw *raw, uint64_t index,
			    uint64_t *ret_page_addr);

/*
 * Call fn for the elements that point to an extent, by address. It returns the first page
 * that is wanted next; 0 to end. False if the tree is broken: more elements than the copy
 * has room for.
 */
bool jemalloc_for_each_entry(struct jemalloc *j,
			     uint64_t (*fn)(void *context,
					    const struct jemalloc_entry *entry),
			     void *context);

/* walk_jemalloc_layout.c: version and configuration. Returns NULL, or why not. */
const char *jemalloc_find_layout(struct jemalloc *j);
enum jemalloc_state jemalloc_state_of(const struct jemalloc *j,
				      const struct jemalloc_raw *raw);

/*
 * With opt.hpa: freed, and kept for the next one who wants such an extent. It is still
 * called active, has no class, and the tree still says what it was.
 */
bool jemalloc_is_in_huge_cache(const struct jemalloc *j, const struct jemalloc_raw *raw);
bool jemalloc_entry_fits(const struct jemalloc *j, const struct jemalloc_entry *entry,
			 const struct jemalloc_raw *raw);

/* The blocks of an active extent. False if its class does not fit its size. */
bool jemalloc_read_blocks(const struct jemalloc *j, const struct jemalloc_raw *raw,
			  struct jemalloc_extent *ret);

/* Has a slab as many free blocks as it says? */
bool jemalloc_is_bitmap_right(const struct jemalloc *j, const struct jemalloc_raw *raw,
			      const struct jemalloc_extent *extent);

/* walk_jemalloc_extents.c: all extents, their blocks and bits. Returns NULL, or why not. */
const char *jemalloc_read_extents(struct jemalloc *j);

/* The extent that holds addr, or NULL. */
const struct jemalloc_extent *jemalloc_extent_at(const struct jemalloc *j, uint64_t addr);

/* Note what is wrong with an arena, unless something was before. */
void jemalloc_distrust(struct jemalloc *j, size_t arena, const char *problem);

/* walk_jemalloc_cache.c: the threads' caches. */
void jemalloc_read_caches(struct jemalloc *j);

/*
 * walk_jemalloc_account.c: sums per arena, class, page and mapping; extents of what is
 * trusted.
 */
void jemalloc_account(struct jemalloc *j);

#endif
