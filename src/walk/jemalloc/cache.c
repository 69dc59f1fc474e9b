/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include <string.h>

/*
 * A thread cache is in the thread's TLS. It contains a bin for each size class, starting
 * with the small classes. Each bin has an array of pointers to cached blocks. These
 * arrays are adjacent, so their end addresses increase from bin to bin. The layout of a
 * bin:
 *  up to 5.2  { int32 low_water; uint32 count; uint64 requests; void **end; }
 *  from 5.3   { void **head; uint64 requests; uint16 low_water, full, end, max; }
 *             (`end` holds the low 16 bits of the end address)
 * Up to 5.2, other fields precede the bins of the large classes.
 */
#define BIN_BYTES 24
#define STACK_BYTES_MAX (UINT64_C(1) << 16)
#define LARGE_BINS_WITHIN 512

/*
 * Number of bytes before a thread cache in which to search for the thread's list of
 * recently used leaves of the radix tree. The members of struct tsd_s that precede the
 * cache take less space.
 */
#define LEAVES_BEFORE_CACHE UINT64_C(2048)

/* Number of bytes below the thread pointer in which to search for a cache. */
#define TLS_BYTES UINT64_C(65536)

/* Maximum number of threads whose thread-local storage is searched for a cache. */
#define THREADS_SEARCHED 64

struct bin {
	/* Range of the array of pointers to the cached blocks. */
	uint64_t head_addr, end_addr;
};

struct cache {
	struct bin bins[HEAP_CLASS_MAX];
	size_t bin_count;
	/* true if more bins, or pointers to cached blocks, may be swapped out */
	bool is_cut;
};

static bool read_bin(const struct jemalloc *j, uint64_t addr, struct bin *ret)
{
	uint64_t words[BIN_BYTES / 8];
	const uint8_t *at = image_at(j->image, addr, sizeof(words));

	if (!at)
		return false;
	memcpy(words, at, sizeof(words));
	if (j->layout->has_leaf_state) {
		ret->head_addr = words[0];
		ret->end_addr = words[0] + (uint16_t)((words[2] >> 32) - words[0]);
	} else {
		ret->head_addr = words[2] - (words[0] >> 32) * 8;
		ret->end_addr = words[2];
	}
	return ret->head_addr % 8 == 0 && ret->end_addr % 8 == 0 &&
	       ret->head_addr >= IMAGE_PAGE_BYTES && ret->head_addr <= ret->end_addr &&
	       ret->end_addr - ret->head_addr < STACK_BYTES_MAX;
}

/* Return true if the pointer array of `next` may follow the pointer array of `bin`. */
static bool is_next_bin(const struct bin *bin, const struct bin *next)
{
	return next->head_addr >= bin->end_addr && next->end_addr > bin->end_addr &&
	       next->end_addr - bin->end_addr < STACK_BYTES_MAX;
}

/* Return true if part of the bin at addr may be swapped out. */
static bool is_bin_absent(const struct jemalloc *j, uint64_t addr)
{
	return walk_is_part_swapped(j->input, addr, addr + BIN_BYTES);
}

/*
 * Read consecutive bins, starting at addr, until one is invalid, and append them to the
 * cache.
 */
static void read_bins(const struct jemalloc *j, uint64_t addr, size_t limit,
		      struct cache *cache)
{
	for (; cache->bin_count < limit; addr += BIN_BYTES) {
		struct bin *bin = &cache->bins[cache->bin_count];

		if (!read_bin(j, addr, bin)) {
			cache->is_cut = cache->is_cut || is_bin_absent(j, addr);
			return;
		}
		if (cache->bin_count > 0 && !is_next_bin(bin - 1, bin))
			return;
		cache->bin_count++;
	}
}

static uint64_t extent_block_at(const struct jemalloc_extent *extent, uint64_t addr)
{
	return (addr - extent->first_addr) / extent->block_bytes;
}

/*
 * Return the active extent in which a block begins at addr, and store the block's bit in
 * *ret_bit. Return NULL if no block begins at addr.
 */
static const struct jemalloc_extent *find_block(const struct jemalloc *j, uint64_t addr,
						uint64_t *ret_bit)
{
	const struct jemalloc_extent *extent = jemalloc_extent_at(j, addr);

	if (!extent || extent->state != JEMALLOC_ACTIVE || addr < extent->first_addr ||
	    extent_block_at(extent, addr) >= extent->block_count)
		return NULL;
	*ret_bit = extent->first_bit + extent_block_at(extent, addr);
	return extent;
}

/*
 * Return true if the pointer arrays of all bins are in one live block
 * or in one base block.
 */
