/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranges - symbols sorted by address, for fast lookups: libdw searches all
 * symbols for each address.
 */
#ifndef MS_TRACEE_SYMBOLS_RANGES_H
#define MS_TRACEE_SYMBOLS_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct symbol_range {
	uint64_t start, bytes; /* 0 bytes: up to the next symbol, if that is near */
	const char *name;      /* borrowed */
	unsigned int rank;     /* at one start address, the highest is preferred */
	size_t number;	       /* then the lowest, which was added first */
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

/* Sort the symbols: after the last symbol_ranges_add(), before symbol_ranges_find(). */
void symbol_ranges_sort(struct symbol_ranges *ranges);
void symbol_ranges_release(struct symbol_ranges *ranges);

/*
 * Return the name of the symbol that contains addr, or NULL. Of several,
 * the last to start wins.
 */
const char *symbol_ranges_find(const struct symbol_ranges *ranges, uint64_t addr);

#endif
