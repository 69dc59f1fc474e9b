/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/walk.h"

#include <string.h>

#include "walk/blocks/data_area.h"

/*
 * Maximum number of inconsistent bins in a valid arena. A bin may have been copied while
 * malloc changed it, or its first chunk may be swapped out.
 */
#define BAD_BINS_MAX 6

static const struct layout layouts[] = {
	{ 112, 16 }, /* glibc 2.27 to 2.42 */
	{ 104, 8 },  /* glibc 2.26, which lacks have_fastchunks */
	{ 24, 0 },   /* glibc 2.43, which has no fastbins */
};

static uint64_t word_at(const uint8_t *bytes, size_t index)
{
	uint64_t word;

	memcpy(&word, bytes + index * 8, 8);
	return word;
}

static bool is_empty_bin(const uint8_t *bins, uint64_t bins_addr, size_t bin)
{
	uint64_t self = bins_addr - 16 + bin * 16;

	return word_at(bins, 2 * bin) == self && word_at(bins, 2 * bin + 1) == self;
}

/*
 * Return true if a bin is not empty and its first chunk points back to the bin. In a copy
 * of a running target, the chunk need not point back, because malloc may have inserted
 * another chunk before it during the copy.
 */
static bool is_used_bin(const struct glibc *g, const uint8_t *bins, uint64_t bins_addr,
			size_t bin)
{
	uint64_t first_addr = word_at(bins, 2 * bin);
	uint64_t back_addr;

	return first_addr && first_addr % CHUNK_ALIGN == 0 &&
	       image_read(g->image, first_addr + CHUNK_HEAD + 8, &back_addr) &&
	       (glibc_is_running(g) ||
		back_addr == bins_addr - CHUNK_HEAD + bin * CHUNK_HEAD);
}

static bool looks_like_bins(const struct glibc *g, const uint8_t *bins, uint64_t addr)
{
	size_t bad_count = 0;

	for (size_t bin = 0; bin < BIN_COUNT; bin++) {
		if (is_empty_bin(bins, addr, bin) || is_used_bin(g, bins, addr, bin))
			continue;
		/*
		 * the first few bins are enough to reject an address that is not an arena
		 */
		if (++bad_count > BAD_BINS_MAX)
			return false;
	}
	return true;
}

/*
 * Return true if the circular list of arenas that begins at start_addr leads back to
 * start_addr, and all its arenas have this layout.
 */
static bool ring_closes(struct glibc *g, uint64_t start_addr, const struct layout *layout)
{
	uint64_t addr = start_addr;

	for (size_t i = 0; i < GLIBC_ARENAS_MAX && glibc_spend(g, 1); i++) {
		if (addr % 8 != 0 ||
		    !image_read(g->image, addr + layout->bins_offset + ARENA_TAIL_OFFSET,
				&addr))
			return false;
		if (addr == start_addr)
			return true;
	}
	return false;
}

static const struct layout *find_layout(struct glibc *g, uint64_t bins_addr)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (ring_closes(g, bins_addr - layouts[i].bins_offset, &layouts[i]))
			return &layouts[i];
	return NULL;
}

/*
 * Return true if the arena is not the main arena. Such an arena follows the heap_info of
 * its first heap, whose first member (ar_ptr) points to the arena.
 */
static bool is_thread_arena(struct glibc *g, uint64_t arena_addr)
{
	uint64_t owner_addr = 0;

	return image_read(g->image, arena_addr & ~(IMAGE_PAGE_BYTES - 1), &owner_addr) &&
	       owner_addr == arena_addr;
}

/*
 * Return the index of the first mapping after the data of a file, which begins with the
 * mapping `first`. The data consists of adjacent mappings of the file and of the
 * anonymous memory that follows (.bss).
 */
static size_t data_end(const struct mapping_list *list, size_t first)
{
	size_t end = first + 1;

	while (end < list->count &&
	       list->items[end].start_addr == list->items[end - 1].end_addr &&
	       walk_wants_mapping(&list->items[end]) &&
	       (list->items[end].inode == list->items[first].inode ||
		(list->items[end].inode == 0 && list->items[end].name_length == 0)))
		end++;
	return end;
}

