/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the jemalloc
 * walker. Internal to walk/.
 *
 * Sources: rtree.h, extent_structs.h, edata.h, base.c, emap.c, tcache_structs.h and
 * cache_bin.h of jemalloc 5.0 to 5.3.1; x86-64. The memory itself shows the version and
 * configuration. "Extent" here means extent_t up to 5.2 and edata_t from 5.3 on.
 *
 * jemalloc keeps its own data in base blocks, which describe themselves. A
 * radix tree maps addresses to extents. The root of the tree is in the data of
 * the library or program.
 */
#ifndef MS_WALK_JEMALLOC_WALK_H
#define MS_WALK_JEMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

/* MALLOCX_ARENA_LIMIT; that value itself means no arena. */
#define JEMALLOC_ARENAS_MAX 4095
#define JEMALLOC_EXTENT_BYTES UINT64_C(128)
#define JEMALLOC_EXTENT_ALIGN UINT64_C(64)
#define JEMALLOC_SLAB_BLOCKS_MAX 512
#define JEMALLOC_SLAB_WORDS (JEMALLOC_SLAB_BLOCKS_MAX / 64)
#define JEMALLOC_LARGE_MIN_BYTES UINT64_C(16384)

/*
 * The radix tree by LG_VADDR: 48, or 57 if the machine that built
 * jemalloc had 5-level paging.
 */
struct jemalloc_tree {
	unsigned int level_count;
	unsigned int level_bits[3]; /* from the root down; the last is for the leaves */
	unsigned int element_bytes; /* size of a leaf's element */
};

/*
 * e_bits of an extent: arena in bits 0 to 11, slab in bit 12; the positions of the other
 * fields depend on the version.
 */
struct jemalloc_layout {
	unsigned int state_shift, state_bits, class_shift, free_shift;
	bool has_leaf_state; /* 5.3 and later */
};

enum jemalloc_state {
	JEMALLOC_ACTIVE,
	JEMALLOC_DIRTY,
	JEMALLOC_MUZZY,
	JEMALLOC_RETAINED,
	JEMALLOC_STATE_COUNT_ /* from this value on: the extent is changing state */
};

/* An element of a leaf as found in memory. */
struct jemalloc_entry {
	uint64_t page_addr;
	uint64_t extent_addr; /* address of the extent structure */
	uint64_t words[2];
};

/* The extent structure as found in memory. */
struct jemalloc_raw {
	uint64_t bits;
	uint64_t addr;
	uint64_t size;
	uint64_t free_bits[JEMALLOC_SLAB_WORDS]; /* slabs only; set for free blocks */
};

struct jemalloc_extent {
	uint64_t start_addr, end_addr; /* whole pages */
	uint64_t first_addr;	       /* first block, and the size of each block */
	uint64_t block_bytes;
	uint64_t first_bit; /* in struct blocks */
	uint16_t block_count;
	uint16_t arena; /* index in struct heap */
	uint8_t class;	/* active extents only */
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

	struct jemalloc_base *bases; /* ascending by address, disjoint */
	size_t base_count, base_capacity;

	const struct jemalloc_tree *tree;
	const struct jemalloc_layout *layout;
	uint64_t root_addr;
	uint64_t class_bytes[HEAP_CLASS_MAX];
	size_t class_count;
	size_t small_count; /* number of classes allocated in slabs */
	uint64_t pad_bytes; /* bytes of a large extent beyond its block */

	struct jemalloc_extent *extents; /* ascending by address, disjoint */
	size_t extent_count, extent_capacity;
	uint64_t bit_count;
	size_t arena_capacity;
	/* 1 + index in struct heap, by arena number. */
	uint16_t arena_slots[JEMALLOC_ARENAS_MAX];

	bool has_broken_cache;
	/* opt.hpa: extents are cut from huge pages that are not in the tree. */
	bool has_huge_slabs;
	uint64_t budget; /* steps left */
};

/*
 * Return true if the target ran during the copy. Inconsistencies that would make a
 * stopped target untrusted are then expected.
 */
static inline bool jemalloc_is_running(const struct jemalloc *j)
{
	return j->input->is_running;
}

/*
 * Return true if count of all samples are enough to support a hypothesis. One sample may
 * be in the middle of a change, and more of them if the target is running.
 */
static inline bool jemalloc_is_most(const struct jemalloc *j, size_t count, size_t all)
{
	return count > 0 && count + 1 + all / (jemalloc_is_running(j) ? 2 : 16) >= all;
}

/* Deduct steps from the budget. Returns false once the budget is used up. */
static inline bool jemalloc_spend(struct jemalloc *j, uint64_t steps)
{
	j->budget = j->budget > steps ? j->budget - steps : 0;
	return j->budget > 0;
}

