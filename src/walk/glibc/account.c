/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <string.h>

#include "base/units.h"
#include "walk/blocks/page_use.h"

/*
 * An estimate of how much memory malloc_trim(0) would return to the kernel. malloc_trim()
 * first merges chunks in fastbins with their free neighbours. It then returns the whole
 * pages of each free range, except the first 48 bytes of the chunk. It does not return
 * chunks in thread caches.
 */
struct trim {
	/*
	 * Start of the free range that ends at the current chunk; 0 if the chunk is in
	 * use.
	 */
	uint64_t start_addr;
	uint64_t bytes;
};

static void trim_stretch(struct glibc *g, struct trim *trim, uint64_t end)
{
	uint64_t from = (trim->start_addr + CHUNK_STRUCT + IMAGE_PAGE_BYTES - 1) &
			~(IMAGE_PAGE_BYTES - 1);
	uint64_t to = end & ~(IMAGE_PAGE_BYTES - 1);

	if (trim->start_addr && from < to)
		trim->bytes += image_resident_bytes(g->image, from, to);
	trim->start_addr = 0;
}

/*
 * Return true if addr, the end of the top chunk, is the program break. If so, no other
 * code has moved the break, and malloc can lower it.
 */
static bool is_end_of_brk(const struct glibc *g, uint64_t addr)
{
	const struct mapping_list *list = g->input->mappings;
	uint64_t end = 0;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, "[heap]") == 0)
			end = list->items[i].end_addr;
	return end == addr;
}

/*
 * Add the memory that systrim() would release: the whole pages at the end of the main
 * arena's top chunk, except the first 33 bytes of the chunk.
 */
static void trim_top(struct glibc *g, struct trim *trim, const struct region *region,
		     uint64_t top_addr)
{
	uint64_t start = trim->start_addr ? trim->start_addr : top_addr;
	uint64_t unit = g->par.thp_page_bytes ? g->par.thp_page_bytes : IMAGE_PAGE_BYTES;
	uint64_t size = region->end_addr - start;
	uint64_t extra = size > CHUNK_MIN_BYTES + 1 ? size - CHUNK_MIN_BYTES - 1 : 0;

	trim->start_addr = 0;
	extra -= extra % unit;
	if (region->kind == REGION_MAIN && extra && is_end_of_brk(g, region->end_addr))
		trim->bytes += image_resident_bytes(g->image, region->end_addr - extra,
						    region->end_addr);
}

static void account_chunk(struct glibc *g, struct heap_arena *arena, struct trim *trim,
			  uint64_t addr, uint64_t size)
{
	uint64_t bit = glibc_bit(g, addr);
	struct heap_class *class = &g->heap->classes[heap_class_index(size)];
	bool is_listed = bit_is_set(g->blocks->not_live, bit);
	bool is_cached = bit_is_set(g->blocks->cached, bit);

	if (is_listed && !is_cached) {
		if (!trim->start_addr)
			trim->start_addr = addr;
		chunk_sum_add(&class->free, size);
		page_use_add(g->blocks, addr, addr + size, USE_FREE);
		return;
	}
	trim_stretch(g, trim, addr);
	if (is_cached) {
		chunk_sum_add(&arena->cached, size);
		chunk_sum_add(&class->cached, size);
		page_use_add(g->blocks, addr, addr + size, USE_FREE);
	} else if (bit_is_set(g->blocks->own, bit)) {
		bit_set(g->blocks->not_live, bit);
	} else {
		chunk_sum_add(&arena->live, size);
		chunk_sum_add(&class->live, size);
		page_use_add(g->blocks, addr, addr + size, USE_LIVE);
	}
}

static void add_chain(struct glibc *g, const struct region *region, uint64_t end_addr)
{
	struct extent *extent;

	if (end_addr <= region->first_addr)
		return;
	extent = blocks_add_extent(g->blocks);
	extent->kind = EXTENT_CHAIN;
	extent->start_addr = region->first_addr;
	extent->end_addr = end_addr;
	extent->arena = (uint32_t)region->arena;
}

