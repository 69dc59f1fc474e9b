/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranges - symbols by where their code is, to be found in few steps: libdw goes
 * through all of them for each address.
 */
#ifndef MS_TRACEE_SYMBOLS_RANGES_H
#define MS_TRACEE_SYMBOLS_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct symbol_range {
	uint64_t start, bytes; /* 0 bytes: to the next one, if that is near */
	const char *name;      /* borrowed */
	unsigned int
		rank;  /* of those that start at one address the highest is preferred */
	size_t number; /* then the one that was added first */
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

/* After the last was added, before the first is looked for. */
void symbol_ranges_sort(struct symbol_ranges *ranges);
void symbol_ranges_release(struct symbol_ranges *ranges);

/* The symbol that the address is in: of several, the one that starts last. NULL: none. */
const char *symbol_ranges_find(const struct symbol_ranges *ranges, uint64_t addr);

#endif
