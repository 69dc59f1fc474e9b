/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries - find out which additional entry points of allocators (agent/count/extra.h)
 * an ELF file uses, according to its imports or, for an unstripped program, its symbols.
 */
#ifndef MS_PROBE_COUNT_ENTRIES_H
#define MS_PROBE_COUNT_ENTRIES_H

#include <stdbool.h>

#include "probe/count/names.h"
#include "tracee/elf/exports.h"

/*
 * Each array is indexed like counted_names; its elements for standard names stay false.
 */
struct count_entries {
	/* imported strongly, and not defined in the file */
	bool is_imported[COUNTED_NAME_COUNT];
	/*
	 * imported weakly, and not defined in the file: the file also works without
	 * the function
	 */
	bool is_weak[COUNTED_NAME_COUNT];
	bool is_exported[COUNTED_NAME_COUNT];
	/* defined in .symtab, the symbol table for debuggers */
	bool is_defined[COUNTED_NAME_COUNT];
};

/*
 * Add to *ret the names that an open file uses. exports is the list of the file's
 * exports, or NULL.
 */
void count_entries_add(int fd, const struct elf_exports *exports,
		       struct count_entries *ret);

/* Add to *ret the names that .symtab of an open program defines. */
void count_entries_add_defined(int fd, struct count_entries *ret);

#endif
