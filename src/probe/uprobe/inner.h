/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inner - find where an allocator's code calls functions of its own: realloc()
 * of NULL calls malloc(), the end of a thread calls free() for cached blocks. These
 * are not calls of the program.
 *
 * The code is decoded instruction by instruction, from the start of one function to the
 * next, so that a breakpoint is never set in the middle of an instruction.
 */
#ifndef MS_PROBE_UPROBE_INNER_H
#define MS_PROBE_UPROBE_INNER_H

#include "probe/uprobe/points.h"
#include "tracee/elf/exports.h"

/* A file that contains functions of the points. */
struct count_code {
	int fd;
	const struct elf_exports *exports;
	size_t file;			 /* index in the points */
	uint64_t start_vaddr, end_vaddr; /* the allocator's code; 0, 0: unknown */
};

/* A name, and the function of the points that it resolves to, or COUNT_POINT_NONE. */
struct count_name {
	const char *name;
	size_t leads_to;
};

/* Add the inner calls. Return 0, or -E2BIG if there is no room for all of them. */
int count_inner_add(struct count_points *points, const struct count_code *code,
		    const struct count_name *names, size_t name_count);

/* Return whether a function's code leads to this address of the file. */
bool count_inner_leads_to(const struct count_code *code,
			  const struct elf_export *function, uint64_t vaddr);

#endif
