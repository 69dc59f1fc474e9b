/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - find names for addresses in the program and the libraries that a process has
 * mapped. The names come from the symbol tables of these files, and of installed debug
 * files with the same build ID. A file is read at the first lookup of an address in it. A
 * file is not used if it is no longer the mapped file, or if its mappings do not match
 * its headers: a missing name is better than a wrong one.
 */
#ifndef MS_TRACEE_SYMBOLS_SYMBOLS_H
#define MS_TRACEE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/mapping.h"

struct symbol {
	const char *name; /* name as in the file, mangled; borrowed */
	const char *file; /* name of the file's mapping; borrowed */
	uint64_t addr;	  /* start address in the process */
	uint64_t bytes;
	bool is_object; /* true if the symbol is data instead of code */
};

struct symbols;

/*
 * Create the lookup for a process. process_fd is its directory in /proc; mappings is
 * sorted by address. Both must stay valid until symbols_free(). Return NULL without
 * libelf; the other functions accept NULL.
 */
struct symbols *symbols_new(int process_fd, const struct mapping_list *mappings);
void symbols_free(struct symbols *symbols);

/* Find the symbol that contains addr. Return false if there is no such symbol. */
bool symbols_find(struct symbols *symbols, uint64_t addr, struct symbol *ret);

/*
 * Append a description of addr, such as "foo::bar()+16 in libfoo.so.1", with control
 * characters escaped. Return false, and leave *out unchanged, if there is no symbol.
 */
bool symbols_add_place(struct symbols *symbols, uint64_t addr, struct strbuf *out);

#endif
