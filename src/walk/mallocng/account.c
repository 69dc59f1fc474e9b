/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mallocng/walk.h"

#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"
#include "walk/blocks/slot.h"

static void account_slot(struct mallocng *m, const struct mallocng_group *group,
			 unsigned int index)
{
	struct heap_arena *arena = &m->heap->arenas[0];
	bool is_mapped = group->class == MALLOCNG_CLASS_MAPPED;
	struct heap_class *class = is_mapped ? NULL : &m->heap->classes[group->class];
	uint64_t start = mallocng_slot_addr(group, index), bytes = group->slot_bytes;
	bool is_free = group->free_mask >> index & 1;

	page_use_add(m->blocks, start, start + bytes, is_free ? USE_FREE : USE_LIVE);
	if (is_free)
		bit_set(m->blocks->not_live, group->first_bit + index);
	if (is_mapped && !is_free) {
		chunk_sum_add(&m->heap->mapped, group->end_addr - group->start_addr);
		return;
	}
	chunk_sum_add(is_free ? &arena->bin : &arena->live, bytes);
	if (class)
		chunk_sum_add(is_free ? &class->free : &class->live, bytes);
}

/* Add an extent for the slots [first, end) of a group. */
static void add_slots(struct mallocng *m, const struct mallocng_group *group,
		      unsigned int first, unsigned int end)
{
	struct extent *extent;

	if (first == end)
		return;
	extent = blocks_add_extent(m->blocks);
	extent->kind = EXTENT_SLOTS;
	extent->start_addr = mallocng_slot_addr(group, first);
	extent->end_addr = mallocng_slot_addr(group, end);
	extent->unit_bytes = group->slot_bytes;
	extent->first_bit = group->first_bit + first;
	extent->is_mapped = group->class == MALLOCNG_CLASS_MAPPED;
}

/*
 * Extents must be disjoint, so the extents of the outer group omit a slot that contains a
 * nested group.
 */
static void account_group(struct mallocng *m, const struct mallocng_group *group)
{
	struct heap_arena *arena = &m->heap->arenas[0];
	unsigned int first = 0;

	if (group->source != MALLOCNG_NESTED) {
		page_use_add(m->blocks, group->start_addr, group->end_addr, USE_HEAP);
		if (group->class != MALLOCNG_CLASS_MAPPED) {
			arena->system_bytes += group->end_addr - group->start_addr;
			arena->heap_count++;
		}
	}
	for (unsigned int i = 0; i < group->slot_count; i++) {
		if (!(group->group_mask >> i & 1)) {
			account_slot(m, group, i);
			continue;
		}
		bit_set(m->blocks->not_live, group->first_bit + i);
		add_slots(m, group, first, i);
		first = i + 1;
	}
	add_slots(m, group, first, group->slot_count);
}

static void account_areas(struct mallocng *m)
{
	for (size_t i = 0; i < m->area_count; i++) {
		uint64_t bit = m->bit_count + i;
		struct extent *extent = blocks_add_extent(m->blocks);

		page_use_add(m->blocks, m->areas[i], m->areas[i] + IMAGE_PAGE_BYTES,
			     USE_HEAP);
		bit_set(m->blocks->not_live, bit);
		bit_set(m->blocks->own, bit);
		extent->kind = EXTENT_UNITS;
		extent->start_addr = m->areas[i];
		extent->end_addr = m->areas[i] + IMAGE_PAGE_BYTES;
		extent->unit_bytes = IMAGE_PAGE_BYTES;
		extent->first_bit = bit;
		m->heap->arenas[0].system_bytes += IMAGE_PAGE_BYTES;
	}
}

static void fill_classes(struct heap *heap)
{
	heap->class_count = MALLOCNG_CLASS_COUNT;
	for (unsigned int i = 0; i < MALLOCNG_CLASS_COUNT; i++) {
		heap->classes[i].lower_bytes = i ? mallocng_class_bytes(i - 1) + 1 : 1;
		heap->classes[i].upper_bytes = mallocng_class_bytes(i);
	}
}

/*
 * Return true if musl's own count of slots in each class equals the number of slots that
 * the walker found. The walker finds the slots of swapped-out groups, too, because the
 * metas of these groups are resident.
 */
static bool is_count_equal(const struct mallocng *m)
{
	uint64_t counts[MALLOCNG_CLASS_COUNT] = { 0 };

	for (size_t i = 0; i < m->group_count; i++) {
		const struct mallocng_group *group = &m->groups[i];

		if (group->class < MALLOCNG_CLASS_COUNT &&
		    group->source != MALLOCNG_DONATED)
			counts[group->class] += group->slot_count;
	}
	return memcmp(counts, m->context.class_slots, sizeof(counts)) == 0;
}

/*
 * Return a text that explains how swapped-out memory affects the figures, or NULL if no
 * check failed because of it.
 */
static const char *explain_absent(const struct mallocng *m)
{
	if (m->absent_groups > 0 && m->absent_slots > 0)
		return "groups of musl's malloc are swapped out and not counted; other "
		       "slots are counted, although their headers are swapped out";
	if (m->absent_groups > 0)
		return "groups of musl's malloc are swapped out and not counted";
	if (m->absent_slots > 0)
		return "headers of musl's slots are swapped out, and these slots count "
		       "as live";
	return m->context.is_swapped ? "musl's counts of slots are swapped out; there "
				       "may be more blocks than were found"
				     : NULL;
}

static void set_quality(struct mallocng *m)
{
	struct heap *heap = m->heap;

	heap->quality = QUALITY_EXACT;
	if (m->broken_metas > 0 || m->broken_slots > 0)
		heap->problem = "musl was changing a group, or a group is corrupt";
	else if (!m->context.is_swapped && !is_count_equal(m))
		heap->problem =
			"musl's own counts differ from the groups that were found";
	if (m->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem) {
		heap->quality = QUALITY_ESTIMATE;
	} else {
		heap->problem = explain_absent(m);
		if (heap->problem)
			heap->quality = QUALITY_BOUND;
	}
	/* musl has no function like malloc_trim(), so nothing can be trimmed */
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = 0;
}

void mallocng_account(struct mallocng *m)
{
	struct heap *heap = m->heap;

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	fill_classes(heap);
	blocks_init(m->blocks, m->image, m->bit_count + m->area_count);
	for (size_t i = 0; i < m->group_count; i++)
		if (!m->groups[i].is_broken && !m->groups[i].is_absent)
			account_group(m, &m->groups[i]);
	account_areas(m);
	blocks_sort(m->blocks);
	blocks_add_own_range(m->blocks, m->context.addr,
			     m->context.addr + sizeof(m->context.class_slots) + 464);
	page_use_share(m->blocks, m->input->mappings, heap);
	set_quality(m);
}