/*
 * Search the range [start, end), which is within one run of the image, for main arenas.
 * Return the number of main arenas found.
 */
static size_t search_run(struct glibc *g, const struct image_run *run, uint64_t start,
			 uint64_t end)
{
	size_t found = 0;

	if (start < run->start_addr)
		start = run->start_addr;
	if (end > run->end_addr)
		end = run->end_addr;
	for (uint64_t addr = start; addr + ARENA_TAIL_OFFSET + ARENA_TAIL_BYTES <= end;
	     addr += 8) {
		const uint8_t *bytes =
			g->image->bytes + run->offset_bytes + (addr - run->start_addr);
		const struct layout *layout;

		if (!looks_like_bins(g, bytes, addr))
			continue;
		layout = glibc_spend(g, BIN_COUNT) ? find_layout(g, addr) : NULL;
		/*
		 * skip arenas other than the main arena: their heaps may directly follow
		 * the data of a library that was loaded later
		 */
		if (!layout || is_thread_arena(g, addr - layout->bins_offset))
			continue;
		g->layout = *layout;
		g->main_arena_addr = addr - layout->bins_offset;
		found++;
		addr += ARENA_BINS_BYTES;
	}
	return found;
}

const char *glibc_find_main_arena(struct glibc *g)
{
	const struct mapping_list *list = g->input->mappings;
	size_t found = 0;

	for (size_t i = 0; i < list->count;) {
		size_t end = i + 1;

		if (data_area_may_begin(&list->items[i])) {
			uint64_t start_addr = list->items[i].start_addr;
			uint64_t end_addr;

			end = data_end(list, i);
			end_addr = list->items[end - 1].end_addr;
			for (size_t r = image_find_run(g->image, start_addr);
			     r < g->image->run_count &&
			     g->image->runs[r].start_addr < end_addr;
			     r++)
				found += search_run(g, &g->image->runs[r], start_addr,
						    end_addr);
		}
		i = end;
	}
	if (g->budget == 0)
		return "the search for malloc's data was abandoned";
	if (found == 0)
		return "glibc's malloc was not found, or was never used";
	return found > 1 ? "there is more than one glibc malloc" : NULL;
}

/*
 * Offsets of fields in struct malloc_par. tcache_max_bytes and
 * tcache_count follow tcache_bins.
 */
static const struct par_layout {
	uint8_t mapped_count, mapped_count_limit, mapped_count_max;
	uint8_t mapped, mapped_max;
	uint8_t sbrk_base, cache_bins;
	/*
	 * Offset of thp_pagesize, which hp_pagesize follows; 0 if the version lacks both
	 * fields.
	 */
	uint8_t thp_page;
} par_layouts[] = {
	{ 40, 44, 48, 56, 64, 72, 80, 0 },    /* glibc up to 2.34 */
	{ 60, 64, 68, 80, 88, 96, 104, 40 },  /* glibc 2.35 to 2.42 */
	{ 68, 72, 76, 88, 96, 104, 112, 48 }, /* glibc 2.43, which adds thp_mode */
};

#define PAR_BYTES UINT64_C(160)
#define ARENA_TEST_OFFSET 24
#define ARENA_TEST_MAX 4096
#define CACHE_BINS_USUAL 64
#define MAPPED_LIMIT_USUAL 65536
/*
 * Maximum distance between sbrk_base and the start of the heap mapping. A statically
 * linked program places its TLS before the heap.
 */
#define SBRK_BASE_SLACK UINT64_C(65536)

static uint32_t half_at(const uint8_t *bytes, size_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, 4);
	return half;
}

static uint64_t field_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, 8);
	return word;
}

static uint64_t brk_start_addr(const struct mapping_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, "[heap]") == 0)
			return list->items[i].start_addr;
	return 0;
}