/* Add an extent with a single block, whose head must be resident. */
static struct extent *add_unit(struct glibc *g, const struct region *region,
			       uint64_t addr)
{
	struct extent *extent = blocks_add_extent(g->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = addr;
	extent->end_addr = region->end_addr;
	extent->unit_bytes = region->end_addr - addr;
	extent->first_bit = glibc_bit(g, addr);
	extent->arena = (uint32_t)region->arena;
	return extent;
}

/* Return the first set bit in [bit, limit), or limit if no bit in the range is set. */
static uint64_t next_set_bit(const uint64_t *bits, uint64_t bit, uint64_t limit)
{
	uint64_t word = bit / 64;
	uint64_t rest = bits[word] & (UINT64_MAX << bit % 64);

	while (rest == 0) {
		if (++word > limit / 64)
			return limit;
		rest = bits[word];
	}
	bit = word * 64 + (uint64_t)__builtin_ctzll(rest);
	return bit < limit ? bit : limit;
}

/*
 * Return the size of the chunk at addr, or 0 if the walk found no chunk at addr. The
 * distance to the next bit set in `starts` is usually the size, which avoids reading the
 * chunk's head.
 */
static uint64_t recorded_size(struct glibc *g, const struct region *region, uint64_t addr)
{
	const struct image_run *run = image_run_at(g->image, addr);
	uint64_t bit, limit, next, end, head;

	if (!run || !bit_is_set(g->blocks->starts, glibc_bit(g, addr)))
		return 0;
	bit = glibc_bit(g, addr);
	end = run->end_addr < region->end_addr ? run->end_addr : region->end_addr;
	limit = bit + (end - addr) / CHUNK_ALIGN;
	next = next_set_bit(g->blocks->starts, bit + 1, limit);
	if (next < limit)
		return (next - bit) * CHUNK_ALIGN;
	return glibc_read_head(g, addr, &head) ? head & ~CHUNK_FLAGS : 0;
}

/*
 * Return the number of free bytes on the resident pages of a region whose chunks have
 * been counted. Regions do not share pages.
 */
static uint64_t count_free(struct glibc *g, const struct region *region)
{
	struct image *image = g->image;
	uint64_t addr = image_next_resident(image, region->start_addr, region->end_addr);
	uint64_t sum = 0;

	while (addr < region->end_addr) {
		const struct image_run *run = image_run_at(image, addr);
		uint64_t offset = run->offset_bytes + (addr - run->start_addr);

		sum += g->blocks->pages[offset / IMAGE_PAGE_BYTES].free_bytes;
		addr = image_next_resident(image, (addr | (IMAGE_PAGE_BYTES - 1)) + 1,
					   region->end_addr);
	}
	return sum;
}

static void account_region(struct glibc *g, const struct region *region)
{
	struct heap_arena *arena = &g->heap->arenas[region->arena];
	struct trim trim = { 0, 0 };
	uint64_t addr = region->first_addr;
	uint64_t size;

	page_use_add(g->blocks, region->start_addr, region->end_addr, USE_HEAP);
	/*
	 * the loop ends at the top chunk or at a fencepost, which have no bit in `starts`
	 */
	while ((size = recorded_size(g, region, addr)) > 0) {
		account_chunk(g, arena, &trim, addr, size);
		addr += size;
	}
	add_chain(g, region, addr);
	if (addr == arena->top_addr) {
		bit_set(g->blocks->not_live, glibc_bit(g, addr));
		add_unit(g, region, addr);
		page_use_add(g->blocks, addr, region->end_addr, USE_FREE);
		trim_top(g, &trim, region, addr);
	} else {
		trim_stretch(g, &trim, addr);
	}
	arena->trimmable_bytes = bytes_add(arena->trimmable_bytes, trim.bytes);
	arena->free_resident_bytes += count_free(g, region);
}

static void account_mapped(struct glibc *g, const struct region *region)
{
	uint64_t size = region->end_addr - region->start_addr;

	page_use_add(g->blocks, region->start_addr, region->end_addr, USE_HEAP);
	page_use_add(g->blocks, region->first_addr + CHUNK_HEAD, region->end_addr,
		     USE_LIVE);
	chunk_sum_add(&g->heap->classes[heap_class_index(size)].live, size);
	add_unit(g, region, region->first_addr)->is_mapped = true;
}

/* Set heap->mallinfo to the figures that glibc's mallinfo2(3) would return. */
static void fill_mallinfo(struct glibc *g)
{
	struct heap_mallinfo *info = &g->heap->mallinfo;

	for (size_t i = 0; i < g->heap->arena_count; i++) {
		const struct heap_arena *arena = &g->heap->arenas[i];
		uint64_t free_bytes =
			arena->top_bytes + arena->bin.bytes + arena->fast.bytes;

		info->arena += arena->system_bytes;
		info->ordblks += 1 + arena->bin.count;
		info->smblks += arena->fast.count;
		info->fsmblks += arena->fast.bytes;
		info->fordblks += free_bytes;
		info->uordblks += arena->system_bytes - free_bytes;
	}
	info->hblks = g->par.mapped_count;
	info->hblkhd = g->par.mapped_bytes;
	info->keepcost = g->heap->arenas[0].top_bytes;
}

/* Return true if part of the arena's memory may be swapped out. */
static bool is_arena_swapped(const struct glibc *g, size_t index)
{
	uint64_t start = index == 0 ? g->par.sbrk_base_addr : g->heap->arenas[index].addr;
	bool is_swapped = walk_is_part_swapped(g->input, start & ~(IMAGE_PAGE_BYTES - 1),
					       glibc_contiguous_end(g, start));

	for (size_t i = 0; i < g->region_count && !is_swapped; i++)
		is_swapped = g->regions[i].kind != REGION_MAPPED &&
			     g->regions[i].arena == index &&
			     walk_is_part_swapped(g->input, g->regions[i].start_addr,
						  g->regions[i].end_addr);
	return is_swapped;
}

/*
 * If part of the memory of each arena with a problem may be swapped out, report this as
 * the arena's problem, and return what it means for the figures: the blocks and pages of
 * such arenas are not counted, and a thread's cache in one of them may contain blocks of
 * other arenas. Otherwise, return NULL.
 */
static const char *explain_swapped(const struct glibc *g)
{
	struct heap *heap = g->heap;

	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].problem && !is_arena_swapped(g, i))
			return NULL;
	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].problem)
			heap->arenas[i].problem = "part of its memory is swapped out";
	return heap->arena_count == 1
		       ? "part of the arena is swapped out, and its blocks are not counted"
		       : "parts of arenas are swapped out: blocks of these arenas are not "
			 "counted; blocks of other arenas in thread caches may count as "
			 "live";
}

