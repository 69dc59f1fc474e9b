/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inner - where an allocator's code leads to functions of its own: realloc() of NULL to
 * malloc(), the end of a thread to free() of what it had cached. These are no calls of the
 * program's.
 *
 * The code is gone through instruction by instruction, from one function's start to the next: a
 * breakpoint is never put into the middle of one.
 */
#ifndef MS_PROBE_COUNT_INNER_H
#define MS_PROBE_COUNT_INNER_H

#include "probe/count_points.h"
#include "target/elf_exports.h"

/* One file that has functions of the points. */
struct count_code {
	int fd;
	const struct elf_exports *exports;
	size_t file; /* of the points */
	uint64_t start_vaddr, end_vaddr; /* the allocator's code; 0, 0: not known */
};

/* A name, and the function of the points that it is resolved to, or COUNT_POINT_NONE. */
struct count_name {
	const char *name;
	size_t leads_to;
};

/* Add what is inner. Returns 0, or -E2BIG if that is more than there is room for. */
int count_inner_add(struct count_points *points, const struct count_code *code,
		    const struct count_name *names, size_t name_count);

/* Whether a function's code leads to this address of the file. */
bool count_inner_leads_to(const struct count_code *code, const struct elf_export *function,
			  uint64_t vaddr);

#endif
