/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/overlaps.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

/* Discard the results of a walk, but keep the allocator and the evidence for it. */
static void discard(struct walk_found *found, const char *problem)
{
	enum allocator allocator = found->heap.allocator;
	const char *evidence = found->heap.evidence;

	heap_release(&found->heap);
	blocks_release(&found->blocks);
	found->heap.allocator = allocator;
	found->heap.evidence = evidence;
	found->heap.problem = problem;
}

/* Return true if two walkers claim the same memory. */
static bool overlap(const struct blocks *a, const struct blocks *b)
{
	uint64_t count = a->pages && b->pages ? a->image->length_bytes / IMAGE_PAGE_BYTES
					      : 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t a_bytes = a->pages[i].heap_bytes;
		uint32_t b_bytes = b->pages[i].heap_bytes;

		if (a_bytes > 0 && b_bytes > 0 && a_bytes + b_bytes > IMAGE_PAGE_BYTES)
			return true;
	}
	return false;
}

void walk_discard_overlaps(struct walk_found found[], size_t count)
{
	static const char problem[] = "two heaps seem to use the same memory";
	_cleanup_free_ bool *overlaps = xcalloc(count + 1, sizeof(*overlaps));

	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			if (overlap(&found[i].blocks, &found[k].blocks))
				overlaps[i] = overlaps[k] = true;
	for (size_t i = 0; i < count; i++)
		if (overlaps[i])
			discard(&found[i], problem);
}
