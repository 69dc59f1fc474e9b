/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

#include "base/xalloc.h"

/*
 * The array list_[] of ThreadCache contains one struct FreeList of 32 bytes per class. A
 * few counters follow the array, and then the links next_ and prev_: 48 bytes after the
 * array in versions 2.7 to 2.15, and 32 bytes in 2.18.
 */
#define LIST_BYTES 32
/* offset of size_, a 32-bit number: the size of a block of the class */
#define LIST_SIZE 24
#define LINK_MIN 8
#define LINK_MAX 128
#define CACHE_BYTES_MIN 2048

#define CACHE_ALIGN 64

static unsigned int lists_bytes(const struct tcmalloc *t)
{
	return LIST_BYTES * t->class_max;
}

static bool is_cache(struct tcmalloc *t, uint64_t addr)
{
	const uint8_t *at =
		addr % CACHE_ALIGN == 0
			? image_at(t->image, addr, lists_bytes(t) + LINK_MAX + 16)
			: NULL;

	if (!at || !tcmalloc_spend(t, t->class_count))
		return false;
	for (unsigned int i = 1; i < t->class_count; i++) {
		int32_t bytes;

		memcpy(&bytes, at + LIST_BYTES * i + LIST_SIZE, sizeof(bytes));
		if (bytes < 0 || (uint64_t)bytes != t->classes[i].bytes)
			return false;
	}
	return true;
}

/*
 * Follow the list of caches from `first`, with links at the given offset in each cache.
 * Return true if each cache links back to the previous one and the list has an end. A
 * swapped-out cache other than the first also ends the list, and sets *ret_is_cut to
 * true.
 */
static bool follow_links(struct tcmalloc *t, uint64_t first, unsigned int link,
			 bool *ret_is_cut)
{
	uint64_t addr, next, prev = 0, max = t->image->length_bytes / CACHE_BYTES_MIN;

	t->cache_count = 0;
	*ret_is_cut = false;
	for (addr = first; addr != 0; addr = next) {
		uint64_t back;

		*ret_is_cut = t->cache_count > 0 && addr % CACHE_ALIGN == 0 &&
			      walk_is_part_swapped(t->input, addr,
						   addr + lists_bytes(t) + LINK_MAX + 16);
		if (*ret_is_cut)
			return true;
		if (t->cache_count > max || !is_cache(t, addr) ||
		    !image_read(t->image, addr + link, &next) ||
		    !image_read(t->image, addr + link + 8, &back) || back != prev)
			return false;
		t->caches = xgrow(t->caches, &t->cache_capacity, t->cache_count + 1,
				  sizeof(*t->caches));
		t->caches[t->cache_count++] = prev = addr;
	}
	return true;
}

/*
 * Return true if the word before or after addr equals the number of caches. In every
 * version, thread_heap_count_ is next to thread_heaps_.
 */
static bool is_count_beside(struct tcmalloc *t, uint64_t addr)
{
	static const int64_t offsets[] = { -8, 8 };

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		const uint8_t *at = image_at(t->image, addr + (uint64_t)offsets[i], 4);
		int32_t count;

		if (!at)
			continue;
		memcpy(&count, at, sizeof(count));
		if (count > 0 && (uint64_t)count == t->cache_count)
			return true;
	}
	return false;
}

/*
 * Follow the list that begins with the cache at `first`, a pointer that is stored at
 * addr. The offset of the links in a cache is unknown, so try all possible offsets. With
 * a wrong offset, the list seems to end after the first cache. Prefer a list whose length
 * equals tcmalloc's count of caches, then the longest list. If two lists have the same
 * length, prefer the one that continues in swapped-out memory.
 */
static void try_list(struct tcmalloc *t, uint64_t addr, uint64_t first)
{
	for (unsigned int offset = LINK_MIN; offset <= LINK_MAX; offset += 8) {
		unsigned int link = lists_bytes(t) + offset;
		size_t min = t->list.cache_count;
		bool is_sure, is_cut;

		if (!follow_links(t, first, link, &is_cut))
			continue;
		is_sure = !is_cut && is_count_beside(t, addr);
		min += !is_cut || t->list.is_cut;
		if (t->list.is_sure ? !is_sure : !is_sure && t->cache_count < min)
			continue;
		t->list.first = first;
		t->list.link = link;
		t->list.cache_count = t->cache_count;
		t->list.is_sure = is_sure;
		t->list.is_cut = is_cut;
		t->list.addr = addr;
	}
}

/*
 * Test whether the word at `at` is the address of a cache. Always return false so that
 * the scan continues, because the data also contains the address of another cache
 * (next_memory_steal_).
 */
static bool test_cache(struct tcmalloc *t, uint64_t addr, const uint8_t *at)
{
	uint64_t first;

	memcpy(&first, at, sizeof(first));
	if (first != 0 && first % CACHE_ALIGN == 0 && is_cache(t, first))
		try_list(t, addr, first);
	return false;
}

const char *tcmalloc_find_caches(struct tcmalloc *t)
{
	bool is_cut;

	tcmalloc_scan(t, 8, 8, test_cache);
	if (t->list.cache_count == 0 ||
	    !follow_links(t, t->list.first, t->list.link, &is_cut))
		return "the caches of tcmalloc's threads were not found";
	if (is_cut ||
	    (!t->list.is_sure &&
	     walk_is_part_swapped(t->input, t->list.addr - 8, t->list.addr + 8 + 4)))
		t->absent_lists++;
	else if (!t->list.is_sure)
		t->broken_lists++;
	return NULL;
}
