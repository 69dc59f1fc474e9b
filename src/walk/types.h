/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types - what a block is, by its first word: an object of C++ begins with the address of
 * its class's table (vtable), one of Swift or Objective-C with that of its class. Tables
 * are known by their symbols; those of C++ also without, by the type information in front
 * of them (Itanium C++ ABI, 2.9.5).
 *
 * A block that begins otherwise has no type here: C has none in memory.
 */
#ifndef MS_WALK_TYPES_H
#define MS_WALK_TYPES_H

#include <stdint.h>

#include "target/memory.h"
#include "target/symbols.h"
#include "walk/blocks.h"

struct types;

/* symbols (NULL: none are known) and memory are borrowed for as long as it lives. */
struct types *types_new(struct symbols *symbols, struct memory *memory);
void types_free(struct types *types);

/* The number of a live block's type, from 1; 0 if it has none. Asks for each first word once. */
uint32_t types_of_block(struct types *types, const struct blocks *blocks,
			const struct block *block);

/* The same for a first word. */
uint32_t types_of_word(struct types *types, uint64_t word);

/* Its name as in the source: "ns::Shape". Borrowed; valid until types_free(). */
const char *types_name(const struct types *types, uint32_t type);

/* Why some words were not looked at, or NULL. */
const char *types_problem(const struct types *types);

#endif
