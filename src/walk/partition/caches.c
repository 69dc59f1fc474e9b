/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/partition/walk.h"

#include "base/search.h"

/*
 * ThreadCache has an array with an element for each of the first buckets of its root. An
 * element contains the address of the first cached slot, the number of cached slots (8
 * bits), their maximum number (8 bits), and the slot size (16 bits). The address of the
 * root follows the array. Each ThreadCache is itself a slot of another partition, which
 * has no thread caches.
 */
#define CACHED_BYTES 16
#define CACHED_COUNT 8
#define CACHED_SIZE_SHIFT 16
#define CACHED_BUCKETS_MIN 16
#define CACHE_SLOT_MIN 512
#define CACHE_SLOT_MAX 65536

/* Return the span that contains the slot at addr, or NULL. */
static const struct partition_span *find_span(const struct partition *p, uint64_t addr)
{
	size_t i = SEARCH_FIRST(p->span_count, k, p->spans[k].end_addr > addr);

	return i < p->span_count && p->spans[i].start_addr <= addr ? &p->spans[i] : NULL;
}

/* Mark a slot as cached. Return false if it is not an allocated slot of this size. */
static bool mark_cached(struct partition *p, uint32_t root, uint64_t addr,
			uint64_t slot_bytes)
{
	const struct partition_span *span = find_span(p, addr);
	uint64_t index, bit;

	if (!span || span->root != root || span->slot_bytes != slot_bytes ||
	    (addr - span->start_addr) % slot_bytes != 0)
		return false;
	index = (addr - span->start_addr) / slot_bytes;
	bit = span->first_bit + index;
	if (index >= span->slot_count || bit_is_set(p->blocks->not_live, bit))
		return false;
	bit_set(p->blocks->not_live, bit);
	bit_set(p->blocks->cached, bit);
	return true;
}

static bool read_cached(struct partition *p, uint32_t root, uint64_t addr, uint64_t count,
			uint64_t slot_bytes)
{
	bool is_sound = true;

	for (; addr != 0 && count > 0; count--) {
		if (!mark_cached(p, root, addr, slot_bytes))
			return false;
		addr = partition_next_free(p, &p->roots[root], addr, &is_sound);
	}
	return is_sound && addr == 0 && count == 0;
}

/*
 * Return the number of elements in the array of a thread cache that ends at end_addr.
 * Return 0 if there is no such array. The slot sizes in the array must be those of the
 * first buckets.
 */
static unsigned int count_cached(struct partition *p, const struct partition_root *root,
				 uint64_t end_addr)
{
	unsigned int count = 0;
	uint64_t word, last;

	if (!image_read(p->image, end_addr - CACHED_BYTES + CACHED_COUNT, &word))
		return 0;
	last = word >> CACHED_SIZE_SHIFT & 0xffff;
	while (count < root->bucket_count && partition_slot_bytes(p, root, count) != last)
		count++;
	if (last == 0 || count == root->bucket_count || ++count < CACHED_BUCKETS_MIN)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t addr = end_addr - (uint64_t)(count - i) * CACHED_BYTES;

		if (!image_read(p->image, addr + CACHED_COUNT, &word) ||
		    (word >> CACHED_SIZE_SHIFT & 0xffff) !=
			    partition_slot_bytes(p, root, i))
			return 0;
	}
	return count;
}

/*
 * Check whether the array of a thread cache ends at addr, where the address of a root is
 * stored. If so, mark the cached slots.
 */
static void try_cache(struct partition *p, uint32_t root_index, uint64_t addr)
{
	struct partition_root *root = &p->roots[root_index];
	unsigned int count = count_cached(p, root, addr);

	if (count == 0)
		return;
	p->cache_count++;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = addr - (uint64_t)(count - i) * CACHED_BYTES, first, word;

		if (!image_read(p->image, at, &first) ||
		    !image_read(p->image, at + CACHED_COUNT, &word) ||
		    !read_cached(p, root_index, first, word & 0xff,
				 partition_slot_bytes(p, root, i)))
			root->broken_count++;
	}
}

static void search_slot(struct partition *p, uint64_t start_addr, uint64_t end_addr)
{
	uint64_t addr = image_next_resident(p->image, start_addr, end_addr), word;

	for (; addr < end_addr;
	     addr = image_next_resident(p->image, addr + 8, end_addr)) {
		if (!image_read(p->image, addr, &word))
			continue;
		for (uint32_t i = 0; i < p->root_count; i++)
			if (p->roots[i].has_cache && word == p->roots[i].addr)
				try_cache(p, i, addr);
	}
}

void partition_read_caches(struct partition *p)
{
	for (size_t i = 0; i < p->span_count; i++) {
		const struct partition_span *span = &p->spans[i];

		if (p->roots[span->root].has_cache || span->slot_bytes < CACHE_SLOT_MIN ||
		    span->slot_bytes > CACHE_SLOT_MAX)
			continue;
		for (uint32_t slot = 0; slot < span->slot_count; slot++) {
			uint64_t addr = span->start_addr + slot * span->slot_bytes;

			if (!bit_is_set(p->blocks->not_live, span->first_bit + slot))
				search_slot(p, addr, addr + span->slot_bytes);
		}
	}
}