static bool is_stack_valid(const struct jemalloc *j, const struct cache *cache)
{
	uint64_t start, end, first_bit, last_bit;

	if (cache->bin_count == 0)
		return false;
	start = cache->bins[0].end_addr - 8;
	end = cache->bins[cache->bin_count - 1].end_addr;
	if (jemalloc_base_at(j, start, end - start))
		return true;
	return find_block(j, start, &first_bit) && find_block(j, end - 1, &last_bit) &&
	       first_bit == last_bit && !bit_is_set(j->blocks->not_live, first_bit);
}

/*
 * Return true if every pointer of every bin points to a block of the bin's size class
 * that is not marked as free. Set is_cut if some pointers are swapped out.
 */
static bool check_pointers(const struct jemalloc *j, struct cache *cache)
{
	for (size_t i = 0; i < cache->bin_count; i++) {
		const struct bin *bin = &cache->bins[i];
		uint64_t block_addr, bit;

		for (uint64_t at = bin->head_addr; at < bin->end_addr; at += 8) {
			const struct jemalloc_extent *extent;

			if (!image_read(j->image, at, &block_addr)) {
				if (!walk_is_swapped(j->input, at))
					return false;
				cache->is_cut = true;
				continue;
			}
			extent = find_block(j, block_addr, &bit);
			if (!extent || extent->class != i ||
			    (block_addr - extent->first_addr) % extent->block_bytes ||
			    bit_is_set(j->blocks->not_live, bit))
				return false;
		}
	}
	return true;
}

/*
 * Return true if a cache may begin at addr: there is a valid bin at addr, and no bin
 * directly before it. Set *ret_is_cut if one of the two may be swapped out.
 */
static bool is_first_bin(const struct jemalloc *j, uint64_t addr, bool *ret_is_cut)
{
	struct bin before, bin;

	if (!read_bin(j, addr, &bin)) {
		*ret_is_cut = is_bin_absent(j, addr);
		return false;
	}
	*ret_is_cut = is_bin_absent(j, addr - BIN_BYTES);
	return !*ret_is_cut &&
	       !(read_bin(j, addr - BIN_BYTES, &before) && is_next_bin(&before, &bin));
}

/*
 * Read the thread cache at addr. Return false if no valid cache begins at addr; is_cut is
 * then true if the check failed only because memory may be swapped out.
 */
static bool read_cache(const struct jemalloc *j, uint64_t addr, struct cache *ret)
{
	ret->bin_count = 0;
	if (!is_first_bin(j, addr, &ret->is_cut))
		return false;
	read_bins(j, addr, j->layout->has_leaf_state ? j->class_count : j->small_count,
		  ret);
	if (ret->bin_count < j->small_count)
		return false;
	addr += j->small_count * BIN_BYTES;
	for (uint64_t gap = 8; !j->layout->has_leaf_state && gap < LARGE_BINS_WITHIN &&
			       ret->bin_count == j->small_count;
	     gap += 8)
		read_bins(j, addr + gap, j->class_count, ret);
	while (ret->bin_count > j->small_count && !is_stack_valid(j, ret))
		ret->bin_count--;
	if (is_stack_valid(j, ret) && check_pointers(j, ret))
		return true;
	ret->is_cut = false;
	return false;
}

/*
 * Mark the blocks in a thread cache as cached, except those whose pointers are swapped
 * out. Return false if a block is already marked, for example because two caches contain
 * it.
 */
static bool mark_cache(struct jemalloc *j, const struct cache *cache)
{
	uint64_t block_addr, bit;

	if (find_block(j, cache->bins[0].end_addr - 8, &bit)) {
		bit_set(j->blocks->not_live, bit);
		bit_set(j->blocks->own, bit);
	}
	for (size_t i = 0; i < cache->bin_count; i++) {
		const struct bin *bin = &cache->bins[i];

		for (uint64_t at = bin->head_addr; at < bin->end_addr; at += 8) {
			if (!image_read(j->image, at, &block_addr))
				continue;
			if (!find_block(j, block_addr, &bit) ||
			    bit_is_set(j->blocks->not_live, bit))
				return false;
			bit_set(j->blocks->not_live, bit);
			bit_set(j->blocks->cached, bit);
		}
	}
	return true;
}

/*
 * Return how many bytes a thread's cache is below the thread pointer, or 0 if no
 * cache is found.
 */
static uint64_t find_below(struct jemalloc *j, uint64_t tls_addr, uint64_t start_addr)
{
	struct cache cache;

	for (uint64_t below = 8; below <= TLS_BYTES && tls_addr - below >= start_addr;
	     below += 8) {
		uint64_t addr = tls_addr - below;

		if (!jemalloc_spend(j, 1))
			return 0;
		/*
		 * skip the page, because a cache cannot begin on a page that is not in
		 * the image
		 */
		if (!image_run_at(j->image, addr))
			below += addr % IMAGE_PAGE_BYTES;
		else if (read_cache(j, addr, &cache))
			return below;
	}
	return 0;
}

