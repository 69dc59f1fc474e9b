/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inner - find the calls that an allocator's code makes to the allocator's own functions.
 * For example, realloc(NULL) calls malloc(), and an exiting thread calls free() for its
 * cached blocks. The program did not make these calls, so they must not be counted.
 *
 * The code is decoded instruction by instruction, from the start of one function to the
 * next, so that a breakpoint is never set in the middle of an instruction.
 */
#ifndef MS_PROBE_UPROBE_INNER_H
#define MS_PROBE_UPROBE_INNER_H

#include "probe/uprobe/points.h"
#include "tracee/elf/exports.h"

/*
 * An ELF file of the process that defines some of the counted functions; see struct
 * count_points.
 */
struct count_code {
	int fd;
	const struct elf_exports *exports;
	size_t file; /* index of the file in points->files */
	/* address range of the allocator's code; both 0 if unknown */
	uint64_t start_vaddr, end_vaddr;
	/*
	 * used only by count_inner_add(): the number of steps left for all files of a
	 * process, initially INNER_STEPS_MAX
	 */
	uint64_t *steps_left;
};

/*
 * Maximum number of steps of a search for calls. Decoding a byte of code is a step, and
 * so is comparing an address. glibc requires 1.4 million steps, and jemalloc 2.6 million;
 * the maximum takes several seconds.
 */
#define INNER_STEPS_MAX (UINT64_C(1) << 32)

/* A function's name, and its index in points->items or COUNT_POINT_NONE. */
struct count_name {
	const char *name;
	size_t target;
};

/*
 * Add breakpoints at the calls that the allocator makes to its own functions. Return 0;
 * -E2BIG if there are too many calls, or too much code to search; or -EINTR if SIGINT,
 * SIGTERM or SIGHUP is pending.
 */
int count_inner_add(struct count_points *points, const struct count_code *code,
		    const struct count_name *names, size_t name_count);

/* Return true if the function contains a call or jump to vaddr, a link-time address. */
bool count_inner_calls(const struct count_code *code, const struct elf_export *function,
		       uint64_t vaddr);

#endif
