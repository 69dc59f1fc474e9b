/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/complete.h"

#include "sample/heap/moment.h"

static bool is_page_count_right(const struct heap_reader *reader, const struct mapping *m)
{
	return image_resident_bytes(&reader->image, m->start_addr, m->end_addr) ==
	       mapping_copyable_bytes(m);
}

static bool holds_thread(const struct heap_moment *moment, const struct mapping *m)
{
	for (size_t i = 0; i < moment->thread_count; i++)
		if (moment->thread_addrs[i] >= m->start_addr &&
		    moment->thread_addrs[i] < m->end_addr)
			return true;
	return false;
}

bool heap_roots_are_complete(const struct heap_reader *reader,
			     const struct heap_moment *moment)
{
	const struct mapping_list *list = &moment->mappings;

	for (size_t i = 0; i < list->count; i++)
		if (heap_moment_wants(reader, &list->items[i]) &&
		    (reader->copies_roots || holds_thread(moment, &list->items[i])) &&
		    !is_page_count_right(reader, &list->items[i]))
			return false;
	return true;
}

/*
 * Return true if the copy contains as many resident pages as the kernel reports for the
 * mappings of the heap.
 */
static bool is_heap_complete(const struct heap_reader *reader,
			     const struct mapping_list *list, const struct heap *heap)
{
	for (size_t i = 0; i < heap->share_count; i++)
		if (!is_page_count_right(reader, &list->items[heap->shares[i].mapping]))
			return false;
	return true;
}

void heap_check_copy(const struct heap_reader *reader, const struct heap_moment *moment,
		     struct heap *heap, bool are_others_complete)
{
	if (heap->quality != QUALITY_EXACT ||
	    (are_others_complete && is_heap_complete(reader, &moment->mappings, heap)))
		return;
	heap->quality = QUALITY_ESTIMATE;
	heap->problem = "the copy's resident pages differ from those in smaps";
}
