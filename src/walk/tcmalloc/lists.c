/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

/* Offsets in CentralFreeList, relative to size_class_. */
#define CENTRAL_COUNTER 112
#define CENTRAL_BATCHES 120
#define CENTRAL_USED 1144
#define BATCHES_MAX 64

/* Size of struct FreeList in a thread's cache, and offset of the length in it. */
#define LIST_BYTES 32
#define LIST_LENGTH 8

/* A list of free blocks, after its blocks have been marked. */
struct list {
	uint64_t count; /* number of blocks, at most one more than expected */
	uint64_t last;	/* address of the last block */
	bool is_broken; /* true if a block does not belong to the class */
	bool is_cut;	/* true if the rest of the list is swapped out */
};

/*
 * Mark a block of the given class at addr as free. Return false if there is no such
 * block, or if another list contains it. A block in a swapped-out span is not marked.
 */
static bool mark_block(struct tcmalloc *t, uint64_t addr, unsigned int class,
		       bool is_cached)
{
	const struct tcmalloc_span *span = tcmalloc_find_span(t, addr);
	uint64_t index, bit;

	if (!span)
		return tcmalloc_is_span_absent(t, addr);
	if (span->class != class || class == 0)
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
 * the address of the next.
 */
static struct list mark_list(struct tcmalloc *t, uint64_t addr, uint64_t max,
			     unsigned int class, bool is_cached)
{
	struct list list = { .count = 0 };

	for (; addr != 0 && list.count < max; list.count++) {
		list.last = addr;
		list.is_broken = !mark_block(t, addr, class, is_cached);
		if (list.is_broken)
			break;
		if (!image_read(t->image, addr, &addr)) {
			list.count++;
			list.is_cut = walk_is_swapped(t->input, addr);
			list.is_broken = !list.is_cut;
			break;
		}
	}
	return list;
}

/* Check a list whose blocks have been marked. The list must contain `count` blocks. */
static void check_list(struct tcmalloc *t, const struct list *list, uint64_t count)
{
	if (list->is_broken ||
	    (list->is_cut ? list->count > count : list->count != count))
		t->broken_lists++;
	else if (list->is_cut && list->count < count)
		t->absent_lists++;
}

/*
 * Count a list whose head is not in the image. The head is `length` bytes long and begins
 * at addr.
 */
static void count_missing(struct tcmalloc *t, uint64_t addr, uint64_t length)
{
	if (walk_is_part_swapped(t->input, addr, addr + length))
		t->absent_lists++;
	else
		t->broken_lists++;
}

static void read_spans(struct tcmalloc *t)
{
	for (size_t i = 0; i < t->span_count; i++) {
		const struct tcmalloc_span *span = &t->spans[i];
		struct list list;

		if (span->class == 0)
			continue;
		if (span->taken_count > span->block_count) {
			t->broken_spans++;
			continue;
		}
		list = mark_list(t, span->first_free, span->block_count + 1, span->class,
				 false);
		check_list(t, &list, span->block_count - span->taken_count);
		t->classes[span->class].listed_count +=
			span->block_count - span->taken_count;
	}
}

/* Read the batches in the transfer cache of a class, whose central list is at addr. */
static void read_batches(struct tcmalloc *t, unsigned int class, uint64_t addr)
{
	const uint8_t *at = image_at(t->image, addr, CENTRAL_USED + 4);
	uint64_t batch_count = t->classes[class].batch_count, counter;
	uint64_t listed_count = t->classes[class].listed_count;
	int32_t used;

	if (!at) {
		count_missing(t, addr, CENTRAL_USED + 4);
		return;
	}
	memcpy(&counter, at + CENTRAL_COUNTER, sizeof(counter));
	memcpy(&used, at + CENTRAL_USED, sizeof(used));
	/* the counter includes the blocks of swapped-out spans */
	if (counter < listed_count || (counter > listed_count && !t->lacks_spans) ||
	    used < 0 || used > BATCHES_MAX) {
		t->broken_lists++;
		return;
	}
	for (int i = 0; i < used; i++) {
		struct list list;
		uint64_t ends[2];

		memcpy(ends, at + CENTRAL_BATCHES + sizeof(ends) * (size_t)i,
		       sizeof(ends));
		list = mark_list(t, ends[0], batch_count, class, false);
		if ((!list.is_cut || list.count == batch_count) && list.last != ends[1])
			list.is_broken = true;
		check_list(t, &list, batch_count);
	}
}

static void read_cache(struct tcmalloc *t, uint64_t addr)
{
	for (unsigned int class = 1; class < t->class_count; class ++) {
		const uint8_t *at =
			image_at(t->image, addr + LIST_BYTES * class, LIST_LENGTH + 4);
		struct list list;
		uint64_t first;
		uint32_t length;

		if (!at) {
			count_missing(t, addr + LIST_BYTES * class, LIST_LENGTH + 4);
			continue;
		}
		memcpy(&first, at, sizeof(first));
		memcpy(&length, at + LIST_LENGTH, sizeof(length));
		list = mark_list(t, first, (uint64_t)length + 1, class, true);
		check_list(t, &list, length);
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