static bool is_sbrk_base(const struct glibc *g, uint64_t addr, uint64_t brk_addr)
{
	const struct mapping *m;

	if (brk_addr)
		return addr >= brk_addr && addr - brk_addr <= SBRK_BASE_SLACK;
	m = addr ? mapping_list_find(g->input->mappings, addr) : NULL;
	return addr == 0 || (m && glibc_is_heap_memory(m));
}

static bool looks_like_par(const struct glibc *g, const uint8_t *p,
			   const struct par_layout *l, uint64_t brk_addr)
{
	uint32_t mapped_count = half_at(p, l->mapped_count);
	uint32_t limit = half_at(p, l->mapped_count_limit);
	uint64_t mapped = field_at(p, l->mapped);
	uint64_t cache_bins = field_at(p, l->cache_bins);
	uint64_t cache_max = field_at(p, l->cache_bins + 8U);
	uint64_t cache_slots = field_at(p, l->cache_bins + 16U);
	uint64_t arena_test = field_at(p, ARENA_TEST_OFFSET);

	if (arena_test == 0 || arena_test > ARENA_TEST_MAX)
		return false;
	if (mapped_count > half_at(p, l->mapped_count_max) ||
	    mapped > field_at(p, l->mapped_max) || mapped % IMAGE_PAGE_BYTES ||
	    (mapped_count == 0) != (mapped == 0))
		return false;
	if (cache_bins > CACHE_BINS_USUAL || cache_max > UINT16_MAX + UINT64_C(1) ||
	    cache_slots > UINT16_MAX || (cache_bins && cache_max == 0))
		return false;
	if (cache_bins != CACHE_BINS_USUAL && limit != MAPPED_LIMIT_USUAL)
		return false;
	return is_sbrk_base(g, field_at(p, l->sbrk_base), brk_addr);
}

static void store_par(struct glibc *g, const uint8_t *p, const struct par_layout *l)
{
	g->par.thp_page_bytes = l->thp_page ? field_at(p, l->thp_page) : 0;
	g->par.huge_page_bytes = l->thp_page ? field_at(p, l->thp_page + 8U) : 0;
	g->par.sbrk_base_addr = field_at(p, l->sbrk_base);
	g->par.mapped_count = half_at(p, l->mapped_count);
	g->par.mapped_bytes = field_at(p, l->mapped);
	g->par.cache_slots = field_at(p, l->cache_bins + 16U);
}

/* Find the range of static data that contains both main_arena and mp_. */
static void find_data(const struct glibc *g, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct mapping_list *list = g->input->mappings;

	for (size_t i = 0; i < list->count; i++) {
		size_t end;

		if (!data_area_may_begin(&list->items[i]))
			continue;
		end = data_end(list, i);
		*ret_start = list->items[i].start_addr;
		*ret_end = list->items[end - 1].end_addr;
		if (g->main_arena_addr >= *ret_start && g->main_arena_addr < *ret_end)
			return;
		i = end - 1;
	}
}

const char *glibc_find_par(struct glibc *g)
{
	uint64_t brk_addr = brk_start_addr(g->input->mappings);
	uint64_t start = 0, end = 0, place = 0;
	size_t found = 0;

	find_data(g, &start, &end);
	for (uint64_t addr = start; addr + PAR_BYTES <= end; addr += 8) {
		const uint8_t *p = image_at(g->image, addr, PAR_BYTES);

		for (size_t l = 0; p && l < sizeof(par_layouts) / sizeof(par_layouts[0]);
		     l++) {
			if (!looks_like_par(g, p, &par_layouts[l], brk_addr))
				continue;
			store_par(g, p, &par_layouts[l]);
			/*
			 * Two layouts may match the same struct at addresses one word
			 * apart. Both then yield the same values, so count the struct
			 * only once.
			 */
			found += addr + par_layouts[l].sbrk_base != place;
			place = addr + par_layouts[l].sbrk_base;
		}
	}
	if (found == 0)
		return "malloc's parameters (mp_) were not found";
	return found > 1 ? "malloc's parameters (mp_) cannot be distinguished from "
			   "other data"
			 : NULL;
}