static const char *find_arena_problem(const struct heap *heap)
{
	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].problem)
			return heap->arenas[i].problem;
	return NULL;
}

static void set_quality(struct glibc *g)
{
	struct heap *heap = g->heap;
	const char *bound = g->has_swapped_cache
				    ? "the TLS of a thread is swapped out: chunks in its "
				      "tcache count as live"
				    : NULL;

	heap->trimmable_bytes = 0;
	for (size_t i = 0; i < heap->arena_count; i++)
		heap->trimmable_bytes =
			bytes_add(heap->trimmable_bytes, heap->arenas[i].trimmable_bytes);
	heap->problem = find_arena_problem(heap);
	if (heap->problem && !glibc_is_running(g)) {
		bound = explain_swapped(g);
		heap->problem = bound ? NULL : heap->problem;
	}
	if (!heap->problem && glibc_is_running(g))
		heap->problem =
			"live includes chunks in tcaches and fastbins, because the "
			"process ran";
	if (!heap->problem && (heap->mapped.count != g->par.mapped_count ||
			       heap->mapped.bytes != g->par.mapped_bytes))
		heap->problem = "not all chunks with their own mapping were found";
	heap->quality = heap->problem ? QUALITY_ESTIMATE
			: bound	      ? QUALITY_BOUND
				      : QUALITY_EXACT;
	if (!heap->problem)
		heap->problem = bound;
}

void glibc_account(struct glibc *g)
{
	struct heap *heap = g->heap;

	for (size_t i = 0; i < heap->arena_count; i++)
		if (!heap->arenas[i].problem)
			heap->arenas[i].trimmable_bytes = 0;
	for (size_t i = 0; i < g->region_count; i++) {
		const struct region *region = &g->regions[i];

		if (region->kind == REGION_MAPPED)
			account_mapped(g, region);
		else if (!heap->arenas[region->arena].problem)
			account_region(g, region);
	}
	page_use_share(g->blocks, g->input->mappings, heap);
	blocks_sort(g->blocks);
	fill_mallinfo(g);
	set_quality(g);
}
