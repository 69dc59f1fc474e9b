/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types - determine the type of a block from its first word.
 *
 * The first word of a C++ object is the address of its class's vtable, and that of a
 * Swift or Objective-C object is the address of its class. The symbol at the address
 * names the type. If a C++ vtable has no symbol, its type_info object contains the name
 * (Itanium C++ ABI, 2.9.5). The type of other blocks is unknown, because C leaves no type
 * information in memory.
 */
#ifndef MS_WALK_BLOCKS_TYPES_H
#define MS_WALK_BLOCKS_TYPES_H

#include <stdint.h>

#include "tracee/memory/memory.h"
#include "tracee/symbols/symbols.h"
#include "walk/blocks/blocks.h"

struct types;

/*
 * Create an object that determines types. It borrows `symbols`, which may be NULL, and
 * `memory` until types_free().
 */
struct types *types_new(struct symbols *symbols, struct memory *memory);
void types_free(struct types *types);

/*
 * Return the type number of a live block, counted from 1, or 0 if its type is unknown.
 * The result for each first word is cached.
 */
uint32_t types_of_block(struct types *types, const struct blocks *blocks,
			const struct block *block);

/*
 * Return the type number of blocks with this first word, or 0 if their type is unknown.
 */
uint32_t types_of_word(struct types *types, uint64_t word);

/*
 * Return the name of a type as in the source code, such as "ns::Shape".
 * Valid until types_free().
 */
const char *types_name(const struct types *types, uint32_t type);

/*
 * Return a static text that explains why some blocks were not examined, or NULL if all
 * were examined.
 */
const char *types_problem(const struct types *types);

#endif
