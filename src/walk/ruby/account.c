/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/ruby/walk.h"

#include "base/units.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/*
 * The lowest bits of a slot's first word contain the type of the object, or 0 if the
 * slot has no object.
 */
#define TYPE_MASK UINT64_C(31)
/*
 * The type T_MOVED: while Ruby compacts its heap, a slot of this type refers to the slot
 * to which the object was moved. Ruby frees such slots before the collection ends.
 */
#define TYPE_MOVED UINT64_C(0x1e)

static const char *const space_names[RUBY_SIZES] = {
	"pages of 40-byte slots",  "pages of 80-byte slots",  "pages of 160-byte slots",
	"pages of 320-byte slots", "pages of 640-byte slots",
};

/*
 * Return true if the slot has no object. A slot that is swapped out may have an object.
 */
static bool is_free(struct ruby *r, uint64_t slot_addr)
{
	uint64_t word;

	if (image_read(r->image, slot_addr, &word)) {
		r->has_moved |= (word & TYPE_MASK) == TYPE_MOVED;
		return (word & TYPE_MASK) == 0;
	}
	if (walk_is_swapped(r->input, slot_addr)) {
		r->has_swapped = true;
		return false;
	}
	/* a slot on a page of memory that was never touched has no object */
	return true;
}

static void account_slots(struct ruby *r, struct ruby_page *page)
{
	uint64_t bytes = ruby_slot_bytes(page->size);

	for (uint64_t i = 0; i < page->slot_count; i++) {
		uint64_t addr = page->start_addr + i * bytes;
		bool is_slot_free = is_free(r, addr);

		page->live_count += !is_slot_free;
		if (is_slot_free)
			bit_set(r->blocks->not_live, page->first_bit + i);
		page_use_add(r->blocks, addr, addr + bytes,
			     is_slot_free ? USE_FREE : USE_LIVE);
	}
}

static void account_page(struct ruby *r, struct ruby_page *page,
			 struct heap_space spaces[])
{
	uint64_t bytes = ruby_slot_bytes(page->size), free_count;
	struct heap_class *class = &r->heap->classes[page->size];
	struct heap_arena *sums = &r->heap->arenas[0];
	struct heap_space *space = &spaces[page->size];
	struct extent *extent = blocks_add_extent(r->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = page->start_addr;
	extent->end_addr = page->start_addr + page->slot_count * bytes;
	extent->unit_bytes = bytes;
	extent->first_bit = page->first_bit;
	page_use_add(r->blocks, page->addr, page->addr + r->page_bytes, USE_HEAP);
	account_slots(r, page);
	free_count = page->slot_count - page->live_count;
	class->live.count += page->live_count;
	class->live.bytes += page->live_count * bytes;
	class->free.count += free_count;
	class->free.bytes += free_count * bytes;
	sums->live.count += page->live_count;
	sums->live.bytes += page->live_count * bytes;
	sums->bin.count += free_count;
	sums->bin.bytes += free_count * bytes;
	sums->system_bytes += r->page_bytes;
	sums->heap_count++;
	space->count++;
	space->live_bytes += page->live_count * bytes;
	space->free_bytes += free_count * bytes;
	space->resident_bytes +=
		image_resident_bytes(r->image, page->addr, page->addr + r->page_bytes);
}

static void fill_classes(struct heap *heap)
{
	heap->class_count = RUBY_SIZES;
	for (unsigned int i = 0; i < RUBY_SIZES; i++) {
		heap->classes[i].lower_bytes = i ? ruby_slot_bytes(i - 1) + 1 : 1;
		heap->classes[i].upper_bytes = ruby_slot_bytes(i);
	}
}

/*
 * The figures are an estimate if the free-slot lists of many pages fail a check. A few
 * lists may fail, because Ruby stores the list of a page elsewhere while it allocates
 * slots from the page.
 */
#define BROKEN_SHARE 16

static void set_quality(struct ruby *r)
{
	struct heap *heap = r->heap;

	heap->quality = QUALITY_EXACT;
	if (r->broken_count > r->page_count / BROKEN_SHARE)
		heap->problem = "Ruby was collecting garbage, or its slot pages have an "
				"unknown layout";
	if (r->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem) {
		heap->quality = QUALITY_ESTIMATE;
	} else if (r->has_moved) {
		heap->quality = QUALITY_BOUND;
		heap->problem =
			"Ruby is compacting its heap: slots of moved objects count "
			"as live";
	} else if (r->has_swapped) {
		heap->quality = QUALITY_BOUND;
		heap->problem = "memory is swapped out that may contain slots of Ruby";
	}
	/* it is unknown which pages become empty when GC.compact moves objects */
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = BYTES_UNKNOWN;
}

void ruby_account(struct ruby *r)
{
	struct heap *heap = r->heap;
	struct heap_space spaces[RUBY_SIZES] = { 0 };
	uint64_t transient = ruby_find_transient(r);

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	fill_classes(heap);
	blocks_init(r->blocks, r->image, r->bit_count);
	for (size_t i = 0; i < r->page_count; i++)
		account_page(r, &r->pages[i], spaces);
	for (size_t i = 0; i < RUBY_SIZES; i++) {
		struct heap_space *to;

		if (spaces[i].count == 0)
			continue;
		to = heap_add_space(heap, space_names[i]);
		*to = spaces[i];
		to->name = space_names[i];
	}
	if (transient != 0)
		ruby_account_transient(r, transient,
				       heap_add_space(heap, "transient heap"));
	blocks_sort(r->blocks);
	page_use_share(r->blocks, r->input->mappings, heap);
	set_quality(r);
}
