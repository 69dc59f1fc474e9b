/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <string.h>

/*
 * Number of words below the thread pointer in which to search for the pointer to the
 * thread's cache (tcache). The pointer is in the thread's static TLS, which on x86-64
 * ends at the thread pointer. The cache is a chunk in the heap. The chunk's size, which
 * may be 16 bytes larger than required, indicates the layout of the cache.
 */
#define TLS_WORDS (8192 / 8)

/*
 * Score of a thread cache that is not empty. It outweighs any number of empty caches,
 * because unrelated memory may look like an empty cache.
 */
#define USED_CACHE_SCORE (UINT64_C(1) << 32)

static const struct cache_layout {
	uint64_t chunk_bytes;
	unsigned int bin_count;
	unsigned int count_bytes;
	/*
	 * True if each counter is the number of unused slots instead of the number of
	 * cached chunks.
	 */
	bool counts_down;
} cache_layouts[] = {
	{ 0x250, 64, 1, false }, /* glibc 2.26 to 2.29 */
	{ 0x290, 64, 2, false }, /* glibc 2.30 to 2.41 */
	/* glibc 2.42 and later, with 12 additional bins for large chunks */
	{ 0x300, 76, 2, true },
};

#define SMALL_BINS 64
#define SMALL_BYTES_MAX 1040

static bool is_cache_size(uint64_t chunk_bytes, unsigned int bin)
{
	if (chunk_bytes <= SMALL_BYTES_MAX)
		return (chunk_bytes - CHUNK_MIN_BYTES) / CHUNK_ALIGN == bin;
	return chunk_bytes <= UINT32_MAX &&
	       SMALL_BINS + 21 - (unsigned int)__builtin_clz((unsigned int)chunk_bytes) ==
		       bin;
}

static uint64_t slot_count(const struct glibc *g, const uint8_t *cache,
			   const struct cache_layout *l, unsigned int bin)
{
	uint16_t count;

	if (l->count_bytes == 1)
		return cache[bin];
	memcpy(&count, cache + 2 * bin, sizeof(count));
	if (!l->counts_down)
		return count;
	return count <= g->par.cache_slots ? g->par.cache_slots - count : UINT64_MAX;
}

/*
 * Read and check the list of one bin of a thread cache. Return false if the length of
 * the list differs from the bin's counter.
 */
static bool read_bin(struct glibc *g, const uint8_t *cache, const struct cache_layout *l,
		     unsigned int bin, struct free_list *ret)
{
	uint64_t count = slot_count(g, cache, l, bin);

	*ret = (struct free_list){ .bias_bytes = CHUNK_HEAD, .max_count = count };
	memcpy(&ret->first_addr, cache + l->bin_count * l->count_bytes + bin * 8, 8);
	if (ret->first_addr == 0)
		return count == 0;
	return glibc_check_list(g, ret, is_cache_size, bin) && ret->count == count;
}

static const struct cache_layout *find_layout(uint64_t chunk_bytes)
{
	for (size_t i = 0; i < sizeof(cache_layouts) / sizeof(cache_layouts[0]); i++)
		if (chunk_bytes == cache_layouts[i].chunk_bytes ||
		    chunk_bytes == cache_layouts[i].chunk_bytes + CHUNK_ALIGN)
			return &cache_layouts[i];
	return NULL;
}

struct cache {
	const struct cache_layout *layout;
	uint64_t chunk_addr;
	const uint8_t *bytes;
	uint64_t entry_count;
};

/*
 * Read the thread cache at user_addr. Return false if the cache is incomplete, invalid,
 * or already read for another thread.
 */
