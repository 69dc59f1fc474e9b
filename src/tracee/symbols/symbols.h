/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - find names for addresses in the program and the libraries that a process has
 * mapped. The names come from the symbol tables of these files, and of installed debug
 * files with the same build-id.
 *
 * A file is read when an address in it is first looked up. A file that is no longer the
 * mapped one, or whose mappings do not match its headers, has no names: no name is
 * better than a wrong one.
 */
#ifndef MS_TRACEE_SYMBOLS_SYMBOLS_H
#define MS_TRACEE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/mapping.h"

struct symbol {
	const char *name; /* as in the file, mangled; borrowed */
	const char *file; /* the mapping's name; borrowed */
	uint64_t addr;	  /* in the process */
	uint64_t bytes;
	bool is_object; /* data, not code */
};

struct symbols;

/*
 * Create the lookup for a process. process_fd is its directory in /proc; mappings is
 * sorted by address. Both are borrowed until symbols_free(). Return NULL if there is no
 * libelf; the functions below accept NULL.
 */
struct symbols *symbols_new(int process_fd, const struct mapping_list *mappings);
void symbols_free(struct symbols *symbols);

/* Find the symbol that contains addr. Return false if there is no such symbol. */
bool symbols_find(struct symbols *symbols, uint64_t addr, struct symbol *ret);

/*
 * Append "foo::bar()+16 in libfoo.so.1", with control characters escaped. Return false,
 * and leave *out unchanged, if there is no symbol.
 */
bool symbols_add_place(struct symbols *symbols, uint64_t addr, struct strbuf *out);

#endif
