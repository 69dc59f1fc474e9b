/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranges - symbols sorted by address, for fast lookups. libdw's own lookup is slow,
 * because it searches all symbols.
 */
#ifndef MS_TRACEE_SYMBOLS_RANGES_H
#define MS_TRACEE_SYMBOLS_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct symbol_range {
	/*
	 * start address and size; a symbol of size 0 extends to the next symbol, up to a
	 * maximum size
	 */
	uint64_t start, bytes;
	const char *name; /* name of the symbol; borrowed */
	/*
	 * if several symbols have the same start, the one with the highest rank
	 * is preferred
	 */
	unsigned int rank;
	/* order of addition; among symbols with the same rank, the first is preferred */
	size_t number;
};

struct symbol_ranges {
	struct symbol_range *items;
	size_t count, capacity;
};

#define SYMBOL_RANGES_INIT \
	{                  \
		NULL, 0, 0 \
	}

void symbol_ranges_add(struct symbol_ranges *ranges, const struct symbol_range *range);

/*
 * Sort the symbols. Call this function after the last symbol_ranges_add() and before the
 * first symbol_ranges_find().
 */
void symbol_ranges_sort(struct symbol_ranges *ranges);
void symbol_ranges_release(struct symbol_ranges *ranges);

/*
 * Return the name of the symbol that contains addr, or NULL. If several symbols contain
 * addr, return the one with the highest start.
 */
const char *symbol_ranges_find(const struct symbol_ranges *ranges, uint64_t addr);

#endif