/*
 * Determine how many bytes below its thread pointer a thread's cache is. The distance is
 * the same in all threads, because the caches are in static TLS.
 */
static bool find_place(struct jemalloc *j, uint64_t *ret_below)
{
	size_t count = j->input->thread_count;

	*ret_below = 0;
	for (size_t i = 0; i < count && i < THREADS_SEARCHED && *ret_below == 0; i++) {
		uint64_t tls_addr = j->input->thread_addrs[i] & ~UINT64_C(7);
		const struct mapping *m =
			mapping_list_find(j->input->mappings, tls_addr - 1);

		if (m)
			*ret_below = find_below(j, tls_addr, m->start_addr);
	}
	return *ret_below > 0;
}

/*
 * Return true if the bins at addr are all zero, as in a thread that has never called
 * malloc.
 */
static bool is_unused(const struct jemalloc *j, uint64_t addr)
{
	uint64_t words[BIN_BYTES / 8];

	for (size_t i = 0; i < j->small_count; i++) {
		const uint8_t *at =
			image_at(j->image, addr + i * BIN_BYTES, sizeof(words));

		if (!at)
			continue;
		memcpy(words, at, sizeof(words));
		if (words[0] | words[1] | words[2])
			return false;
	}
	return true;
}

/*
 * Add the thread's list of recently used leaves of the radix tree (struct rtree_ctx_s,
 * rtree_tsd.h) to jemalloc's own data. Its elements are { uint64 first address that the
 * leaf describes; leaf *; }. A block may begin at this first address, but the list does
 * not keep the block alive. The list precedes the cache in the thread's struct tsd_s.
 */
static void add_recent_leaves(struct jemalloc *j, uint64_t start_addr, uint64_t end_addr)
{
	uint64_t span_bytes = jemalloc_leaf_span_bytes(j), words[2];

	for (uint64_t at = start_addr; at < end_addr; at += 8) {
		const uint8_t *bytes = image_at(j->image, at, sizeof(words));

		if (!jemalloc_spend(j, 1))
			return;
		if (!bytes)
			continue;
		memcpy(words, bytes, sizeof(words));
		if (words[0] && words[0] % span_bytes == 0 && words[1] &&
		    words[1] == jemalloc_find_leaf(j, words[0]))
			blocks_add_own_range(j->blocks, at, at + sizeof(words));
	}
}

/* Return true if part of the bins at addr may be swapped out. */
static bool is_cache_absent(const struct jemalloc *j, uint64_t addr)
{
	return walk_is_part_swapped(j->input, addr, addr + j->small_count * BIN_BYTES);
}

/*
 * Return why no thread cache was found, or NULL if the reason may be that thread-local
 * storage is swapped out.
 */
static const char *explain_no_place(struct jemalloc *j)
{
	for (size_t i = 0; i < j->input->thread_count; i++)
		j->absent_caches += walk_is_part_swapped(
			j->input, j->input->thread_addrs[i] - TLS_BYTES,
			j->input->thread_addrs[i]);
	return j->absent_caches > 0
		       ? NULL
		       : "no thread cache was found: cached blocks count as live";
}

static const char *read_caches(struct jemalloc *j)
{
	struct cache cache;
	uint64_t below;
	bool has_place = find_place(j, &below), is_read;

	for (size_t i = 0; i < j->input->thread_count; i++) {
		uint64_t tls_addr = j->input->thread_addrs[i] & ~UINT64_C(7);

		if (has_place)
			add_recent_leaves(j, tls_addr - below - LEAVES_BEFORE_CACHE,
					  tls_addr - below);
		else
			add_recent_leaves(j, tls_addr - TLS_BYTES, tls_addr);
	}
	if (!has_place)
		return explain_no_place(j);
	for (size_t i = 0; i < j->input->thread_count; i++) {
		uint64_t tls_addr = j->input->thread_addrs[i] & ~UINT64_C(7);

		if (is_unused(j, tls_addr - below)) {
			j->absent_caches += is_cache_absent(j, tls_addr - below);
			continue;
		}
		is_read = read_cache(j, tls_addr - below, &cache);
		if (!is_read && cache.is_cut) {
			j->absent_caches++;
			continue;
		}
		if (!is_read || !mark_cache(j, &cache)) {
			/*
			 * the cache may have been changing during the copy; a second
			 * attempt may succeed
			 */
			j->broken_caches++;
			return "a thread cache is corrupted: its blocks count as live";
		}
		j->absent_caches += cache.is_cut;
		j->heap->cache_count++;
	}
	return NULL;
}

void jemalloc_read_caches(struct jemalloc *j)
{
	j->heap->problem = read_caches(j);
}