static inline uint64_t jemalloc_start_of(const struct jemalloc_raw *raw)
{
	return raw->addr & ~(IMAGE_PAGE_BYTES - 1);
}

/* Return the size in whole pages; the low bits of the field are a serial number. */
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

/*
 * find.c: find the base blocks and the root of the tree. Return NULL,
 * or the problem (static).
 */
const char *jemalloc_find_bases(struct jemalloc *j);
const char *jemalloc_find_root(struct jemalloc *j);

/*
 * Return true if all of [start_addr, end_addr) is mapped without a file. The range may
 * span several mappings, because huge page advice and protections split mappings.
 */
bool jemalloc_is_anonymous(struct jemalloc *j, uint64_t start_addr, uint64_t end_addr);

/* Return the first base block that ends after addr, or NULL. */
const struct jemalloc_base *jemalloc_base_after(const struct jemalloc *j, uint64_t addr);

/* Return the base block that contains [addr, addr + length), or NULL. */
const struct jemalloc_base *jemalloc_base_at(const struct jemalloc *j, uint64_t addr,
					     uint64_t length);

/* tree.c */

/*
 * Find the first element of an array, from *addr on, whose first word is resident and not
 * zero. Sets *addr to its address and *ret to the word, or *addr to end if there is none.
 * Returns false if the budget is used up (each element examined takes one step) or if a
 * word is only partly resident.
 */
bool jemalloc_next_word(struct jemalloc *j, uint64_t *addr, uint64_t end,
			uint64_t element_bytes, uint64_t *ret);

/*
 * Read the extent structure at extent_addr. Returns false unless it lies completely in a
 * base block and describes whole pages.
 */
bool jemalloc_read_raw(struct jemalloc *j, uint64_t extent_addr,
		       struct jemalloc_raw *ret);

/*
 * Compute the page address that a leaf element at index must have, from the extent that
 * it points to. Returns false if the extent has no such page.
 */
bool jemalloc_place_element(const struct jemalloc_tree *tree,
			    const struct jemalloc_raw *raw, uint64_t index,
			    uint64_t *ret_page_addr);

/*
 * Call fn in address order for each element that points to an extent. fn returns the
 * first page that it needs next, or 0 to end. Returns false if the tree is broken: it has
 * more elements than fit in the copy.
 */
bool jemalloc_for_each_entry(struct jemalloc *j,
			     uint64_t (*fn)(void *context,
					    const struct jemalloc_entry *entry),
			     void *context);

/*
 * layout.c: determine version and configuration. Returns NULL,
 * or the problem (static).
 */
const char *jemalloc_find_layout(struct jemalloc *j);
enum jemalloc_state jemalloc_state_of(const struct jemalloc *j,
				      const struct jemalloc_raw *raw);

/*
 * Return true if, with opt.hpa, the extent is free but cached for reuse. Such an extent
 * is still marked active and has no class, while the tree still has its old entry.
 */
bool jemalloc_is_in_huge_cache(const struct jemalloc *j, const struct jemalloc_raw *raw);
bool jemalloc_entry_fits(const struct jemalloc *j, const struct jemalloc_entry *entry,
			 const struct jemalloc_raw *raw);

/*
 * Compute the blocks of an active extent. Returns false if its class
 * does not match its size.
 */
bool jemalloc_read_blocks(const struct jemalloc *j, const struct jemalloc_raw *raw,
			  struct jemalloc_extent *ret);

/* Return true if a slab has as many free bits as its free count. */
bool jemalloc_is_bitmap_right(const struct jemalloc *j, const struct jemalloc_raw *raw,
			      const struct jemalloc_extent *extent);

/*
 * extents.c: read all extents with their blocks and bits. Returns NULL,
 * or the problem (static).
 */
const char *jemalloc_read_extents(struct jemalloc *j);

/* Return the extent that contains addr, or NULL. */
const struct jemalloc_extent *jemalloc_extent_at(const struct jemalloc *j, uint64_t addr);

/* Record a problem of an arena, unless it already has one. */
void jemalloc_distrust(struct jemalloc *j, size_t arena, const char *problem);

/* cache.c: read the thread caches. */
void jemalloc_read_caches(struct jemalloc *j);

/*
 * account.c: sum per arena, class, page and mapping, and add the
 * extents of trusted arenas.
 */
void jemalloc_account(struct jemalloc *j);

/* Like walk_heap(), for jemalloc only: 5.0 to 5.3.1, dynamically or statically linked. */
void walk_jemalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
