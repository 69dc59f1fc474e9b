/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_tables - the unwind tables (.eh_frame) of the files that a process has mapped.
 *
 * memstate copies the tables from the files before it stops a thread, so that a slow
 * file system cannot prolong the stop. A damaged table is treated like a missing one.
 */
#ifndef MS_PROBE_BORROW_CODE_TABLES_H
#define MS_PROBE_BORROW_CODE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/unwind/cfi.h"
#include "probe/borrow/loaded.h"

struct code_table {
	/* address range of the file's code in the process */
	uint64_t start_addr, end_addr;
	/* address, in the process, of the unwind tables that were copied */
	uint64_t tables_addr;
	/* offset of .eh_frame_hdr in memstate's copy of the unwind tables */
	uint64_t header_offset;
	uint8_t *bytes;
	size_t length;
};

struct code_tables {
	struct code_table *items;
	size_t count, capacity;
};

#define CODE_TABLES_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/* Copy the unwind tables of a file. A file without usable tables is ignored. */
void code_tables_add(struct code_tables *tables, const struct loaded *file);

/*
 * Find the unwind rules for the code at addr, an address in the process. Return false if
 * no rules were found.
 */
bool code_tables_find(const struct code_tables *tables, uint64_t addr,
		      struct unwind_rules *ret);

void code_tables_release(struct code_tables *tables);

#endif
