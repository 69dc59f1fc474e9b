/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

/*
 * Read the address of the chunk after chunk_addr in a free list. *ret is 0 at the end of
 * the list.
 */
static bool read_next(struct glibc *g, const struct free_list *list, uint64_t chunk_addr,
		      uint64_t *ret)
{
	uint64_t place = chunk_addr + CHUNK_HEAD;
	uint64_t next;

	if (!image_read(g->image, place, &next))
		return false;
	if (list->is_protected)
		next ^= place >> 12;
	if (next != 0 && (next < list->bias_bytes || next % CHUNK_ALIGN))
		return false;
	*ret = next ? next - list->bias_bytes : 0;
	return true;
}

static bool check_list_with(struct glibc *g, struct free_list *list,
			    bool (*is_valid_size)(uint64_t chunk_bytes, unsigned int bin),
			    unsigned int bin)
{
	uint64_t addr = list->first_addr - list->bias_bytes;

	list->count = 0;
	list->bytes = 0;
	while (addr != 0) {
		uint64_t size;
		bool is_unused;

		if (list->count == list->max_count || !glibc_spend(g, 1) ||
		    !glibc_read_chunk(g, addr, &size, &is_unused) || is_unused ||
		    !is_valid_size(size, bin))
			return false;
		list->count++;
		list->bytes += size;
		if (!read_next(g, list, addr, &addr))
			return false;
	}
	return true;
}

bool glibc_check_list(struct glibc *g, struct free_list *list,
		      bool (*is_valid_size)(uint64_t chunk_bytes, unsigned int bin),
		      unsigned int bin)
{
	if (list->first_addr < list->bias_bytes)
		return false;
	/*
	 * Some glibc versions mangle the pointers in a list with XOR. Try both
	 * interpretations; only the correct one reaches the 0 at the end of the list.
	 */
	list->is_protected = true;
	if (check_list_with(g, list, is_valid_size, bin))
		return true;
	list->is_protected = false;
	return check_list_with(g, list, is_valid_size, bin);
}

bool glibc_mark_list(struct glibc *g, const struct free_list *list, bool is_cache)
{
	uint64_t addr = list->first_addr - list->bias_bytes;

	for (uint64_t i = 0; i < list->count; i++) {
		uint64_t bit = glibc_bit(g, addr);

		if (bit_is_set(g->blocks->not_live, bit))
			return false;
		bit_set(g->blocks->not_live, bit);
		if (is_cache)
			bit_set(g->blocks->cached, bit);
		if (!read_next(g, list, addr, &addr))
			return false;
	}
	return true;
}

static bool is_fast_size(uint64_t chunk_bytes, unsigned int bin)
{
	return chunk_bytes == (bin + 2) * CHUNK_ALIGN;
}

static void read_fast(struct glibc *g, size_t index)
{
	struct heap_arena *arena = &g->heap->arenas[index];

	for (unsigned int bin = 0; g->layout.fast_offset && bin < FAST_COUNT; bin++) {
		struct free_list list = { .max_count = UINT64_MAX };

		if (!image_read(g->image,
				arena->addr + g->layout.fast_offset + bin * UINT64_C(8),
				&list.first_addr) ||
		    (list.first_addr != 0 &&
		     (!glibc_check_list(g, &list, is_fast_size, bin) ||
		      !glibc_mark_list(g, &list, false)))) {
			glibc_reject_arena(g, index, "a fastbin is broken");
			return;
		}
		arena->fast.count += list.count;
		arena->fast.bytes += list.bytes;
	}
}

void glibc_read_lists(struct glibc *g)
{
	for (size_t i = 0; i < g->heap->arena_count; i++) {
		const struct heap_arena *arena = &g->heap->arenas[i];

		if (!arena->problem && !glibc_read_bins(g, i))
			glibc_reject_arena(g, i, "a bin is broken");
		if (!arena->problem)
			read_fast(g, i);
		if (arena->bin.count != g->unused[i].count ||
		    arena->bin.bytes != g->unused[i].bytes)
			glibc_reject_arena(g, i,
					   "its free chunks do not match those in "
					   "its bins");
	}
}
