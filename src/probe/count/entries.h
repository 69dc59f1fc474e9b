/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries - find which additional entry points of allocators (agent/count/extra.h) an ELF
 * file uses. The module examines the file's imports and, for an unstripped program, its
 * symbols.
 */
#ifndef MS_PROBE_COUNT_ENTRIES_H
#define MS_PROBE_COUNT_ENTRIES_H

#include <stdbool.h>

#include "probe/count/names.h"
#include "tracee/elf/exports.h"

/*
 * The allocator functions that a file uses. Each array is indexed like counted_names; the
 * elements for standard functions stay false.
 */
struct count_entries {
	/* true if the function is imported strongly, and not defined in the file */
	bool is_imported[COUNTED_NAME_COUNT];
	/*
	 * true if the function is imported weakly, which means that the file also works
	 * without it, and is not defined in the file
	 */
	bool is_weak[COUNTED_NAME_COUNT];
	bool is_exported[COUNTED_NAME_COUNT];
	/* true if the function is defined in .symtab, the symbol table for debuggers */
	bool is_defined[COUNTED_NAME_COUNT];
};

/*
 * Record in *ret which allocator functions an open file uses, in addition to those
 * recorded earlier. `exports` lists the file's exports, or is NULL.
 */
void count_entries_add(int fd, const struct elf_exports *exports,
		       struct count_entries *ret);

/* Record in *ret which allocator functions an open program defines in its .symtab. */
void count_entries_add_defined(int fd, struct count_entries *ret);

#endif
