/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_entries - which of the entry points that allocators have beside malloc an ELF file
 * uses: by names that are imported, or defined in an unstripped program.
 */
#ifndef MS_PROBE_COUNT_ENTRIES_H
#define MS_PROBE_COUNT_ENTRIES_H

#include <stdbool.h>

#include "probe/count_names.h"
#include "target/elf_exports.h"

/* By number of counted_names; the standard names stay false. */
struct count_entries {
	bool is_imported[COUNTED_NAME_COUNT]; /* and not defined in the file, and not weak */
	bool is_weak[COUNTED_NAME_COUNT];     /* the same, but the file does without it */
	bool is_exported[COUNTED_NAME_COUNT];
	bool is_defined[COUNTED_NAME_COUNT]; /* in the table for debuggers */
};

/* Add what an open file has. exports: what it offers to others, or NULL. */
void count_entries_add(int fd, const struct elf_exports *exports, struct count_entries *ret);

/* Add what the table for debuggers of an open program has. */
void count_entries_add_defined(int fd, struct count_entries *ret);

#endif
