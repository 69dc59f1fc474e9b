/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

/* Offsets in CentralFreeList, counted from size_class_. */
#define CENTRAL_COUNTER 112
#define CENTRAL_BATCHES 120
#define CENTRAL_USED 1144
#define BATCHES_MAX 64

/* Size of struct FreeList in a thread's cache, and offset of the length in it. */
#define LIST_BYTES 32
#define LIST_LENGTH 8

/*
 * Mark a block of the given class at addr as free. Return false if there is no such
 * block, or if another list contains it.
 */
static bool mark_block(struct tcmalloc *t, uint64_t addr, unsigned int class,
		       bool is_cached)
{
	const struct tcmalloc_span *span = tcmalloc_find_span(t, addr);
	uint64_t index, bit;

	if (!span || span->class != class || class == 0)
		return false;
	index = (addr - span->start_addr) / span->block_bytes;
	bit = span->first_bit + index;
	if ((addr - span->start_addr) % span->block_bytes != 0 ||
	    index >= span->block_count || bit_is_set(t->blocks->not_live, bit))
		return false;
	bit_set(t->blocks->not_live, bit);
	if (is_cached)
		bit_set(t->blocks->cached, bit);
	return true;
}

/*
 * Mark at most `max` blocks of a list as free, starting at addr. Each block begins with
 * the address of the next. Store the address of the last block in *ret_last. Return the
 * number of blocks, or UINT64_MAX if a block does not belong to the class.
 */
static uint64_t mark_list(struct tcmalloc *t, uint64_t addr, uint64_t max,
			  unsigned int class, bool is_cached, uint64_t *ret_last)
{
	uint64_t count;

	for (count = 0; addr != 0 && count < max; count++) {
		*ret_last = addr;
		if (!mark_block(t, addr, class, is_cached) ||
		    !image_read(t->image, addr, &addr))
			return UINT64_MAX;
	}
	return count;
}

static void read_spans(struct tcmalloc *t)
{
	for (size_t i = 0; i < t->span_count; i++) {
		const struct tcmalloc_span *span = &t->spans[i];
		uint64_t last, count;

		if (span->class == 0)
			continue;
		count = mark_list(t, span->first_free, span->block_count + 1, span->class,
				  false, &last);
		if (count == UINT64_MAX)
			t->broken_lists++;
		else
			t->classes[span->class].listed_count += count;
		if (count == UINT64_MAX || count + span->taken_count != span->block_count)
			t->broken_spans++;
	}
}

/* Read the batches in the transfer cache of a class, whose central list is at addr. */
static void read_batches(struct tcmalloc *t, unsigned int class, uint64_t addr)
{
	const uint8_t *at = image_at(t->image, addr, CENTRAL_USED + 4);
	uint64_t batch_count = t->classes[class].batch_count, counter;
	int32_t used;

	if (!at) {
		t->broken_lists++;
		return;
	}
	memcpy(&counter, at + CENTRAL_COUNTER, sizeof(counter));
	memcpy(&used, at + CENTRAL_USED, sizeof(used));
	if (counter != t->classes[class].listed_count || used < 0 || used > BATCHES_MAX) {
		t->broken_lists++;
		return;
	}
	for (int i = 0; i < used; i++) {
		uint64_t ends[2], last = 0;

		memcpy(ends, at + CENTRAL_BATCHES + sizeof(ends) * (size_t)i,
		       sizeof(ends));
		if (mark_list(t, ends[0], batch_count, class, false, &last) !=
			    batch_count ||
		    last != ends[1])
			t->broken_lists++;
	}
}

static void read_cache(struct tcmalloc *t, uint64_t addr)
{
	for (unsigned int class = 1; class < t->class_count; class ++) {
		const uint8_t *at =
			image_at(t->image, addr + LIST_BYTES * class, LIST_LENGTH + 4);
		uint64_t first, last;
		uint32_t length;

		if (!at) {
			t->broken_lists++;
			continue;
		}
		memcpy(&first, at, sizeof(first));
		memcpy(&length, at + LIST_LENGTH, sizeof(length));
		if (mark_list(t, first, (uint64_t)length + 1, class, true, &last) !=
		    length)
			t->broken_lists++;
	}
}

void tcmalloc_read_lists(struct tcmalloc *t)
{
	read_spans(t);
	for (unsigned int class = 1; class < t->class_count; class ++)
		read_batches(t, class,
			     t->central_addr + (uint64_t)TCMALLOC_CENTRAL_BYTES * class);
	for (size_t i = 0; i < t->cache_count; i++)
		read_cache(t, t->caches[i]);
}
