/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/ranges.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"

/*
 * Symbols may be nested. A lookup checks at most this many of the symbols that start at
 * or before addr.
 */
#define ENCLOSING_TRIES 32

/*
 * Assumed maximum size of a symbol without a size, which is usually a label in assembly
 * code.
 */
#define UNSIZED_MAX_BYTES 4096

void symbol_ranges_add(struct symbol_ranges *ranges, const struct symbol_range *range)
{
	ranges->items = xgrow(ranges->items, &ranges->capacity, ranges->count + 1,
			      sizeof(*ranges->items));
	ranges->items[ranges->count] = *range;
	ranges->items[ranges->count].number = ranges->count;
	ranges->count++;
}

/*
 * Sort by address. Among symbols with the same address, the preferred symbol comes last.
 */
static int compare(const void *a, const void *b)
{
	const struct symbol_range *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return (left->number < right->number) - (left->number > right->number);
}

void symbol_ranges_sort(struct symbol_ranges *ranges)
{
	if (ranges->count > 0)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare);
}

void symbol_ranges_release(struct symbol_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct symbol_ranges)SYMBOL_RANGES_INIT;
}

const char *symbol_ranges_find(const struct symbol_ranges *ranges, uint64_t addr)
{
	size_t low = SEARCH_FIRST(ranges->count, i, ranges->items[i].start > addr);
	uint64_t next;

	if (low == 0)
		return NULL;
	/*
	 * A symbol without a size ends where the next symbol starts. It can contain addr
	 * only if no other symbol starts between it and addr.
	 */
	next = ranges->items[low - 1].start;
	for (size_t i = low; i > 0 && low - i < ENCLOSING_TRIES; i--) {
		const struct symbol_range *range = &ranges->items[i - 1];
		uint64_t offset = addr - range->start;

		if (range->bytes > 0 ? offset < range->bytes
				     : range->start == next && offset < UNSIZED_MAX_BYTES)
			return range->name;
	}
	return NULL;
}
