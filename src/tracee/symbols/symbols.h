/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - names for addresses in the program and the libraries that a process has
 * mapped: from the symbol tables of these files, and of debug files with the same
 * build-id, if they are installed.
 *
 * A file is read when an address in it is asked for the first time. One that is not the
 * mapped one any more, or does not lie in memory as it says, has no names: none rather
 * than a wrong one.
 */
#ifndef MS_TRACEE_SYMBOLS_SYMBOLS_H
#define MS_TRACEE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/mapping.h"

struct symbol {
	const char *name; /* as in the file: demangle_add() it. Borrowed */
	const char *file; /* the mapping's name. Borrowed */
	uint64_t addr;	  /* in the process */
	uint64_t bytes;
	bool is_object; /* data, not code */
};

struct symbols;

/*
 * Both are borrowed for as long as it lives: the process's directory in /proc, and its
 * mappings by address. NULL if there is no libelf; the functions below take it.
 */
struct symbols *symbols_new(int process_fd, const struct mapping_list *mappings);
void symbols_free(struct symbols *symbols);

/* The symbol that addr is in. False if there is none. */
bool symbols_find(struct symbols *symbols, uint64_t addr, struct symbol *ret);

/*
 * Append "foo::bar()+16 in libfoo.so.1", control characters escaped. False, and *out as
 * it was, if there is no symbol.
 */
bool symbols_add_place(struct symbols *symbols, uint64_t addr, struct strbuf *out);

#endif
