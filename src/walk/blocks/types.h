/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types - determine the type of a block from its first word. A C++ object begins with the
 * address of its class's vtable, a Swift or Objective-C object with the address of its
 * class. Such tables are recognised by their symbols. C++ vtables are also recognised
 * without symbols, by the type information in front of them (Itanium C++ ABI, 2.9.5).
 *
 * A block that begins otherwise has no type here: C leaves no type information in memory.
 */
#ifndef MS_WALK_BLOCKS_TYPES_H
#define MS_WALK_BLOCKS_TYPES_H

#include <stdint.h>

#include "tracee/memory/memory.h"
#include "tracee/symbols/symbols.h"
#include "walk/blocks/blocks.h"

struct types;

/*
 * Return a new object. symbols (NULL: none available) and memory are
 * borrowed until types_free().
 */
struct types *types_new(struct symbols *symbols, struct memory *memory);
void types_free(struct types *types);

/*
 * Return the type number of a live block, from 1, or 0 if it has no type. Results are
 * cached per first word.
 */
uint32_t types_of_block(struct types *types, const struct blocks *blocks,
			const struct block *block);

/* Likewise for a given first word. */
uint32_t types_of_word(struct types *types, uint64_t word);

/*
 * Return the type's name as in the source, such as
 * "ns::Shape". Valid until types_free().
 */
const char *types_name(const struct types *types, uint32_t type);

/* Return why some words were not examined, or NULL. Static. */
const char *types_problem(const struct types *types);

#endif