static bool read_cache(struct glibc *g, uint64_t user_addr, struct cache *ret)
{
	struct cache cache = { .chunk_addr = user_addr - CHUNK_HEAD };
	uint64_t size;
	bool is_unused;

	if (user_addr < CHUNK_HEAD || user_addr % CHUNK_ALIGN ||
	    !glibc_read_chunk(g, cache.chunk_addr, &size, &is_unused) || is_unused)
		return false;
	cache.layout = find_layout(size);
	if (!cache.layout || bit_is_set(g->blocks->own, glibc_bit(g, cache.chunk_addr)))
		return false;
	cache.bytes =
		image_at(g->image, user_addr, cache.layout->chunk_bytes - CHUNK_HEAD);
	for (unsigned int bin = 0; cache.bytes && bin < cache.layout->bin_count; bin++) {
		struct free_list list;

		if (!read_bin(g, cache.bytes, cache.layout, bin, &list))
			return false;
		cache.entry_count += list.count;
	}
	*ret = cache;
	return cache.bytes != NULL;
}

static void add_cache(struct glibc *g, const struct cache *cache)
{
	bit_set(g->blocks->own, glibc_bit(g, cache->chunk_addr));
	g->heap->cache_count++;
	for (unsigned int bin = 0; bin < cache->layout->bin_count; bin++) {
		struct free_list list;
		const struct region *region;

		if (!read_bin(g, cache->bytes, cache->layout, bin, &list) ||
		    list.count == 0)
			continue;
		region = glibc_region_at(g, list.first_addr);
		if (!glibc_mark_list(g, &list, true) && region)
			glibc_reject_arena(g, region->arena, "a chunk is in two lists");
	}
}

/*
 * Read the thread cache whose address is stored at a given distance below a thread
 * pointer.
 */
static bool read_cache_below(struct glibc *g, uint64_t thread_addr, size_t word,
			     struct cache *ret)
{
	uint64_t below = (word + 1) * UINT64_C(8);
	uint64_t user_addr;

	return below <= thread_addr &&
	       image_read(g->image, thread_addr - below, &user_addr) &&
	       read_cache(g, user_addr, ret);
}

/*
 * Return the distance between a thread's cache pointer and its thread pointer, in words.
 * The distance is the same in all threads, because the cache pointer is in static TLS.
 * Choose the distance at which the most threads have a cache that is not empty. If no
 * thread has such a cache, choose the distance at which the most threads have a valid
 * cache. Examining a single thread would not be sufficient: the TLS of another thread may
 * be adjacent, and unrelated memory may look like an empty cache.
 */
static size_t find_place(struct glibc *g)
{
	uint64_t best_score = 0;
	size_t best = TLS_WORDS;

	for (size_t word = 0; word < TLS_WORDS; word++) {
		uint64_t score = 0;

		for (size_t i = 0; i < g->input->thread_count; i++) {
			struct cache cache;

			if (read_cache_below(g, g->input->thread_addrs[i], word, &cache))
				score += cache.entry_count > 0 ? USED_CACHE_SCORE : 1;
		}
		if (score > best_score) {
			best_score = score;
			best = word;
		}
	}
	return best;
}

/*
 * Return true if the pointer to the thread's cache may be swapped out. If the distance of
 * the pointer from the thread pointer is unknown, assume that the pointer to the cache is
 * in the last page before the thread pointer.
 */
static bool is_pointer_swapped(const struct glibc *g, uint64_t thread_addr, size_t place)
{
	uint64_t below = place < TLS_WORDS ? (place + 1) * UINT64_C(8) : 8;

	return below <= thread_addr && walk_is_swapped(g->input, thread_addr - below);
}

void glibc_read_caches(struct glibc *g)
{
	size_t place = find_place(g);

	for (size_t i = 0; i < g->input->thread_count; i++)
		if (is_pointer_swapped(g, g->input->thread_addrs[i], place))
			g->has_swapped_cache = true;

	for (size_t i = 0; place < TLS_WORDS && i < g->input->thread_count; i++) {
		struct cache cache;

		if (read_cache_below(g, g->input->thread_addrs[i], place, &cache))
			add_cache(g, &cache);
	}
}
