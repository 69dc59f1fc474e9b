/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries - find out which additional entry points of allocators (agent/count/extra.h) an
 * ELF file uses, according to its imports or, for an unstripped program, to its symbols.
 */
#ifndef MS_PROBE_COUNT_ENTRIES_H
#define MS_PROBE_COUNT_ENTRIES_H

#include <stdbool.h>

#include "probe/count/names.h"
#include "tracee/elf/exports.h"

/* Indexed like counted_names; the elements of standard names stay false. */
struct count_entries {
	/* imported strongly, and not defined in the file */
	bool is_imported[COUNTED_NAME_COUNT];
	/* imported weakly, and not defined in the file: the file works without it */
	bool is_weak[COUNTED_NAME_COUNT];
	bool is_exported[COUNTED_NAME_COUNT];
	/* defined in the symbol table for debuggers */
	bool is_defined[COUNTED_NAME_COUNT];
};

/* Add the names of an open file. exports contains the file's exports, or is NULL. */
void count_entries_add(int fd, const struct elf_exports *exports,
		       struct count_entries *ret);

/* Add the names in the symbol table for debuggers of an open program. */
void count_entries_add_defined(int fd, struct count_entries *ret);

#endif
