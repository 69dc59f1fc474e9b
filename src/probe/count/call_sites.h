/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_sites - find the calls and jumps in a program's code that lead to the entry points
 * of an allocator linked into it.
 *
 * The last 4 bytes of such a call hold the distance to the function. To redirect the
 * call, only these bytes change: no instruction moves or changes its length, so a thread
 * that is stopped anywhere continues correctly.
 */
#ifndef MS_PROBE_COUNT_CALL_SITES_H
#define MS_PROBE_COUNT_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/count/names.h"

struct call_site {
	uint64_t vaddr; /* address of the 4 bytes of the distance */
	size_t name;	/* of the function: index in counted_names */
	bool is_slot;	/* 8 bytes at vaddr hold the function's address instead */
};

struct call_sites {
	struct call_site *items;
	size_t count, capacity;
	uint64_t function_vaddrs[COUNTED_NAME_COUNT]; /* 0: the file does not define it */
};

#define CALL_SITES_INIT       \
	{                     \
		.items = NULL \
	}

/*
 * Read the call sites from an open ELF file for x86-64. Slots that the linker fills with
 * an entry point's address are included: Rust programs call through such slots. Calls
 * within the allocator are left out. Return 0, even if the file defines no such function
 * or is stripped; or -EOPNOTSUPP if some calls cannot be distinguished from other bytes,
 * or from calls within the allocator.
 */
int call_sites_read(int fd, struct call_sites *ret);
void call_sites_release(struct call_sites *sites);

#endif
